"""The notice page of blocked members: what it tells to whom, and how it is served."""

from ipaddress import ip_network
from typing import Any

import pytest
from django.conf import LazySettings

from apps.bans.blocks.services import block_member, lift_block
from apps.members.models import Member
from portal.notice import application
from tests import factories


def get(source: str = "10.16.0.10", **environ: str) -> tuple[str, dict[str, str], str]:
    """Return status, headers and body."""
    answered: list[Any] = []
    given = {"REQUEST_METHOD": "GET", "PATH_INFO": "/any", "HTTP_HOST": "example.org:80", "REMOTE_ADDR": source}
    body = b"".join(application(given | environ, lambda status, headers: answered.extend((status, dict(headers)))))
    return answered[0], answered[1], body.decode()


@pytest.fixture
def blocked_network(transactional_db: None) -> factories.Network:
    """A network in which m1 is blocked.

    The WSGI application opens and closes its own connections, so the rows must be committed.
    """
    network = factories.network()
    factories.servers(network)
    given = {"message": "Mail to <thousands>", "note": "secret", "by": network.admin}
    block_member(member=network.residents["m1"].member, reason="infected", **given)  # type: ignore[arg-type]
    return network


@pytest.mark.parametrize("source", ["10.16.0.10", "2001:db8:a0:10::77", "::ffff:10.16.0.10"])
def test_a_blocked_member_is_told_why_by_any_of_his_addresses(blocked_network: factories.Network, source: str) -> None:
    status, headers, body = get(source)
    assert status.startswith("511 ")
    assert (headers["Cache-Control"], headers["Connection"]) == ("no-store", "close")
    assert "infected with malware" in body
    assert "Mail to &lt;thousands&gt;" in body
    assert "netzwart@lindenhof.example" in body
    assert "secret" not in body


@pytest.mark.parametrize("source", ["10.16.0.11", "203.0.113.5", "nonsense", ""])
def test_nobody_else_sees_anything_of_anybody(blocked_network: factories.Network, source: str) -> None:
    status, _headers, body = get(source)
    assert status.startswith("511 ")
    assert "M-" not in body
    assert "not the page you asked for" in body


def test_a_member_whose_block_was_lifted_is_not_told_of_it(blocked_network: factories.Network) -> None:
    lift_block(block=blocked_network.residents["m1"].member.blocks.get(), by=blocked_network.admin)
    assert "infected" not in get()[2]


def test_it_speaks_the_members_language_and_else_the_browsers(blocked_network: factories.Network) -> None:
    assert get(HTTP_ACCEPT_LANGUAGE="de")[1]["Content-Language"] == "en"
    Member.objects.filter(pk=blocked_network.residents["m1"].member.pk).update(language="de")
    assert get(HTTP_ACCEPT_LANGUAGE="en")[1]["Content-Language"] == "de"
    assert get("203.0.113.5", HTTP_ACCEPT_LANGUAGE="fr, de;q=0.5")[1]["Content-Language"] == "de"
    assert get("203.0.113.5", HTTP_ACCEPT_LANGUAGE="q" * 100_000)[1]["Content-Language"] == "en"


def test_nothing_is_fetched_and_a_head_gets_no_body(blocked_network: factories.Network) -> None:
    _status, headers, body = get()
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert not any(word in body for word in ("http://", "https://", "src=", "<script", "url("))
    assert len(body) < 6_000
    assert get(REQUEST_METHOD="HEAD")[2] == ""


def test_only_a_proxy_of_ours_is_believed(blocked_network: factories.Network, settings: LazySettings) -> None:
    assert "infected" not in get("192.0.2.9", HTTP_X_FORWARDED_FOR="10.16.0.10")[2]
    settings.NOTICE_PROXIES = [ip_network("192.0.2.9")]
    assert "infected" in get("192.0.2.9", HTTP_X_FORWARDED_FOR="1.1.1.1, 10.16.0.10")[2]
    assert "infected" not in get("192.0.2.9", HTTP_X_FORWARDED_FOR="10.16.0.10, 1.1.1.1")[2]
