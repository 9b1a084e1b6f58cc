"""Fetching a feed from a real server on loopback: accepted and refused answers, and hosts that must not be connected to."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from ipaddress import ip_address, ip_network
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from apps.bans.feed_fetcher import FeedFault, FeedNotFetched, FetchedFeed, FetchLimits, fetch_feed, read_feed_file
from apps.lib.web.guarded_http import AllowedTargets, NoAnswer, is_public, parse_url, resolve_allowed_address
from apps.lib.web.guarded_http import NoAnswerReason as No
from tests.fake_http import FakeAnswer, serving

NOTHING = FetchedFeed(None)
LOOPBACK = FetchLimits(octets=1000, seconds=5, reach=AllowedTargets(private=True))


def fault(url: str, limits: FetchLimits = LOOPBACK) -> StrEnum:
    with pytest.raises(NoAnswer) as refused:
        fetch_feed(url, NOTHING, limits)
    return refused.value.fault


def test_a_feed_is_fetched_with_its_etag_and_date() -> None:
    with serving(FakeAnswer(body=b"203.0.113.9\n", headers={"ETag": '"7"', "Last-Modified": "Sat, 22 Aug 2026 03:00:29 GMT"})) as server:
        seen: list[int] = []
        assert fetch_feed(server.url(), NOTHING, LOOPBACK, seen.append) == FetchedFeed(
            b"203.0.113.9\n", '"7"', "Sat, 22 Aug 2026 03:00:29 GMT"
        )
        assert seen == [12]


def test_what_did_not_change_is_not_sent_again() -> None:
    def answer(_path: str, headers: Any) -> FakeAnswer:
        return FakeAnswer(304) if headers["If-None-Match"] == '"7"' and headers["If-Modified-Since"] == "then" else FakeAnswer(500)

    with serving(answer) as server:
        assert fetch_feed(server.url(), FetchedFeed(None, '"7"', "then"), LOOPBACK) == FetchedFeed(None, '"7"', "then")


def test_a_redirect_is_followed_but_not_for_ever() -> None:
    def answer(path: str, _headers: Any) -> FakeAnswer:
        return FakeAnswer(body=b"here") if path == "/b?x=1" else FakeAnswer(302, headers={"Location": "/b?x=1" if path == "/a" else path})

    with serving(answer) as server:
        assert fetch_feed(server.url("/a"), NOTHING, LOOPBACK).content == b"here"
        assert fault(server.url("/round")) is FeedFault.REDIRECTS
        assert len(server.asked) == 2 + 6


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("", "/"), ("?key=abc", "/?key=abc"), ("#top", "/"), ("/a?", "/a"), ("/a;b?c=/?d#e", "/a;b?c=/?d"), ("//a", "//a"), ("/?", "/"),
        ("///a//b?//c", "///a//b?//c"),
    ],
)  # fmt: skip
def test_a_request_names_an_absolute_path_whatever_the_url_leaves_out(path: str, target: str) -> None:
    seen: list[bytes] = []
    with raw(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", seen) as port:
        assert fetch_feed(f"http://127.0.0.1:{port}{path}", NOTHING, LOOPBACK).content == b""
    assert seen[0].split(b"\r\n")[0].decode() == f"GET {target} HTTP/1.1"


def test_a_redirect_to_a_query_alone_keeps_the_path() -> None:
    with serving(
        lambda path, _headers: FakeAnswer(302, headers={"Location": "?x=1"}) if path == "/" else FakeAnswer(body=b"here")
    ) as server:
        assert fetch_feed(server.url(""), NOTHING, LOOPBACK).content == b"here"
        assert [path for path, _headers in server.asked] == ["/", "/?x=1"]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (FakeAnswer(404), FeedFault.STATUS),
        (FakeAnswer(500, b"203.0.113.9"), FeedFault.STATUS),
        (FakeAnswer(body=b"<html>", headers={"Content-Type": "text/html; charset=utf-8"}), FeedFault.WEB_PAGE),
        (FakeAnswer(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), FeedFault.ENCODED),
        (FakeAnswer(body=b"x" * 1001), FeedFault.TOO_BIG),
        (FakeAnswer(body=b"x" * 10, length=1 << 40), FeedFault.TOO_BIG),
        (FakeAnswer(302, headers={"Location": "ftp://127.0.0.1/list.txt"}), No.SCHEME),
        (FakeAnswer(302, headers={"Location": "file:///etc/passwd"}), No.SCHEME),
        (FakeAnswer(302, headers={"Location": "http://user:secret@127.0.0.1/"}), No.ADDRESS),
        (FakeAnswer(302), FeedFault.STATUS),
    ],
)
def test_what_is_no_list_within_the_limits_is_refused(answer: FakeAnswer, why: StrEnum) -> None:
    with serving(answer) as server:
        assert fault(server.url()) is why


def test_half_a_list_is_none() -> None:
    with raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n203.0.113.9\n") as port:
        assert fault(f"http://127.0.0.1:{port}/") is FeedFault.CUT_OFF


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"\r\n" + b"x" * 50, FeedFault.ENDLESS),
        (b"Transfer-Encoding: chunked\r\n\r\n800\r\n" + b"x" * 0x800 + b"\r\n0\r\n\r\n", FeedFault.TOO_BIG),
        (b"Transfer-Encoding: chunked\r\n\r\n80\r\n" + b"x" * 0x80 + b"\r\n", No.UNREACHABLE),
        (b"Content-Le", FeedFault.ENDLESS),
    ],
)
def test_what_does_not_say_its_length_must_say_its_end(answer: bytes, why: StrEnum) -> None:
    with raw(b"HTTP/1.1 200 OK\r\n" + answer) as port:
        assert fault(f"http://127.0.0.1:{port}/") is why


def test_chunks_make_a_list() -> None:
    with raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nlist\r\n0\r\n\r\n") as port:
        assert fetch_feed(f"http://127.0.0.1:{port}/", NOTHING, LOOPBACK).content == b"list"


def test_a_server_that_never_completes_its_answer_is_too_slow() -> None:
    with raw(b"HTTP/1.1 200 OK\r\nContent-Le", hold=True) as port:
        assert fault(f"http://127.0.0.1:{port}/", FetchLimits(seconds=0.3, reach=AllowedTargets(private=True))) is No.TOO_SLOW


def test_what_is_no_http_is_refused() -> None:
    with raw(b"220 mail.example ESMTP\r\n") as port:
        assert fault(f"http://127.0.0.1:{port}/") is No.UNREACHABLE


def test_a_server_that_does_not_exist_is_reported_as_unreachable_or_unknown() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    assert fault(f"http://127.0.0.1:{port}/") is No.UNREACHABLE
    assert fault("http://nobody.invalid/") is No.UNKNOWN_HOST


def test_loopback_is_not_asked_unless_that_is_allowed() -> None:
    with serving(FakeAnswer(body=b"secret")) as server:
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"):
            assert fault(server.url(host=host), FetchLimits()) in (No.PRIVATE, No.UNKNOWN_HOST), host
        assert server.asked == []


def test_a_redirect_to_where_nobody_must_ask_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A public host redirects to an internal one: here the first name is allowed, the second is not."""
    asked: list[str] = []

    def only_first(address: Any) -> bool:
        asked.append(str(address))
        return len(asked) == 1 or is_public(address)

    monkeypatch.setattr("apps.lib.web.guarded_http.is_public", only_first)
    with serving(FakeAnswer(body=b"secret")) as inside, serving(FakeAnswer(302, headers={"Location": inside.url()})) as outside:
        assert fault(outside.url(), FetchLimits(seconds=5)) is No.PRIVATE
        assert (len(outside.asked), inside.asked) == (1, [])


