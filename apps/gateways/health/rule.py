"""Rules that judge a gateway's health: what each looks at, and how it says what it found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise

from apps.gateways.health.interval import HealthInterval, LinkLoad
from apps.gateways.health.models import HealthFinding
from apps.gateways.packet_probes.judgement import LossFigures

Kind = HealthFinding.Kind

type EvidenceValues = Mapping[str, float | str]
"""The numbers and names that a rule's sentence is made of: JSON."""


@dataclass(frozen=True)
class HealthSituation:
    """One gateway and what its machine did since the reading before.

    lan, wan, sync, probe: its interfaces' names; sync and probe may be "". families: address families that its group's members use.
    probes: figures of the last packet probes, by address family; passing, lost: families whose last probe
    came back, or did not. sets: elements and room of the sets that packets fill, by name.
    """

    lan: str
    wan: str
    sync: str
    families: frozenset[int]
    interval: HealthInterval
    probes: Mapping[int, LossFigures] = field(default_factory=dict)
    probe: str = ""
    passing: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    sets: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def carrying_links(self) -> list[LinkLoad]:
        """The interfaces over which members' packets come and go, as far as they exist."""
        return [self.interval.links[name] for name in (self.lan, self.wan) if name in self.interval.links]


@dataclass(frozen=True)
class Evidence:
    """What a rule found: how bad it is, and the values that show it."""

    kind: HealthFinding.Kind
    values: EvidenceValues = field(default_factory=dict)


def stops_nothing(_values: EvidenceValues) -> frozenset[int]:
    """Packets of all families can still pass."""
    return frozenset()


def stops_named_families(values: EvidenceValues) -> frozenset[int]:
    """Packets of the families in `families`, such as "IPv4, IPv6", cannot pass."""
    return frozenset(family for family in (4, 6) if f"IPv{family}" in str(values["families"]))


def affects_members(_values: EvidenceValues) -> bool:
    """Members notice it."""
    return True


def affects_nobody_yet(_values: EvidenceValues) -> bool:
    """Members notice nothing yet."""
    return False


@dataclass(frozen=True)
class HealthRule:
    """One thing that can be wrong with a gateway.

    word: a label. find: returns evidence, or None if all is well. title: of a finding, with %(gateway)s. describe: the evidence as a
    sentence. cure: what usually helps. runbook: heading in docs/runbook.md. affects_members: False if members notice nothing of it yet.
    measure: key of the measure that shows it (measures.py), "" if none does. stops: address families of which no packet can pass because
    of what was found: that probes are lost is then no second finding.
    """

    name: str
    word: Promise
    title: Promise
    find: Callable[[HealthSituation], Evidence | None]
    describe: Callable[[EvidenceValues], str]
    cure: Promise
    affects_members: Callable[[EvidenceValues], bool] = affects_members
    measure: str = ""
    stops: Callable[[EvidenceValues], frozenset[int]] = stops_nothing
