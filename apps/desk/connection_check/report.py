"""Report of a connection check: its findings and verdict, for pages and scripts, and as text that is attached to a ticket."""

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
KEPT: Final = 24 * 3600  # seconds for which a signed text is accepted


@dataclass(frozen=True)
class CheckReport:
    """The findings about a member's connection at a moment, and the verdict."""

    member: Member
    at: datetime
    verdict: CheckVerdict
    findings: list[Finding]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for scripts."""
        told = [
            {"name": each.name, "state": each.kind, "title": each.title, "words": each.words, "fault": each.fault} for each in self.findings
        ]
        return {"at": self.at, "fault": self.verdict.fault, "verdict": self.verdict.title, "findings": told}

    def to_text(self) -> str:
        """Return the lines that go into a ticket."""
        head = _("What the check found on %(time)s:") % {"time": formats.format_full_time(self.at)}
        return "\n".join([head, f"{self.verdict.title}.", "", *map(_render_line, self.findings)])


def build_report(member: Member, now: datetime, *, own: bool, more: list[Finding] | None = None) -> CheckReport:
    """Run the whole check.

    own: worded for the member; more: findings from elsewhere, as from the browser. The verdict does not depend on these.
    """
    found = list_findings(build_connection(member, now))
    return CheckReport(member, now, build_verdict(found, own=own), [*found, *(more or [])])


def _render_line(found: Finding) -> str:
    mark = {StateKind.OK: "+", StateKind.ACTIVE: "+", StateKind.BAD: "!!", StateKind.WARN: "!"}.get(found.kind, "·")
    return f"{mark} {found.title}: {found.words}"


def sign_text(text: str, member: Member) -> str:
    """Sign the text for a hidden form field, so that the text that is sent is the one that was shown."""
    return signing.dumps([member.pk, text], salt=_SALT, compress=True)


def unsign_text(token: str, member: Member) -> str | None:
    """Return the text; None when the signature is invalid, it belongs to another member, or it is older than a day."""
    try:
        pk, text = signing.loads(token, salt=_SALT, max_age=KEPT)
    except (signing.BadSignature, ValueError):
        return None
    return str(text) if pk == member.pk else None
