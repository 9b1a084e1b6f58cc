"""What this process knows of gateways and revisions, so that a change costs what the change costs. Forgetting costs time, never truth."""

from collections.abc import Mapping
from dataclasses import dataclass

from apps.deployments.approvals.approval_gate import RunningState
from apps.deployments.models import GatewayState, Revision
from apps.deployments.revision_pages import contents
from apps.deployments.revision_pages.contents import NotKept
from apps.deployments.transport.agent_client import KnownRuleset
from apps.network.models import Gateway, GatewayGroup
from firewall.digest import digest_ruleset
from firewall.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class KeptRulesets:
    """The newest revision whose content this process has kept, and what its gateways run, by id."""

    revision: int
    rulesets: Mapping[int, Ruleset]


class GatewayCache:
    """By gateway what it runs, by group the newest kept revision."""

    def __init__(self) -> None:
        self._known: dict[int, KnownRuleset] = {}
        self._kept: dict[int, KeptRulesets] = {}

    def recall(self, gateway: int) -> KnownRuleset | None:
        """What the gateway was last brought to by this process."""
        return self._known.get(gateway)

    def remember(self, gateway: int, known: KnownRuleset) -> None:
        """The gateway runs this."""
        self._known[gateway] = known

    def kept(self, group: int) -> KeptRulesets | None:
        """What the group's next revision can be kept as the way from."""
        return self._kept.get(group)

    def keep(self, group: int, kept: KeptRulesets) -> None:
        """This is the group's newest kept revision."""
        self._kept[group] = kept

    def before(self, group: GatewayGroup) -> RunningState | None:
        """What the group's gateways run as far as they have confirmed anything, read from the database where another process knows more."""
        states = list(GatewayState.objects.filter(gateway__group=group).exclude(revision=None).select_related("revision", "gateway"))
        if not states:
            return None
        rulesets = {state.gateway_id: known.ruleset for state in states if (known := self._of(state))}
        newest = max((state.revision for state in states if state.revision), key=lambda revision: revision.pk)
        seen = min((state.snapshot for state in states if state.snapshot), key=_parse_oldest_unseen, default=newest.snapshot)
        return RunningState(newest, rulesets, seen) if rulesets else None

    def _of(self, state: GatewayState) -> KnownRuleset | None:
        known = self._known.get(state.gateway_id)
        if state.revision is None or (known and known.revision == state.revision_id):
            return known
        ruleset = _find_content(state.revision, state.gateway)
        if ruleset is None:
            return None
        self._known[state.gateway_id] = KnownRuleset(state.revision.pk, digest_ruleset(ruleset), ruleset)
        return self._known[state.gateway_id]


def _parse_oldest_unseen(snapshot: str) -> int:
    """The first transaction that the read "xmin:xmax:running" may not have seen."""
    return int(snapshot.split(":")[0])


def _find_content(revision: Revision, gateway: Gateway) -> Ruleset | None:
    try:
        return contents.load(revision).get(gateway.name)
    except NotKept:
        return None
