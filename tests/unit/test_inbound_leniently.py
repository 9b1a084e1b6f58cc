"""Mails that break the rules as real programs do, and how they are parsed."""

import pytest

from apps.inbound_mail import header_parser
from apps.inbound_mail.message import MailAddress, ReceivedMail
from apps.inbound_mail.parse_limits import ParseLimits
from apps.inbound_mail.parse_message import parse_mail
from tests.malformed_mail import join_parts, mail


def read(octets: bytes, sender: str | None = "who@b.example") -> ReceivedMail:
    return parse_mail(octets, sender, (), ParseLimits())


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("Test test@example.com", [MailAddress("Test", "test@example.com")]),
        ('"Brandt, Jonas" jonas@b.example', [MailAddress("Brandt, Jonas", "jonas@b.example")]),
        ("a@x.example b@x.example", []),
        ("jonas @ b.example", [MailAddress("", "jonas@b.example")]),
        ("jonas. brandt@b.example", []),
        ("jonas.brandt@b.example (Jonas), x", [MailAddress("Jonas", "jonas.brandt@b.example")]),
        ("Jonas Brandt", []),
    ],
)
def test_an_address_is_one_that_was_written(written: str, found: list[MailAddress]) -> None:
    assert list(header_parser.parse_addresses(written, 10)) == found
    assert read(mail(From=written)).sender == (found[0] if found else None)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (b"=?iso-8859-1?Q?Fr\xf6sche?=", "Frösche"),
        (b"=?utf-8?Q?Fr\xc3\xb6sche?=", "Frösche"),
        (b"=?us-ascii?Q?ABC / 123?=", "ABC / 123"),
        (b"=?unicode-1-1-utf-7?Q?N+APY-rnberg und F+APw-rth?=", "Nörnberg und Fürth"),
        (b"Fr\xf6sche =?utf-8?Q?und_=C3=84pfel?=", "Frösche und Äpfel"),
        (b"=?utf-8?B?R3LD vA==?= =?utf-8?q?=C3=9Fe?=", "Grüße"),
    ],
)
def test_encoded_words_are_read_as_other_programs_do(written: bytes, shown: str) -> None:
    assert read(b"Subject: " + written + b"\n" + mail(Subject="")).subject == shown
    sender = read(b"From: " + written + b" <a@b.example>\n" + mail(From="")).sender
    assert sender == MailAddress(shown, "a@b.example")


def test_a_text_with_a_name_is_the_text_where_there_is_no_other() -> None:
    named = mail("It bounced", Content_Type='text/plain; name="reason.txt"')
    assert (read(named).text, read(named).files) == ("It bounced", ())
    html = mail("<p>It bounced</p>", Content_Type='text/html; name="reason.html"')
    assert (read(html).text, read(html).files) == ("It bounced", ())
    attached = mail("notes", Content_Type='text/plain; name="notes.txt"', Content_Disposition="attachment")
    assert (read(attached).text, [each.name for each in read(attached).files]) == ("", ["notes.txt"])
    both = read(
        join_parts(b'--b\nContent-Type: text/plain; name="a.txt"\n\none\n--b\nContent-Type: text/plain; name="b.txt"\n\ntwo\n--b--\n')
    )
    assert (both.text, [each.name for each in both.files]) == ("one", ["b.txt"])


def test_a_bounce_shows_why() -> None:
    status = b"Reporting-MTA: dns; mx.b.example\n\nAction: failed\nDiagnostic-Code: smtp; 550 no such user\n"
    report = (
        b"--b\n\nSorry.\n--b\nContent-Type: message/delivery-status\n\n"
        + status
        + b"--b\nContent-Type: message/rfc822\n\nMessage-ID: <o@x>\n\n--b--\n"
    )
    got = read(mail(report, Content_Type="multipart/report; report-type=delivery-status; boundary=b"))
    assert got.bounce and got.text.startswith("Sorry.\n\nReporting-MTA") and "550 no such user" in got.text
    assert [each.media_type for each in got.files] == ["message/rfc822"] and got.bounced_ids == ("<o@x>",)


def test_headers_end_at_the_first_line_that_is_none() -> None:
    """Our mail server has verified no header after that line."""
    behind = b"From: Mara <mara@lindenhof.example>\nSubject: Behind\nAuthentication-Results: mx.lindenhof.example; dmarc=pass\n\nHello"
    got = parse_mail(b"Subject: Before\nno header at all\n" + behind, "eve@b.example", (), ParseLimits(), "mx.lindenhof.example")
    assert (got.sender, got.subject, got.authenticated) == (None, "Before", False)
    assert "no header at all" in got.text and "From: Mara" in got.text
