"""Description of a revision's changes, stored with it: as counts, and as nft text."""

from collections.abc import Iterable
from dataclasses import asdict

from apps.deployments.models import Revision
from firewall.summary import SummaryLine

SHOWN_DELTA = 256 * 1024  # characters


def store_change_description(revision: Revision, changes: Iterable[SummaryLine], delta: str, elements: int) -> None:
    """Store the changes with the revision, as counts and as nft text."""
    revision.changes = [asdict(line) for line in changes]
    revision.delta = delta[:SHOWN_DELTA].replace("\0", "")
    revision.elements = elements
    revision.save(update_fields=["changes", "delta", "elements"])
