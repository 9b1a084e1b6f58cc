"""Drift of failover files: a gateway whose keepalived runs other files than the settings give, or whose files were edited by hand."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from django.utils.translation import gettext as _

from apps.gateways.failover_files import digest_failover_files
from apps.gateways.roles.models import FailoverStatus
from apps.lib.errors import Problem


def runs_current_files(status: FailoverStatus) -> bool | None:
    """True if keepalived on the gateway started with the files of today's settings; None if there are no files for it."""
    try:
        return status.running == digest_failover_files(status.gateway)
    except Problem:
        return None


def iter_drift_texts(status: FailoverStatus) -> Iterator[str]:
    """Yield a sentence for each way in which the gateway's files are not those of the settings."""
    if runs_current_files(status) is False:
        words = _("%(gateway)s runs other files than the settings give: “Install its files…” on the page “Failover”.")
        yield words % {"gateway": status.gateway}
    if status.edited:
        names = ", ".join(PurePosixPath(path).name for path in status.edited)
        words = _("Edited by hand or missing on %(gateway)s: %(files)s. “Install its files…” on the page “Failover” writes them anew.")
        yield words % {"files": names, "gateway": status.gateway}
