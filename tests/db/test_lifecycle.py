"""A membership from beginning to end: active periods, departure, addresses kept for a while and released, erasure; moves; and the
file with everything that is stored about a member.
"""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from itertools import count
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from structlog.testing import capture_logs

from apps.accounts.models import User
from apps.bans.blocks.services import block_member
from apps.bans.models import Block
from apps.deployments.desired_state import policy_snapshot
from apps.deployments.desired_state.desired_rulesets import compute_desired_state, update_desired_state
from apps.desk.lifecycle import due, export
from apps.lib.database.clock_check import ClockDiffersError
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Conflict, Problem
from apps.lib.row_uses import list_uses
from apps.mail.models import Message, SwitchedOff
from apps.mail.services import switch_notice_off, write_mail
from apps.members import departures, services
from apps.members.forms import build_initial
from apps.members.models import Device, Member, Membership, Room, Site
from apps.nat.models import Move, NatMapping, PortForward
from apps.nat.moving import services as moving
from apps.nat.services import add_forward
from apps.network.models import Holding, Pool
from apps.network.services import release_holding
from apps.operations import pruning
from tests import factories
from tests.db.page_client import confirm_preview, list_messages, read_preview_mark, signed_in, text
from workers.lifecycle import run_lifecycle
from workers.operations import forget

TODAY = timezone.localdate


def later(**time: int) -> Any:
    """Return the time so much later by the clock on the wall, which changes twice a year: days begin by that one."""
    return timezone.localtime() + timedelta(**time)


def state(member: Member) -> str:
    return Member.objects.get(pk=member.pk).state


def forward(network: factories.Network, name: str = "m1") -> PortForward:
    of = network.residents[name]
    given: dict[str, Any] = {"protocol": "tcp", "public_port": 44321, "private_port": 22, "purpose": "Xaver's server"}
    return add_forward(holding=of.holding, public=of.mapping.public, by=network.admin, **given)


def test_the_database_notes_when_somebody_was_active_whoever_changes_the_state(network: factories.Network) -> None:
    who = factories.member("Xaver", since=date(2024, 10, 1))
    Member.objects.filter(pk=who.pk).update(state="left")
    Member.objects.filter(pk=who.pk).update(note="still gone")
    Member.objects.filter(pk=who.pk).update(state="active")
    first, second = Membership.objects.filter(member=who)
    assert timezone.localdate(first.valid.lower) == date(2024, 10, 1)
    assert first.valid.upper <= second.valid.lower
    assert second.valid.upper is None
    who.refresh_from_db()
    assert who.left_at is None
    with pytest.raises(IntegrityError, match="membership_once_at_a_time"), transaction.atomic():
        Membership.objects.create(member=who, valid=(later(days=1), later(days=2)))
    assert not Membership.objects.filter(member=factories.member("Later", state="pending")).exists()
    gone = factories.member("Gone", state="left")
    gone.refresh_from_db()
    assert gone.left_at is not None
    with pytest.raises(IntegrityError, match="member_erased_has_left"), transaction.atomic():
        Member.objects.filter(pk=who.pk).update(erased_at=timezone.now())


@pytest.mark.django_db(transaction=True)
def test_whoever_is_not_active_has_nothing_on_the_gateways_by_either_way(transactional_db: None) -> None:
    network = factories.network()
    who = network.residents["m1"]
    forward(network)
    before = compute_desired_state(network.group)
    everybody = before.snapshot
    policy = next(iter(policy_snapshot.take_snapshot(network.group).policies.values()))
    assert who.holding.prefix.network_address in {each.private for each in policy.mappings}
    for do in (services.end_membership, services.activate_member, services.end_membership):
        do(member=who.member, by=network.admin)
        change = policy_snapshot.take_changes(network.group, before.snapshot)
        assert change is not None
        short, full = update_desired_state(before, change), compute_desired_state(network.group)
        assert short is not None
        assert short.targets == full.targets
        assert short.rulesets == full.rulesets
        now = next(iter(policy_snapshot.take_snapshot(network.group).policies.values()))
        here = do is services.activate_member
        assert (who.holding.prefix.network_address in {each.private for each in now.mappings}) == here
        assert (who.holding.prefix.network_address in now.addresses) == here
        assert (who.prefix.prefix in now.prefixes) == here
        assert bool(now.forwards) == here
        before = full
    assert everybody is not before.snapshot


