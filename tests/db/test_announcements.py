"""Announcements from draft to withdrawal: published once, one mail for each member whoever dies, shown to whom they reached."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from apps.accounts.models import User
from apps.announcements import mailing, own_announcements, services
from apps.announcements.models import Announcement, AnnouncementRecipient
from apps.announcements.selectors import count_deliveries
from apps.announcements.services import AnnouncementFacts
from apps.bans.blocks.services import block_member
from apps.lib.errors import Conflict, Problem
from apps.mail import delivery
from apps.mail.models import Message
from apps.mail.services import switch_notice_off, write_mail
from apps.members.models import Member, Tariff
from tests import announcement_factories, factories
from tests.announcement_factories import GERMAN, TEXT, TITLE
from tests.db.locks import end_waiting, waiting
from tests.whole.system import wait_for
from workers.announcements import send_announcements

DAY = timedelta(days=1)


@pytest.fixture
def mara(db: None) -> User:
    return factories.user()


@pytest.fixture
def people(mara: User) -> list[Member]:
    """Three members with an address, of whom the first reads German, and one without."""
    given = [("Aylin", "aylin@lindenhof.example", "de"), ("Ben", "ben@lindenhof.example", "en"), ("Cora", "cora@lindenhof.example", "en")]
    return [factories.member(name, email=email, language=language) for name, email, language in [*given, ("Dan", "", "en")]]


def mails() -> QuerySet[Message]:
    return Message.objects.filter(notice="announcements").order_by("pk")


def send(at: datetime | None = None) -> int:
    return mailing.write_pending_mails(at or timezone.now())


def list_deliveries(row: Announcement) -> dict[str, str]:
    return dict(row.recipients.values_list("member__name", "delivery"))


def list_own(member: Member, at: datetime | None = None) -> list[str]:
    """Return the titles on top of the member's page."""
    return [each.words.title for each in own_announcements.list_unseen_announcements(member, at or timezone.now())]


def mark_sent(rows: QuerySet[Message]) -> None:
    rows.update(state=Message.State.SENT, tries=1, ended=timezone.now())


# --- Drafts


@pytest.mark.parametrize(
    ("facts", "field", "why"),
    [
        ({"title_en": " ", "text_en": ""}, "title_en", "at least one language"),
        ({"title_en": "Only a title"}, "text_en", "title and text"),
        ({"title_de": "Nur ein Titel", "text_de": " \n"}, "text_de", "title and text"),
        ({"title_en": "x" * 201, "text_en": "y"}, "title_en", "at most 200"),
        ({"title_en": "x", "text_en": "y" * 10_001}, "text_en", "at most 10,000"),
        ({"shown_until": timezone.now() - DAY}, "shown_until", "end after the beginning"),
        ({"shown_from": timezone.now() + 9 * DAY}, "shown_until", "end after the beginning"),
        ({"shown_until": timezone.now() + 300 * 366 * DAY}, "shown_until", "too far away"),
    ],
)
def test_what_nobody_could_read_is_not_saved(mara: User, facts: dict[str, Any], field: str, why: str) -> None:
    with pytest.raises(Problem, match=why) as refused:
        announcement_factories.draft(mara, **facts)
    assert refused.value.fieldname == field and not Announcement.objects.exists()


@pytest.mark.parametrize(
    ("values", "constraint"),
    [
        ({"text_en": ""}, "announcement_english_is_whole"),
        ({"title_de": "Titel"}, "announcement_german_is_whole"),
        ({"title_en": "", "text_en": ""}, "announcement_says_something"),
        ({"shown_from": timezone.now() + 8 * DAY}, "announcement_until_after_from"),
        ({"state": "published"}, "announcement_state"),
        ({"state": "gone"}, "announcement_state"),
        ({"published": timezone.now()}, "announcement_state"),
        ({"narrowed_by": ["planets"], "audience": "Mars"}, "announcement_audience_kinds"),
        ({"narrowed_by": ["sites"]}, "announcement_audience_is_named"),
    ],
)
def test_the_database_refuses_contradictions(mara: User, values: dict[str, Any], constraint: str) -> None:
    row = announcement_factories.draft(mara)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Announcement.objects.filter(pk=row.pk).update(**values)


