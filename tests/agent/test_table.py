"""The table: the kernel holds what was committed, and the table in memory behaves like it."""

import dataclasses
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from threading import Thread

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firewall.diff import Delta, ElementChange, diff
from firewall.ruleset import (
    EMPTY,
    PLAIN,
    Chain,
    Element,
    Field,
    Hook,
    HookPriority,
    Lookup,
    Rule,
    Ruleset,
    Set,
    Type,
    Verdict,
    VerdictAction,
)
from gateway.foreign_transactions import ForeignTransactions
from gateway.kernel import KernelTable
from gateway.running_ruleset import reconcile_times
from gateway.table import CommitRefusedError
from tests.agent.conftest import Bench, restrict_to_gateways
from tests.agent.counter_tables import name_counts, read
from tests.agent.gateways import OnKernel, clock
from tests.agent.rulesets import ban, key, network
from tests.agent.strategies import comments, rulesets
from tests.example_counts import count_examples

NOW = clock()
UP = Set("up4", (Type.IPV4,), 64, counter=True)
FORWARD = Hook("filter", "forward", HookPriority.FILTER)
on_kernel = pytest.mark.parametrize("bench", [pytest.param("kernel", marks=pytest.mark.kernel)], indirect=True)
often = settings(max_examples=count_examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def commit(bench: Bench, before: Ruleset, after: Ruleset) -> None:
    bench.do(bench.table.commit, diff(before, after), clock())


def read_ruleset(bench: Bench, known: Ruleset) -> Ruleset:
    """Return the ruleset in the table.

    Rules are not read back: they are taken from `known` if the chains match.
    """
    found = reconcile_times(bench.do(bench.table.read, clock()), known, 0)
    same = {name: chain.hook for name, chain in found.chains.items()} == {name: chain.hook for name, chain in known.chains.items()}
    return Ruleset(known.chains, found.sets, found.elements, found.counters) if same else found


def plain(*addresses: str) -> Ruleset:
    """Return a set of members and a rule that looks them up."""
    rule = Rule((Lookup((Field.IP_SADDR,), "up4"), Verdict(VerdictAction.ACCEPT)))
    elements = {key(address): PLAIN for address in addresses}
    return Ruleset({"forward": Chain("forward", (rule,), FORWARD)}, {"up4": UP}, {"up4": elements})


def test_an_empty_table_reads_as_nothing(bench: Bench) -> None:
    assert bench.do(bench.table.read, NOW) == EMPTY


def test_a_whole_network_reads_back_as_it_was_written(bench: Bench) -> None:
    wanted = network(20, ban("203.0.113.9/32", "scans", NOW + 3600), ban("198.51.100.0/24"))
    commit(bench, EMPTY, wanted)
    assert read_ruleset(bench, wanted) == wanted


def test_another_rate_of_an_element_is_read_back_with_its_end(bench: Bench) -> None:
    of = Set("rate_up4", (Type.IPV4,), 64, timeout=True, polices=True)
    first, second = ({key("10.16.0.1"): Element(rate.to_bytes(8), "rate limit 7", NOW + 7_200)} for rate in (625_000, 125_000))
    before, after = (Ruleset(sets={"rate_up4": of}, elements={"rate_up4": each}) for each in (first, second))
    commit(bench, EMPTY, before)
    assert read_ruleset(bench, before) == before
    commit(bench, before, after)
    assert read_ruleset(bench, after) == after


@on_kernel
def test_nft_shows_the_rate_of_an_element_in_octets_a_second(bench: Bench) -> None:
    of = Set("rate_up4", (Type.IPV4,), 64, timeout=True, polices=True)
    elements = {key("10.16.0.1"): Element((125_000).to_bytes(8), "rate limit 7", NOW + 7_200)}
    commit(bench, EMPTY, Ruleset(sets={"rate_up4": of}, elements={"rate_up4": elements}))
    shown = nft(bench, "list", "set", "inet", "netzwart", "rate_up4")
    assert "10.16.0.1 limit rate over 125000 bytes/second burst 64 kbytes" in shown


@often
@given(steps=st.lists(rulesets(NOW), min_size=1, max_size=4))
def test_whatever_the_steps_the_table_holds_what_was_wanted(bench: Bench, steps: list[Ruleset]) -> None:
    running = EMPTY
    for wanted in [*steps, EMPTY]:
        commit(bench, running, wanted)
        assert read_ruleset(bench, wanted) == wanted
        running = wanted


@often
@given(before=rulesets(NOW), wanted=rulesets(NOW))
def test_a_table_that_was_only_read_is_led_to_what_is_wanted(bench: Bench, before: Ruleset, wanted: Ruleset) -> None:
    commit(bench, bench.do(bench.table.read, clock()), before)
    commit(bench, bench.do(bench.table.read, clock()), wanted)
    assert read_ruleset(bench, wanted) == wanted


@often
@given(comment=comments)
def test_a_comment_stays_a_comment(bench: Bench, comment: str) -> None:
    """Tests both ways into the kernel: as text with the set's declaration, and into an existing set."""
    before = bench.do(bench.table.read, clock())
    bans = Set("bans", (Type.IPV4,), 64, timeout=True)
    wanted = Ruleset(sets={"bans": bans}, elements={"bans": {key("10.0.0.1"): Element(b"", comment)}})
    commit(bench, before, wanted)
    more = {key("10.0.0.1"): Element(b"", comment), key("10.0.0.2"): Element(b"", comment, NOW + 9000)}
    commit(bench, wanted, dataclasses.replace(wanted, elements={"bans": more}))
    assert read_ruleset(bench, dataclasses.replace(wanted, elements={"bans": more})).elements == {"bans": more}


def test_only_the_elements_asked_for_are_read(bench: Bench) -> None:
    commit(bench, EMPTY, plain("10.0.0.1", "10.0.0.2"))
    found = bench.do(bench.table.read_elements, UP, [key("10.0.0.2"), key("10.0.0.9")], NOW)
    assert found == {key("10.0.0.2"): PLAIN}


def commit_refused(bench: Bench, delta: Delta) -> str:
    before = bench.do(bench.table.read, NOW)
    with pytest.raises(CommitRefusedError) as refusal:
        bench.do(bench.table.commit, delta, NOW)
    assert bench.do(bench.table.read, NOW) == before
    return str(refusal.value)


def change(removed: dict[bytes, Element], added: dict[bytes, Element], of: Set = UP) -> Delta:
    return Delta(elements={of.name: ElementChange(of, removed, added)})


def test_deleting_what_is_not_there_is_refused_as_a_whole(bench: Bench) -> None:
    commit(bench, EMPTY, plain("10.0.0.1"))
    assert "No such file" in commit_refused(bench, change({key("10.0.0.9"): PLAIN}, {key("10.0.0.2"): PLAIN}))


def test_another_value_for_a_key_that_is_there_is_refused(bench: Bench) -> None:
    snat = Set("snat4", (Type.IPV4,), 64, value=(Type.IPV4,))
    commit(bench, EMPTY, Ruleset(sets={"snat4": snat}, elements={"snat4": {key("10.0.0.1"): Element(b"\1\1\1\1")}}))
    assert "File exists" in commit_refused(bench, change({}, {key("10.0.0.1"): Element(b"\2\2\2\2")}, snat))


def test_a_full_set_refuses_one_more(bench: Bench) -> None:
    commit(bench, EMPTY, plain(*(f"10.0.0.{at}" for at in range(64))))
    assert "Too many open files" in commit_refused(bench, change({}, {key("10.0.1.1"): PLAIN}))


def test_elements_of_an_unknown_set_are_refused(bench: Bench) -> None:
    commit(bench, EMPTY, plain("10.0.0.1"))
    assert commit_refused(bench, change({}, {key("10.0.1.1"): PLAIN}, Set("other", (Type.IPV4,), 64)))


def test_a_rule_that_looks_up_nothing_is_refused_with_the_line_at_fault(bench: Bench) -> None:
    loose = dataclasses.replace(plain(), sets={}, elements={})
    assert "up4" in commit_refused(bench, diff(EMPTY, loose))


def test_a_large_load_that_is_refused_leaves_nothing_behind(bench: Bench) -> None:
    large = dataclasses.replace(UP, size=1 << 16)
    many = {(10 << 24 | at).to_bytes(4): PLAIN for at in range(5000)}
    loose = dataclasses.replace(plain().chains["forward"], rules=(Rule((Lookup((Field.IP_SADDR,), "gone"), Verdict(VerdictAction.DROP))),))
    assert "gone" in commit_refused(bench, diff(EMPTY, Ruleset({"forward": loose}, {"up4": large}, {"up4": many})))
    assert bench.do(bench.table.read, NOW) == EMPTY


def test_a_check_changes_nothing(bench: Bench) -> None:
    commit(bench, EMPTY, plain("10.0.0.1"))
    bench.do(bench.table.check, change({}, {key("10.0.0.2"): PLAIN}), NOW)
    assert read_ruleset(bench, plain("10.0.0.1")) == plain("10.0.0.1")


def test_nobody_else_means_undisturbed(bench: Bench) -> None:
    bench.do(bench.table.read, NOW)
    commit(bench, EMPTY, network(3))
    commit(bench, network(3), network(2))
    commit(bench, network(2), EMPTY)
    bench.do(bench.table.check, diff(EMPTY, network(1)), NOW)
    assert not bench.do(bench.table.is_disturbed)


def nft(bench: Bench, *arguments: str) -> str:
    return bench.do(lambda: subprocess.run(["nft", *arguments], check=True, capture_output=True, text=True).stdout)


@on_kernel
def test_counters_are_read_beside_changes_without_taking_their_answers(bench: Bench) -> None:
    """As standing probes are asked for while a ruleset is applied. The threads are in the namespace of the one that starts them."""
    commit(bench, EMPTY, network(3))
    before, failed = sys.getswitchinterval(), list[BaseException]()
    sys.setswitchinterval(1e-6)

    def repeat(work: Callable[[], object]) -> None:
        try:
            for _time in range(300):
                work()
        except BaseException as error:
            failed.append(error)

    def start() -> list[Thread]:
        works = (bench.table.read_named_counters, partial(bench.table.read, NOW))
        begun = [Thread(target=repeat, args=(work,), daemon=True) for work in works]
        for each in begun:
            each.start()
        return begun

    try:
        for each in bench.do(start):
            each.join(600)
            assert not each.is_alive(), "it waits for an answer that the other thread has taken"
    finally:
        sys.setswitchinterval(before)
    assert failed == []


@on_kernel
def test_another_table_is_neither_touched_nor_does_it_disturb(bench: Bench) -> None:
    nft(bench, "add table inet other; add chain inet other up4; add set inet other up4 { type ipv4_addr; elements = { 10.0.0.1 } }")
    nft(bench, "add counter inet other spoofed; add table ip netzwart; add set ip netzwart up4 { type ipv4_addr; }")
    before = nft(bench, "list", "ruleset")
    assert bench.do(bench.table.read, NOW) == EMPTY
    commit(bench, EMPTY, network(3))
    assert bench.do(bench.table.read_named_counters).keys() == network(3).counters
    commit(bench, bench.do(bench.table.read, NOW), EMPTY)
    nft(bench, "add element inet other up4 { 10.0.0.2 }; delete element inet other up4 { 10.0.0.2 }")
    assert not bench.do(bench.table.is_disturbed)
    nft(bench, "delete", "table", "inet", "netzwart")
    assert nft(bench, "list", "ruleset") == before
    assert bench.do(bench.table.is_disturbed)


MEDDLING = (
    "add element inet netzwart up4 { 10.0.0.7 }",
    "delete element inet netzwart up4 { 10.0.0.1 }",
    "add rule inet netzwart forward accept",
    "add counter inet netzwart odd",
    "add table inet netzwart { flags dormant; }",
    "delete table inet netzwart",
    "flush ruleset",
)


@on_kernel
@pytest.mark.parametrize("meddling", MEDDLING)
def test_a_change_of_our_table_disturbs_among_changes_of_others(bench: Bench, meddling: str) -> None:
    commit(bench, EMPTY, plain("10.0.0.1"))
    bench.do(bench.table.read, NOW)
    nft(bench, "add table inet other; add set inet other jail { type ipv4_addr; }")
    bench.do(bench.table.commit, change({}, {key("10.0.0.2"): PLAIN}), NOW)
    nft(bench, "add element inet other jail { 10.0.0.1 }")
    assert not bench.do(bench.table.is_disturbed)
    nft(bench, meddling)
    nft(bench, "add table inet another")
    assert bench.do(bench.table.is_disturbed)
    assert bench.do(bench.table.is_disturbed), "until the table is read"
    bench.do(bench.table.read, NOW)
    assert not bench.do(bench.table.is_disturbed)


@on_kernel
def test_a_large_transaction_of_ours_does_not_disturb(bench: Bench) -> None:
    large = dataclasses.replace(plain(), sets={"up4": dataclasses.replace(UP, size=1 << 16)})
    commit(bench, EMPTY, large)
    bench.do(bench.table.read, NOW)
    many = {(10 << 24 | at).to_bytes(4): PLAIN for at in range(10_000)}
    nft(bench, "add table inet other")
    bench.do(bench.table.commit, change({}, many, large.sets["up4"]), NOW)
    nft(bench, "delete table inet other")
    assert not bench.do(bench.table.is_disturbed)


@on_kernel
@pytest.mark.parametrize(("octets", "disturbs"), [(0, False), (1 << 20, True)])
def test_what_another_program_commits_beside_ours_disturbs_if_nothing_is_heard_meanwhile(bench: Bench, octets: int, disturbs: bool) -> None:
    commit(bench, EMPTY, plain("10.0.0.1"))
    table = bench.table
    assert isinstance(table, KernelTable)

    def commit_both() -> bool:
        with closing(ForeignTransactions()) as foreign:
            foreign.settle(table._read_generation())
            with foreign.count_own(octets):
                table.commit(change({}, {key("10.0.0.2"): PLAIN}), NOW)
                subprocess.run(["nft", "add table inet other"], check=True)
            return foreign.has_touched(table._read_generation())

    assert bench.do(commit_both) == disturbs


@on_kernel
def test_more_notifications_than_the_buffer_holds_disturb(bench: Bench) -> None:
    commit(bench, EMPTY, plain("10.0.0.1"))
    bench.do(bench.table.read, NOW)
    nft(bench, "add table inet other; add set inet other jail { type ipv4_addr; }")
    for part in range(40):
        crowd = ", ".join(f"10.{part}.{at >> 8}.{at & 255}" for at in range(4_000))
        nft(bench, f"add element inet other jail {{ {crowd} }}")
    assert bench.do(bench.table.is_disturbed)
    bench.do(bench.table.read, NOW)
    nft(bench, "delete table inet other")
    assert not bench.do(bench.table.is_disturbed)


@on_kernel
def test_what_a_stranger_put_into_our_table_is_swept_away(bench: Bench) -> None:
    commit(bench, EMPTY, plain("10.0.0.1"))
    nft(bench, "add set inet netzwart odd { type ether_addr; flags interval; elements = { 00:00:00:00:00:01-00:00:00:00:00:09 } }")
    nft(bench, "add map inet netzwart odder { type mark : verdict; elements = { 1 : drop } }; add counter inet netzwart odd")
    nft(bench, "add chain inet netzwart odd { type filter hook ingress device lo priority 7; }; add element inet netzwart up4 { 10.0.0.7 }")
    nft(bench, "add rule inet netzwart odd ether saddr @odd counter; add rule inet netzwart forward meta mark vmap @odder")
    commit(bench, bench.do(bench.table.read, NOW), plain("10.0.0.1"))
    assert read_ruleset(bench, plain("10.0.0.1")) == plain("10.0.0.1")
    assert "odd" not in nft(bench, "list", "ruleset")


@on_kernel
def test_the_listing_shows_that_somebody_wrote_rules_but_not_what_packets_count(bench: Bench) -> None:
    commit(bench, EMPTY, counting("up4"))
    before = bench.do(bench.table.fingerprint_chains)
    send(bench, "127.0.0.1")
    assert bench.do(bench.table.fingerprint_chains) == before
    nft(bench, "add rule inet netzwart output drop")
    assert bench.do(bench.table.fingerprint_chains) != before


def counting(*sets: str, policy: VerdictAction = VerdictAction.ACCEPT) -> Ruleset:
    """Return a ruleset that counts packets of this host to itself."""
    accept = (Lookup((Field.IP_DADDR,), "up4"), Verdict(VerdictAction.ACCEPT))
    chain = Chain("output", (Rule(accept),) * len(sets), Hook("filter", "output", HookPriority.FILTER, policy))
    return Ruleset({"output": chain}, {"up4": UP}, {"up4": {key("127.0.0.1"): PLAIN}})


def send(bench: Bench, address: str) -> None:
    """Send one UDP packet of 100 octets, headers included, to a listening socket; without one, an ICMP error would be counted, too."""

    def send_to_listener() -> None:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            receiver.bind((address, 9))
            sender.sendto(bytes(72), (address, 9))

    bench.do(send_to_listener)


@on_kernel
def test_counters_of_elements_survive_rewritten_chains(bench: Bench) -> None:
    commit(bench, EMPTY, counting("up4"))
    send(bench, "127.0.0.1")
    commit(bench, bench.do(bench.table.read, NOW), counting("up4", "up4"))
    assert name_counts(read(bench).sets["up4"]) == {key("127.0.0.1"): (1, 100)}


def test_counters_go_with_their_elements(bench: Bench) -> None:
    commit(bench, EMPTY, plain("10.0.0.1", "10.0.0.2"))
    commit(bench, plain("10.0.0.1", "10.0.0.2"), plain("10.0.0.2"))
    assert read(bench).sets["up4"].elements == 1


@restrict_to_gateways("kernel")
def test_nfts_own_words_name_the_line(gateway: OnKernel) -> None:
    assert isinstance(gateway.table, KernelTable)
    loose = Delta(chains=diff(EMPTY, dataclasses.replace(plain(), sets={}, elements={})).chains)
    with pytest.raises(CommitRefusedError, match=r"(?s)No such file or directory.*in: add rule inet netzwart forward ip saddr @up4"):
        gateway.space.do(gateway.table.commit, loose, NOW)