def test_leaving_keeps_addresses_for_a_while_and_whoever_comes_back_has_them_again(network: factories.Network) -> None:
    who, opened = network.residents["m1"], forward(network)
    services.end_membership(member=who.member, by=network.admin)
    due.carry_out_due_changes(later(days=13))
    assert Holding.objects.filter(is_valid_now(), member=who.member).count() == 2
    services.activate_member(member=who.member, by=network.admin)
    due.carry_out_due_changes(later(days=15))
    assert PortForward.objects.filter(is_valid_now(), pk=opened.pk).exists(), "who came back keeps everything"
    services.end_membership(member=who.member, by=network.admin)
    due.carry_out_due_changes(later(days=15))
    assert not Holding.objects.filter(is_valid_now(), member=who.member).exists()
    assert not NatMapping.objects.filter(is_valid_now(), holding__member=who.member).exists()
    assert factories.make_holding(factories.member("New"), network.private, "10.16.0.10").pk, "somebody else may have it"
    due.carry_out_due_changes(later(days=15))
    services.activate_member(member=who.member, by=network.admin)
    assert not Holding.objects.filter(is_valid_now(), member=who.member).exists()


def test_a_departure_is_planned_carried_out_on_its_day_and_can_be_dropped_before(network: factories.Network) -> None:
    who, on = network.residents["m1"].member, TODAY() + timedelta(days=10)
    for day in (TODAY(), TODAY() - timedelta(days=1)):
        with pytest.raises(Problem, match="Choose a day in the future"):
            departures.plan_departure(member=who, on=day, by=network.admin)
    first = departures.plan_departure(member=who, on=on, by=network.admin)
    with pytest.raises(Problem, match="already planned"):
        departures.plan_departure(member=who, on=on, by=network.admin)
    due.carry_out_due_changes(later(days=9))
    assert state(who) == "active"
    departures.cancel_departure(first)
    with pytest.raises(Conflict):
        departures.cancel_departure(first)
    due.carry_out_due_changes(later(days=10))
    assert state(who) == "active"
    departures.plan_departure(member=who, on=on, by=network.admin)
    due.carry_out_due_changes(later(days=10))
    due.carry_out_due_changes(later(days=10))
    assert state(who) == "left"
    event = Member.pgh_event_model.objects.filter(pgh_obj_id=who.pk).order_by("-pgh_id").first()  # type: ignore[attr-defined]
    assert event.pgh_context.metadata == {"user": network.admin.pk, "planned": True}
    with pytest.raises(Problem, match="has left already"):
        departures.plan_departure(member=Member.objects.get(pk=who.pk), on=on, by=network.admin)


def test_whoever_leaves_before_the_planned_day_and_comes_back_is_not_sent_away_on_it(network: factories.Network) -> None:
    who = network.residents["m1"].member
    departures.plan_departure(member=who, on=TODAY() + timedelta(days=10), by=network.admin)
    services.end_membership(member=who, by=network.admin)
    services.activate_member(member=who, by=network.admin)
    due.carry_out_due_changes(later(days=10))
    assert state(who) == "active"
    assert [each.state for each in who.departures.all()] == ["dropped"]


def test_whoever_leaves_before_a_planned_move_and_comes_back_is_not_moved_on_its_day(network: factories.Network) -> None:
    who, planned = network.residents["m1"].member, move(network)
    services.end_membership(member=who, by=network.admin)
    assert planned.room and not list_uses(Room, [planned.room.pk])
    services.activate_member(member=who, by=network.admin)
    due.carry_out_due_changes(later(days=5))
    assert (now_held(who), Member.objects.get(pk=who.pk).room) == (["10.16.0.10/32"], None)
    assert [each.state for each in who.moves.all()] == ["dropped"]


