"""A gateway's profile as sysctls of the kernel: their names, their values, and the limits of these.

Only these names exist, so nothing that portal or gateway send can reach another file. They are those of
Documentation/networking/nf_conntrack-sysctl.rst and ip-sysctl.rst; a machine that forwards needs both forwarding switches.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import NamedTuple

from firewall.policy import PolicyError, Profile

LIMITS: Mapping[str, range] = {
    "connections": range(4_096, 16_777_217),
    "buckets": range(8_192, 8_388_609),
    "tcp_established": range(300, 432_001),
    "tcp_syn_sent": range(5, 601),
    "tcp_fin_wait": range(5, 601),
    "tcp_close_wait": range(5, 601),
    "tcp_time_wait": range(1, 601),
    "udp": range(10, 601),
    "udp_stream": range(30, 3_601),
    "icmp": range(1, 301),
    "generic": range(30, 86_401),
    "first_port": range(1_024, 65_536),
    "last_port": range(1_024, 65_536),
}
BUCKETS_STEP = 8_192  # the kernel rounds up to whole pages of pointers: 512 with pages of 4 KiB, 8,192 with 64 KiB
MOST_PER_BUCKET = 8  # connections
LEAST_PORTS = 1_024

_CONNTRACK = "net.netfilter.nf_conntrack_"
_FORWARDING = ("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding")
_OF_FIELD: Mapping[str, tuple[str, ...]] = {
    "buckets": (f"{_CONNTRACK}buckets",),
    "connections": (f"{_CONNTRACK}max",),
    "tcp_established": (f"{_CONNTRACK}tcp_timeout_established",),
    "tcp_syn_sent": (f"{_CONNTRACK}tcp_timeout_syn_sent",),
    "tcp_fin_wait": (f"{_CONNTRACK}tcp_timeout_fin_wait",),
    "tcp_close_wait": (f"{_CONNTRACK}tcp_timeout_close_wait",),
    "tcp_time_wait": (f"{_CONNTRACK}tcp_timeout_time_wait",),
    "udp": (f"{_CONNTRACK}udp_timeout",),
    "udp_stream": (f"{_CONNTRACK}udp_timeout_stream",),
    "icmp": (f"{_CONNTRACK}icmp_timeout", f"{_CONNTRACK}icmpv6_timeout"),
    "generic": (f"{_CONNTRACK}generic_timeout",),
    "tcp_loose": (f"{_CONNTRACK}tcp_loose",),
}
_PORTS = "net.ipv4.ip_local_port_range"


class SysctlDifference(NamedTuple):
    """A sysctl that differs from the profile, or another kernel setting that differs from the shaper's (firewall/shaper.py).

    found: "" where the kernel has none of this name.
    """

    name: str
    wanted: str
    found: str


def build_sysctls(profile: Profile) -> dict[str, str]:
    """Return the profile's sysctls by name, in the order to set them: the hash before the number of entries that go into it."""
    values = {name: str(int(getattr(profile, field))) for field, names in _OF_FIELD.items() for name in names}
    return values | {_PORTS: f"{profile.first_port} {profile.last_port}"} | dict.fromkeys(_FORWARDING, "1")


NAMES = tuple(build_sysctls(Profile()))


def list_sysctl_differences(profile: Profile, found: Mapping[str, str]) -> tuple[SysctlDifference, ...]:
    """Return the sysctls that differ from the profile; `found` has values as `build_sysctls` writes them."""
    return tuple(
        SysctlDifference(name, value, found.get(name, "")) for name, value in build_sysctls(profile).items() if found.get(name) != value
    )


def iter_profile_faults(profile: Profile) -> Iterator[tuple[str, str]]:
    """Yield the fields with invalid values, each with the reason."""
    for name, limits in LIMITS.items():
        value = getattr(profile, name)
        if value not in limits:
            yield name, f"{value} is not between {limits[0]} and {limits[-1]}"
    if profile.buckets % BUCKETS_STEP:
        yield "buckets", f"{profile.buckets} is not a multiple of {BUCKETS_STEP}"
    if profile.buckets * MOST_PER_BUCKET < profile.connections:
        yield "buckets", f"{profile.buckets} are too few: at most {MOST_PER_BUCKET} of {profile.connections} connections per bucket"
    if profile.last_port - profile.first_port + 1 < LEAST_PORTS:
        yield "last_port", f"{profile.first_port} to {profile.last_port} are fewer than {LEAST_PORTS} ports"


def check_profile(profile: Profile) -> None:
    """Raise PolicyError for the first invalid field, naming it."""
    for name, reason in iter_profile_faults(profile):
        raise PolicyError(f"profile.{name}: {reason}")


def count_profile_changes(before: Profile | None, after: Profile | None) -> int:
    """Return the number of settings that differ; all of them if only one side has a profile."""
    if before is None or after is None:
        return 0 if before is after else len(fields(Profile))
    return sum(getattr(before, each.name) != getattr(after, each.name) for each in fields(Profile))


def render_profile_change(before: Profile | None, after: Profile | None) -> Iterator[str]:
    """Yield the change as comment lines to stand beside the transaction, because nft does not set sysctls."""
    if after is None:
        yield from (f"# {name}: back to what it was before it was first set" for name in (NAMES if before else ()))
        return
    old = build_sysctls(before) if before else {}
    yield from (f"# {name} = {value}" for name, value in build_sysctls(after).items() if old.get(name) != value)
