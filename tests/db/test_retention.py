"""Retention: every table has a bound, old rows are removed in steps, and one table whose pruning fails stops no other."""

from datetime import datetime, timedelta

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone
from pghistory.models import Event as HistoryEvent

from apps.deployments.models import RevisionContent
from apps.deployments.revision_pages import contents
from apps.events.models import Event
from apps.events.retention import prune_events
from apps.network.models import GatewayGroup
from apps.operations import pruning, registry
from apps.operations.models import JobRecord
from apps.operations.pruning import prune_all
from apps.operations.registry import TableBoundKind, list_retentions
from tests.old_rows import MAKERS, revisions

LONG_AGO = timedelta(days=4000)
PRUNERS = [each for each in list_retentions() if each.prune]
pytestmark = pytest.mark.django_db


def is_history(model: type) -> bool:
    """True if triggers write each change of another table into this one."""
    return issubclass(model, HistoryEvent)


def test_every_table_says_what_bounds_it_and_no_other_is_named() -> None:
    models = {model._meta.label for model in apps.get_models() if model._meta.managed and not model._meta.proxy and not is_history(model)}
    declared = {each.label for each in list_retentions()}
    assert models - declared == set(), "declare it in the module `retention` of its app"
    assert {label for label in declared - models if "." in label} == set()


def test_every_table_of_the_database_is_a_models_or_declared() -> None:
    known = {model._meta.db_table for model in apps.get_models(include_auto_created=True)} | {each.label for each in list_retentions()}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace"
        )
        there = {row[0] for row in cursor.fetchall()}
    assert there - known == {"django_migrations"}


def test_what_is_pruned_says_how_long_it_is_kept_and_by_whom() -> None:
    for each in list_retentions():
        if each.bound is TableBoundKind.PRUNED:
            assert each.kept and (each.prune or each.by), each.label


@pytest.mark.parametrize("retention", PRUNERS, ids=lambda each: each.label)
def test_every_pruner_removes_what_is_too_old_and_nothing_else(retention: registry.TableRetention) -> None:
    assert retention.prune
    MAKERS[retention.label](timedelta(0))
    there = MAKERS[retention.label](LONG_AGO)
    before = there.count()
    assert retention.prune(timezone.now(), 100) == 1
    assert there.count() == before - 1
    assert retention.prune(timezone.now(), 100) == 0


def test_a_backlog_is_removed_in_bounded_steps() -> None:
    Event.objects.all().delete()
    old = timezone.now() - LONG_AGO
    Event.objects.bulk_create([Event(kind="rollout", object_id=1, state="queued", at=old) for _ in range(7)])
    assert [prune_events(timezone.now(), 3) for _ in range(4)] == [3, 3, 1, 0]


def test_a_run_that_cannot_remove_everything_says_that_there_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "STEP", 2)
    monkeypatch.setattr(pruning, "SECONDS", 0.0)
    Event.objects.bulk_create([Event(kind="rollout", object_id=1, state="queued", at=timezone.now() - LONG_AGO) for _ in range(3)])
    assert prune_all(), "one step was taken, and the next run goes on"
    assert not prune_all()


def test_one_table_whose_pruning_fails_stops_no_other_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_now: datetime, _at_most: int) -> int:
        raise ValueError("the first line\nthe second")

    broken = registry.TableRetention("account.EmailConfirmation", TableBoundKind.PRUNED, "7 days", fail)
    monkeypatch.setitem(registry._registry, broken.label, broken)
    events = MAKERS["events.Event"](LONG_AGO)
    before = events.count()
    prune_all()
    assert events.count() == before - 1
    failed = JobRecord.objects.exclude(failing=None)
    assert [(job.name, job.error, job.failures) for job in failed] == [(broken.job, "ValueError: the first line", 1)]
    monkeypatch.undo()
    prune_all()
    assert not JobRecord.objects.exclude(failing=None).exists()


def test_contents_are_dropped_from_the_newest_on_so_that_what_is_left_can_be_read() -> None:
    group = GatewayGroup.objects.create(name="Group")
    kept = revisions(group, (True, False, False, True, False), LONG_AGO)
    assert contents.delete_old_contents(timezone.now(), 2) == 2
    assert list(RevisionContent.objects.order_by("pk").values_list("pk", flat=True)) == [kept[0].pk, kept[3].pk, kept[4].pk]
    assert contents.delete_old_contents(timezone.now(), 2) == 1
    assert contents.delete_old_contents(timezone.now(), 2) == 0


def test_every_hundredth_revision_is_kept_whole_counted_from_the_last_whole_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "WHOLE_EVERY", 3)
    kept = revisions(GatewayGroup.objects.create(name="Group"), (True, False, False, True, False, False), timedelta(0))
    assert [contents.is_whole_due(each) for each in kept] == [False] * 6
    assert contents.is_whole_due(revisions(kept[0].group, (True, False, False, False), timedelta(0))[3])


def test_a_hold_keeps_what_it_is_read_from_and_lets_what_is_older_go() -> None:
    group = GatewayGroup.objects.create(name="Group")
    kept = revisions(group, (True, True, False, True), LONG_AGO)
    group.holds.create(revision=kept[2], why="x")
    assert contents.delete_old_contents(timezone.now(), 9) == 1
    assert not contents.is_content_stored(kept[0]) and contents.is_content_stored(kept[1]) and contents.is_content_stored(kept[2])
