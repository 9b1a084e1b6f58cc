"""Large tables of people: a worker checks and imports them, once, or not at all; the page shows how far it is."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.desk.people_import import background, uploads
from apps.desk.people_import.progress import ImportProgress, ImportStopped
from apps.desk.people_import.tables import SheetRow
from apps.lib.database.row_lease import keep_lease
from apps.lib.errors import Problem
from apps.members import retention
from apps.members.models import Member, PeopleUpload, Tariff
from tests import factories
from tests.db.page_client import HTMX, list_messages, signed_in, text
from tests.db.test_people_import_page import get_path, upload
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE = b"Name;E-mail\nAda;a@x.example\nBo;b@x.example\nCleo;c@x.example\n"
State = PeopleUpload.State


@pytest.fixture
def mara(monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(uploads, "MOST_PAGE_ROWS", 2)
    Tariff.objects.create(name="Standard")
    return factories.user()


def make_upload(mara: User, **columns: Any) -> PeopleUpload:
    """Return a table that waits to be imported, or has these values."""
    made = uploads.save_upload(name="people.csv", content=PEOPLE, create_rooms=False, by=mara)
    assert background.request_check(made) and background.work_on_upload(made.pk)
    made.refresh_from_db()
    assert background.request_import(made, choice=uploads.encode_choice(made))
    PeopleUpload.objects.filter(pk=made.pk).update(**columns)
    made.refresh_from_db()
    return made


def work(client: Client, path: str) -> Any:
    """Let a worker do what waits, and return the page."""
    [due] = background.list_due_uploads()
    assert background.work_on_upload(due)
    return client.get(path)


def test_a_large_table_is_checked_and_imported_by_a_worker(mara: User) -> None:
    client = signed_in(mara)
    page = upload(client, PEOPLE)
    path = get_path(page)
    assert "This table waits for a worker." in text(page)
    assert b"<html" not in client.get(path, headers=HTMX).content
    checked = work(client, path)
    assert "Import 3 members" in text(checked) and not Member.objects.exists()
    assert client.get(path, headers=HTMX).headers["HX-Refresh"] == "true"
    sent = {"choice": checked.context["choice"]}
    assert "This table waits for a worker." in text(client.post(path, sent, follow=True))
    assert "3 members were imported." in text(work(client, path))
    assert Member.objects.count() == 3
    client.post(path, sent)
    assert background.list_due_uploads() == []


def test_a_table_of_a_lost_worker_is_taken_again_and_imported_once(mara: User) -> None:
    ago = timezone.now() - timedelta(seconds=1)
    lost = make_upload(mara, state=State.RUNNING, claim=uuid4(), claimed_until=ago)
    assert background.list_due_uploads() == [lost.pk]
    assert [background.work_on_upload(lost.pk) for _time in range(2)] == [True, False]
    assert Member.objects.count() == 3
    lost.refresh_from_db()
    assert (lost.state, lost.claim, lost.lines, bytes(lost.content)) == (State.IMPORTED, None, 3, b"")


def test_a_table_that_another_worker_has_is_not_taken(mara: User) -> None:
    taken = make_upload(mara, state=State.RUNNING, claim=uuid4(), claimed_until=timezone.now() + timedelta(minutes=1))
    assert not background.work_on_upload(taken.pk) and background.list_due_uploads() == []


def test_a_worker_that_lost_the_lease_writes_nothing(mara: User) -> None:
    taken = make_upload(mara, state=State.RUNNING, claim=uuid4(), claimed_until=timezone.now() + timedelta(minutes=1))
    with pytest.raises(ImportStopped):
        background._import(taken, uuid4(), ImportProgress())
    assert not Member.objects.exists()
    assert PeopleUpload.objects.get().state == State.RUNNING


def test_a_table_that_keeps_killing_workers_is_given_up(mara: User) -> None:
    ago = timezone.now() - timedelta(seconds=1)
    deadly = make_upload(mara, state=State.RUNNING, claim=uuid4(), claimed_until=ago, tries=background.MOST_TRIES)
    assert background.work_on_upload(deadly.pk)
    assert "Several workers ended while they read this table." in text(signed_in(mara).get(f"/members/import/{deadly.pk}/"))
    assert background.list_due_uploads() == [] and not Member.objects.exists()


def test_cancelled_work_is_not_begun_and_the_table_can_be_checked_again(mara: User) -> None:
    client = signed_in(mara)
    path = get_path(upload(client, PEOPLE))
    assert "The check was cancelled." in text(client.post(path, {"cancel": ""}, follow=True))
    assert background.list_due_uploads() == []
    assert list_messages(client.post(path, {"cancel": ""}, follow=True)) == ["It had ended before it was cancelled."]
    client.post(path, {"meaning": ["name", "email"]})
    assert "Import 3 members" in text(work(client, path))


def test_a_cancelled_import_stops_in_its_midst_and_can_be_confirmed_again(mara: User) -> None:
    running = make_upload(mara, state=State.RUNNING, claim=(claim := uuid4()), claimed_until=timezone.now() + timedelta(minutes=1))
    progress = ImportProgress()
    with keep_lease(PeopleUpload, running.pk, claim, every=0.01, read_columns=progress.to_columns) as lost:
        progress.stopped = lost
        progress.report(2, 9)
        wait_for(lambda: PeopleUpload.objects.get().done == 2)
        assert "2 of 9 rows are written" in text(signed_in(mara).get(f"/members/import/{running.pk}/"))
        assert background.cancel_work(running)
        wait_for(lost.is_set)
        with pytest.raises(ImportStopped):
            list(progress.iter_counted_rows(SheetRow(line, ()) for line in range(500)))
    assert "Import 3 members" in text(signed_in(mara).get(f"/members/import/{running.pk}/"))


def test_a_large_table_that_has_problems_by_now_is_not_imported(mara: User) -> None:
    waiting = make_upload(mara)
    factories.member("Other", number=1, email="a@x.example")
    factories.member("Another", number=2, email="a@x.example")
    assert background.work_on_upload(waiting.pk)
    assert "The table has 1 problem." in text(signed_in(mara).get(f"/members/import/{waiting.pk}/"))
    assert Member.objects.count() == 2


def test_what_cannot_be_read_fails_with_the_reason_in_the_language_of_the_person(mara: User) -> None:
    path = get_path(upload(signed_in(mara), PEOPLE + b'Dora;d@x.example\n"'))
    PeopleUpload.objects.update(language="de")
    assert "Zeile 6: " in text(work(signed_in(mara), path))


def test_tables_that_wait_are_bounded_and_kept(mara: User) -> None:
    client = signed_in(mara)
    for _each in range(uploads.MOST_UPLOADS):
        upload(client, PEOPLE)
    assert len(background.list_due_uploads()) == uploads.MOST_UPLOADS
    with pytest.raises(Problem, match="wait for a worker already"):
        uploads.save_upload(name="", content=PEOPLE, create_rooms=False, by=mara)


def test_a_table_is_not_pruned_while_a_worker_has_it(mara: User) -> None:
    now = timezone.now()
    make_upload(mara, state=State.RUNNING, claim=uuid4(), claimed_until=now + timedelta(days=3), created=now)
    for days, pruned in ((0, 0), (2, 0), (4, 1)):
        assert retention.prune_uploads(now + timedelta(days=days), 10) == pruned