def test_personal_data_are_erased_everywhere_when_the_time_has_come(network: factories.Network, settings: LazySettings) -> None:
    settings.ERASE_DAYS = 3
    who, other = network.residents["m1"].member, network.residents["m2"].member
    Member.objects.filter(pk=who.pk).update(
        name="Xaver Verborgen", email="xaver@lindenhof.example", note="Xaver's note", user=factories.user("xaver", staff=False)
    )
    forward(network)
    block_member(member=who, reason="abuse", message="Xaver, close it", by=network.admin)
    mails_of(who, other)
    mac = Device.objects.get(member=who).mac
    services.end_membership(member=who, by=network.admin)
    due.carry_out_due_changes(later(days=13))
    assert Member.objects.get(pk=who.pk).name == "Xaver Verborgen", "not while they may come back to their addresses"
    due.carry_out_due_changes(later(days=15))
    due.carry_out_due_changes(later(days=15))
    gone = Member.objects.get(pk=who.pk)
    assert (gone.name, gone.email, gone.note, gone.user) == (f"M-{gone.number}", "", "", None)
    assert sorted(Message.objects.values_list("to", flat=True)) == [f"m-{who.pk}@erased.invalid", "other@lindenhof.example"]
    mails = [*Message.objects.filter(to__endswith="invalid").values(), *SwitchedOff.objects.values()]
    kept = json.dumps([export.collect_member_data(gone), _events(), str(mails)], cls=export.ExportEncoder).casefold()
    assert [mark for mark in ("xaver", "verborgen", mac) if mark in kept] == []
    assert Holding.objects.filter(member=who).count() == 2, "who held which address stays known"
    assert Member.objects.get(pk=other.pk).name == other.name
    assert Device.objects.filter(member=other).exists()
    with pytest.raises(Problem, match="was erased"):
        services.activate_member(member=gone, by=network.admin)
    facts = services.MemberFacts(**{name: value for name, value in build_initial(gone).items() if name != "version"})
    with pytest.raises(Problem, match="was erased"):
        services.change_member(member=gone, version=gone.version, facts=replace(facts, name="Xaver Verborgen"), by=network.admin)
    assert "/edit/" not in text(signed_in(network.admin).get(f"/members/{gone.pk}/"))


def mails_of(who: Member, other: Member) -> None:
    """Write three mails: one sent about `who`, one waiting for their address, and one about `other`."""
    day: dict[str, Any] = {"since": TODAY(), "until": TODAY(), "at": timezone.now(), "url": "https://portal.example.org/me/"}
    facts: dict[str, Any] = {"name": "Xaver Verborgen", "share": 80, "used": 4, "quota": 5, "tariff": "Standard"} | day
    for about, to in ((who, "xaver@lindenhof.example"), (None, "Xaver@Lindenhof.example"), (other, "other@lindenhof.example")):
        write_mail(to=to, language="en", template="quota", context=facts, about=about, notice="quota" if about else "")
    Message.objects.filter(about_id=who.pk).update(state="sent", ended=timezone.now())
    switch_notice_off(address="xaver@lindenhof.example", notice="quota")


def confidential_mails_to(address: str) -> str:
    """Write a mail that waits and one that failed, both with a link that opens an account. Return that link."""
    link = "https://portal.example.org/me/join/opens-the-account/"
    facts: dict[str, Any] = {"name": "Xaver", "who": "Mara", "days": 7, "url": link}
    for key in ("waits", "failed"):
        write_mail(to=address, language="en", template="member_invited", context=facts, confidential=True, key=key)
    Message.objects.filter(key="failed").update(state="failed", ended=timezone.now())
    assert Message.objects.filter(to=address, text__contains=link).count() == 2
    return link


def _events() -> list[Any]:
    """Return the history of people and of what they have, as text."""
    models: list[Any] = [Member, Device, PortForward, Block, User]
    return [str(list(model.pgh_event_model.objects.values())) for model in models]


def test_everything_that_is_kept_is_handed_out_to_staff_and_to_the_member_alone(network: factories.Network) -> None:
    who, mine = network.residents["m1"].member, factories.user("selin", staff=False)
    Member.objects.filter(pk=who.pk).update(user=mine, note="difficult", name="=cmd()")
    forward(network)
    Move.objects.create(member=who, on=TODAY(), room=house(network)[0], by=network.admin)
    Member.objects.filter(pk=who.pk).update(email="xaver@lindenhof.example")
    mails_of(who, network.residents["m2"].member)
    answer = signed_in(network.admin).get(f"/members/{who.pk}/everything.zip")
    files = zipfile.ZipFile(io.BytesIO(answer.content))
    told = json.loads(files.read("everything.json"))
    assert told["port_forwards"][0]["purpose"] == "Xaver's server"
    assert [each["prefix"] for each in told["addresses"]] == ["10.16.0.10/32", str(network.residents["m1"].prefix.prefix)]
    assert (told["member"]["note"], told["account"]["username"]) == ("difficult", "selin")
    assert [(each["on"], each["room__name"]) for each in told["moves"]] == [(TODAY().isoformat(), "101")]
    assert [(each["to"].lower(), each["state"]) for each in told["mails"]] == [
        ("xaver@lindenhof.example", "sent"),
        ("xaver@lindenhof.example", "waiting"),
    ]
    assert "'=cmd()" in files.read("history.csv").decode()
    own = signed_in(mine).get("/me/everything.zip")
    document = json.loads(zipfile.ZipFile(io.BytesIO(own.content)).read("everything.json"))
    assert document["member"]["number"] == who.number
    assert "difficult" not in json.dumps(document)
    assert signed_in(factories.user("other", staff=False)).get("/me/everything.zip").status_code == 404


