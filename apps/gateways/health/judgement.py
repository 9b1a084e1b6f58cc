"""Judgement of a gateway's health: runs the rules over one reading, and keeps what they found until two readings no longer show it."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rule import Evidence, HealthRule, HealthSituation
from apps.network.models import Gateway

SHOWN_AFTER: Final = 2  # readings in a row
GONE_AFTER: Final = 2
FRESH: Final = timedelta(seconds=60)
"""Age of the last reading above which nothing is said any more."""


def judge(situation: HealthSituation, rules: Iterable[HealthRule]) -> dict[str, Evidence]:
    """Return what the rules find in this reading, by the rule's name."""
    found = ((rule.name, rule.find(situation)) for rule in rules)
    return {name: evidence for name, evidence in found if evidence}


def merge_findings(
    gateway: Gateway, known: Iterable[HealthFinding], found: Mapping[str, Evidence], at: datetime, certain: Collection[str] = ()
) -> list[HealthFinding]:
    """Return the findings after a reading at this time. Those in `known` that are not among them are over.

    certain: rules whose finding is shown at once, because lost probes show it too.
    """
    before = {each.rule: each for each in known}
    old = [_extend(before[name], evidence, at) for name, evidence in found.items() if name in before]
    new = [_begin(gateway, name, evidence, at, certain=name in certain) for name, evidence in found.items() if name not in before]
    missed = [each for name, each in before.items() if name not in found]
    return old + new + [each for each in missed if _survives(each)]


def is_shown(finding: HealthFinding) -> bool:
    """True if enough readings in a row have shown it."""
    return finding.times >= SHOWN_AFTER


def _begin(gateway: Gateway, rule: str, evidence: Evidence, at: datetime, *, certain: bool) -> HealthFinding:
    times = SHOWN_AFTER if certain else 1
    return HealthFinding(gateway=gateway, rule=rule, kind=evidence.kind, evidence=evidence.values, since=at, at=at, times=times)


def _extend(finding: HealthFinding, evidence: Evidence, at: datetime) -> HealthFinding:
    finding.kind, finding.evidence, finding.at, finding.missed = evidence.kind, evidence.values, at, 0
    finding.since = min(finding.since, at)  # the clock may have been ahead then
    finding.times += 1
    return finding


def _survives(finding: HealthFinding) -> bool:
    """Count a reading that did not show the finding. False if it is over: it was shown for too short, or is gone for long enough."""
    finding.missed += 1
    return is_shown(finding) and finding.missed < GONE_AFTER
