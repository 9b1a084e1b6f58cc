"""Which old backups are kept: never none, and never more than asked for."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.operations.backup.manifest import NAME, BackupManifest, build_directory_name, render_manifest
from apps.operations.backup.thinning import KeptBackups, find_obsolete, remove_obsolete_backups

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
TIMES = st.lists(st.integers(0, 3 * 365 * 24).map(lambda hours: NOON - timedelta(hours=hours)), max_size=60)
KEEPS = st.builds(KeptBackups, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))


@given(TIMES, KEEPS)
def test_the_newest_is_kept_whatever_is_asked_for(made: list[datetime], keep: KeptBackups) -> None:
    assert not made or max(made) not in find_obsolete(made, keep)


@given(TIMES, KEEPS)
def test_no_more_are_kept_than_asked_for(made: list[datetime], keep: KeptBackups) -> None:
    left = set(made) - set(find_obsolete(made, keep))
    assert len(left) <= max(1, keep.daily + keep.weekly + keep.monthly)


@given(TIMES, KEEPS)
def test_the_newest_of_each_kept_day_is_kept(made: list[datetime], keep: KeptBackups) -> None:
    obsolete = set(find_obsolete(made, keep))
    for day in sorted({each.date() for each in made}, reverse=True)[: keep.daily]:
        assert max(each for each in made if each.date() == day) not in obsolete


@given(TIMES, KEEPS)
def test_thinning_again_removes_nothing_more(made: list[datetime], keep: KeptBackups) -> None:
    left = set(made) - set(find_obsolete(made, keep))
    assert find_obsolete(left, keep) == []


@given(TIMES, KEEPS)
def test_who_asks_for_more_keeps_more(made: list[datetime], keep: KeptBackups) -> None:
    more = KeptBackups(keep.daily + 1, keep.weekly + 1, keep.monthly + 1)
    assert set(find_obsolete(made, more)) <= set(find_obsolete(made, keep))


def test_a_backup_every_night_for_a_year_leaves_a_week_a_month_and_the_year() -> None:
    made = [NOON - timedelta(days=each) for each in range(365)]
    left = sorted(set(made) - set(find_obsolete(made, KeptBackups(7, 4, 12))), reverse=True)
    assert left[:7] == made[:7]
    assert [(at.month, at.day) for at in left[7:11]] == [(11, 15), (11, 8), (10, 31), (9, 30)]
    assert len(left) == 7 + 2 + 11


def write_backup(directory: Path, made: datetime, manifest: str = "") -> Path:
    path = directory / build_directory_name(made)
    path.mkdir()
    (path / NAME).write_text(manifest or render_manifest(BackupManifest(1, made.isoformat(), "0.1.0", 150018, "netzwart", {}, {}, ())))
    return path


def test_what_is_not_ours_or_not_whole_is_never_removed(tmp_path: Path) -> None:
    newest, old = write_backup(tmp_path, NOON), write_backup(tmp_path, NOON - timedelta(days=9))
    damaged = write_backup(tmp_path, NOON - timedelta(days=99), "{")
    other = tmp_path / "netzwart-of-somebody-else"
    other.mkdir()
    assert remove_obsolete_backups(tmp_path, KeptBackups(daily=1)) == [old]
    assert set(tmp_path.iterdir()) == {newest, damaged, other}


@pytest.mark.parametrize("keep", [KeptBackups(), KeptBackups(daily=1)])
def test_the_only_backup_stays(tmp_path: Path, keep: KeptBackups) -> None:
    only = write_backup(tmp_path, NOON)
    assert remove_obsolete_backups(tmp_path, keep) == []
    assert list(tmp_path.iterdir()) == [only]
