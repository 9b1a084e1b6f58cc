"""Parsing of arbitrary mails into values; the work stays in proportion to their size."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.inbound_mail import header_parser, ipc_codec
from apps.inbound_mail.message import MailAddress, ReceivedMail
from apps.inbound_mail.parse_limits import ParseLimits, Unreadable
from apps.inbound_mail.parse_message import parse_mail
from tests.malformed_mail import BREAKING, GROWING, html, join_parts, mail, zip_bomb

SHIPPED = Path(sys.base_prefix, "lib", f"python3.{sys.version_info.minor}", "test", "test_email", "data")
LIMITS = ParseLimits()


def read(octets: bytes, sender: str | None = None, *recipients: str) -> ReceivedMail:
    return parse_mail(octets, sender, recipients, LIMITS)


def test_a_mail_reads_as_it_was_written() -> None:
    got = read(
        mail(
            "Schöne Grüße\r\n",
            From='"Yıldız, Selin" <Selin@LINDENHOF.example>',
            To="=?utf-8?q?J=C3=B6rg?= <joerg@b.example>, Team: x@b.example, y@b.example;",
            Cc="JOERG@b.example (the same)",
            Reply_To="other@c.example",
            Subject="=?utf-8?B?R3LDvA==?=\n =?utf-8?B?w59l?= =?utf-8?q?=C3?= =?utf-8?q?=BC?=",
            Date="Sat, 21 Nov 2026 12:00:00 +0100",
            References="<a@b.example> <b@b.example>",
            In_Reply_To="<a@b.example>",
            Content_Type="text/plain; charset=utf-8",
        ),
        "selin@lindenhof.example",
        "support+abc@lindenhof.example",
    )
    assert got.sender == MailAddress("Yıldız, Selin", "Selin@lindenhof.example")
    assert [each.address for each in got.recipients] == ["support+abc@lindenhof.example", "joerg@b.example", "x@b.example", "y@b.example"]
    assert (got.recipients[1].name, got.reply_to) == ("Jörg", (MailAddress("", "other@c.example"),))
    assert (got.subject, got.text, got.html, got.files) == ("Grüßeü", "Schöne Grüße", "", ())
    assert got.date == datetime(2026, 11, 21, 11, tzinfo=UTC)
    assert (got.message_id, got.references) == ("<one@lindenhof.example>", ("<b@b.example>", "<a@b.example>"))
    assert (got.automatic, got.bounce, got.bounced_ids) == (False, False, ())


def test_what_html_would_load_or_do_is_gone_and_its_text_stands_for_it() -> None:
    got = read(
        html(
            '<html><head><title>t</title><style>p{}</style></head><body onload="x()"><p>Hello&nbsp;<b>you</b><br>there</p>'
            '<img src="https://tracker.example/p.gif"><script>alert(1)</script><a href="javascript:x()">a</a>'
            '<a href="https://b.example/" onclick="x()">link</a><ul><li>one<li>two</ul></body></html>'
        )
    )
    assert "tracker" not in got.html and "script" not in got.html and "on" not in [each.split("=")[0] for each in got.html.split()]
    assert '<a href="https://b.example/" rel="noopener noreferrer nofollow">link</a>' in got.html
    assert got.text == "Hello you\nthere\n\nalink\n\none\n\ntwo"


@pytest.mark.parametrize(("written", "shown", "read"), [("&", "&amp;", "&"), ("a&nbsp;", "a&nbsp;", "a "), ("&lt;b>", "&lt;b&gt;", "<b>")])
def test_a_long_text_of_signs_that_need_care_reads_as_it_stands(written: str, shown: str, read: str) -> None:
    got = parse_mail(html(f"<p>{written * 20_000}</p><i>{written * 3}</i>"), None, (), ParseLimits())
    assert got.html == f"<p>{shown * 20_000}</p><i>{shown * 3}</i>"
    assert got.text == f"{(read * 20_000).strip()}\n\n{(read * 3).strip()}"


def test_html_with_thousands_of_references_in_one_tag_stays_a_file() -> None:
    for number, files in ((5000, 0), (5001, 1)):
        got = parse_mail(html(f'<a href="https://a.example/?{"&amp;" * number}">a</a>{"&amp;" * 6000}'), None, (), ParseLimits())
        assert (len(got.files), bool(got.html)) == (files, not files)


COSTLY = ["<b></b>" * 10_000, "<div>" * 501, f'<img src="data:image/png;base64,{"A" * 600_000}">', f"<p {'a ' * 5001}>"]


@pytest.mark.parametrize("costly", COSTLY)
def test_of_html_that_is_too_costly_to_parse_the_text_is_read_and_the_rest_is_a_file(costly: str) -> None:
    body = (
        "<!DOCTYPE html><title>t</title><STYLE>p{}</style ><!-- <p>no --><p>Hello&nbsp;<b>you</b><BR/>a < b &amp;\n c&#13;</p>"
        f"<script>if (a </script>{costly}<p>Bye<!-- "
    )
    got = read(html(body))
    assert (got.text, got.html) == ("Hello you\na < b & c\n\nBye", "")
    assert [(each.media_type, each.octets) for each in got.files] == [("text/html", body.encode())]
    _whole(got)
    beside = read(join_parts(b"--b\n\nplain\n--b\nContent-Type: text/html\n\n" + body.encode() + b"\n--b--\n"))
    assert (beside.text, len(beside.files)) == ("plain", 1)


@pytest.mark.parametrize(("costly", "why"), [("<div>" * 501, "without any text"), ("<p>words " * 200_000, "text is too long")])
def test_a_mail_whose_costly_html_gives_no_text_is_refused(costly: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(html(costly))


def test_text_and_html_beside_each_other_and_files_are_told_apart() -> None:
    parts = (
        b"--b\nContent-Type: multipart/alternative; boundary=c\n\n--c\n\nplain\n--c\nContent-Type: text/html\n\n<p>rich</p>\n--c--\n"
        b'--b\nContent-Type: text/plain; name="notes.txt"\n\nnotes\n'
        b"--b\nContent-Type: image/png\nContent-Disposition: inline; filename*=utf-8''..%2F..%2Fgr%C3%BCn.png\n"
        b"Content-Transfer-Encoding: base64\n\niVBORw==\n--b\nContent-Type: message/rfc822\n\nSubject: inner\n\nBody\n--b--\n"
    )
    got = read(join_parts(parts))
    assert (got.text, got.html) == ("plain", "<p>rich</p>")
    assert [(each.name, each.media_type, each.octets) for each in got.files] == [
        ("notes.txt", "text/plain", b"notes"),
        ("grün.png", "image/png", b"\x89PNG"),
        ("", "message/rfc822", b"Subject: inner\n\nBody"),
    ]


@pytest.mark.parametrize(
    "header",
    [
        {"Auto_Submitted": "auto-replied; x=y"},
        {"Precedence": "Bulk"},
        {"List_Id": "<x.example>"},
        {"List_Unsubscribe": "<https://x.example>"},
        {"X_Autoreply": "yes"},
    ],
)
def test_what_a_machine_wrote_is_known(header: dict[str, str]) -> None:
    got = read(mail(**header), "who@b.example")
    assert (got.automatic, got.bounce) == (True, False)
    assert not read(mail(Auto_Submitted="no"), "who@b.example").automatic


def test_a_bounce_says_which_mails_came_back() -> None:
    report = (
        b"--b\n\nIt could not be delivered.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nAction: failed\n"
        b"--b\nContent-Type: text/rfc822-headers\n\nSubject: Hello\nMessage-ID: <ours@lindenhof.example>\n--b--\n"
    )
    got = read(mail(report, Content_Type="multipart/report; report-type=delivery-status; boundary=b"), "mailer-daemon@b.example")
    assert (got.automatic, got.bounce, got.bounced_ids) == (True, True, ("<ours@lindenhof.example>",))
    old = read(mail("Sorry.\n\n--- Below is a copy:\nMessage-Id: <old@lindenhof.example>\n"), "")
    assert (old.automatic, old.bounce, old.bounced_ids) == (True, True, ("<old@lindenhof.example>",))
    receipt = read(
        mail("--b\n\nread\n--b--", Content_Type="multipart/report; report-type=disposition-notification; boundary=b"), "a@b.example"
    )
    assert not receipt.bounce


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("a@b.example", [("", "a@b.example")]),
        ('"unterminated <a@b.example>', [("unterminated", "a@b.example")]),
        ('"a, b" <c@d.example>, e@f.example', [("a, b", "c@d.example"), ("", "e@f.example")]),
        ("(one (two) \\( three) a@b.example", [("one (two) \\( three", "a@b.example")]),
        ("<@relay.example,@other.example:a@b.example>", [("", "a@b.example")]),
        ("Nobody <>, root, @b.example, a@, <a b@c.example>", []),
        ("undisclosed-recipients:;", []),
        ("=?utf-8?q?a=2C_b?= <c@d.example>", [("a, b", "c@d.example")]),
        ("Jörg <j@b.example>", [("Jörg", "j@b.example")]),
    ],
)
def test_addresses_are_found_in_what_people_and_programs_write(written: str, read_as: list[tuple[str, str]]) -> None:
    as_kept = written.encode().decode("ascii", "surrogateescape")
    assert [(each.name, each.address) for each in header_parser.parse_addresses(as_kept, 100)] == read_as


def test_octets_that_are_no_ascii_are_read_as_what_they_most_likely_are() -> None:
    assert read(mail("Grüße".encode("latin-1"))).text == "Grüße"
    assert read(mail("Grüße", Content_Type="text/plain; charset=us-ascii")).text == "Grüße"
    assert read(mail("Привет".encode("koi8-r"), Content_Type="text/plain; charset=KOI8-R")).text == "Привет"
    assert read(mail("Grüße", Content_Type="text/plain; charset=unicode_escape")).text == "Grüße"
    assert read(b"Subject: Gr\xfc\xdfe\nFrom: j\xf6rg <a@b.example>\n\nx").subject == "Grüße"


def test_a_zip_bomb_stays_what_it_is() -> None:
    octets = zip_bomb(50_000_000)
    (file,) = read(octets).files
    assert file.name == "a.zip" and file.octets.startswith(b"PK") and len(file.octets) < len(octets)


def _seconds(letter: Callable[[int], bytes], size: int) -> float:
    octets = letter(size)

    def once() -> float:
        start = process_time()
        read(octets)
        return process_time() - start

    return min(once() for _each in range(4))


@pytest.mark.parametrize("name", GROWING)
def test_sixteen_times_the_mischief_is_nowhere_near_256_times_the_work(name: str) -> None:
    small, large = _seconds(GROWING[name], 200), _seconds(GROWING[name], 3200)
    assert large / max(small, 0.0003) < 90, f"{small * 1000:.2f} ms became {large * 1000:.2f} ms"


def _whole(got: ReceivedMail) -> None:
    """Fail unless the mail survives packing, and holds nothing that the database or pages must not get."""
    words, octets = ipc_codec.pack_mail(got)
    assert ipc_codec.parse_file_sizes(words) == [len(each) for each in octets]
    assert ipc_codec.unpack_mail(words, octets) == got
    for text in (
        got.text,
        got.subject,
        got.html,
        got.message_id,
        *(each.name for each in got.files),
        *(each.address for each in got.recipients),
    ):
        assert "\0" not in text and "\r" not in text
    assert "\n" not in got.subject and "<script" not in got.html.lower() and "<img" not in got.html.lower()


@pytest.mark.parametrize("name", BREAKING)
def test_whatever_was_made_to_break_it_is_read_or_refused_with_a_reason(name: str) -> None:
    for size in (1, 30, 1000):
        try:
            _whole(read(BREAKING[name](size)))
        except Unreadable as why:
            assert why.reason.endswith(".")


def test_the_mails_that_cpython_ships_are_all_read_or_refused() -> None:
    if not SHIPPED.is_dir():
        pytest.skip(f"this Python ships no test messages ({SHIPPED})")
    files = [each for each in sorted(SHIPPED.iterdir()) if each.is_file()]
    assert len(files) >= 40
    for each in files:
        _whole(read(each.read_bytes(), ""))


SEEDS = [
    mail("Hallo", To="a@b.example", Content_Type="text/plain; charset=utf-8"),
    join_parts(b'--b\nContent-Type: text/html\n\n<p>x</p>\n--b\nContent-Type: image/png; name="=?utf-8?q?a?="\n\nx\n--b--\n'),
    mail("--b\n\nx\n--b\nContent-Type: message/delivery-status\n\nA: b\n--b--", Content_Type="multipart/report; boundary=b"),
]
SNIPPETS = st.sampled_from(
    [b"\n", b"\r", b"\r\n\r\n", b"\0", b'"', b"(", b"<", b"=?", b"?=", b"--b", b";", b":", b"*0*=", b"''", b"\xff", b" ", b"%"]
)


@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 300), st.integers(0, 8), st.binary(max_size=6) | SNIPPETS), max_size=12))
def test_mutated_mails_are_read_or_refused(seed: bytes, cuts: list[tuple[int, int, bytes]]) -> None:
    octets = seed
    for at, gone, put in cuts:
        octets = octets[:at] + put + octets[at + gone :]
    try:
        _whole(read(octets, None, "support@lindenhof.example"))
    except Unreadable as why:
        assert why.reason.endswith(".")


@given(st.binary(max_size=200), st.lists(st.binary(max_size=4), max_size=3))
def test_no_answer_of_a_child_is_believed_beyond_what_was_agreed(words: bytes, octets: list[bytes]) -> None:
    for ask in (lambda: ipc_codec.parse_file_sizes(words), lambda: ipc_codec.unpack_mail(words, octets)):
        with pytest.raises((ValueError, KeyError, IndexError, TypeError, Unreadable)):
            ask()
