import json
import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firewall import wire
from firewall.codec import WireError
from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.file_trial import FileTrial, FileTrialIs, FileTrialPhase, InstallFiles, KeepFiles, RevertFiles
from firewall.live_trace import COMES, Event, Headers, Look, Seen, Watch, Watching
from firewall.machine import Describe, InterfaceAddress, MachineFacts, MachineInterface
from firewall.policy import Policy, Prefix
from firewall.probe_messages import Connected, Probe, Probed, ProbeRound, ProbesRead, ReadProbes, Target, TargetSeen
from firewall.roles import Drain, FailoverRole, FamilyRole, Roles, RolesAre
from firewall.ruleset import PLAIN
from lab.failover import build_gateway
from tests.example_counts import count_examples
from tests.policies import network, policies


def through(message: wire.Message) -> object:
    """Send the message over the wire format; return what the other side gets."""
    assembler = wire.Assembler()
    answers = [assembler.feed(line) for line in wire.iter_lines(7, message)]
    assert all(answer is None for answer in answers[:-1])
    assert answers[-1] is not None
    number, data = answers[-1]
    assert number == 7
    return data


@given(policies(), policies())
@settings(max_examples=count_examples(80))
def test_a_delta_arrives_as_it_was_sent(first: Policy, second: Policy) -> None:
    delta = diff(compile_policy(first), compile_policy(second))
    apply = wire.Apply(3, 1_800_000_000, "a" * 64, "b" * 64, delta, None, 30)
    assert wire.parse_request(through(apply)) == apply


@given(policies())
@settings(max_examples=count_examples(60))
def test_a_ruleset_arrives_as_it_was_sent(policy: Policy) -> None:
    plan = wire.Plan(1, compile_policy(policy))
    assert wire.parse_request(through(plan)) == plan


def test_a_large_ruleset_comes_in_lines_of_at_most_a_mebibyte() -> None:
    plan = wire.Plan(1, compile_policy(network(60_000)))
    lines = list(wire.iter_lines(1, plan))
    assert len(lines) > 1
    assert max(map(len, lines)) <= wire.MAX_LINE
    assert wire.parse_request(through(plan)) == plan


HEADERS = Headers(ip_address("10.16.0.5"), ip_address("203.0.113.9"), 6, 40_000, 443, 60, ("syn",))
EVENT = Event(1, COMES, "inet netzwart", "forward", "forward", False, 0, "", "jump", "new", "lan0", "", HEADERS)
COUNTS = wire.Counts(9, b"\0\1\2\xff", b"\0" * 7 + b"\1", b"\xff" * 8, b"\0" * 7 + b"\2")
WAN = MachineInterface("wan0", True, "02:00:00:00:00:01", "", (InterfaceAddress(ip_address("2001:db8::1"), 64),), False, True)
REPLIES = [
    MachineFacts("nat-1", "0.1.0+3f9a2c41", "Debian GNU/Linux 13 (trixie)", "6.12.1", "1.1.3", True, False, 1_800_000_000_000, (WAN,), 2),
    wire.Welcome("nat-1", "0.1", "", "", 4, "boot", False, "d", 12, 3),
    wire.Applied("d", 3, 1, 4, 5, 6, True),
    wire.Reverted("d", "back"),
    wire.Drifted("d", ("chain up",), {"up4": wire.ElementDrift({b"\1\2\3\4": PLAIN}, {}, 1, 0)}),
    wire.Planned("d", {"up4": 1}, {}, ("forward",), "add …"),
    wire.Reading("boot", 3, "log", 4, 5, {"up4": COUNTS}, (wire.Gone(7, "boot", 3, {"up4": COUNTS}),), {"leaked": (0, 0)}),
    ProbesRead("5f", (ProbeRound(7, 1900, (TargetSeen(Connected(310), 4, None, 1300),)),), None),
    ProbesRead("5f", (), {"probe_up4": 3}),
    Probed((Connected(310), Connected(None, "refused")), {"leaked": 0, "probe_up4": 3}),
    Watching(3),
    Seen((EVENT, replace(EVENT, mark="", headers=None, number=2, rule="drop")), "time"),
    wire.GaugesAre({"member_rate4_50_100": (3, 65536)}),
    RolesAre(
        (FamilyRole(4, FailoverRole.PRIMARY, 1_800_000_000, True, False), FamilyRole(6, FailoverRole.UNKNOWN, 0, False, True)),
        0,
        -1,
        20_000,
        "0123456789abcdef",
        ("/etc/keepalived/keepalived.conf",),
    ),
    FileTrialIs(FileTrialPhase.REFUSED, problem="conntrackd does not work with these files"),
    wire.Refused("nft", "no"),
]