def test_a_draft_that_somebody_else_changed_is_not_overwritten(mara: User, people: list[Member]) -> None:
    row = announcement_factories.draft(mara)
    facts = AnnouncementFacts(shown_until=timezone.now() + DAY, title_en="New", text_en="Text")
    changed = services.change_draft(announcement=row, version=row.version, facts=facts, by=mara)
    assert (changed.title_en, changed.version) == ("New", row.version + 1)
    with pytest.raises(Conflict):
        services.change_draft(announcement=row, version=row.version, facts=facts, by=mara)
    with pytest.raises(Conflict):
        services.publish_announcement(announcement=row, version=row.version, members=4, by=mara)
    assert not AnnouncementRecipient.objects.exists()


def test_what_is_published_is_neither_changed_nor_removed_nor_published_again(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara)
    facts = AnnouncementFacts(shown_until=timezone.now() + DAY, title_en="New", text_en="Text")
    with pytest.raises(Conflict):
        services.change_draft(announcement=row, version=row.version, facts=facts, by=mara)
    with pytest.raises(Conflict):
        services.remove_draft(announcement=row, by=mara)
    with pytest.raises(Conflict):
        services.publish_announcement(announcement=row, version=row.version, members=4, by=mara)
    assert (Announcement.objects.get().title_en, row.recipients.count()) == (TITLE, 4)


def test_a_draft_is_removed_without_a_trace_for_members(mara: User, people: list[Member]) -> None:
    services.remove_draft(announcement=announcement_factories.draft(mara), by=mara)
    assert not Announcement.objects.exists() and list_own(people[0]) == []


def test_only_as_many_as_were_confirmed_are_reached(mara: User, people: list[Member]) -> None:
    row = announcement_factories.draft(mara)
    factories.member("Eve")
    with pytest.raises(Conflict, match="would reach 5 members now, not 4"):
        services.publish_announcement(announcement=row, version=row.version, members=4, by=mara)
    assert Announcement.objects.get().state == "draft" and not AnnouncementRecipient.objects.exists()


def test_one_that_reaches_nobody_or_is_past_is_not_published(mara: User) -> None:
    row = announcement_factories.draft(mara)
    with pytest.raises(Problem, match="no active member"):
        services.publish_announcement(announcement=row, version=row.version, members=0, by=mara)
    Announcement.objects.update(shown_until=timezone.now() - DAY)
    with pytest.raises(Problem, match="end is past"):
        services.publish_announcement(announcement=row, version=row.version, members=0, by=mara)


# --- Mail


def test_each_member_gets_one_mail_in_their_language(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara, title_en=TITLE, text_en=TEXT, **GERMAN)
    assert mails().count() == 0, "a worker writes them"
    send_announcements()
    send_announcements()
    assert [(each.to, each.language, each.subject) for each in mails()] == [
        ("aylin@lindenhof.example", "de", "Donnerstag kein Wasser"),
        ("ben@lindenhof.example", "en", TITLE),
        ("cora@lindenhof.example", "en", TITLE),
    ]
    german, english = mails()[0], mails()[1]
    assert "Von 9 bis 11 Uhr." in german.text and "Alle Bekanntmachungen:" in german.text and "/me/announcements/" in german.text
    assert '<a href="https://lindenhof.example/water" rel="nofollow">https://lindenhof.example/water</a>' in english.html
    assert english.unsubscribe and english.bulk and english.about_id == people[1].pk
    assert list_deliveries(row) == {"Aylin": "written", "Ben": "written", "Cora": "written", "Dan": "no_address"}


