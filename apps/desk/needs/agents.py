"""Needs that follow from the agents' releases: one of the release before works, and what it lacks is named."""

from collections.abc import Iterator, Sequence

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.desk.needs.need import AttentionItem
from apps.gateways.agent_texts import get_own_release, is_agent_older, list_missing_features
from apps.gateways.selectors import GatewayOverview
from apps.lib.ui.states import StateKind, StateLabel


def iter_attention_items(gates: Sequence[GatewayOverview]) -> Iterator[AttentionItem]:
    """Yield a need for the gateways whose agents are of one older release."""
    older: dict[tuple[str, int], list[GatewayOverview]] = {}
    for each in gates:
        if each.status and is_agent_older(each.status.protocol):
            older.setdefault((each.status.agent, each.status.protocol), []).append(each)
    for (agent, protocol), those in older.items():
        yield _build_item(agent, protocol, those)


def _build_item(agent: str, protocol: int, those: Sequence[GatewayOverview]) -> AttentionItem:
    names = ", ".join(each.gateway.name for each in those)
    what = ngettext(
        "The agent of %(gateways)s is of an older release", "The agents of %(gateways)s are of an older release", len(those)
    ) % {"gateways": names}
    groups = {each.gateway.group_id for each in those}
    page = resolve_url("gateways:agents", groups.pop()) if len(groups) == 1 else resolve_url("gateways:list")
    return AttentionItem(
        f"agent-{agent}-{protocol}",
        StateLabel(StateKind.PLAIN, _("Older"), "info"),
        what,
        " ".join([_describe_release(agent), _describe_missing(protocol), _describe_cure()]),
        None,
        _("Open"),
        page,
        gateways=frozenset(each.gateway.pk for each in those),
    )


def _describe_release(agent: str) -> str:
    words = _("Installed is %(agent)s, this portal’s is %(ours)s. Changes go out as before.")
    return words % {"agent": agent, "ours": get_own_release()}


def _describe_missing(protocol: int) -> str:
    missing = list_missing_features(protocol)
    return _("Missing until then: %(features)s.") % {"features": ", ".join(missing)} if missing else _("Nothing is missing yet.")


def _describe_cure() -> str:
    return _(
        "Upgrade the agents before you upgrade the portal again: its next release does not speak with the older ones (docs/upgrade.md)."
    )
