"""Writing ban lists and bans: a refusal says why, and what would be accepted."""

from collections.abc import Callable
from datetime import timedelta
from ipaddress import ip_network
from unittest.mock import ANY

import pghistory
import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.bans import feed_import, feed_parser, services, undo
from apps.bans.models import Ban, BanList
from apps.lib.errors import Conflict, Problem
from tests.db.statements import call_before
from tests.factories import Network, probes

pytestmark = pytest.mark.django_db


@pytest.fixture
def ines() -> User:
    return User.objects.create(username="ines", roles=["network_admin"])


@pytest.fixture
def own(ines: User) -> BanList:
    return services.create_list(name="Own", by=ines)


def ban_refused(own: BanList, prefix: str, **more: object) -> Problem:
    with pytest.raises(Problem) as caught:
        services.ban_prefix(list=own, prefix=prefix, author=None, **more)  # type: ignore[arg-type]
    assert not Ban.objects.exists()
    return caught.value


def test_a_ban_keeps_its_comment_author_and_end(own: BanList, ines: User) -> None:
    tomorrow = timezone.now() + timedelta(days=1)
    ban = services.ban_prefix(list=own, prefix="203.0.113.66", comment=" scans ssh ", expires=tomorrow, author=ines)
    assert (ban.prefix, ban.comment, ban.author, ban.expires, ban.version) == (ip_network("203.0.113.66"), "scans ssh", ines, tomorrow, 1)


def test_bits_behind_the_length_are_refused_with_the_network_on_offer(own: BanList) -> None:
    problem = ban_refused(own, "203.0.113.5/24")
    assert str(problem) == "203.0.113.5/24 has host bits set; the network is 203.0.113.0/24."
    assert (problem.fieldname, problem.offer) == ("prefix", "203.0.113.0/24")


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("203.0.113.300", "is not an address or prefix"),
        ("", "is not an address or prefix"),
        ("203.0.0.0/7", "host bits set; the network is 202.0.0.0/7"),
        ("202.0.0.0/7", "too large for a ban. The largest allowed here is 202.0.0.0/8"),
        ("2001:db8::/96", "between /64 and /128"),
    ],
)
def test_an_invalid_ban_prefix_is_refused_with_the_reason(own: BanList, prefix: str, words: str) -> None:
    assert words in str(ban_refused(own, prefix))


@pytest.mark.parametrize(
    ("prefix", "ours"),
    [
        ("10.16.3.4", "pool private4 10.16.0.0/12 (10.16.0.0/12)"),
        ("10.0.0.0/8", "pool private4 10.16.0.0/12 (10.16.0.0/12)"),
        ("198.51.100.0/25", "pool public4 198.51.100.0/24 (198.51.100.0/24)"),
        ("2001:db8::/32", "pool prefix6 2001:db8:a0::/44 (2001:db8:a0::/44)"),
        ("172.31.0.1", "management network 172.31.0.0/24 of nat-1"),
    ],
)
def test_nobody_bans_ourselves(own: BanList, network: Network, prefix: str, ours: str) -> None:
    assert str(ban_refused(own, prefix)) == f"{prefix} would ban ourselves: it overlaps {ours}."


@pytest.mark.parametrize(("prefix", "target"), [("203.0.113.0/24", "203.0.113.10"), ("2001:db8:cafe::/48", "2001:db8:cafe::10")])
def test_nobody_bans_what_probes_connect_to_for_then_nothing_more_would_be_deployed(
    own: BanList, network: Network, prefix: str, target: str
) -> None:
    probes(network)
    why = f"it overlaps {target}, the probe target of Lindenhof."
    assert str(ban_refused(own, prefix)) == f"{prefix} would ban ourselves: {why}"
    feed = feed_parser.parse_feed(f"{prefix}\n198.18.0.0/24\n")
    done = feed_import.import_feed(list=own, feed=feed, by=None, skip_invalid=True)
    assert (done.added, [each.culprit for each in done.bad]) == (1, [why.removeprefix("it overlaps ").removesuffix(".")])


def test_an_end_in_the_past_is_refused(own: BanList) -> None:
    problem = ban_refused(own, "203.0.113.66", expires=timezone.now() - timedelta(hours=1))
    assert problem.fieldname == "expires"


def test_a_comment_that_is_too_long_is_refused(own: BanList) -> None:
    assert "201 characters" in str(ban_refused(own, "203.0.113.66", comment="x" * 201))


def test_a_prefix_is_once_on_a_list_and_the_refusal_names_the_other_ban(own: BanList) -> None:
    there = services.ban_prefix(list=own, prefix="203.0.113.66", comment="scans ssh", author=None)
    with pytest.raises(Problem) as caught:
        services.ban_prefix(list=own, prefix=ip_network("203.0.113.66"), author=None)
    assert str(caught.value) == f"203.0.113.66/32 is already on “Own” as ban {there.pk} (scans ssh)."
    assert caught.value.culprit == there


def test_a_prefix_may_be_on_two_lists_and_inside_another(own: BanList) -> None:
    other = services.create_list(name="Feed", by=None)
    for banlist, prefix in ((own, "203.0.113.66"), (other, "203.0.113.66"), (own, "203.0.113.0/24")):
        services.ban_prefix(list=banlist, prefix=prefix, author=None)
    assert Ban.objects.count() == 3