def test_who_reads_the_other_language_gets_the_text_that_is_there(mara: User, people: list[Member]) -> None:
    announcement_factories.publish(mara)
    send()
    german = mails().get(language="de")
    assert german.subject == TITLE and '<div lang="en">' in german.html and "Alle Bekanntmachungen" in german.text


def test_markup_in_a_text_stays_text(mara: User, people: list[Member]) -> None:
    announcement_factories.publish(
        mara, title_en="<b>x</b>", text_en='<script>alert(1)</script> "https://a.example/?<x>" javascript:alert(1)'
    )
    send()
    html = mails()[0].html
    assert "<script>alert" not in html and "&lt;script&gt;" in html and 'href="javascript' not in html


def test_without_mail_it_stands_on_the_pages_only(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara, by_mail=False)
    assert send() == 0 and set(list_deliveries(row).values()) == {"page"} and list_own(people[0]) == [TITLE]


def test_who_switched_it_off_left_or_has_no_valid_address_gets_no_mail_and_the_reason_is_kept(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara)
    switch_notice_off(address="AYLIN@lindenhof.example", notice="announcements")
    Member.objects.filter(pk=people[1].pk).update(state=Member.State.LEFT)
    Member.objects.filter(pk=people[2].pk).update(email="cora at home")
    assert send() == 0 and mails().count() == 0
    assert list_deliveries(row) == {"Aylin": "unwanted", "Ben": "left", "Cora": "no_address", "Dan": "no_address"}


def test_a_member_whose_internet_access_or_account_is_blocked_is_told_all_the_same(mara: User, people: list[Member]) -> None:
    block_member(member=people[0], reason="abuse", by=mara)
    account = factories.user("ben", staff=False)
    Member.objects.filter(pk=people[1].pk).update(user=account)
    User.objects.filter(pk=account.pk).update(is_active=False)
    announcement_factories.publish(mara)
    assert send() == 3


def test_mails_wait_until_it_is_shown_and_are_not_written_after_its_end(mara: User, people: list[Member]) -> None:
    now = timezone.now()
    row = announcement_factories.publish(mara, shown_from=now + DAY, shown_until=now + 2 * DAY)
    assert send() == 0 and list_own(people[0]) == []
    assert send(now + 3 * DAY) == 0 and set(list_deliveries(row).values()) == {"stopped"}
    other = announcement_factories.publish(mara, shown_from=now + DAY, shown_until=now + 2 * DAY)
    assert send(now + 1.5 * DAY) == 3 and list_deliveries(other)["Ben"] == "written"
    assert list_own(people[0], now + 1.5 * DAY) == [TITLE, TITLE] and list_own(people[0], now + 2 * DAY) == []


def test_other_mails_leave_before_those_of_an_announcement(mara: User, people: list[Member]) -> None:
    announcement_factories.publish(mara)
    send()
    late = {"language": "en", "template": "test_mail", "context": {"name": "x"}}
    write_mail(to="usual@lindenhof.example", **late)  # type: ignore[arg-type]
    write_mail(to="urgent@lindenhof.example", urgent=True, **late)  # type: ignore[arg-type]
    now = timezone.now()
    assert [each.to for each in delivery.list_due_mails(now)][:3] == [
        "urgent@lindenhof.example", "usual@lindenhof.example", "aylin@lindenhof.example"
    ]  # fmt: skip
    claimed = [delivery.claim_mail(now) for _number in range(3)]
    assert [each.to for each in claimed if each] == ["urgent@lindenhof.example", "usual@lindenhof.example", "aylin@lindenhof.example"]


def test_the_outbox_is_filled_only_as_fast_as_it_is_emptied(mara: User, people: list[Member], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "MAX_UNSENT", 2)
    row = announcement_factories.publish(mara)
    assert (send(), send(), mails().count()) == (2, 0, 2)
    mails().filter(to="aylin@lindenhof.example").update(tries=1)  # greylisted: it waits, and holds up no other
    assert (send(), mails().count(), list_deliveries(row)["Dan"]) == (1, 3, "waiting")
    mark_sent(mails())
    assert send() == 0 and list_deliveries(row)["Dan"] == "no_address"
    assert (count_deliveries(row).sent, count_deliveries(row).mails) == (3, 3)


