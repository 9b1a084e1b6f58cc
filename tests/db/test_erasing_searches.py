"""Erasing a member reads each mail once, whatever the number of their addresses, and one process erases at a time."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.desk.lifecycle import due
from apps.inbound_mail.models import Arrival
from apps.inbound_mail.retention_sweep import erase_mails_of_addresses
from apps.inbound_mail.services import store_arrival
from apps.mail.models import Message
from apps.mail.retention_sweep import erase_old_mail_content, forget_mails
from apps.members.models import Member
from tests import factories
from tests.db.locks import hold_lock_elsewhere

pytestmark = pytest.mark.django_db

EMAIL, FORMER = "xaver@lindenhof.example", "xaver@former.example"
NOBODY = "nobody@erased.invalid"


def write_ended(number: int, **given: object) -> Message:
    """Write a mail to somebody else that was sent yesterday."""
    values = {"to": "staff@lindenhof.example", "sender": "portal@lindenhof.example", "subject": "Hello", "language": "en"}
    ended = {"message_id": f"<{number}@here>", "state": "sent", "ended": timezone.now() - timedelta(days=1)}
    return Message.objects.create(**(values | ended | given))


def arrive(octets: bytes, **given: object) -> Arrival:
    return store_arrival(octets=octets, way=Arrival.Way.LMTP, recipients=["staff@lindenhof.example"], **({"sender": EMAIL} | given))  # type: ignore[arg-type]  # mixed types


def list_contents() -> list[tuple[str, str]]:
    return list(Message.objects.order_by("pk").values_list("subject", "text"))


def test_mails_to_others_lose_an_address_in_text_and_subject_also_after_their_content_was_erased() -> None:
    write_ended(1, text=f"Ask {EMAIL.upper()}.")
    write_ended(2, subject=f"{FORMER} is new", text="Look.")
    write_ended(3, subject=f"Of {EMAIL}", text="Look.")
    assert erase_old_mail_content(timezone.now(), 10) == 3
    write_ended(4, text=f"Ask {FORMER}.", html=f"<p>{FORMER}")
    write_ended(5, subject=f"Of {EMAIL}", text="Look.")
    write_ended(6, text="Nobody is meant.")
    forget_mails(factories.member(), [EMAIL, FORMER], instead=NOBODY)
    assert list_contents() == [("Hello", ""), ("–", ""), ("–", ""), ("–", ""), ("–", ""), ("Hello", "Nobody is meant.")]
    assert not Message.objects.exclude(html="").exists()


def test_no_mail_is_erased_for_somebody_without_an_address() -> None:
    write_ended(1, text="Look.")
    arrive(b"From: nobody\n\nHello\n")
    for addresses in (list[str](), [""]):
        forget_mails(factories.member(), addresses, instead=NOBODY)
        erase_mails_of_addresses(addresses)
    assert list_contents() == [("Hello", "Look.")] and Arrival.objects.get().octets is not None


def test_all_addresses_of_a_member_are_searched_in_the_same_queries() -> None:
    member = factories.member()
    counts = []
    for addresses in ([EMAIL], [EMAIL, FORMER, "Xaver@Third.example"]):
        with CaptureQueriesContext(connection) as made:
            forget_mails(member, addresses, instead=NOBODY)
            erase_mails_of_addresses(addresses)
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_the_octets_of_a_mail_are_read_once_for_an_address() -> None:
    rows = [
        arrive(f"From: other\n\nAsk {EMAIL}\n".encode(), sender="other@lindenhof.example", reason="looked at by hand"),
        arrive(b"From: me\n\nHello\n", sender=EMAIL.upper(), reason="looked at by hand"),
        arrive(b"From: other\n\nAsk Xaver@Third.example\n", sender="other@lindenhof.example", reason="looked at by hand"),
        arrive(b"From: other\n\nHello\n", sender="other@lindenhof.example", reason="looked at by hand"),
        arrive(f"From: new\n\nAsk {EMAIL}\n".encode(), sender="new@lindenhof.example"),
    ]
    with CaptureQueriesContext(connection) as made:
        erase_mails_of_addresses([EMAIL, "Xaver@Third.example"])
    assert sum(each["sql"].count("POSITION(") for each in made) == 3, "two forms of an address with capitals"
    left = Arrival.objects.in_bulk()
    assert [(left[row.pk].state, left[row.pk].octets is None) for row in rows] == [("deleted", True)] * 3 + [
        ("quarantined", False),
        ("waiting", False),
    ]


def test_what_is_due_beside_an_erasure_is_carried_out_and_the_erasing_left_to_the_other(
    network: factories.Network, settings: LazySettings
) -> None:
    settings.ERASE_DAYS = 3
    left = [factories.member(f"Gone {number}", state="left") for number in range(2)]
    now = timezone.now() + timedelta(days=15)
    with hold_lock_elsewhere("members_member.erased_at"), CaptureQueriesContext(connection) as made:
        due.carry_out_due_changes(now)
    assert sum("pg_try_advisory_xact_lock" in each["sql"] for each in made) == 1
    erased = Member.objects.filter(pk__in=[each.pk for each in left]).exclude(erased_at=None)
    assert not erased.exists()
    due.carry_out_due_changes(now)
    assert erased.count() == 2
