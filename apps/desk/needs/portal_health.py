"""Needs that follow from the portal's own health: what the rules found in its database, queues and backups."""

from collections.abc import Iterator
from datetime import datetime

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _

from apps.desk.needs.need import AttentionItem
from apps.desk.portal_health.finding_texts import build_portal_line
from apps.operations.portal_health.selectors import find_portal_reading, list_portal_findings


def iter_attention_items(now: datetime) -> Iterator[AttentionItem]:
    """Yield a need for each finding of a fresh reading that the reading before showed, too: right after a start, much is on its way."""
    found = list_portal_findings(now)
    reading = find_portal_reading() if found else None
    for finding in (each for each in found if reading and each.since < reading.at):
        line = build_portal_line(finding)
        key, said = f"portal-{finding.rule}", f"{line.evidence} {line.cure}"
        yield AttentionItem(key, line.state, line.title, said, finding.since, _("Health"), resolve_url("desk:portal-health"))