def test_a_mail_that_was_written_before_is_not_written_again(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara)
    send()
    row.recipients.update(delivery="waiting", message=None)  # as if it had been forgotten
    send()
    assert (mails().count(), row.recipients.exclude(message=None).count()) == (3, 3)
    with pytest.raises(IntegrityError, match="announcement_reaches_once"), transaction.atomic():
        AnnouncementRecipient.objects.create(announcement=row, member=people[0], delivery="waiting")


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_dies_in_the_middle_of_a_batch_has_written_nothing_and_the_next_writes_all_once() -> None:
    mara = factories.user()
    for number in range(3):
        factories.member(f"Number {number}", email=f"m{number}@lindenhof.example")
    row = announcement_factories.publish(mara)
    with ThreadPoolExecutor(1) as worker:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE mail_message IN SHARE MODE")  # the worker reads on, and stops where it writes
            dying = worker.submit(run_and_close)
            wait_for(lambda: waiting() == 1)
            end_waiting()
            assert isinstance(dying.exception(timeout=60), OperationalError)
        assert (mails().count(), set(list_deliveries(row).values())) == (0, {"waiting"})
        assert worker.submit(run_and_close).result() == 3
    assert Counter(mails().values_list("to", flat=True)) == {f"m{number}@lindenhof.example": 1 for number in range(3)}


@pytest.mark.django_db(transaction=True)
def test_workers_that_run_at_once_write_each_mail_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailing, "MAX_UNSENT", 7)
    mara = factories.user()
    for number in range(40):
        factories.member(f"Number {number}", email=f"m{number}@lindenhof.example")
    announcement_factories.publish(mara)

    def work(_number: int) -> None:
        try:
            while AnnouncementRecipient.objects.filter(delivery="waiting").exists():
                send()
                mark_sent(mails().filter(state="waiting"))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as workers:
        list(workers.map(work, range(4)))
    assert Counter(mails().values_list("to", flat=True)) == {f"m{number}@lindenhof.example": 1 for number in range(40)}


def run_and_close() -> int:
    """Run as a worker does, with a connection of its own."""
    try:
        return send()
    finally:
        connection.close()


def test_writing_many_mails_takes_as_many_queries_as_writing_few(mara: User, people: list[Member]) -> None:
    def count_queries() -> int:
        announcement_factories.publish(mara)
        with CaptureQueriesContext(connection) as captured:
            send()
        return len(captured)

    few = count_queries()
    for number in range(30):
        factories.member(f"Number {number}", email=f"m{number}@lindenhof.example")
    assert count_queries() == few < 16


# --- Withdrawal


def test_a_withdrawn_one_disappears_and_its_unsent_mails_are_stopped(
    mara: User, people: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailing, "MAX_UNSENT", 2)
    row = announcement_factories.publish(mara)
    send()
    mark_sent(mails().filter(to="aylin@lindenhof.example"))
    assert services.withdraw_announcement(announcement=row, by=mara) == 3  # one in the outbox, two not written
    assert (send(), dict(mails().values_list("to", "state"))) == (
        0, {"aylin@lindenhof.example": "sent", "ben@lindenhof.example": "discarded"}
    )  # fmt: skip
    assert list_own(people[0]) == [] and not own_announcements.list_reached_announcements(people[0], timezone.now()).exists()
    found = count_deliveries(row)
    assert (found.mails, found.sent, found.discarded, found.stopped, found.unsent) == (2, 1, 1, 2, 0)
    with pytest.raises(Conflict):
        services.withdraw_announcement(announcement=row, by=mara)
    with pytest.raises(Conflict):
        services.withdraw_announcement(announcement=announcement_factories.draft(mara), by=mara)


