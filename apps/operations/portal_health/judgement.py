"""Judgement of the portal's health: runs the rules over one reading, and keeps since when each fault is there."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from apps.operations.portal_health.models import PortalFinding
from apps.operations.portal_health.rule import PortalEvidence, PortalRule, PortalSituation

FRESH: Final = timedelta(minutes=5)
"""Age of the last reading above which nothing is said any more."""


def judge_portal(situation: PortalSituation, rules: Iterable[PortalRule]) -> dict[str, PortalEvidence]:
    """Return what the rules find in this reading, by the rule's name."""
    found = ((rule.name, rule.find(situation)) for rule in rules)
    return {name: evidence for name, evidence in found if evidence}


def build_findings(found: Mapping[str, PortalEvidence], since: Mapping[str, datetime], at: datetime) -> list[PortalFinding]:
    """Return the findings of a reading. since: when those that the reading before showed began, by rule."""
    return [PortalFinding(rule=name, kind=each.kind, evidence=each.values, since=since.get(name, at)) for name, each in found.items()]
