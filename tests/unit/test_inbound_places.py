"""Sources of inbound mail: addresses from settings and command lines."""

import pytest

from apps.inbound_mail import lmtp
from apps.inbound_mail.imap_mailbox import parse_mailbox


@pytest.mark.parametrize("text", ["0.0.0.0:24", "192.0.2.1:24", "lmtp", "127.0.0.1", "[::1]:x", "127.0.0.1:70000"])
def test_no_stranger_may_bring_mail(text: str) -> None:
    with pytest.raises(ValueError, match="loopback"):
        lmtp.parse_place(text, 0o660)
    assert str(lmtp.parse_place("[::1]:2424", 0)) == "::1:2424"


def test_a_mailbox_is_named_by_an_address() -> None:
    box = parse_mailbox("imaps://netz%40x.example@imap.example/INBOX/Support", "secret")
    assert (box.user, box.host, box.port, box.tls, box.folder) == ("netz@x.example", "imap.example", 993, True, "INBOX/Support")
    assert "secret" not in repr(box)
    for wrong in ("pop3://a@b", "imaps://b", "imap.example"):
        with pytest.raises(ValueError, match="NETZWART_MAIL_IN_IMAP"):
            parse_mailbox(wrong, "")
