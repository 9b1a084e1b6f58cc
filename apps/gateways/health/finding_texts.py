"""Texts of findings about gateways' health, in the current language: title, evidence, the change before it, and the cure."""

from datetime import datetime

from django.utils.translation import gettext as _

from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rules import RULES
from apps.gateways.health.selectors import find_preceding_rollout
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import Gateway

_KINDS = {HealthFinding.Kind.BAD: StateKind.BAD, HealthFinding.Kind.WARN: StateKind.WARN}


def build_label(finding: HealthFinding, *, carries: bool) -> StateLabel:
    """Return its state. What is critical for members is a warning on a gateway that carries nobody now."""
    kind, rule = _KINDS[HealthFinding.Kind(finding.kind)], RULES[finding.rule]
    return StateLabel(StateKind.WARN if not carries and rule.affects_members(finding.evidence) else kind, str(rule.word))


def render_title(finding: HealthFinding, gateway: Gateway) -> str:
    """Return such as “One core of nat-1 does most of the work”."""
    return str(RULES[finding.rule].title) % {"gateway": gateway}


def render_evidence(finding: HealthFinding) -> str:
    """Return what was measured, as sentences."""
    return RULES[finding.rule].describe(finding.evidence)


def render_preceding_change(finding: HealthFinding, gateway: Gateway) -> str:
    """Say what was deployed shortly before it began; "" if nothing was."""
    rollout = find_preceding_rollout(gateway.group_id, finding.since)
    if rollout is None or rollout.finished is None:
        return ""
    given = {"rollout": rollout, "time": formats.format_duration(_measure_seconds(rollout.finished, finding.since))}
    return _("The last change before it was %(rollout)s, %(time)s earlier.") % given


def render_cure(finding: HealthFinding) -> str:
    """Return what usually helps."""
    return str(RULES[finding.rule].cure)


def _measure_seconds(begin: datetime, end: datetime) -> float:
    return round((end - begin).total_seconds())
