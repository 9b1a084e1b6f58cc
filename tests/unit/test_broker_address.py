"""NETZWART_BROKER_URL: what is taken, and one sentence for each mistake."""

import os
import subprocess
import sys

import pytest

from portal.broker_address import parse_broker_addresses
from portal.programs import ROOT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "amqp://netzwart:secret@rabbit.example.org:5672/netzwart",
        "amqp://netzwart:a%2Fb%3Bc@192.0.2.1//;amqp://netzwart:x@[2001:db8::1]:5672//",
        "amqps://netzwart:secret@rabbit.example.org/netzwart",
        "redis://192.0.2.1:6379/1",
        "unix:///run/redis.sock?db=1",
    ],
)
def test_addresses_are_taken_as_they_are(text: str) -> None:
    assert parse_broker_addresses(f" {text} ") == text


def test_space_around_addresses_and_an_empty_one_do_not_matter() -> None:
    assert parse_broker_addresses("amqp://a//; amqp://b// ;") == "amqp://a//;amqp://b//"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rabbit.example.org", "Each address must begin with amqp://"),
        ("http://rabbit.example.org", "Each address must begin with amqp://"),
        ("amqp:///netzwart", "An address has no host"),
        ("unix://", "An address has no host"),
        ("amqp://netzwart:se/cret@rabbit", "Write each address like amqp://USER:PASSWORD@HOST:5672/VHOST; / @ : ; in a password are"),
        ("amqp://rabbit:99999//", "Write each address like"),
        ("amqp://a//;redis://b", "All addresses must begin alike, not with amqp:// and redis://."),
        ("redis://a;redis://b", "Only amqp:// may have several addresses."),
        ("amqps://a//;amqps://b//", "With amqps://, let one name lead to all nodes."),
    ],
)
def test_each_mistake_has_its_sentence(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$") as refused:
        parse_broker_addresses(text)
    assert says in str(refused.value)


def test_a_program_says_it_at_its_start_and_shows_no_password() -> None:
    given = os.environ | {"NETZWART_SECRET_KEY": "x", "NETZWART_BROKER_URL": "amqp://netzwart:hunter2@"}
    done = subprocess.run([sys.executable, "manage.py", "check"], env=given, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("NETZWART_BROKER_URL cannot be used. An address has no host") and "hunter2" not in done.stderr
