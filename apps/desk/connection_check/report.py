"""A whole check: its findings and the verdict, for pages and for scripts; and as text, to go with a ticket."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.core import signing
from django.utils.translation import gettext as _

from apps.desk.connection_check.finding import CheckVerdict, Finding, build_verdict
from apps.desk.connection_check.findings import build_connection, list_findings
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.members.models import Member

_SALT: Final = "desk.check"
KEPT: Final = 24 * 3600  # seconds in which a text may be sent


@dataclass(frozen=True)
class CheckReport:
    """What was found of a member's connection at a moment, and what follows."""

    member: Member
    at: datetime
    verdict: CheckVerdict
    findings: list[Finding]

    def as_data(self) -> dict[str, Any]:
        """For scripts."""
        told = [
            {"name": each.name, "state": each.kind, "title": each.title, "words": each.words, "fault": each.fault} for each in self.findings
        ]
        return {"at": self.at, "fault": self.verdict.fault, "verdict": self.verdict.title, "findings": told}

    def as_text(self) -> str:
        """In lines, as it goes with a ticket."""
        head = _("What the check found on %(time)s:") % {"time": formats.format_full_time(self.at)}
        return "\n".join([head, f"{self.verdict.title}.", "", *map(_render_line, self.findings)])


def build_report(member: Member, now: datetime, *, own: bool, more: list[Finding] | None = None) -> CheckReport:
    """Look at everything. own: in words for the member; more: what was found elsewhere, as by a browser."""
    found = list_findings(build_connection(member, now))
    return CheckReport(member, now, build_verdict(found, own=own), [*found, *(more or [])])


def _render_line(found: Finding) -> str:
    mark = {StateKind.OK: "+", StateKind.ACTIVE: "+", StateKind.BAD: "!!", StateKind.WARN: "!"}.get(found.kind, "·")
    return f"{mark} {found.title}: {found.words}"


def sign_text(text: str, member: Member) -> str:
    """What a form carries, so that what is sent is what was shown."""
    return signing.dumps([member.pk, text], salt=_SALT, compress=True)


def unsign_text(token: str, member: Member) -> str | None:
    """The text; None when it is not ours, of another member, or older than a day."""
    try:
        pk, text = signing.loads(token, salt=_SALT, max_age=KEPT)
    except (signing.BadSignature, ValueError):
        return None
    return str(text) if pk == member.pk else None