def test_a_link_that_opens_an_account_is_handed_out_to_nobody_while_its_mail_waits_or_has_failed(network: factories.Network) -> None:
    who, mine = network.residents["m1"].member, factories.user("selin", staff=False)
    Member.objects.filter(pk=who.pk).update(user=mine, email="xaver@lindenhof.example")
    link = confidential_mails_to("xaver@lindenhof.example")
    for reader, path in ((network.admin, f"/members/{who.pk}/everything.zip"), (mine, "/me/everything.zip")):
        files = zipfile.ZipFile(io.BytesIO(signed_in(reader).get(path).content))
        assert [name for name in files.namelist() if link in files.read(name).decode()] == []
        mails = json.loads(files.read("everything.json"))["mails"]
        assert [(each["state"], each["text"]) for each in mails] == [("waiting", ""), ("failed", "")]


def test_the_pages_say_what_happens_when_and_can_undo_it(network: factories.Network) -> None:
    mara, who = signed_in(network.admin), network.residents["m1"].member
    forward(network)
    preview = text(mara.get(f"/members/{who.pk}/leave/"))
    assert "1 port forward, 1 NAT mapping and 2 addresses and prefixes" in preview
    assert mara.post(f"/members/{who.pk}/leave/", {"on": TODAY().isoformat()}).status_code == 422
    planned = mara.post(f"/members/{who.pk}/leave/", {"on": (TODAY() + timedelta(days=3)).isoformat()}, follow=True)
    assert "Until then you can cancel the departure" in list_messages(planned)[0]
    assert "Cancel the departure" in text(planned)
    departure = departures.find_planned_departure(who)
    assert departure
    assert "was cancelled" in list_messages(mara.post(f"/departures/{departure.pk}/drop/", follow=True))[0]
    assert "not planned any more" in list_messages(mara.post(f"/departures/{departure.pk}/drop/", follow=True))[0]
    assert "Free for others" in list_messages(mara.post(f"/members/{who.pk}/leave/", {"on": ""}, follow=True))[0]
    assert state(who) == "left"
    assert "is active" in list_messages(mara.post(f"/members/{who.pk}/activate/", follow=True))[0]


def test_a_step_that_fails_stops_no_other_and_is_named_in_the_log(network: factories.Network) -> None:
    """The database refuses the first departure and not the second."""
    first, second = (network.residents[name].member for name in ("m1", "m2"))
    for member in (first, second):
        departures.plan_departure(member=member, on=TODAY() + timedelta(days=1), by=network.admin)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE members_member ADD CONSTRAINT stays CHECK (id <> {first.pk} OR state = 'active')")
    with capture_logs() as told:
        due.carry_out_due_changes(later(days=1))
    assert (state(first), state(second)) == ("active", "left")
    departure = departures.find_planned_departure(first)
    assert departure
    (line,) = [each for each in told if each["event"] == "not carried out"]
    assert (line["what"], line["id"]) == ("Departure", departure.pk)


# --- Moving


def house(network: factories.Network) -> tuple[Room, Pool]:
    """A room in another site, and a pool."""
    room = Room.objects.create(site=Site.objects.create(name="House C", code="C"), floor=1, name="101")
    return room, factories.pool(network.group, "private4", "10.40.0.0/24")


def move(network: factories.Network, **changes: Any) -> Move:
    room, pool = house(network)
    given: dict[str, Any] = {"on": TODAY() + timedelta(days=5), "room": room, "pool": pool, "follow": True}
    return moving.plan_member_move(member=network.residents["m1"].member, by=network.admin, **(given | changes))


