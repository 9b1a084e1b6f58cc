"""Neighbouring versions of the protocol: what is left out for an older peer, and that no change of the messages is forgotten."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firewall import wire, wire_versions
from firewall.codec import TooNewError, WireError, decode, encode
from firewall.compile import compile_policy
from firewall.health import ReadHealth
from firewall.policy import ConnectionLimits, GatewayGroupSettings, Policy
from firewall.roles import FailoverRole, FamilyRole
from firewall.wire_versions import ADDED, LACKING, SPOKEN, VERSION, Additions, WhenSet, merge_additions
from tests import wire_schema
from tests.example_counts import count_examples
from tests.policies import NAT_1, policies
from tests.wire_schema import RELEASED, describe_protocol, get_schema_path, hash_schema, list_reachable, subtract_additions

WELCOME = wire.Welcome("nat-1", "0.1", "", "", 4, "boot", False, "d", 12, 3)
OMITTED = Additions(fields={"Welcome": {"disk": WhenSet.OMIT}})
REFUSED = Additions(fields={"Hello": {"token": WhenSet.REFUSE}})


# --- Nothing is forgotten


def test_the_newest_schema_is_committed() -> None:
    advice = "name in firewall/wire_versions.py what was added, then run “python -m tests.wire_schema”"
    assert get_schema_path(VERSION).read_text() == wire_schema.render_schema(describe_protocol()), advice


@pytest.mark.parametrize("version", RELEASED)
def test_the_schema_of_a_released_version_never_changes(version: int) -> None:
    assert hash_schema(version) == RELEASED[version], "released agents speak it: restore the file, and add a version instead"


@pytest.mark.parametrize("version", ADDED)
def test_a_version_is_the_one_before_and_what_the_table_says(version: int) -> None:
    before, now = (json.loads(get_schema_path(each).read_text()) for each in (version - 1, version))
    assert subtract_additions(now, ADDED[version]) == before, "name the change in ADDED, or raise VERSION"


def test_a_released_version_is_not_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_schema, "RELEASED", {VERSION: ""})
    with pytest.raises(SystemExit, match=r"raise VERSION in firewall/wire_versions\.py"):
        wire_schema.main()


def test_a_change_without_an_entry_is_noticed() -> None:
    schema = describe_protocol()
    grown = json.loads(json.dumps(schema))
    grown["classes"]["Welcome"]["fields"]["colour"] = 'str = ""'
    assert subtract_additions(grown, Additions()) != schema
    assert subtract_additions(grown, Additions(fields={"Welcome": {"colour": WhenSet.OMIT}})) == schema


def test_a_class_that_is_taken_out_leaves_its_unions() -> None:
    before = subtract_additions(describe_protocol(), Additions(classes=frozenset({"ReadHealth", "HealthCounters"})))
    assert "ReadHealth" not in json.dumps(before["requests"]) and "Hello" in before["requests"]
    assert "HealthCounters" not in before["replies"] and "HealthCounters" not in before["classes"]


def test_both_spoken_versions_are_the_last_ones() -> None:
    assert SPOKEN == (VERSION - 1, VERSION)
    assert LACKING.keys() >= set(SPOKEN) and max(ADDED) == VERSION
    assert set(RELEASED) | {VERSION} >= set(SPOKEN)


@pytest.mark.parametrize("version", ADDED)
def test_an_added_field_has_a_default_and_is_omitted_only_from_answers(version: int) -> None:
    classes, asked = describe_protocol()["classes"], list_reachable(wire.Request)
    fields = [(name, field, when) for name, added in ADDED[version].fields.items() for field, when in added.items()]
    assert [f"{name}.{field}" for name, field, _ in fields if " = " not in classes[name]["fields"][field]] == []
    assert [f"{name}.{field}" for name, field, when in fields if when is WhenSet.OMIT and name in asked] == [], "a request means less then"


# --- An older peer


def test_a_field_that_only_tells_more_is_left_out() -> None:
    told = encode(replace(WELCOME, disk="full"), OMITTED)
    assert "disk" not in told
    assert decode(wire.Welcome, told, "reply", OMITTED).disk == ""


def test_a_field_with_a_meaning_is_left_out_only_with_its_default() -> None:
    assert encode(wire.Hello(1), REFUSED) == {"is": "Hello", "now": 1, "sent": 0, "not_later": None}
    with pytest.raises(TooNewError, match=r"^Hello\.token is not known there$"):
        encode(wire.Hello(1, token=3), REFUSED)


def test_a_field_that_an_older_peer_cannot_know_stays_unknown() -> None:
    with pytest.raises(WireError, match=r"^reply: unknown field 'disk'$"):
        decode(wire.Welcome, encode(WELCOME), "reply", OMITTED)


def test_a_class_that_is_not_known_there_is_neither_sent_nor_taken() -> None:
    lacking = Additions(classes=frozenset({"ReadHealth"}))
    with pytest.raises(TooNewError, match=r"^ReadHealth is not known there$"):
        encode(ReadHealth(), lacking)
    with pytest.raises(WireError, match=r"^request\.is: expected one of .*got 'ReadHealth'$"):
        decode(wire.Request, {"is": "ReadHealth"}, "request", lacking)


def test_a_part_that_is_not_known_there_is_refused_wherever_it_is() -> None:
    with pytest.raises(TooNewError, match="ClockBound is not known there"):
        encode(wire.Hello(1, not_later=wire.ClockBound(1, 2)), Additions(classes=frozenset({"ClockBound"})))


def test_a_member_that_is_not_known_there_is_neither_sent_nor_taken() -> None:
    lacking = Additions(members={"FailoverRole": frozenset({"UNKNOWN"})})
    role = FamilyRole(6, FailoverRole.UNKNOWN, 0, False, True)
    with pytest.raises(TooNewError, match=r"^FailoverRole\.UNKNOWN is not known there$"):
        encode(role, lacking)
    with pytest.raises(WireError, match="is not a FailoverRole in that version"):
        decode(FamilyRole, encode(role), "role", lacking)


def test_what_several_versions_added_is_added_up() -> None:
    both = merge_additions([OMITTED, Additions(fields={"Welcome": {"damage": WhenSet.OMIT}}, classes=frozenset({"Look"}))])
    assert both.fields == {"Welcome": {"disk": WhenSet.OMIT, "damage": WhenSet.OMIT}} and both.classes == {"Look"}


def test_what_was_written_before_a_field_existed_is_read_with_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    old = {name: each for name, each in encode(wire.GaugesAre({})).items() if name != "held"}
    with pytest.raises(WireError, match="missing field 'held'"):
        decode(wire.GaugesAre, old)
    monkeypatch.setitem(wire_versions.LACKING, min(LACKING), Additions(fields={"GaugesAre": {"held": WhenSet.OMIT}}))
    assert decode(wire.GaugesAre, old) == wire.GaugesAre({})


@given(policies())
@settings(max_examples=count_examples(40))
def test_a_ruleset_arrives_in_every_spoken_version(policy: Policy) -> None:
    limits = replace(policy.gateway.settings.limits, sampled=False)  # which version 8 has no rules for
    settings = replace(policy.gateway.settings, limits=limits)
    plan = wire.Plan(1, compile_policy(replace(policy, gateway=replace(policy.gateway, settings=settings))))
    for version in SPOKEN:
        assembler = wire.Assembler()
        [whole] = [each for line in wire.iter_lines(7, plan, version) if (each := assembler.feed(line))]
        assert assembler.version == version and wire.parse_request(whole[1], version) == plan


def test_sampled_limits_are_not_sent_to_an_agent_that_would_count_nothing() -> None:
    limits = ConnectionLimits(member_open=2000, sampled=True)
    sampled = compile_policy(Policy(replace(NAT_1, settings=GatewayGroupSettings(limits=limits))))
    with pytest.raises(TooNewError, match="SampleConnection"):
        list(wire.iter_lines(7, wire.Plan(1, sampled), 8))


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(json_data, st.sampled_from(SPOKEN))
@settings(max_examples=count_examples(150))
def test_no_json_is_too_strange_to_be_refused_in_any_version(data: object, version: int) -> None:
    for read in (wire.parse_request, wire.parse_reply):
        with pytest.raises(WireError):
            read(data, version)


# --- Frames


def frame(version: object, *, last: bool = True) -> bytes:
    return json.dumps({"v": version, "id": 1, "last": last, "part": "{}"}).encode()


@pytest.mark.parametrize("version", [SPOKEN[0] - 1, VERSION + 1, str(VERSION), float(VERSION), True, None, [], {}])
def test_a_version_that_is_not_spoken_is_named(version: object) -> None:
    with pytest.raises(wire.VersionError, match=f"speaks versions {SPOKEN[0]} and {SPOKEN[1]}, the other"):
        wire.Assembler().feed(frame(version))


def test_the_lines_of_one_message_are_of_one_version() -> None:
    assembler = wire.Assembler()
    assembler.feed(frame(SPOKEN[0], last=False))
    with pytest.raises(WireError, match=f"line of version {SPOKEN[1]} within a message of version {SPOKEN[0]}"):
        assembler.feed(frame(SPOKEN[1]))