@pytest.mark.parametrize("reply", REPLIES)
def test_an_answer_arrives_as_it_was_given(reply: wire.Reply) -> None:
    assert wire.parse_reply(through(reply)) == reply


def test_a_probe_arrives_as_it_was_asked() -> None:
    probe = Probe((Target(ip_address("203.0.113.10"), 80), Target(ip_address("2001:db8:cafe::10"), 443)), 1000)
    standing = ReadProbes(probe.targets, 2000, 1000, "5f", 7)
    assert [wire.parse_request(through(each)) for each in (probe, standing)] == [probe, standing]


@pytest.mark.parametrize("source", [None, ip_network("10.16.0.0/16"), ip_network("2001:db8::7/128")])
def test_what_to_watch_for_arrives_as_it_was_asked(source: Prefix | None) -> None:
    for request in (Watch(source, ip_network("203.0.113.0/24"), 6, 443, "wan0", 30, 100), Look(7, 12, True)):
        assert wire.parse_request(through(request)) == request


def test_a_machine_is_asked_for_nothing_but_its_facts() -> None:
    assert wire.parse_request(through(Describe())) == Describe()
    with pytest.raises(WireError, match="request: unknown field"):
        wire.parse_request({"is": "Describe", "run": "reboot"})


def test_a_gateway_is_told_to_give_up_families_that_there_are() -> None:
    for request in (Roles(), Drain((4, 6), True), Drain((), False)):
        assert wire.parse_request(through(request)) == request
    with pytest.raises(WireError, match=r"^request\.families\[1\]: 5 is not between 4 and 6"):
        wire.parse_request({"is": "Drain", "families": [4, 5], "drained": True})


def test_a_gateway_is_sent_the_values_of_its_failover() -> None:
    values = build_gateway("nat-1")
    asked = InstallFiles(replace(values, spec=replace(values.spec, failback=60)), "0123456789abcdef")
    for request in (asked, KeepFiles("0"), RevertFiles(), FileTrial()):
        assert wire.parse_request(through(request)) == request


@pytest.mark.parametrize("address", [{"prefix": "203.0.113.0/24"}, {"address": "x"}, {}, "203.0.113.10", None])
def test_a_target_that_is_no_address_is_refused(address: object) -> None:
    target = {"is": "Target", "address": address, "port": 80}
    with pytest.raises(WireError, match=r"^request\.targets\[0\]\.address"):
        wire.parse_request({"is": "Probe", "targets": [target], "limit_ms": 1000})


def hello(**changes: Any) -> Any:
    return {"is": "Hello", "now": 1, "token": 0} | changes


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (hello(extra=1), "request: unknown field 'extra'"),
        ({"is": "Hello", "token": 0}, "request: missing field 'now'"),
        (hello(now="1"), "request.now: expected int, got str"),
        (hello(now=True), "request.now: expected int, got bool"),
        ({"is": "Explode"}, "request.is: expected one of"),
        ([], "request: unexpected list"),
        (None, "request: unexpected NoneType"),
    ],
)
def test_what_is_not_a_request_is_refused_with_the_path_to_the_fault(data: object, fault: str) -> None:
    with pytest.raises(WireError, match=f"^{fault.replace('[', '.')}"):
        wire.parse_request(data)


def spoil(path: list[str | int], value: object) -> object:
    policy = Policy(network(2).gateway, addresses=network(2).addresses, bans=network(2).bans)
    data: Any = through(wire.Plan(1, compile_policy(policy)))
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["ruleset", "elements", "up4", "keys"], "!!!"),
        (["ruleset", "elements", "up4", "keys"], "AAA="),
        (["ruleset", "elements", "up4", "count"], 3),
        (["ruleset", "elements", "up4", "count"], -1),
        (["ruleset", "elements", "up4", "count"], 10**12),
        (["ruleset", "elements", "up4", "more"], 1),
        (["ruleset", "elements", "up4", "keys"], "ChAAAAoQAAA="),
        (["ruleset", "chains", "forward", "hook", "priority"], 17),
        (["ruleset", "chains", "forward", "rules", 0, "parts", 0], {"is": "Shell"}),
        (["ruleset", "sets", "up4", "key"], ["integer"]),
        (["ruleset", "sets", "up4", "size"], None),
        (["now"], 1.5),
    ],
)
def test_a_spoiled_ruleset_is_refused(path: list[str | int], value: object) -> None:
    with pytest.raises(WireError, match=r"^request\."):
        wire.parse_request(spoil(path, value))


scalars = st.none() | st.booleans() | st.integers() | st.text()
json_data = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(json_data)
@settings(max_examples=count_examples(300))
def test_no_json_is_too_strange_to_be_refused(data: object) -> None:
    for read in (wire.parse_request, wire.parse_reply):
        with pytest.raises(WireError):
            read(data)