def now_held(member: Member) -> list[str]:
    return [str(each.prefix) for each in Holding.objects.filter(is_valid_now(), member=member, kind="private4")]


def test_a_move_happens_on_its_day_and_what_is_open_follows_to_the_new_address(network: factories.Network) -> None:
    who, opened = network.residents["m1"], forward(network)
    planned = move(network)
    due.carry_out_due_changes(later(days=4))
    assert now_held(who.member) == ["10.16.0.10/32"]
    for _twice in range(2):
        due.carry_out_due_changes(later(days=5))
    assert now_held(who.member) == ["10.40.0.1/32"]
    member = Member.objects.get(pk=who.member.pk)
    assert str(member.room) == "C-101"
    mapping = NatMapping.objects.get(is_valid_now(), holding__member=member)
    assert (str(mapping.holding.prefix), mapping.public) == ("10.40.0.1/32", who.mapping.public)
    led = PortForward.objects.get(is_valid_now(), holding__member=member)
    assert (led.public, led.public_port, led.holding) == (opened.public, opened.public_port, mapping.holding)
    planned.refresh_from_db()
    assert planned.state == "done"


def test_what_does_not_follow_is_named_before_and_ends_with_the_move(network: factories.Network) -> None:
    who = network.residents["m1"]
    forward(network)
    planned = move(network, follow=False, room=None)
    (effect,) = moving.list_move_effects(who.member, planned.pool, follow=False)
    assert (effect.following, effect.ending) == ([], [f"TCP 44321 on {who.mapping.public}"])
    due.carry_out_due_changes(later(days=5))
    assert not PortForward.objects.filter(is_valid_now(), holding__member=who.member).exists()
    assert now_held(who.member) == ["10.40.0.1/32"]


def test_a_move_that_cannot_be_says_why_and_is_tried_again(network: factories.Network) -> None:
    who, full = network.residents["m1"].member, factories.pool(network.group, "private4", "10.41.0.1/32")
    blocking = factories.make_holding(factories.member("First"), full, "10.41.0.1")
    planned = move(network, pool=full)
    due.carry_out_due_changes(later(days=5))
    planned.refresh_from_db()
    assert (planned.state, now_held(who)) == ("planned", ["10.16.0.10/32"])
    assert "is full" in planned.problem
    assert Member.objects.get(pk=who.pk).room is None, "all of the move or nothing"
    release_holding(holding=blocking, by=network.admin)
    due.carry_out_due_changes(later(days=5))
    assert now_held(who) == ["10.41.0.1/32"]


def test_a_move_is_planned_once_dropped_and_refused_with_reasons(network: factories.Network) -> None:
    planned = move(network, pool=None)
    with pytest.raises(Problem, match="already planned"):
        moving.plan_member_move(member=planned.member, on=planned.on, room=planned.room, pool=None, follow=True, by=network.admin)
    moving.cancel_move(planned)
    with pytest.raises(Conflict):
        moving.cancel_move(planned)
    due.carry_out_due_changes(later(days=5))
    assert Member.objects.get(pk=planned.member_id).room is None
    nothing: dict[str, Any] = {"member": planned.member, "on": TODAY(), "follow": True, "by": network.admin}
    with pytest.raises(Problem, match="Choose a room"):
        moving.plan_member_move(room=None, pool=None, **nothing)
    with pytest.raises(Problem, match="is a public pool"):
        moving.plan_member_move(room=None, pool=network.public, **nothing)


def test_the_page_of_a_move_previews_then_plans_and_the_member_reads_it(network: factories.Network) -> None:
    mara, selin, who = signed_in(network.admin), factories.user("selin", staff=False), network.residents["m1"].member
    Member.objects.filter(pk=who.pk).update(user=selin)
    forward(network)
    _room, pool = house(network)
    path, on = f"/members/{who.pk}/move/", (TODAY() + timedelta(days=2)).isoformat()
    sent = {"on": on, "room": "C-101", "pool": pool.pk, "follow": "on"}
    preview = text(mara.post(path, sent))
    assert "Moves to the new address: TCP 44321" in preview and "10.16.0.10 is released" in preview
    assert "Plan the move" in preview and not Move.objects.exists()
    page = confirm_preview(mara, path, sent)
    assert "Until then you can cancel the move" in list_messages(page)[0]
    assert "Moves to C-101." in text(page)
    assert "Moves to C-101." in text(signed_in(selin).get("/me/"))
    assert "was cancelled" in list_messages(mara.post(f"/moves/{Move.objects.get().pk}/drop/", follow=True))[0]
    assert "Move now" in text(mara.post(path, sent | {"on": ""}))
    assert "has moved" in list_messages(confirm_preview(mara, path, sent | {"on": ""}))[0]
    assert now_held(who) == ["10.40.0.1/32"]
    assert mara.post(path, {"on": "2020-01-01"}).status_code == 422


