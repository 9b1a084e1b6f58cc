"""Import of feeds into ban lists: all or nothing, and bans that stay keep their rows."""

from datetime import timedelta
from io import StringIO
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.accounts.models import User
from apps.bans import services
from apps.bans.feed_import import ImportOutcome, import_feed
from apps.bans.feed_parser import parse_feed
from apps.bans.models import Ban, BanList
from apps.bans.prefixes import BanFault
from apps.lib.errors import Problem
from tests.factories import Network

pytestmark = pytest.mark.django_db

EXCERPT = Path(__file__).parent.parent / "data" / "ipsum-excerpt.txt"


@pytest.fixture
def feed() -> BanList:
    return services.create_list(name="Feed", by=None)


def list_banned_prefixes(banlist: BanList) -> set[str]:
    return {str(prefix) for prefix in banlist.bans.values_list("prefix", flat=True)}


def import_text(banlist: BanList, text: str, **how: object) -> ImportOutcome:
    return import_feed(list=banlist, feed=parse_feed(text), by=None, **how)  # type: ignore[arg-type]


def test_a_feed_adds_what_is_new_and_removes_what_is_gone(feed: BanList) -> None:
    import_text(feed, "203.0.113.1\n203.0.113.2\n")
    outcome = import_text(feed, "203.0.113.2\n203.0.113.3\n203.0.113.3\n")
    assert (outcome.added, outcome.removed, outcome.unchanged, outcome.duplicates) == (1, 1, 1, 1)
    assert list_banned_prefixes(feed) == {"203.0.113.2/32", "203.0.113.3/32"}


def test_with_keep_nothing_is_removed(feed: BanList) -> None:
    import_text(feed, "203.0.113.1")
    assert import_text(feed, "203.0.113.2", keep=True).removed == 0
    assert list_banned_prefixes(feed) == {"203.0.113.1/32", "203.0.113.2/32"}


def test_what_stays_keeps_its_row_comment_end_and_author(feed: BanList) -> None:
    mara = User.objects.create(username="mara")
    end = timezone.now() + timedelta(days=3)
    before = services.ban_prefix(list=feed, prefix="203.0.113.1", comment="by hand", expires=end, author=mara)
    import_text(feed, "203.0.113.1 # the feed's words\n203.0.113.2", comment="from the feed", expires=end + timedelta(days=9))
    after = Ban.objects.get(prefix=ip_network("203.0.113.1"))
    assert (after.pk, after.comment, after.expires, after.author, after.version) == (before.pk, "by hand", end, mara, 1)


def test_new_bans_get_the_line_s_comment_or_else_the_import_s(feed: BanList) -> None:
    import_text(feed, "203.0.113.1 # SBL123\n203.0.113.2", comment="of today")
    assert list(feed.bans.values_list("comment", flat=True)) == ["SBL123", "of today"]


def test_an_expired_ban_that_is_named_again_is_renewed(feed: BanList) -> None:
    import_text(feed, "203.0.113.1")
    Ban.objects.update(expires=timezone.now() - timedelta(days=1))
    end = timezone.now() + timedelta(days=7)
    assert import_text(feed, "203.0.113.1", expires=end).renewed == 1
    assert Ban.objects.get().expires == end


def test_an_end_that_has_passed_is_refused_before_anything_is_lifted(feed: BanList) -> None:
    import_text(feed, "203.0.113.1")
    with pytest.raises(Problem, match="has passed"):
        import_text(feed, "203.0.113.2", expires=timezone.now() - timedelta(minutes=5))
    assert list_banned_prefixes(feed) == {"203.0.113.1/32"}


def test_one_bad_line_and_nothing_changes(feed: BanList) -> None:
    import_text(feed, "203.0.113.1")
    outcome = import_text(feed, "203.0.113.2\nnonsense\n203.0.113.5/24\n")
    assert not outcome.imported
    assert [bad.line for bad in outcome.bad] == [2, 3]
    assert list_banned_prefixes(feed) == {"203.0.113.1/32"}


def test_bad_lines_are_skipped_when_asked(feed: BanList) -> None:
    outcome = import_text(feed, "203.0.113.2\nnonsense\n", skip_invalid=True)
    assert (outcome.imported, outcome.added, len(outcome.bad)) == (True, 1, 1)


def test_lines_that_would_ban_ourselves_are_bad_lines(feed: BanList, network: Network) -> None:
    text = "203.0.113.2\n10.0.0.0/8\n198.51.100.7\nx\n172.31.0.5"
    outcome = import_text(feed, text)
    assert [(bad.line, bad.fault) for bad in outcome.bad] == [
        (2, BanFault.OWN),
        (3, BanFault.OWN),
        (4, BanFault.NO_PREFIX),
        (5, BanFault.OWN),
    ]
    assert outcome.bad[1].culprit == "pool public4 198.51.100.0/24 (198.51.100.0/24)"
    import_text(feed, text, skip_invalid=True)
    assert list_banned_prefixes(feed) == {"203.0.113.2/32"}


