"""Settings from the environment: what cannot be used is refused at the start, all of it at once, by name and with what it must be."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from portal.environment_reader import EnvironmentReader
from portal.programs import ROOT

NAME = "NETZWART_X"


def read(value: str, how: Callable[[EnvironmentReader], Any]) -> Any:
    """Return what is read of the variable. Raises ImproperlyConfigured for a mistake."""
    reader = EnvironmentReader({NAME: value})
    found = how(reader)
    reader.check()
    return found


def refuse(value: str, how: Callable[[EnvironmentReader], Any]) -> str:
    with pytest.raises(ImproperlyConfigured) as refused:
        read(value, how)
    return str(refused.value)


def read_whole(reader: EnvironmentReader) -> int:
    return reader.read_whole(NAME, 12, most=100)


@given(st.integers(1, 100))
def test_a_number_within_its_limits_is_read_with_space_around_it(number: int) -> None:
    assert read(f" {number} ", read_whole) == number


@pytest.mark.parametrize("value", ["0", "101", "-1", "twelve", "1.5", "1e1", "0x10"])
def test_other_numbers_are_refused_with_the_limits(value: str) -> None:
    assert refuse(value, read_whole) == f"NETZWART_X is {value!r}. It must be a whole number from 1 to 100."


@pytest.mark.parametrize("value", ["nan", "inf", "0.05", "61", "soon"])
def test_seconds_out_of_range_are_refused(value: str) -> None:
    assert "It must be a number from 0.1 to 60." in refuse(value, lambda reader: reader.read_number(NAME, 5, least=0.1, most=60))


@pytest.mark.parametrize(
    ("how", "default"),
    [
        (read_whole, 12),
        (lambda reader: reader.read_switch(NAME, default=True), True),
        (lambda reader: reader.read_networks(NAME), []),
        (lambda reader: reader.read_url(NAME, "http://127.0.0.1"), "http://127.0.0.1"),
        (lambda reader: reader.read_host(NAME, 25), ("", 25)),
        (lambda reader: reader.read_zone(NAME, "Europe/Berlin"), "Europe/Berlin"),
        (lambda reader: reader.read_list(NAME, "a,b"), ["a", "b"]),
    ],
)
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_is_one_that_is_not_set(value: str, how: Callable[[EnvironmentReader], Any], default: Any) -> None:
    assert read(value, how) == default


@pytest.mark.parametrize("value", ["yes", "true", "on", "2", "01"])
def test_a_switch_is_on_or_off_and_nothing_else(value: str) -> None:
    assert read("1", lambda reader: reader.read_switch(NAME)) is True
    assert read("0", lambda reader: reader.read_switch(NAME, default=True)) is False
    assert refuse(value, lambda reader: reader.read_switch(NAME)) == f"NETZWART_X is {value!r}. It must be 1 (on) or 0 (off)."


def test_networks_are_read_and_each_wrong_one_is_named() -> None:
    assert [str(each) for each in read("192.0.2.0/24, 2001:db8::/32,", lambda reader: reader.read_networks(NAME))] == [
        "192.0.2.0/24",
        "2001:db8::/32",
    ]
    said = refuse("192.0.2.1/24,2001:db8::/32,gateway", lambda reader: reader.read_networks(NAME))
    assert (
        "192.0.2.1/24 has host bits set" in said and "'gateway' does not appear to be" in said and said.startswith("2 settings are wrong")
    )


@pytest.mark.parametrize("value", ["portal.example.org", "ftp://portal.example.org", "https://", "https://host:port/", "/events/"])
def test_an_address_that_is_not_whole_is_refused(value: str) -> None:
    assert "It must be a whole address, which begins with http:// or https://." in refuse(value, lambda reader: reader.read_url(NAME))


def test_addresses_of_other_kinds_are_read_where_they_may_be() -> None:
    assert read("/events/", lambda reader: reader.read_url(NAME, paths=True)) == "/events/"
    assert read("unix:///run/redis.sock?db=0", lambda reader: reader.read_url(NAME, schemes=("redis", "unix"))).startswith("unix:")


def test_an_address_with_a_password_is_not_shown() -> None:
    assert "geheim" not in refuse("redi://user:geheim@host", lambda reader: reader.read_url(NAME))


@pytest.mark.parametrize(
    ("value", "found"), [("mail.example.org", ("mail.example.org", 25)), ("[2001:db8::1]:587", ("2001:db8::1", 587)), ("", ("", 25))]
)
def test_a_host_may_have_a_port(value: str, found: tuple[str, int]) -> None:
    assert read(value, lambda reader: reader.read_host(NAME, 25)) == found


@pytest.mark.parametrize("value", ["mail.example.org:smtp", "smtp://mail.example.org", "mail.example.org:99999", "user@mail.example.org"])
def test_what_is_no_host_is_refused(value: str) -> None:
    assert "Write it like mail.example.org or mail.example.org:587." in refuse(value, lambda reader: reader.read_host(NAME, 25))


@pytest.mark.parametrize("value", ["Berlin", "Europe/Nowhere", "../etc/passwd", "\0"])
def test_what_is_no_time_zone_is_refused(value: str) -> None:
    assert "It must be the name of a time zone" in refuse(value, lambda reader: reader.read_zone(NAME, "Europe/Berlin"))


@given(st.text())
def test_no_text_is_too_strange_to_be_read_or_refused(value: str) -> None:
    reader = EnvironmentReader({NAME: value})
    for how in (
        read_whole,
        lambda each: each.read_number(NAME, 1, least=0, most=9),
        lambda each: each.read_switch(NAME),
        lambda each: each.read_networks(NAME),
        lambda each: each.read_url(NAME),
        lambda each: each.read_host(NAME, 25),
        lambda each: each.read_zone(NAME, "UTC"),
    ):
        how(reader)


def test_a_variable_that_looks_like_a_setting_is_refused_and_others_are_left_alone() -> None:
    reader = EnvironmentReader({"NETZWART_ALLOWD_HOSTS": "x", "NETZWART_OF_ANOTHER_PROGRAM": "y", "PATH": "z"})
    reader.read_list("NETZWART_ALLOWED_HOSTS")
    with pytest.raises(ImproperlyConfigured, match=r"^NETZWART_ALLOWD_HOSTS is no setting\. Is NETZWART_ALLOWED_HOSTS meant\?$"):
        reader.check()


def start(**variables: str) -> str:
    """Return what the portal says when it starts with these settings."""
    environment = {"PATH": os.environ["PATH"], "NETZWART_SECRET_KEY": "x", **variables}
    done = subprocess.run([sys.executable, "manage.py", "version"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.stderr


def test_all_mistakes_are_told_together_without_a_traceback() -> None:
    said = start(
        NETZWART_COLLECT_SECONDS="a minute",
        NETZWART_MAIL_TLS="yes",
        NETZWART_TRUSTED_PROXIES="proxy",
        NETZWART_DATABASE_URL="host=db password=geheim nonsense",
        NETZWART_ALLOWED_HOSTS="portal.example.org",
        NETZWART_REQUIRE_SECOND_FACTOR="no",
    )
    assert said.splitlines()[0] == "6 settings are wrong (docs/settings.md):" and "Traceback" not in said and "geheim" not in said
    for words in (
        "NETZWART_COLLECT_SECONDS is 'a minute'. It must be a number from 0.1 to 3,600.",
        "NETZWART_MAIL_TLS is 'yes'. It must be starttls, tls (from the first octet, port 465) or empty.",
        "NETZWART_TRUSTED_PROXIES is 'proxy'. Write networks like",
        "NETZWART_DATABASE_URL cannot be used. It must be a connection string of libpq",
        "NETZWART_ALLOWED_HOSTS names a host that others can reach, but NETZWART_HTTPS is not set.",
        "NETZWART_REQUIRE_SECOND_FACTOR is 'no'. It must be 1 (on) or 0 (off).",
    ):
        assert words in said


def test_without_a_secret_key_one_sentence_is_said() -> None:
    assert start(NETZWART_SECRET_KEY="") == ("NETZWART_SECRET_KEY is not set. Give it 50 random characters, or use script/server.\n")
