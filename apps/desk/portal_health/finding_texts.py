"""Texts of findings about the portal's health, in the current language."""

from django.utils.translation import gettext as _

from apps.gateways.health.presentation import FindingLine
from apps.lib.ui.states import StateKind, StateLabel
from apps.operations.portal_health.models import PortalFinding
from apps.operations.portal_health.rules import PORTAL_RULES

_KINDS = {PortalFinding.Kind.BAD: StateKind.BAD, PortalFinding.Kind.WARN: StateKind.WARN}


def build_portal_line(finding: PortalFinding) -> FindingLine:
    """Return the finding in words: what is wrong, how it is known, what usually helps."""
    rule = PORTAL_RULES[finding.rule]
    state = StateLabel(_KINDS[PortalFinding.Kind(finding.kind)], str(rule.word))
    return FindingLine(state, str(rule.title), rule.describe(finding.evidence), "", str(rule.cure), finding.since)


def describe_missing_statements(reason: str) -> str:
    """Return how to let the database count its statements. reason: why they are not known."""
    if reason == "refused":
        return _(
            "The extension pg_stat_statements is there but does not answer. Add it to shared_preload_libraries in postgresql.conf and "
            "restart PostgreSQL; the portal’s account needs the right to use its schema."
        )
    return _(
        "The database does not count them. Set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf, restart PostgreSQL, and "
        "run “CREATE EXTENSION pg_stat_statements” as its superuser in the portal’s database."
    )