@given(st.binary(max_size=300))
@settings(max_examples=count_examples(300))
def test_no_octets_are_too_strange_to_be_refused(line: bytes) -> None:
    with pytest.raises(WireError):
        wire.Assembler().feed(line)


def test_lines_of_two_messages_do_not_mix() -> None:
    assembler = wire.Assembler()
    assembler.feed(json.dumps({"v": wire.VERSION, "id": 1, "last": False, "part": "{"}).encode())
    with pytest.raises(WireError, match="line of message 2 within message 1"):
        assembler.feed(json.dumps({"v": wire.VERSION, "id": 2, "last": True, "part": "}"}).encode())


def test_deeply_nested_json_is_refused_and_nothing_more() -> None:
    line = json.dumps({"v": wire.VERSION, "id": 1, "last": True, "part": "[" * 100_000}).encode()
    with pytest.raises(WireError, match="not JSON"):
        wire.Assembler().feed(line)


# --- Answers of a gateway under an attacker's control


def spoiled_reply(reply: wire.Reply, **changes: object) -> object:
    data: Any = through(reply)
    return data | changes


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"flows_cut": 1 << 31}, "reply.flows_cut: 2147483648 is not between -1 and 2147483647"),
        ({"flows_cut": 1 << 70}, "reply.flows_cut: 1180591620717411303424 is not between"),
        ({"commit_ms": -1}, "reply.commit_ms: -1 is not between 0 and"),
        ({"elements": True}, "reply.elements: expected int, got bool"),
        ({"digest": "a\0b"}, "reply.digest: NUL and lone surrogates are not permitted"),
        ({"digest": "a\ud800b"}, "reply.digest: NUL and lone surrogates are not permitted"),
    ],
)
def test_a_number_or_text_that_nothing_takes_is_refused_with_its_place(changes: dict[str, object], fault: str) -> None:
    with pytest.raises(WireError, match=f"^{fault}"):
        wire.parse_reply(spoiled_reply(wire.Applied("d", 3, 1, 4, 5, 6, True), **changes))


@pytest.mark.parametrize("rules", [["chain \0"], ["chain \udfff"], ["fine", "\0"]])
def test_texts_in_lists_and_names_of_fields_are_looked_at_too(rules: list[str]) -> None:
    with pytest.raises(WireError, match="NUL and lone surrogates are not permitted"):
        wire.parse_reply(spoiled_reply(wire.Drifted("d", (), {}), rules=rules))
    with pytest.raises(WireError, match="NUL and lone surrogates are not permitted"):
        wire.parse_reply(spoiled_reply(wire.GaugesAre({}), held={rules[-1]: "1"}))


def test_a_fault_is_printable_and_not_long_whatever_is_quoted_in_it() -> None:
    with pytest.raises(WireError) as fault:
        wire.parse_reply({"is": "x\0\ud800\x1b[2J" * 100_000})
    text = str(fault.value)
    assert len(text) <= 1000 and text.isprintable()


def integers_of(kind: Any) -> dict[str, object]:
    hints = get_type_hints(kind, include_extras=True)
    return {f"{kind.__name__}.{name}": hint for name, hint in hints.items() if re.search(r"\bint\b", str(hint))}


def test_every_integer_of_an_answer_says_within_which_limits_it_is() -> None:
    """These integers are stored in database columns, so a new one needs limits that fit its column."""
    kinds = {*wire.Reply.__args__, wire.Counts, wire.Gone, wire.ElementDrift, Connected}
    mine = [kind for kind in kinds if kind.__module__ == wire.__name__]
    found = {name: hint for kind in mine for name, hint in integers_of(kind).items()}
    assert len(found) >= 20
    assert [name for name, hint in found.items() if "range(" not in str(hint)] == []


def nest(number: int) -> str:
    return "[" + "[]," * number + "[]]"


@pytest.mark.parametrize("kind", wire.ANSWERED)
def test_an_answer_is_bounded_before_it_is_taken_apart(kind: type[wire.Request]) -> None:
    limits = wire.ANSWERED[kind]
    assembler = wire.Assembler(limits)
    with pytest.raises(WireError, match=r"consists of more than|is longer than"):
        for line in lines_of(nest(limits.values // 2 + 1)):
            assembler.feed(line)


def lines_of(text: str) -> Iterator[bytes]:
    size = 1 << 17
    for start in range(0, len(text), size):
        frame = {"v": wire.VERSION, "id": 1, "last": start + size >= len(text), "part": text[start : start + size]}
        yield json.dumps(frame).encode() + b"\n"
