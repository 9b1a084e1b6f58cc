"""A live trace in words: the path of each packet, where it was rewritten, and what became of it."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from apps.desk.live_trace import live_trace_texts
from apps.desk.live_trace.passage import list_passage_stops
from apps.lib.ui.states import StateKind
from firewall.live_trace import ARRIVES, COMES, LEAVES, Event, Headers

CAME = Headers(ip_address("203.0.113.66"), ip_address("198.51.100.7"), 6, 40_000, 8443, 60, ("syn",))
PORTLESS = replace(CAME, source_port=0, destination_port=0, flags=())
LED = replace(CAME, destination=ip_address("10.16.0.5"), destination_port=443)
FIRST = Event(1, COMES, "inet netzwart_live", "prerouting", "", False, 0, "", "continue", "", "wan0", "", CAME)


def make_rule_event(chain: str, hook: str, rule: str, verdict: str, *, to: str = "", headers: Headers | None = None) -> Event:
    return Event(1, "", "inet netzwart", chain, hook, False, 1, rule, verdict, to, "", "", headers)


def policy(chain: str, hook: str, verdict: str = "accept") -> Event:
    return Event(1, "", "inet netzwart", chain, hook, True, 0, "", verdict, "", "", "", None)


DNAT = make_rule_event("dstnat", "prerouting", "dnat ip to ip daddr map @forward4", "accept", headers=CAME)
FORWARD = make_rule_event("forward", "forward", "jump bans", "jump", to="bans", headers=LED)
BANS = make_rule_event("bans", "forward", "ip saddr @bans4_32 drop", "drop")
OUT = replace(FIRST, mark=LEAVES, chain="postrouting", goes="lan0", headers=LED)


def test_a_stop_is_a_stretch_of_a_chain_and_tells_where_the_packet_was_rewritten() -> None:
    path = list_passage_stops([FIRST, policy("raw_prerouting", "prerouting"), DNAT, FORWARD, BANS])
    assert [(stop.name, stop.place, stop.decides) for stop in path] == [
        ("raw_prerouting", "hook prerouting", False),
        ("dstnat", "hook prerouting", False),
        ("forward", "hook forward", False),
        ("bans", "hook forward", True),
    ]
    assert [stop.packet for stop in path] == ["", "TCP 203.0.113.66:40000 → 10.16.0.5:443", "", ""]
    assert [line.did for stop in path for line in stop.lines] == ["accepted", "accepted", "on to the chain bans", "dropped"]


def test_what_source_nat_made_of_it_is_told_where_it_was_done_though_the_kernel_tells_it_later() -> None:
    snat = make_rule_event("srcnat", "postrouting", "snat ip to ip saddr map @snat4", "accept", headers=CAME)
    path = list_passage_stops([FIRST, snat, policy("fail_closed", "postrouting"), OUT])
    assert [(stop.name, bool(stop.packet)) for stop in path] == [("srcnat", True), ("fail_closed", False)]


@pytest.mark.parametrize(
    ("last", "kind", "said"),
    [
        (OUT, StateKind.OK, "Went through. It left by lan0 as TCP 203.0.113.66:40000 → 10.16.0.5:443."),
        (replace(OUT, mark=ARRIVES), StateKind.OK, "Reached the gateway itself. The ruleset does not say which service answers there."),
        (BANS, StateKind.BAD, "Dropped. By the chain bans: ip saddr @bans4_32 drop"),
        (policy("forward", "forward", "drop"), StateKind.BAD, "Dropped. By the chain forward: policy drop"),
        (
            replace(BANS, rule='counter name "refused" reject with tcp reset'),
            StateKind.BAD,
            "Refused. Opening this connection is not allowed.",
        ),
        (DNAT, StateKind.WARN, "Ended without a rule. The kernel reported nothing after the chain dstnat: routing ended it, or it waits."),
    ],
)
def test_the_last_event_is_the_packets_fate(last: Event, kind: StateKind, said: str) -> None:
    fate = live_trace_texts.describe_fate([FIRST, last])
    assert (fate.kind, str(fate)) == (kind, said)


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        (CAME, "TCP 203.0.113.66:40000 → 198.51.100.7:8443, syn, 60 octets"),
        (
            replace(CAME, protocol=1, source_port=0, destination_port=0, flags=(), icmp="8/0"),
            "ICMP 203.0.113.66 → 198.51.100.7, type 8/0, 60 octets",
        ),
        (replace(PORTLESS, protocol=50), "50 203.0.113.66 → 198.51.100.7, 60 octets"),
    ],
)
def test_a_packet_is_told_with_its_ends_and_its_kind(headers: Headers, said: str) -> None:
    assert live_trace_texts.render_headers(headers) == said


def test_a_rule_of_somebody_else_is_said_to_be_one() -> None:
    theirs = replace(BANS, table="ip docker", rule="")
    assert live_trace_texts.render_rule(theirs) == "a rule that the portal did not send, in the table ip docker"
    assert live_trace_texts.describe_hook(theirs) == "ip docker"
