"""Boot: the kernel gets back the last confirmed ruleset; if that is impossible, forwarding is closed."""

import subprocess
import time
from collections.abc import Mapping
from ipaddress import IPv4Network
from pathlib import Path

from firewall import digest, wire
from firewall.diff import diff
from firewall.policy import AllowEntrySpec
from firewall.ruleset import EMPTY, Chain, Element, Elements, Ruleset, VerdictAction, drop_expired
from gateway.clock import GatewayClock
from gateway.memory_table import FakeKernel
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory
from gateway.restore import CLOSED, restore_ruleset
from gateway.running_ruleset import reconcile_times
from gateway.table import NOTHING_KNOWN
from tests.agent.conftest import Bench, restrict_to_gateways
from tests.agent.gateways import InProcess, OnKernel, Served, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import ban, key, network, step, text_of, whole
from tests.whole.system import wait_for

BANS = "bans4_32"


def read_clock() -> GatewayClock:
    return GatewayClock(time.time, time.monotonic)


def save_confirmed(directory: Path, ruleset: Ruleset) -> StateDirectory:
    state = StateDirectory(directory)
    state.write_checkpoint(ruleset, digest.digest_ruleset(ruleset), 0)
    return state


def test_after_a_reboot_the_last_confirmed_ruleset_runs(bench: Bench, tmp_path: Path) -> None:
    wanted = network(3, ban("203.0.113.9/32", "scans", clock() + 900), ban("203.0.113.8/32", "old", 1_000_000_000))
    brought = bench.do(restore_ruleset, bench.table, save_confirmed(tmp_path, wanted), read_clock())
    alive = drop_expired(wanted, clock())
    assert not brought.fault
    found = reconcile_times(bench.do(bench.table.read, clock()), alive, 0)
    assert (found.sets, found.elements, found.counters) == (alive.sets, alive.elements, alive.counters)
    assert found.chains.keys() == alive.chains.keys()


def is_closed(bench: Bench) -> bool:
    chains = bench.do(bench.table.read, clock()).chains
    return {name: chain.hook for name, chain in chains.items()} == {"forward": CLOSED.chains["forward"].hook}


def test_without_a_readable_ruleset_forwarding_is_closed(bench: Bench, tmp_path: Path) -> None:
    state = save_confirmed(tmp_path, network(3))
    (tmp_path / "confirmed").write_text("{")
    brought = bench.do(restore_ruleset, bench.table, state, read_clock())
    assert "cannot be read" in brought.fault
    assert is_closed(bench)


def test_a_ruleset_that_the_kernel_refuses_closes_forwarding(bench: Bench, tmp_path: Path) -> None:
    loose = Ruleset({"up": network(1).chains["up"]})
    brought = bench.do(restore_ruleset, bench.table, save_confirmed(tmp_path, loose), read_clock())
    assert "the kernel refuses" in brought.fault
    assert is_closed(bench)


def test_rules_that_run_are_kept_when_nothing_can_be_read(bench: Bench, tmp_path: Path) -> None:
    bench.do(bench.table.commit, diff(EMPTY, network(2)), clock())
    state = save_confirmed(tmp_path, network(3))
    (tmp_path / "confirmed").write_text("{")
    assert bench.do(restore_ruleset, bench.table, state, read_clock()).ruleset is None
    assert bench.do(bench.table.read, clock()).elements == network(2).elements


def test_where_nothing_was_confirmed_nothing_is_touched(bench: Bench, tmp_path: Path) -> None:
    brought = bench.do(restore_ruleset, bench.table, StateDirectory(tmp_path), read_clock())
    assert not brought.fault
    assert bench.do(bench.table.read, clock()) == EMPTY


def test_a_first_ruleset_that_nobody_confirms_leaves_no_trace(tmp_path: Path) -> None:
    table = FakeKernel()
    agent = Agent(table, StateDirectory(tmp_path), name="gw1", boot="", clock=clock)
    agent.changes.restore()
    assert isinstance(agent.answer(whole(network(2), token=1, now=clock())), wire.Applied)
    agent.changes.take_back("a test said so")
    assert table.read(clock()) == EMPTY
    assert agent.answer(wire.Digest(clock())) == wire.DigestIs(text_of(EMPTY), True)


