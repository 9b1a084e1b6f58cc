"""Desired state of a held group: the revision that it is held at."""

from apps.deployments.desired_state.desired_rulesets import DesiredState
from apps.deployments.desired_state.policy_snapshot import ReadMoment
from apps.deployments.models import Hold, Revision
from apps.deployments.revision_pages import contents
from apps.lib.database.clock import read_database_clock
from firewall.digest import digest_ruleset, format_digest
from firewall.ruleset import Ruleset, drop_expired

_read: dict[int, dict[str, Ruleset]] = {}  # by revision; only the last one, as the same objects, so that comparing them is cheap


def build_desired_state_on_hold(hold: Hold) -> DesiredState:
    """Return the held revision as desired state; elements that have expired since then stay expired. Raises ContentNotStored."""
    moment = ReadMoment(hold.revision.snapshot, read_database_clock(), "")
    content = contents.pick_rulesets_in_service(hold.revision, _load_content(hold.revision))
    rulesets = {pk: drop_expired(ruleset, moment.now) for pk, ruleset in content.items()}
    digests = {pk: digest_ruleset(ruleset) for pk, ruleset in rulesets.items()}
    return DesiredState(moment, {}, rulesets, digests, {pk: format_digest(value) for pk, value in digests.items()})


def _load_content(revision: Revision) -> dict[str, Ruleset]:
    if revision.pk not in _read:
        content = contents.load_rulesets(revision)
        _read.clear()
        _read[revision.pk] = content
    return _read[revision.pk]