def test_the_first_button_of_a_move_speaks_of_a_preview_and_of_no_import(network: factories.Network) -> None:
    page = text(signed_in(network.admin).get(f"/members/{network.residents['m1'].member.pk}/move/"))
    assert '<button class="btn btn-primary">Preview</button>' in page and "import" not in page.partition("<form")[2].lower()


@pytest.mark.parametrize("entry", [{"follow": ""}, {"on": ""}, {"room": ""}, {"pool": ""}])
def test_what_is_entered_after_the_preview_of_a_move_is_previewed_first(network: factories.Network, entry: dict[str, str]) -> None:
    who, (_room, pool) = network.residents["m1"].member, house(network)
    forward(network)
    sent = {"on": (TODAY() + timedelta(days=2)).isoformat(), "room": "C-101", "pool": pool.pk, "follow": "on"}
    answer = confirm_preview(signed_in(network.admin), f"/members/{who.pk}/move/", sent, **entry)
    assert answer.status_code == 422 and "The preview was made with other entries. Nothing was changed." in text(answer)
    assert not Move.objects.exists() and now_held(who) == ["10.16.0.10/32"]


def test_a_move_that_would_end_more_than_in_the_preview_is_previewed_again(network: factories.Network) -> None:
    mara, who, (_room, pool) = signed_in(network.admin), network.residents["m1"].member, house(network)
    path, sent = f"/members/{who.pk}/move/", {"on": "", "room": "", "pool": pool.pk}
    shown = read_preview_mark(mara, path, sent)
    forward(network)
    answer = mara.post(path, sent | shown | {"confirmed": "1"})
    assert answer.status_code == 422 and "It would have another effect now than in the preview." in text(answer)
    assert "Ends: TCP 44321" in text(answer) and now_held(who) == ["10.16.0.10/32"]


@pytest.mark.parametrize("days", [60, -60])
@pytest.mark.parametrize("task", [run_lifecycle, forget])
def test_nothing_is_erased_or_removed_by_a_clock_that_differs_from_the_database_s(
    db: None, monkeypatch: pytest.MonkeyPatch, task: Callable[[], None], days: int
) -> None:
    wrong = timezone.now() + timedelta(days=days)
    for work in (due, pruning):
        monkeypatch.setattr(work, {due: "carry_out_due_changes", pruning: "prune_all"}[work], pytest.fail)
    monkeypatch.setattr(timezone, "now", lambda: wrong)
    with pytest.raises(ClockDiffersError, match=f"it is {wrong:%Y-%m-%d} .* here"):
        task()


def let_each_reading_be_a_day_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let midnight pass between any two readings of today's date."""
    readings = count()
    monkeypatch.setattr(timezone, "localdate", lambda *given: TODAY(*given) + timedelta(days=0 if given else next(readings)))


def test_a_move_without_a_day_happens_now_even_if_it_is_sent_at_midnight(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    mara, who, (_room, pool) = signed_in(network.admin), network.residents["m1"].member, house(network)
    given = {"on": "", "room": "C-101", "pool": pool.pk, "follow": "on"}
    let_each_reading_be_a_day_later(monkeypatch)
    shown = read_preview_mark(mara, f"/members/{who.pk}/move/", given)
    moved = mara.post(f"/members/{who.pk}/move/", given | shown | {"confirmed": "1"})
    assert moved.status_code == 302, text(moved)
    assert now_held(who) == ["10.40.0.1/32"] and Move.objects.get().state == "done"


def test_a_move_of_today_is_carried_out_though_the_day_ends_meanwhile(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    who, (room, pool) = network.residents["m1"].member, house(network)
    let_each_reading_be_a_day_later(monkeypatch)
    moved = moving.plan_or_carry_out_move(member=who, on=TODAY(), room=room, pool=pool, follow=True, by=network.admin)
    assert moved.state == "done"
