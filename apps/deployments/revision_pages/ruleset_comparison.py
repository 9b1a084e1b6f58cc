"""Difference between two rulesets for the page: as counts, then element by element by set and chain, up to a limit.

The difference is computed on values (`firewall.diff`); only what is shown is rendered as text.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from apps.deployments.models import Revision
from apps.deployments.revision_pages import contents
from apps.deployments.revision_pages.delta_text import (
    SETTINGS,
    DeltaExcerpt,
    DeltaGroup,
    DeltaRow,
    build_delta_row,
    render_delta_group_note,
)
from firewall.diff import ChainChange, Delta, ElementChange, diff
from firewall.profile import build_sysctls
from firewall.render import render_elements, render_rule
from firewall.ruleset import EMPTY, Elements, Ruleset
from firewall.sets import find_kind
from firewall.shaper import build_shaper_settings
from firewall.summary import SummaryLine, summarize

MOST_PER_GROUP = 50


@dataclass(frozen=True)
class RulesetComparison:
    """Delta between two rulesets on one gateway: summary lines by kind, and the beginning of every set and chain that it touches."""

    gateway: str
    gateways: list[str]
    delta: Delta
    lines: tuple[SummaryLine, ...]
    shown: DeltaExcerpt
    totals: bool = True  # false if the number of objects of each kind is unknown

    @property
    def chain_count(self) -> int:
        """Number of chains that are replaced."""
        return len(self.delta.chains)


def compare_revisions(before: Revision, after: Revision, now: int, gateway: str = "") -> RulesetComparison:
    """Compare what a gateway runs in two revisions. Raises ContentNotStored.

    If only deltas lie between them, it costs what changed, and the totals of each kind stay unknown.
    """
    forward = before.pk <= after.pk
    ways = contents.find_delta_between(before, after) if forward else contents.find_delta_between(after, before)
    if ways is None or not ways or not contents.is_content_stored(before):
        return compare_rulesets(contents.load_rulesets(before), contents.load_rulesets(after), now, gateway)
    names = sorted(ways)
    chosen = gateway if gateway in names else names[0]
    delta = ways[chosen] if forward else ways[chosen].invert()
    return RulesetComparison(chosen, names, delta, summarize(delta, EMPTY), _build_excerpt(delta, now), totals=False)


def compute_untruncated_delta(before: Revision, after: Revision, gateway: str) -> Delta:
    """Return the whole difference on a gateway, as it could be sent. Raises ContentNotStored."""
    return diff(contents.load_rulesets(before).get(gateway, EMPTY), contents.load_rulesets(after).get(gateway, EMPTY))


def compare_rulesets(before: Mapping[str, Ruleset], after: Mapping[str, Ruleset], now: int, gateway: str = "") -> RulesetComparison:
    """Compare rulesets by gateway name. A gateway that is missing on one side counts as empty there."""
    names = sorted(before.keys() | after.keys())
    chosen = gateway if gateway in names else names[0]
    old, new = before.get(chosen, EMPTY), after.get(chosen, EMPTY)
    delta = diff(old, new)
    return RulesetComparison(chosen, names, delta, summarize(delta, new), _build_excerpt(delta, now))


def _build_excerpt(delta: Delta, now: int) -> DeltaExcerpt:
    elements = sorted(delta.elements.items(), key=lambda item: find_kind(item[0]) is None)
    groups = [
        *(_build_element_group(name, change, now) for name, change in elements),
        *(_build_rule_group(name, each) for name, each in delta.chains.items()),
        *([_build_settings_group(delta)] if delta.touches_kernel else []),
    ]
    found = [(group, total) for group, total in groups if total]
    cut = [(group.title, render_delta_group_note(group, len(group.rows), total), group.rows) for group, total in found]
    return DeltaExcerpt(cut, sum(total for _group, total in found), sum(len(rows) for _title, _note, rows in cut))


def _build_element_group(name: str, change: ElementChange, now: int) -> tuple[DeltaGroup, int]:
    removed, added = _drop_expired(change.removed, now), _drop_expired(change.added, now)
    rows = islice(_iter_rows(name, change, removed, added, now), MOST_PER_GROUP)
    group = DeltaGroup("map" if change.of.value else "set", name, list(rows), counts=(len(added), len(removed)))
    return group, len(removed) + len(added)


def _build_settings_group(delta: Delta) -> tuple[DeltaGroup, int]:
    """Build the group of kernel settings: sysctls of the profile, and queues of the uplink."""
    sides = zip(delta.profile or (None, None), delta.shaper or (None, None), strict=True)
    old, new = ((build_sysctls(profile) if profile else {}) | build_shaper_settings(shaper) for profile, shaper in sides)
    names = [name for name in old | new if old.get(name) != new.get(name)]
    rows = [(sign, f"{name} = {held[name]}", "") for name in names for sign, held in (("\u2212", old), ("+", new)) if name in held]
    return DeltaGroup(*SETTINGS, rows), len(rows)


def _drop_expired(elements: Elements, now: int) -> Elements:
    return {key: element for key, element in elements.items() if not 0 < element.expires <= now}


def _iter_rows(name: str, change: ElementChange, removed: Elements, added: Elements, now: int) -> Iterator[DeltaRow]:
    yield from (build_delta_row("\u2212", name, text) for text in render_elements(change.of, removed, now))
    yield from (build_delta_row("+", name, text) for text in render_elements(change.of, added, now))


def _build_rule_group(name: str, change: ChainChange) -> tuple[DeltaGroup, int]:
    old = [render_rule(rule) for rule in (change.before.rules if change.before else ())]
    new = [render_rule(rule) for rule in (change.after.rules if change.after else ())]
    rows = [build_delta_row("\u2212", "", text) for text in old if text not in new] + [
        build_delta_row("+", "", text) for text in new if text not in old
    ]
    return DeltaGroup("chain", name, rows, counts=(len(set(new) - set(old)), len(set(old) - set(new)))), len(rows)