def test_a_portal_heals_a_gateway_that_closed(tmp_path: Path) -> None:
    state = save_confirmed(tmp_path, network(3))
    (tmp_path / "confirmed").write_text("{")
    agent = Agent(FakeKernel(), state, name="gw1", boot="", clock=clock)
    assert agent.changes.restore().fault
    for request in (whole(network(4), token=1, now=clock()), wire.Confirm(1, text_of(network(4)))):
        assert not isinstance(agent.answer(request), wire.Refused)
    loaded = state.load()
    assert loaded
    assert loaded.ruleset == network(4)


@restrict_to_gateways("kernel")
def test_a_hand_that_flushes_everything_is_noticed_and_the_portal_can_heal_it(gateway: OnKernel) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.nft("flush", "ruleset")
    assert gateway.ask(wire.Digest(clock())) == wire.DigestIs(text_of(EMPTY), True)
    assert send_refused(gateway, step(network(3), network(4), token=2, now=clock())).reason == "base"
    deploy(gateway, whole(network(4), token=2, now=clock()))
    assert runs(gateway) == text_of(network(4))


@restrict_to_gateways("kernel", "served on the kernel")
def test_a_rule_written_by_hand_is_noticed_and_rewritten(gateway: OnKernel | Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.nft("insert rule inet netzwart forward accept")
    answer = gateway.ask(wire.Digest(clock()))
    assert answer == wire.DigestIs(text_of(network(3)), False)
    assert send_refused(gateway, step(network(3), network(4), token=2, now=clock())).reason == "base"
    deploy(gateway, whole(network(3), token=2, now=clock()))
    assert runs(gateway) == text_of(network(3))
    gateway.restart()
    assert runs(gateway) == text_of(network(3))


@restrict_to_gateways("kernel")
def test_a_transaction_in_another_table_costs_a_look_and_nothing_more(gateway: OnKernel) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    gateway.nft("add table inet other")
    deploy(gateway, step(network(3), network(4), token=2, now=clock()))
    assert runs(gateway) == text_of(network(4))


@restrict_to_gateways("kernel")
def test_an_element_that_was_gone_already_does_not_fail_the_deploy(gateway: OnKernel) -> None:
    """Delete an element as if it had expired between rendering and commit.

    The agent takes the deletion's transaction for its own, so it does not notice that the element is missing.
    """
    before = network(1, ban("203.0.113.9/32", "scans", clock() + 900), ban("203.0.113.8/32"))
    deploy(gateway, whole(before, token=1, now=clock()))
    gateway.nft("delete element inet netzwart bans4_32 { 203.0.113.9 }")
    gateway.space.do(lambda: gateway.table._foreign.settle(gateway.table._read_generation()))  # so that it looks like an expiry
    deploy(gateway, step(before, network(1, ban("203.0.113.8/32")), token=2, now=clock()))
    assert runs(gateway) == text_of(network(1, ban("203.0.113.8/32")))


@restrict_to_gateways("kernel")
def test_an_element_that_expires_between_the_look_and_the_way_back_does_not_hinder_it(gateway: OnKernel) -> None:
    before = network(1, ban("203.0.113.8/32"))
    deploy(gateway, whole(before, token=1, now=clock()))
    after = network(1, ban("203.0.113.8/32"), ban("203.0.113.9/32", "scans", clock() + 900))
    assert isinstance(gateway.ask(step(before, after, token=2, now=clock())), wire.Applied)
    read = gateway.table.read

    def expire_after(now: float, known: Mapping[str, Elements] = NOTHING_KNOWN) -> Ruleset:
        found = read(now, known)
        gateway.table.read = read  # type: ignore[method-assign]
        subprocess.run(["nft", "delete element inet netzwart bans4_32 { 203.0.113.9 }"], check=True)
        return found

    gateway.table.read = expire_after  # type: ignore[method-assign]
    assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)
    assert runs(gateway) == text_of(before)