def test_a_name_is_resolved_once_and_that_very_address_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(FakeAnswer(body=b"list")) as server:
        resolved: list[str] = []
        real = socket.getaddrinfo

        def once(host: Any, *rest: Any, **more: Any) -> Any:
            resolved.append(str(host))
            return real("127.0.0.1" if host == "feed.example" else host, *rest, **more)

        monkeypatch.setattr("socket.getaddrinfo", once)
        assert fetch_feed(server.url(host="feed.example"), NOTHING, LOOPBACK).content == b"list"
        assert resolved.count("feed.example") == 1
        assert server.asked[0][1]["Host"] == f"feed.example:{server.port}"


def test_a_host_is_not_asked_when_one_of_its_addresses_must_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    def both(_host: Any, port: Any, **_more: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("9.9.9.9", "127.0.0.1")]

    monkeypatch.setattr("socket.getaddrinfo", both)
    with pytest.raises(NoAnswer) as refused:
        resolve_allowed_address("feed.example", 80, AllowedTargets(), 5)
    assert refused.value.fault is No.PRIVATE


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255"),  # noqa: S104
        *("::1", "::", "fe80::1", "fd00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1"),
        *("::10.0.0.1", "::9.9.9.9", "fec0::1", "feff::1", "64:ff9b:1::a00:1", "::ffff:0:10.0.0.1", "4000::1", "5f00::1"),
        *("2001:0:a00:1::", "2001:0:909:909:0:0:f5ff:fffe", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "64:ff9b::a9fe:a9fe"),
    ],
)
def test_what_is_not_of_the_public_internet_is_not_allowed(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["9.9.9.9", "2620:fe::fe", "::ffff:9.9.9.9", "64:ff9b::909:909"])
def test_the_public_internet_is_allowed(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["::ffff:9.9.9.9", "::9.9.9.9", "64:ff9b::909:909", "2002:909:909::1", "2001:0:909:909::", "2001:0:102:304:0:0:f6f6:f6f6"],
)
def test_what_is_never_asked_is_not_asked_in_a_form_of_ipv6_either(address: str) -> None:
    never = AllowedTargets(private=True, never=(ip_network("9.9.9.9/32"),))
    assert not never.can_ask(ip_address(address)) and never.can_ask(ip_address("9.9.9.8"))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.org/x", No.SCHEME),
        ("http://", No.ADDRESS),
        ("https://me:pw@example.org/", No.ADDRESS),
        ("http://a:99999/", No.ADDRESS),
        ("http://example.org/\r\nHost: x", No.ADDRESS),
        ("http://exämple.org/", No.ADDRESS),
        ("http://[::1/", No.ADDRESS),
    ],
)
def test_an_address_that_is_none_is_refused(url: str, why: StrEnum) -> None:
    with pytest.raises(NoAnswer) as refused:
        parse_url(url)
    assert refused.value.fault is why


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "list.txt").open("wb") as file:
        file.truncate(1 << 40)  # a sparse file, too large to be read
    with pytest.raises(FeedNotFetched) as refused:
        read_feed_file(tmp_path, "list.txt", NOTHING, LOOPBACK)
    assert refused.value.fault is FeedFault.TOO_BIG