def test_a_mail_that_is_being_sent_is_not_stopped(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara)
    send()
    assert delivery.claim_mail(timezone.now()) is not None
    assert services.withdraw_announcement(announcement=row, by=mara) == 2
    assert mails().filter(state="waiting").count() == 1


# --- Members


def test_it_is_shown_in_the_language_of_the_page_until_the_member_has_seen_it(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara, title_en=TITLE, text_en=TEXT, **GERMAN)
    with translation.override("de"):
        assert list_own(people[0]) == ["Donnerstag kein Wasser"]
    assert list_own(people[0]) == [TITLE]
    assert own_announcements.mark_announcement_seen(member=people[0], announcement=row.pk)
    first = row.recipients.get(member=people[0]).seen
    assert own_announcements.mark_announcement_seen(member=people[0], announcement=row.pk)
    assert row.recipients.get(member=people[0]).seen == first
    assert list_own(people[0]) == [] and list_own(people[1]) == [TITLE]
    assert own_announcements.list_reached_announcements(people[0], timezone.now()).count() == 1


def test_the_top_of_the_page_has_room_for_three_and_for_the_beginning_of_a_long_text(mara: User, people: list[Member]) -> None:
    for number in range(4):
        announcement_factories.publish(mara, title_en=f"No. {number}", text_en=f"{'word ' * 138}https://lindenhof.example/{'x' * 80} end")
    assert list_own(people[0]) == ["No. 3", "No. 2", "No. 1"]
    first = own_announcements.list_unseen_announcements(people[0], timezone.now())[0]
    assert first.is_shortened and first.short_words.text.endswith("word …") and "https" not in first.short_words.text
    own_announcements.mark_announcement_seen(member=people[0], announcement=first.pk)
    assert list_own(people[0]) == ["No. 2", "No. 1", "No. 0"]


def test_a_text_of_one_endless_word_is_shortened_to_nothing_but_a_hint(mara: User, people: list[Member]) -> None:
    announcement_factories.publish(mara, title_en="Endless", text_en="x" * 2000)
    assert own_announcements.list_unseen_announcements(people[0], timezone.now())[0].short_words.text == "…"


def test_whom_it_does_not_reach_neither_sees_it_nor_marks_it(mara: User, people: list[Member]) -> None:
    other = factories.member("Eve", tariff=Tariff.objects.create(name="Family"))
    row = announcement_factories.publish(mara, tariffs=[people[0].tariff])
    assert list_own(other) == [] and not own_announcements.mark_announcement_seen(member=other, announcement=row.pk)


def test_who_comes_to_fit_the_audience_sees_it_too_and_gets_no_mail(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara)
    send_announcements()
    eve = factories.member("Eve", email="eve@lindenhof.example")
    send_announcements()
    send_announcements()
    assert list_own(eve) == [TITLE] and mails().count() == 3
    assert (count_deliveries(row).reached, count_deliveries(row).late, row.reached) == (5, 1, 4)


def test_nobody_came_late_to_what_is_only_on_the_page_but_those_who_came_after_it(mara: User, people: list[Member]) -> None:
    row = announcement_factories.publish(mara, by_mail=False)
    assert (count_deliveries(row).reached, count_deliveries(row).late) == (4, 0)
    factories.member("Eve")
    send_announcements()
    assert (count_deliveries(row).reached, count_deliveries(row).late) == (5, 1)


def test_what_is_over_withdrawn_or_planned_reaches_no_newcomers(mara: User, people: list[Member]) -> None:
    now = timezone.now()
    announcement_factories.publish(mara, shown_from=now + DAY)
    over = announcement_factories.publish(mara)
    Announcement.objects.filter(pk=over.pk).update(shown_from=now - 2 * DAY, shown_until=now - DAY)
    services.withdraw_announcement(announcement=announcement_factories.publish(mara), by=mara)
    factories.member("Eve")
    assert mailing.reach_newcomers(now) == 0
    assert mailing.reach_newcomers(now + 2 * DAY) == 1
