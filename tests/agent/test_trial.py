"""Trials, between apply and confirm: the agent's own timer, sessions, and the revert, whatever happens meanwhile."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest

from firewall import wire
from firewall.ruleset import EMPTY, Chain, Field, Match, Rule, Ruleset, Verdict, VerdictAction
from gateway.memory_table import FakeKernel
from gateway.table import CommitRefusedError, TableError, approve_all
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, InProcess, OnKernel, Served, clock
from tests.agent.requests import deploy, runs, send_refused, welcome
from tests.agent.rulesets import ban, network, step, text_of, whole
from tests.frozen_process import frozen

in_process = restrict_to_gateways("in memory", "kernel")
BANNED = ban("203.0.113.9/32", "scans")


def apply_change(gateway: AnyGateway, request: wire.Apply) -> wire.Applied:
    answer = gateway.ask(request)
    assert isinstance(answer, wire.Applied), answer
    return answer


def waiting(gateway: AnyGateway, within: int = 30) -> None:
    """Confirm two members, and put three on trial."""
    deploy(gateway, whole(network(2), token=1, now=clock()))
    apply_change(gateway, step(network(2), network(3), token=2, now=clock(), within=within))


@in_process
def test_the_agent_says_what_waits_and_how_long(gateway: InProcess | OnKernel) -> None:
    begun = monotonic()
    waiting(gateway, within=30)
    gateway.hands.passed += 20
    answer = welcome(gateway)
    assert (answer.trial, answer.confirmed) == (text_of(network(3)), text_of(network(2)))
    assert 10 - (monotonic() - begun) <= answer.confirm_seconds_left <= 10
    assert isinstance(gateway.ask(wire.Confirm(2, text_of(network(3)))), wire.Confirmed)
    assert (welcome(gateway).trial, welcome(gateway).confirm_seconds_left) == ("", 0)


@in_process
def test_a_confirmation_after_the_time_is_refused_and_says_what_happened_and_when(gateway: InProcess | OnKernel) -> None:
    waiting(gateway, within=30)
    gateway.hands.passed += 31
    answer = send_refused(gateway, wire.Confirm(2, text_of(network(3))))
    assert answer.reason == "digest"
    assert f"{text_of(network(3))[:12]} was taken back at 20" in answer.text
    assert "it was not confirmed within 30 s" in answer.text
    assert runs(gateway) == text_of(network(2))


@pytest.mark.parametrize("within", [0, -1, 601, 10**9])
def test_a_time_to_confirm_that_is_no_time_is_refused(tmp_path: Path, within: int) -> None:
    gateway = InProcess(tmp_path)
    assert "confirm_within" in send_refused(gateway, whole(network(2), token=1, now=clock(), within=within)).text
    assert runs(gateway) == text_of(EMPTY)
    gateway.close()


@in_process
@pytest.mark.parametrize("jump", [-(10**9), -3600, 3600, 10**8])
def test_setting_the_machines_clock_neither_ends_nor_prolongs_the_time(gateway: InProcess | OnKernel, jump: int) -> None:
    waiting(gateway, within=30)
    gateway.hands.off += jump
    gateway.hands.passed += 20
    assert welcome(gateway).trial == text_of(network(3))
    gateway.hands.passed += 11
    assert welcome(gateway).trial == ""
    assert runs(gateway) == text_of(network(2))


@in_process
@pytest.mark.parametrize("jump", [-(10**9), -3600, 3600, 10**8])
def test_setting_the_machines_clock_changes_no_end_of_a_ban(gateway: InProcess | OnKernel, jump: int) -> None:
    end = clock() + 900
    before, after = network(1, ban("203.0.113.9/32", "", end)), network(1, ban("203.0.113.9/32", "", end), ban("203.0.113.8/32", "", end))
    deploy(gateway, whole(before, token=1, now=clock()))
    gateway.hands.off += jump
    assert runs(gateway) == text_of(before)
    deploy(gateway, step(before, after, token=2, now=clock()))
    assert runs(gateway) == text_of(after)


@in_process
def test_an_agent_that_starts_before_the_year_2000_renews_no_ban(gateway: InProcess | OnKernel) -> None:
    wanted = network(1, ban("203.0.113.9/32", "", clock() + 900), ban("203.0.113.8/32", "", clock() + 90_000_000))
    deploy(gateway, whole(wanted, token=1, now=clock()))
    gateway.hands.off = -clock() + 900_000_000
    gateway.restart()
    assert runs(gateway) == text_of(wanted)
    if isinstance(gateway, OnKernel):
        assert "expires 14m" in gateway.nft("list", "set", "inet", "netzwart", "bans4_32")
    deploy(gateway, step(wanted, network(1), token=2, now=clock()))


def test_before_the_year_2000_the_first_ruleset_can_be_loaded_and_is_kept_as_it_is(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path)
    gateway.hands.off = -clock()
    gateway.restart()
    wanted = network(1, ban("203.0.113.9/32", "", clock() + 900))
    deploy(gateway, whole(wanted, token=1, now=clock()))
    assert gateway.table.read(clock()).elements == wanted.elements
    gateway.close()


def test_a_second_change_keeps_the_way_back_and_begins_the_time_anew(gateway: AnyGateway) -> None:
    waiting(gateway, within=30)
    apply_change(gateway, step(network(3), network(4, BANNED), token=3, now=clock(), within=600))
    assert send_refused(gateway, step(network(4, BANNED), network(5), token=2, now=clock())).reason == "token"
    assert welcome(gateway).confirm_seconds_left > 500
    answer = gateway.ask(wire.Revert(3))
    assert isinstance(answer, wire.Reverted), answer
    assert answer.digest == runs(gateway) == text_of(network(2))


@in_process
def test_a_second_change_that_fails_leaves_the_first_ones_time(gateway: InProcess | OnKernel) -> None:
    waiting(gateway, within=30)
    gateway.hands.passed += 20
    assert send_refused(gateway, step(network(9), network(4), token=3, now=clock(), within=600)).reason == "base"
    too_many = dataclasses.replace(network(3).sets["up4"], size=2)
    full = dataclasses.replace(network(3), sets={**network(3).sets, "up4": too_many})
    assert send_refused(gateway, whole(full, token=3, now=clock(), within=600)).reason == "nft"
    assert welcome(gateway).confirm_seconds_left <= 10
    gateway.hands.passed += 11
    assert runs(gateway) == text_of(network(2))


def test_a_worker_that_slept_can_do_nothing(gateway: AnyGateway) -> None:
    waiting(gateway)
    apply_change(gateway, step(network(3), network(4), token=9, now=clock()))
    late = (step(network(4), network(5), token=8, now=clock()), wire.Confirm(8, text_of(network(4))), wire.Revert(8))
    assert [send_refused(gateway, request).reason for request in late] == ["token"] * 3
    assert runs(gateway) == text_of(network(4))
    assert welcome(gateway).trial == text_of(network(4))


def test_where_nothing_waits_there_is_nothing_to_take_back(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    answer = send_refused(gateway, wire.Revert(1))
    assert (answer.reason, answer.text.partition(";")[0]) == ("digest", "nothing waits to be confirmed, so there is nothing to take back")
    assert runs(gateway) == text_of(network(2))


def test_a_change_of_rules_is_confirmed_over_a_new_connection_alone(gateway: AnyGateway) -> None:
    waiting(gateway)
    assert apply_change(gateway, step(network(3), network(3, BANNED), token=2, now=clock())).new_session
    assert send_refused(gateway, wire.Confirm(2, text_of(network(3, BANNED)))).reason == "session"
    assert apply_change(gateway, step(network(3, BANNED), network(4, BANNED), token=2, now=clock())).new_session
    assert send_refused(gateway, wire.Confirm(2, text_of(network(4, BANNED)))).reason == "session"
    assert isinstance(gateway.ask_anew(wire.Confirm(2, text_of(network(4, BANNED)))), wire.Confirmed)


def test_a_change_of_elements_is_confirmed_over_any_connection(gateway: AnyGateway) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert not apply_change(gateway, step(network(2), network(3), token=2, now=clock())).new_session
    assert isinstance(gateway.ask(wire.Confirm(2, text_of(network(3)))), wire.Confirmed)


@restrict_to_gateways("served", "served on the kernel")
def test_an_agent_that_was_killed_and_started_takes_back_at_once(gateway: Served) -> None:
    waiting(gateway, within=600)
    gateway.restart()
    assert welcome(gateway).trial == ""
    assert runs(gateway) == text_of(network(2))
    answer = send_refused(gateway, wire.Confirm(2, text_of(network(3))))
    assert "nothing waits to be confirmed" in answer.text
    assert "the agent started at" in answer.text


@restrict_to_gateways("served on the kernel")
def test_a_machine_that_reboots_meanwhile_boots_with_what_is_confirmed(gateway: Served) -> None:
    waiting(gateway, within=600)
    gateway.kill()
    gateway.nft("delete", "table", "inet", "netzwart")
    gateway.start()
    assert runs(gateway) == text_of(network(2))


@restrict_to_gateways("served", "served on the kernel")
def test_an_agent_that_is_stopped_takes_back(gateway: Served) -> None:
    waiting(gateway, within=600)
    gateway.process.terminate()
    gateway.wait_for_log("the agent was stopped")
    assert gateway.process.wait() == 0
    gateway.client.close()
    if gateway.space:
        assert "10.1.0.3" not in gateway.nft("list", "set", "inet", "netzwart", "up4")


@restrict_to_gateways("kernel", "served on the kernel")
@pytest.mark.parametrize("by_hand", ["flush ruleset", "delete table inet netzwart", "flush chain inet netzwart forward"])
def test_what_somebody_else_destroyed_meanwhile_is_restored_too(gateway: OnKernel | Served, by_hand: str) -> None:
    waiting(gateway, within=30)
    gateway.nft(by_hand)
    assert send_refused(gateway, wire.Confirm(2, text_of(network(3)))).reason == "state"
    assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)
    assert runs(gateway) == text_of(network(2))


@restrict_to_gateways("served on the kernel")
def test_the_timer_restores_what_somebody_else_flushed(gateway: Served) -> None:
    deploy(gateway, whole(network(2), token=1, now=clock()))
    within = flush_during_a_trial(gateway)
    gateway.wait_for_log(f"it was not confirmed within {within} s")
    assert runs(gateway) == text_of(network(2))


def flush_during_a_trial(gateway: Served) -> int:
    """Put three members on trial, and flush the ruleset before their time is over; return its seconds.

    The agent's timer is quicker than a test that gets no core meanwhile; then a longer trial follows.
    """
    for within in (1, 10, 100):
        apply_change(gateway, step(network(2), network(3), token=2, now=clock(), within=within))
        with frozen(gateway.process.pid):
            if "10.1.0.3" in gateway.nft("list", "set", "inet", "netzwart", "up4"):
                gateway.nft("flush ruleset")
                return within
    raise AssertionError("the timer was quicker each time")


def test_taking_back_needs_no_readable_disk(gateway: AnyGateway) -> None:
    waiting(gateway)
    (gateway.state / "confirmed").write_text("{")
    answer = gateway.ask(wire.Revert(2))
    assert isinstance(answer, wire.Reverted), answer
    assert runs(gateway) == text_of(network(2))
    deploy(gateway, step(network(2), network(3), token=3, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(network(3))


def without_management(of: Ruleset) -> Ruleset:
    held = of.chains["input"]
    rules = tuple(rule for rule in held.rules if rule.comment != "management")
    return dataclasses.replace(of, chains={**of.chains, "input": dataclasses.replace(held, rules=rules)})


def test_a_ruleset_that_locks_everybody_out_is_refused_even_as_the_first(gateway: AnyGateway) -> None:
    mute = without_management(network(2))
    closed = Chain("input", (Rule((Verdict(VerdictAction.DROP),)), *network(2).chains["input"].rules), network(2).chains["input"].hook)
    nowhere = Rule((Match(Field.TCP_DPORT, (22,)), Match(Field.TCP_SPORT, (22,)), Verdict(VerdictAction.ACCEPT)))
    narrow = dataclasses.replace(closed, rules=(nowhere,))
    no_input = {name: chain for name, chain in network(2).chains.items() if name != "input"}
    for chains in (mute.chains, {**no_input, "input": closed}, {**no_input, "input": narrow}, no_input):
        answer = send_refused(gateway, whole(dataclasses.replace(network(2), chains=chains), token=1, now=clock()))
        assert (answer.reason, "management" in answer.text) == ("malformed", True)
    deploy(gateway, whole(network(2), token=1, now=clock()))
    assert send_refused(gateway, step(network(2), mute, token=2, now=clock())).reason == "malformed"
    assert runs(gateway) == text_of(network(2))


class Wedged(FakeKernel):
    """A kernel that refuses transactions for a while, with this error."""

    refusals = 0
    error: Exception = OSError(105, "No buffer space available")

    def commit(self, delta, now, approve=approve_all):  # type: ignore[no-untyped-def]  # as in FakeKernel
        if self.refusals:
            self.refusals -= 1
            raise self.error
        super().commit(delta, now, approve)


@pytest.fixture
def wedged_gateway(tmp_path: Path) -> Iterator[InProcess]:
    """Yield a gateway with two confirmed members and three on trial for 30 s, whose kernel can refuse transactions."""
    gateway = InProcess(tmp_path)
    gateway.table = Wedged()
    gateway.restart()
    waiting(gateway, within=30)
    yield gateway
    gateway.close()


def refuse(gateway: InProcess, times: int, error: Exception = Wedged.error) -> None:
    assert isinstance(gateway.table, Wedged)
    gateway.table.refusals, gateway.table.error = times, error


EXPIRED = CommitRefusedError("bans4_32: delete element: No such file or directory")


@pytest.mark.parametrize(("error", "times"), [(Wedged.error, 1), (EXPIRED, 2)], ids=["error", "refusal"])
def test_a_way_back_that_the_kernel_would_not_take_is_tried_again(wedged_gateway: InProcess, error: Exception, times: int) -> None:
    wedged_gateway.hands.passed += 31
    refuse(wedged_gateway, times, error)
    with pytest.raises((OSError, TableError), match=re.escape(str(error))):
        wedged_gateway.agent.changes.take_back_overdue()
    assert wedged_gateway.agent.changes.is_on_trial
    refuse(wedged_gateway, times, error)
    assert str(error) in send_refused(wedged_gateway, wire.Hello(clock())).text
    assert welcome(wedged_gateway).trial == ""
    assert runs(wedged_gateway) == text_of(network(2))


def test_a_way_back_that_the_portal_asked_for_in_vain_is_tried_again_at_once(wedged_gateway: InProcess) -> None:
    refuse(wedged_gateway, 2, EXPIRED)
    assert send_refused(wedged_gateway, wire.Revert(2)).reason == "state"
    assert (wedged_gateway.agent.changes.is_on_trial, wedged_gateway.agent.changes.seconds_left) == (True, 0)
    assert runs(wedged_gateway) == text_of(network(2))
    assert "because the portal requested it" in wedged_gateway.agent.changes.past


def test_an_element_that_expires_before_the_way_back_is_committed_does_not_hinder_it(wedged_gateway: InProcess) -> None:
    refuse(wedged_gateway, 1, EXPIRED)
    assert isinstance(wedged_gateway.ask(wire.Revert(2)), wire.Reverted)
    assert runs(wedged_gateway) == text_of(network(2))


def test_an_element_that_expires_before_an_agent_that_starts_has_committed_is_no_damage(wedged_gateway: InProcess) -> None:
    refuse(wedged_gateway, 1, EXPIRED)
    wedged_gateway.restart()
    assert wedged_gateway.brought.fault == ""
    assert runs(wedged_gateway) == text_of(network(2))


def test_taking_back_in_a_second_try_needs_no_readable_disk(wedged_gateway: InProcess) -> None:
    (wedged_gateway.state / "confirmed").write_text("{")
    refuse(wedged_gateway, 2, EXPIRED)
    assert send_refused(wedged_gateway, wire.Revert(2)).reason == "state"
    assert runs(wedged_gateway) == text_of(network(2))


class Unsure(FakeKernel):
    """A kernel whose rules cannot be looked at for some times after a commit."""

    failures = 0
    committed = False

    def commit(self, delta, now, approve=approve_all):  # type: ignore[no-untyped-def]  # as in FakeKernel
        super().commit(delta, now, approve)
        self.committed = True

    def fingerprint_chains(self) -> dict[str, str]:
        if self.committed and self.failures:
            self.failures -= 1
            raise TableError("the ruleset changed during each of 5 dumps")
        return super().fingerprint_chains()


def open_unsure(state: Path, before: Ruleset, failures: int) -> InProcess:
    """Return a gateway on which this is confirmed, unless it is empty, and whose rules cannot be looked at after the next commit."""
    gateway, table = InProcess(state), Unsure()
    gateway.table = table
    gateway.restart()
    if before != EMPTY:
        deploy(gateway, whole(before, token=1, now=clock()))
    table.committed, table.failures = False, failures
    return gateway


@pytest.mark.parametrize("before", [network(2), EMPTY], ids=["confirmed before", "the first"])
def test_a_change_whose_rules_cannot_be_looked_at_after_the_commit_is_taken_back(tmp_path: Path, before: Ruleset) -> None:
    gateway = open_unsure(tmp_path, before, 1)
    answer = send_refused(gateway, step(before, network(3, BANNED), token=2, now=clock()))
    assert answer.reason == "state"
    assert answer.text.startswith("after the commit: the ruleset changed during each of 5 dumps; ")
    assert (runs(gateway), welcome(gateway).trial) == (text_of(before), "")
    assert not (gateway.state / "trial").exists()
    deploy(gateway, step(before, network(3, BANNED), token=3, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(network(3, BANNED))
    gateway.close()


@pytest.mark.parametrize("before", [network(2), EMPTY], ids=["confirmed before", "the first"])
def test_a_change_that_cannot_be_taken_back_at_once_after_an_error_is_taken_back_later(tmp_path: Path, before: Ruleset) -> None:
    gateway = open_unsure(tmp_path, before, 3)
    assert send_refused(gateway, step(before, network(3, BANNED), token=2, now=clock())).reason == "state"
    assert (gateway.agent.changes.is_on_trial, gateway.agent.changes.seconds_left) == (True, 0)
    assert send_refused(gateway, wire.Hello(clock())).reason == "state"
    assert (runs(gateway), welcome(gateway).trial) == (text_of(before), "")
    assert gateway.agent.changes.past.startswith("what was committed was taken back at 20")
    gateway.close()