def test_the_second_of_two_who_edit_a_ban_gets_a_conflict(own: BanList, ines: User) -> None:
    ban = services.ban_prefix(list=own, prefix="203.0.113.66", author=ines)
    changed = services.change_ban(ban=ban, version=1, comment="first", expires=None, by=ines)
    assert (changed.comment, changed.version) == ("first", 2)
    with pytest.raises(Conflict):
        services.change_ban(ban=ban, version=1, comment="second", expires=None, by=ines)
    assert Ban.objects.get().comment == "first"


def test_lifting_twice_is_harmless_and_history_stays(own: BanList, ines: User) -> None:
    ban = services.ban_prefix(list=own, prefix="203.0.113.66", author=ines)
    pk = ban.pk
    services.lift_ban(ban=ban, by=ines)
    services.lift_ban(ban=ban, by=ines)
    events = Ban.pgh_event_model.objects.filter(pgh_obj_id=pk).order_by("pgh_id")  # type: ignore[attr-defined]
    assert list(events.values_list("pgh_label", "prefix")) == [("insert", ANY), ("delete", ANY)]


def test_a_lifted_ban_cannot_be_changed(own: BanList) -> None:
    ban = services.ban_prefix(list=own, prefix="203.0.113.66", author=None)
    services.lift_bans(bans=[ban.pk], by=None)
    with pytest.raises(Conflict):
        services.change_ban(ban=ban, version=1, comment="", expires=None, by=None)


def test_lists_are_renamed_switched_off_and_deleted_with_their_bans(own: BanList, ines: User) -> None:
    services.ban_prefix(list=own, prefix="203.0.113.66", author=ines)
    changed = services.change_list(list=own, version=1, name="Mine", description="by hand", enabled=False, by=ines)
    assert (changed.name, changed.enabled, changed.version) == ("Mine", False, 2)
    with pytest.raises(Conflict):
        services.change_list(list=own, version=1, name="Ours", description="", enabled=True, by=ines)
    assert services.delete_list(list=own, by=ines) == 1
    assert services.delete_list(list=own, by=ines) == 0


@pytest.mark.parametrize(
    ("name", "words"), [("", "needs a name"), (" \0 ", "needs a name"), ("Own", "already a list"), ("x" * 61, "at most 60 are allowed")]
)
def test_a_list_needs_a_name_of_its_own(own: BanList, name: str, words: str) -> None:
    with pytest.raises(Problem, match=words):
        services.create_list(name=name, by=None)
    other = services.create_list(name="Other", by=None)
    with pytest.raises(Problem, match=words):
        services.change_list(list=other, version=1, name=name, description="", enabled=True, by=None)


def test_a_write_asks_for_a_deploy_after_its_commit(own: BanList, ines: User, django_capture_on_commit_callbacks: object) -> None:
    with django_capture_on_commit_callbacks() as asked:  # type: ignore[operator]
        ban = services.ban_prefix(list=own, prefix="203.0.113.66", author=ines)
        services.lift_ban(ban=ban, by=ines)
    assert len(asked) == 2


def read_limit_before(words: str, write: Callable[[], object]) -> tuple[object, list[str]]:
    """Return the result of the write, and the time limit that the first statement with these words had: "0" for none."""
    limits: list[str] = []

    def read_limit() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            limits.append(cursor.fetchone()[0])

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '1min'")
    with call_before(words, read_limit):
        return write(), limits


@pytest.mark.parametrize(
    ("words", "write"),
    [
        ("DELETE FROM", lambda bans, by: services.lift_bans(bans=bans, by=by)),
        ("DELETE FROM", lambda bans, by: services.delete_list(list=Ban.objects.get(pk=bans[0]).list, by=by)),
        ("UPDATE", lambda bans, by: undo.set_ban_ends(bans=bans, expires=timezone.now() + timedelta(days=1), by=by)),
        ("UPDATE", lambda bans, by: undo.set_ban_direction(bans=bans, direction="in", by=by)),
    ],
)
def test_all_bans_of_a_list_are_changed_however_long_it_takes(
    own: BanList, ines: User, words: str, write: Callable[[list[int], User], int]
) -> None:
    bans = [services.ban_prefix(list=own, prefix=f"203.0.113.{number}", author=ines).pk for number in range(3)]
    other = services.ban_prefix(list=services.create_list(name="Other", by=ines), prefix="203.0.113.66", author=ines)
    assert read_limit_before(words, lambda: write(bans, ines)) == (3, ["0"])
    assert not Ban.objects.filter(pk__in=bans, version=1).exists()
    assert Ban.objects.get(pk=other.pk).version == 1


def test_all_bans_of_a_list_are_restored_however_long_it_takes(own: BanList, ines: User) -> None:
    bans = [services.ban_prefix(list=own, prefix=f"203.0.113.{number}", author=ines).pk for number in range(3)]
    with pghistory.context() as history:
        services.lift_bans(bans=bans, by=ines)
    assert read_limit_before("INSERT INTO", lambda: undo.restore_lifted_bans(list=own, request=history.id, by=ines)) == (3, ["0"])


def test_an_action_for_no_ban_changes_none(own: BanList, ines: User) -> None:
    services.ban_prefix(list=own, prefix="203.0.113.66", author=ines)
    assert (services.lift_bans(bans=[], by=ines), undo.set_ban_direction(bans=[], direction="in", by=ines)) == (0, 0)
    assert Ban.objects.get().direction == "both"
