"""The dashboard: what needs action, claims that were checked, the gateways, the last rollouts.

Reads the database only. The number of queries is constant; the time is passed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.rollouts import progress
from apps.deployments.selectors import list_rollouts_in_state, map_newest_rollouts
from apps.desk.needs.collection import collect_needs
from apps.desk.needs.gateways import list_in_memory
from apps.desk.needs.going_live import RESTORED
from apps.desk.needs.need import AttentionItem
from apps.desk.result_cache import count_members
from apps.desk.selectors import claims
from apps.desk.selectors.board_facts import list_facts
from apps.desk.selectors.claims import DashboardFacts
from apps.gateways.selectors import GatewayOverview, build_overviews, list_cached_gateways
from apps.lib.ui import formats
from apps.lib.web.frame_reads import read_frame

LAST: Final = 8


@dataclass(frozen=True)
class Dashboard:
    """Everything that the page shows."""

    at: str  # to the minute, so that the time does not change the page more often
    title: str
    active: int
    needs: list[AttentionItem]
    fine: list[str]
    calm: str
    gateways: list[GatewayOverview]
    rollouts: list[progress.RolloutRow]
    facts: str  # of other apps

    @property
    def is_restored(self) -> bool:
        """True while a restore of the database waits for somebody: then it is not known what the gateways run."""
        return any(need.key == RESTORED for need in self.needs)


def build_dashboard(now: datetime) -> Dashboard:
    """Build the dashboard for this time."""
    read_frame()
    gates, newest = build_overviews(list(list_cached_gateways()), now), map_newest_rollouts()
    facts, found = claims.gather_facts(gates, newest, now), collect_needs(gates, newest, now)
    last = [progress.build_rollout_row(rollout, now) for rollout in list_rollouts_in_state("")[:LAST]]
    return Dashboard(
        formats.format_full_time(now),
        render_title(found, facts),
        count_members()["active"],
        found,
        claims.list_true_claims(facts),
        _describe_last_rollout(last, now),
        gates,
        last,
        ", ".join(list_facts(now)),
    )


def render_title(found: Sequence[AttentionItem], facts: DashboardFacts) -> str:
    """Render the title: “2 things need you, both gateways answer”."""
    number = len(found)
    first = (
        ngettext("%(n)s thing needs you", "%(n)s things need you", number) % {"n": formats.format_number(number)}
        if number
        else _("Nothing needs you")
    )
    said = (
        _("what the gateways run is not known")
        if any(need.key == RESTORED for need in found)
        else claims.describe_answering_gateways(facts, in_memory=bool(list_in_memory(facts.gateways)))
    )
    return _("%(needs)s, %(gateways)s") % {"needs": first, "gateways": said}


def _describe_last_rollout(last: Sequence[progress.RolloutRow], now: datetime) -> str:
    """Describe the last rollout."""
    if not last:
        return _("No rollout yet.")
    at = formats.format_moment(last[0].rollout.created, now, with_seconds=False)
    return _("Last rollout: %(what)s, by %(who)s, %(at)s.") % {"what": last[0].what, "who": last[0].who, "at": at}