def test_an_empty_feed_never_empties_a_list(feed: BanList) -> None:
    import_text(feed, "203.0.113.1")
    for text in ("", "# all quiet today\n"):
        with pytest.raises(Problem):
            import_text(feed, text)
    with pytest.raises(Problem):
        import_text(feed, "nonsense", skip_invalid=True)
    assert list_banned_prefixes(feed) == {"203.0.113.1/32"}


def test_other_lists_are_not_touched(feed: BanList) -> None:
    other = services.create_list(name="Own", by=None)
    services.ban_prefix(list=other, prefix="203.0.113.1", author=None)
    import_text(feed, "203.0.113.1\n203.0.113.2")
    import_text(feed, "203.0.113.2")
    assert list_banned_prefixes(other) == {"203.0.113.1/32"}


def test_a_dry_run_counts_and_changes_nothing(feed: BanList) -> None:
    outcome = import_text(feed, "203.0.113.1", dry_run=True)
    assert (outcome.added, list_banned_prefixes(feed)) == (1, set())


def test_an_import_leaves_history_and_says_who_it_was(feed: BanList) -> None:
    mara = User.objects.create(username="mara")
    import_feed(list=feed, feed=parse_feed("203.0.113.1\n203.0.113.2"), by=mara)
    events = Ban.pgh_event_model.objects.select_related("pgh_context")  # type: ignore[attr-defined]
    assert [(event.pgh_label, event.pgh_context.metadata) for event in events] == 2 * [
        ("insert", {"user": mara.pk, "cause": "import into Feed"})
    ]


def test_the_command_imports_a_real_feed_and_exports_it_again(tmp_path: Path) -> None:
    said, exported = StringIO(), StringIO()
    call_command("import_bans", EXCERPT, "--list", "ipsum", "--minimum-count", "2", "--comment", "IPsum", stdout=said)
    assert said.getvalue().startswith("ipsum: 513 added, 0 lifted, 0 renewed, 0 unchanged, 1,480 below the minimum.")
    call_command("export_bans", "--list", "ipsum", stdout=exported)
    (tmp_path / "again.txt").write_text(exported.getvalue())
    call_command("import_bans", tmp_path / "again.txt", "--list", "copy", stdout=StringIO())
    copy, original = (BanList.objects.get(name=name).bans.values_list("prefix", "comment") for name in ("copy", "ipsum"))
    assert list(copy) == list(original)


def test_the_command_prints_every_bad_line_and_fails(tmp_path: Path) -> None:
    (tmp_path / "feed").write_text("203.0.113.1\n203.0.113.5/24\nnonsense\n")
    said = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("import_bans", tmp_path / "feed", "--list", "new", stderr=said)
    assert ended.value.code == 1
    assert "line 2: 203.0.113.5/24 has host bits set; the network is 203.0.113.0/24." in said.getvalue()
    assert "line 3: " in said.getvalue()
    assert not BanList.objects.exists()


def test_the_command_s_dry_run_makes_no_list(tmp_path: Path) -> None:
    (tmp_path / "feed").write_text("203.0.113.1\n")
    call_command("import_bans", tmp_path / "feed", "--list", "new", "--dry-run", stdout=StringIO())
    assert not BanList.objects.exists()


@pytest.mark.parametrize("days", ["0", "-1", "36501"])
def test_the_command_refuses_an_end_that_is_not_in_the_future(tmp_path: Path, days: str) -> None:
    (tmp_path / "feed").write_text("203.0.113.1\n")
    with pytest.raises(CommandError, match=f"--expires-in: “{days}” is no number of days from 1 to 36500"):
        call_command("import_bans", str(tmp_path / "feed"), "--list", "new", f"--expires-in={days}")
    assert not BanList.objects.exists()


def test_the_command_says_when_there_is_no_such_file_user_or_list(tmp_path: Path) -> None:
    (tmp_path / "feed").write_text("203.0.113.1\n")
    for arguments in (
        ["import_bans", str(tmp_path / "none"), "--list", "x"],
        ["import_bans", str(tmp_path / "feed"), "--list", "x", "--author", "nobody"],
    ):
        with pytest.raises(CommandError):
            call_command(*arguments)
    with pytest.raises(CommandError, match="Known: none yet"):
        call_command("export_bans", "--list", "x")
