"""A gateway's profile: the values that it sets, unchanged transport, and refusal of impossible values by field name."""

import dataclasses
import json
from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firewall import digest, profile, wire
from firewall.codec import WireError, decode, encode
from firewall.compile import compile_policy
from firewall.delta_composition import compose_deltas
from firewall.diff import Delta, apply, diff
from firewall.policy import GatewayGroupSettings, GatewaySpec, Interfaces, Management, Policy, PolicyError, Profile
from firewall.render import render
from firewall.ruleset import Chain, Rule, Ruleset, SetTimeout
from firewall.sets import ObjectKind
from firewall.summary import SummaryLine, summarize
from gateway.ruleset_inspection import check_ruleset, inspect_delta
from tests.policies import profiles


def compile_with_profile(wanted: Profile | None) -> Ruleset:
    management = Management((IPv4Network("192.0.2.0/24"),))
    return compile_policy(
        Policy(GatewaySpec("gw1", Interfaces("lan", "wan", "mgmt"), management, settings=GatewayGroupSettings(profile=wanted)))
    )


@given(profiles, profiles, profiles)
def test_a_change_of_profile_is_a_delta_with_a_way_back_a_digest_and_a_sum(
    first: Profile | None, second: Profile | None, third: Profile | None
) -> None:
    one, two, three = map(compile_with_profile, (first, second, third))
    there, further = diff(one, two), diff(two, three)
    assert bool(there) == (first != second) and there.touches_rules == (one.chains != two.chains)
    assert apply(one, there) == two and apply(two, there.invert()) == one
    assert digest.update_digest(digest.digest_ruleset(one), there) == digest.digest_ruleset(two)
    assert (digest.digest_ruleset(one) == digest.digest_ruleset(two)) == (first == second)
    assert apply(one, compose_deltas(there, further)) == three
    sent = wire.Apply(1, 2, "", "", there, two, 30)
    assert wire.parse_request(json.loads(json.dumps(encode(sent)))) == sent


@given(profiles.filter(bool))
def test_a_kernel_with_the_profiles_sysctls_does_not_differ_from_it(wanted: Profile) -> None:
    profile.check_profile(wanted)
    held = profile.build_sysctls(wanted)
    assert not profile.list_sysctl_differences(wanted, held)
    held["net.ipv4.ip_forward"] = "0"
    del held["net.netfilter.nf_conntrack_max"]
    missing = profile.SysctlDifference("net.netfilter.nf_conntrack_max", str(wanted.connections), "")
    assert profile.list_sysctl_differences(wanted, held) == (missing, profile.SysctlDifference("net.ipv4.ip_forward", "1", "0"))


HOSTILE = {
    "connections": [4095, 16_777_217, -1],
    "buckets": [0, 8191, 8193, 65_535, 1 << 40],
    "tcp_established": [0, 299, 432_001],
    "tcp_syn_sent": [4, 601],
    "udp_stream": [29, 3601],
    "icmp": [0, 301],
    "generic": [29, 1 << 64],
    "first_port": [0, 1023, 65_536],
    "last_port": [33_000, 1024, 65_536],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in HOSTILE.items() for value in values])
def test_a_value_that_cannot_be_is_refused_by_its_name_on_both_sides(name: str, value: int) -> None:
    given: dict[str, Any] = {name: value}
    bad = dataclasses.replace(Profile(), **given)
    assert name in dict(profile.iter_profile_faults(bad))
    with pytest.raises(PolicyError, match=r"profile\."):
        compile_with_profile(bad)
    good = compile_with_profile(Profile())
    forged = dataclasses.replace(good, profile=bad)
    with pytest.raises(PolicyError, match=r"profile\."):
        check_ruleset(forged)
    with pytest.raises(PolicyError, match=r"profile\."):
        inspect_delta(diff(good, forged))


def test_a_hash_much_smaller_than_its_table_is_refused() -> None:
    assert dict(profile.iter_profile_faults(Profile(connections=1 << 20, buckets=65_536))).keys() == {"buckets"}


@pytest.mark.parametrize("name", ["kernel.core_pattern", "net/ipv4/../../kernel/core_pattern", "tcp_loose\n", "first_port "])
def test_no_other_sysctl_than_those_of_a_profile_has_a_name(name: str) -> None:
    data = encode(compile_with_profile(Profile()))
    data["profile"][name] = 1
    with pytest.raises(WireError, match="unknown field"):
        decode(Ruleset, data)


@given(st.sampled_from([each.name for each in dataclasses.fields(Profile)]), st.sampled_from(["1", None, 1.0, [], {"is": "Profile"}]))
def test_a_value_of_another_type_is_refused_with_its_path(name: str, value: object) -> None:
    data = encode(compile_with_profile(Profile()))
    data["profile"][name] = value
    with pytest.raises(WireError, match=f"profile.{name}"):
        decode(Ruleset, data, "ruleset")


def test_what_was_kept_before_there_were_profiles_still_reads() -> None:
    ruleset = compile_with_profile(None)
    old, delta = encode(ruleset), encode(diff(compile_with_profile(None), Ruleset()))
    del old["profile"], delta["profile"]
    assert decode(Ruleset, old) == ruleset
    assert decode(Delta, delta) == diff(ruleset, Ruleset())


def test_the_text_names_each_value_and_stays_a_comment_for_nft() -> None:
    before, after = compile_with_profile(Profile()), compile_with_profile(Profile(udp=60))
    assert list(profile.render_profile_change(before.profile, after.profile)) == ["# net.netfilter.nf_conntrack_udp_timeout = 60"]
    assert len(list(profile.render_profile_change(before.profile, None))) == len(profile.NAMES)
    lines = render(after, now=0).splitlines()
    assert "# net.netfilter.nf_conntrack_max = 524288" in lines
    assert "# net.ipv4.ip_local_port_range = 32768 60999" in lines


def test_the_summary_counts_settings() -> None:
    two = Profile(udp=60, tcp_loose=False)
    assert SummaryLine(ObjectKind.PROFILE, 0, 0, 2, 14) in summarize(
        diff(compile_with_profile(Profile()), compile_with_profile(two)), compile_with_profile(two)
    )
    assert SummaryLine(ObjectKind.PROFILE, 0, 0, 14, 0) in summarize(
        diff(compile_with_profile(Profile()), compile_with_profile(None)), compile_with_profile(None)
    )


IMPOSSIBLE_TIMES = {
    "another chain": ("forward", SetTimeout("udp", (("unreplied", 120), ("replied", 300)))),
    "no such protocol": ("srcnat", SetTimeout("icmp", (("unreplied", 60),))),
    "a state left out": ("srcnat", SetTimeout("udp", (("unreplied", 120),))),
    "no time at all": ("srcnat", SetTimeout("tcp", (("established", 0),))),
    "longer than a month": ("srcnat", SetTimeout("tcp", (("established", 2_592_001),))),
}


@pytest.mark.parametrize(("chain", "timeout"), IMPOSSIBLE_TIMES.values(), ids=IMPOSSIBLE_TIMES)
def test_an_agent_refuses_times_that_nft_would_bend(chain: str, timeout: SetTimeout) -> None:
    with pytest.raises(WireError, match=f"chain {chain}"):
        check_ruleset(Ruleset({chain: Chain(chain, (Rule((timeout,)),))}))