@restrict_to_gateways("kernel")
def test_a_ban_ends_by_itself_and_both_sides_know(gateway: OnKernel) -> None:
    now = clock()
    deploy(gateway, whole(network(1, ban("203.0.113.9/32", "short", now + 2), ban("203.0.113.8/32")), token=1, now=now))
    while gateway.space.do(gateway.table.read_elements, network(1, ban("203.0.113.9/32")).sets["bans4_32"], [key("203.0.113.9")], now):
        pass
    later = network(1, ban("203.0.113.8/32"))
    answer = gateway.ask(wire.Digest(now + 3))
    assert answer == wire.DigestIs(text_of(later), True)
    deploy(gateway, step(later, network(1), token=2, now=now + 3))


@restrict_to_gateways("served on the kernel")
def test_restore_loads_what_was_confirmed(gateway: Served) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    gateway.kill()
    gateway.nft("delete", "table", "inet", "netzwart")
    done = subprocess.run(gateway.command("restore", "--state", str(gateway.state)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "10.1.0.2" in gateway.nft("list", "set", "inet", "netzwart", "up4")


@restrict_to_gateways("served on the kernel")
def test_what_ended_meanwhile_is_not_restored_whether_banned_or_allowed(gateway: Served) -> None:
    now = clock()
    both = tuple(AllowEntrySpec(0, IPv4Network(each), "", ends) for each, ends in (("198.51.100.9", now + 2), ("198.51.100.8", 0)))
    deploy(gateway, whole(network(1, ban("203.0.113.9/32", "", now + 2), ban("203.0.113.8/32"), allowed=both), token=1, now=now))
    gateway.kill()
    gateway.nft("delete", "table", "inet", "netzwart")
    while clock() <= now + 2:
        pass
    subprocess.run(gateway.command("restore", "--state", str(gateway.state)), capture_output=True, check=True)
    for name, start in (("bans4_32", "203.0.113"), ("allowed4_32", "198.51.100")):
        held = gateway.nft("list", "set", "inet", "netzwart", name)
        assert (f"{start}.9" in held, f"{start}.8" in held) == (False, True)


@restrict_to_gateways("served on the kernel")
def test_restore_fails_loudly_and_closed(gateway: Served) -> None:
    gateway.kill()
    (gateway.state / "confirmed").write_text("{")
    done = subprocess.run(gateway.command("restore", "--state", str(gateway.state)), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "forwarding is closed" in done.stderr
    assert "policy drop" in gateway.nft("list", "chain", "inet", "netzwart", "forward")


def test_closed_lets_nothing_be_forwarded_and_the_gateway_be_reached() -> None:
    assert CLOSED.chains == {"forward": Chain("forward", (), CLOSED.chains["forward"].hook)}
    hook = CLOSED.chains["forward"].hook
    assert hook
    assert (hook.hook, hook.policy) == ("forward", VerdictAction.DROP)


def test_an_agent_that_died_in_a_commit_goes_back_too(tmp_path: Path) -> None:
    """The kernel committed the transaction, but the agent died before it knew."""
    table = FakeKernel()
    agent = Agent(table, save_confirmed(tmp_path, network(2)), name="gw1", boot="", clock=clock)
    agent.changes.restore()
    table.meddle(Ruleset(network(3).chains, network(3).sets, {**network(3).elements, "up4": {key("10.9.9.9"): Element()}}))
    assert agent.changes.restore().ruleset == network(2)
    assert agent.answer(wire.Digest(clock())) == wire.DigestIs(text_of(network(2)), True)


@restrict_to_gateways("in memory", "kernel")
def test_a_ban_that_a_clock_ahead_left_out_at_boot_is_back_with_its_end_when_the_clock_is_right(gateway: InProcess | OnKernel) -> None:
    """The machine boots with its clock two hours ahead of the portal's."""
    wanted = network(2, ban("203.0.113.9/32", "scans", clock() + 3600), ban("203.0.113.8/32"))
    deploy(gateway, whole(wanted, token=1, now=clock()))
    boot_with_clock_ahead(gateway, 7200)
    assert list_banned(gateway) == {key("203.0.113.8")}
    put_clock_right(gateway)
    assert list_banned(gateway) == {key("203.0.113.8"), key("203.0.113.9")}
    assert runs(gateway) == text_of(wanted)
    assert abs(read_bans(gateway)[key("203.0.113.9")].expires - wanted.elements[BANS][key("203.0.113.9")].expires) <= 2


@restrict_to_gateways("in memory", "kernel")
def test_a_ban_that_ended_by_a_clock_ahead_is_back_when_the_clock_is_right(gateway: InProcess | OnKernel) -> None:
    wanted = network(2, ban("203.0.113.9/32", "scans", clock() + 3600))
    deploy(gateway, whole(wanted, token=1, now=clock()))
    boot_with_clock_ahead(gateway, 3597)
    wait_for(lambda: not list_banned(gateway))
    put_clock_right(gateway)
    assert list_banned(gateway) == {key("203.0.113.9")}
    assert runs(gateway) == text_of(wanted)


@restrict_to_gateways("in memory", "kernel")
def test_a_ruleset_that_was_confirmed_while_the_portals_clock_was_ahead_is_loaded_again_once(gateway: InProcess | OnKernel) -> None:
    short = ban("203.0.113.9/32", "scans", clock() + 3000)
    deploy(gateway, whole(network(2, short), token=1, now=clock() + 2700))
    deploy(gateway, step(network(2, short), network(3, short), token=2, now=clock() + 3600))
    boot_with_clock_ahead(gateway, 0)
    assert list_banned(gateway) == set()
    put_clock_right(gateway)
    assert list_banned(gateway) == {key("203.0.113.9")}
    said = welcome(gateway)
    assert abs(said.clock / 1000 - clock()) < 60, "it stays right"
    put_clock_right(gateway)
    assert list_banned(gateway) == {key("203.0.113.9")}


@restrict_to_gateways("in memory", "kernel")
def test_a_change_by_hand_is_not_undone_because_a_clock_was_ahead(gateway: InProcess | OnKernel) -> None:
    deploy(gateway, whole(network(2, ban("203.0.113.9/32", "scans", clock() + 3600)), token=1, now=clock()))
    boot_with_clock_ahead(gateway, 7200)
    if isinstance(gateway, InProcess):
        left = set[bytes]()
        gateway.table.meddle(CLOSED)
    else:
        left = {key("203.0.113.7")}
        gateway.nft("add element inet netzwart bans4_32 { 203.0.113.7 }")
    put_clock_right(gateway)
    assert list_banned(gateway) == left


def boot_with_clock_ahead(gateway: InProcess | OnKernel, seconds: int) -> None:
    """Start the agent on a kernel without rules."""
    gateway.hands.off = seconds
    if isinstance(gateway, InProcess):
        gateway.table = FakeKernel()
    else:
        gateway.nft("delete table inet netzwart")
    gateway.restart()


def put_clock_right(gateway: InProcess | OnKernel) -> None:
    """Tell the agent the portal's time, as the portal does with its second question."""
    said = welcome(gateway)
    bound = wire.ClockBound(said.steady, round(time.time() * 1000))
    assert isinstance(gateway.ask(wire.Hello(clock(), not_later=bound)), wire.Welcome)


def read_bans(gateway: InProcess | OnKernel) -> Elements:
    """Return what the kernel holds, with ends by the agent's clock."""
    now = gateway.agent._clock()
    found = gateway.space.do(gateway.table.read, now) if isinstance(gateway, OnKernel) else gateway.table.read(now)
    return found.elements.get(BANS, {})


def list_banned(gateway: InProcess | OnKernel) -> set[bytes]:
    return set(read_bans(gateway))


def test_a_clock_far_ahead_does_no_lasting_harm(tmp_path: Path) -> None:
    wanted = network(2, ban("203.0.113.9/32", "scans", clock() + 900))
    agent = Agent(FakeKernel(), StateDirectory(tmp_path), name="gw1", boot="", clock=clock)
    agent.changes.restore()
    for request in (whole(wanted, token=1, now=clock()), wire.Confirm(1, text_of(wanted))):
        assert not isinstance(agent.answer(request), wire.Refused)
    agent.answer(wire.Hello(clock() + 10**9))
    assert agent.answer(wire.Digest(clock())) == wire.DigestIs(text_of(wanted), True)
    assert isinstance(agent.answer(step(wanted, network(3), token=2, now=clock())), wire.Applied)
