"""Rules that judge the portal's health: what each looks at, and how it says what it found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils.functional import Promise

from apps.operations.portal_health.figures import PortalFigures
from apps.operations.portal_health.growth import DatabaseGrowth
from apps.operations.portal_health.models import PortalFinding

PortalKind = PortalFinding.Kind

type PortalValues = Mapping[str, float | str]
"""The numbers and names that a rule's sentence is made of: JSON."""


@dataclass(frozen=True)
class PortalSituation:
    """A reading, and what is known beside it. backup: when the last one was made; None if none was noted. backup_limit: its highest age."""

    at: datetime
    figures: PortalFigures
    growth: DatabaseGrowth | None
    backup: datetime | None
    backup_limit: timedelta


@dataclass(frozen=True)
class PortalEvidence:
    """What a rule found: how bad it is, and the values that show it."""

    kind: PortalFinding.Kind
    values: PortalValues = field(default_factory=dict)


@dataclass(frozen=True)
class PortalRule:
    """One thing that can be wrong with the portal.

    word: a label. title: of a finding. find: returns evidence, or None if all is well. describe: the evidence as a sentence. cure: what
    usually helps.
    """

    name: str
    word: Promise
    title: Promise
    find: Callable[[PortalSituation], PortalEvidence | None]
    describe: Callable[[PortalValues], str]
    cure: Promise