def test_a_file_is_read_from_the_directory_alone(tmp_path: Path) -> None:
    inside, outside = tmp_path / "feeds", tmp_path / "secret.txt"
    inside.mkdir()
    (inside / "list.txt").write_text("203.0.113.9\n")
    outside.write_text("secret")
    (inside / "link.txt").symlink_to(outside)
    first = read_feed_file(inside, "list.txt", NOTHING, LOOPBACK)
    assert first.content == b"203.0.113.9\n"
    assert read_feed_file(inside, "list.txt", first, LOOPBACK).content is None
    for name, why in (
        ("../secret.txt", FeedFault.OUTSIDE),
        (str(outside), FeedFault.OUTSIDE),
        ("link.txt", FeedFault.OUTSIDE),
        (".", FeedFault.NO_FILE),
    ):
        with pytest.raises(FeedNotFetched) as refused:
            read_feed_file(inside, name, NOTHING, LOOPBACK)
        assert refused.value.fault is why
    with pytest.raises(FeedNotFetched, match="no directory"):
        read_feed_file(None, "list.txt", NOTHING, LOOPBACK)
    (inside / "list.txt").write_bytes(b"x" * 1001)
    with pytest.raises(FeedNotFetched, match="too big"):
        read_feed_file(inside, "list.txt", NOTHING, LOOPBACK)


@contextmanager
def raw(answer: bytes, seen: list[bytes] | None = None, *, hold: bool = False) -> Iterator[int]:
    """Run a server that sends these octets to a client and closes the connection; hold: only when the block ends. seen: what it got."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kept: list[socket.socket] = []

        def serve() -> None:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            request = client.recv(4096)
            if seen is not None:
                seen.append(request)
            client.sendall(answer)
            kept.append(client) if hold else client.close()

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()
        for client in kept:
            client.close()
