"""Texts about a gateway's drift: its cause, what differs and since when, how it will be repaired, and past drift."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import GatewayState, Rollout
from apps.deployments.observed_state.drift import HEALS_ANYWAY, DriftCause
from apps.deployments.selectors import map_newest_rollouts
from apps.lib.ui import formats
from apps.network.gateway_sentences import translate_about_gateway
from firewall import profile

NAMED = 5  # chains, sets or counters named in a sentence

type Row = tuple[str, str, str]  # sign, element, comment
type Group = tuple[str, str, list[Row]]  # title, note, rows


@dataclass(frozen=True)
class DriftText:
    """Drift for the page. word, sentence: the cause, and since when. what: the differences. follows: what happens next.

    heals: whether the group repairs drift automatically. groups: what a repair adds and removes. is_whole_table: nothing of the ruleset is
    left, so what is to be translated does not pass.
    """

    since: datetime | None
    word: str
    sentence: str
    what: str
    follows: str
    heals: bool
    groups: list[Group]
    is_whole_table: bool


def describe_drift(status: GatewayState | None) -> DriftText | None:
    """Return the gateway's drift in words; None if there is none. `status` comes with its gateway and group."""
    if status is None or not status.drift:
        return None
    rules: list[str] = status.drift.get("rules", [])
    elements: Mapping[str, Mapping[str, Any]] = status.drift.get("elements", {})
    sysctls: list[tuple[str, str, str]] = status.drift.get("sysctls", [])
    group = status.gateway.group
    return DriftText(
        status.drift_since,
        _describe_cause(_get_cause(status.drift)),
        _build_sentence(status),
        _explain_cause(status, "; ".join([*_iter_differences(rules, elements), *_iter_setting_counts(sysctls)])),
        _describe_consequence(status),
        group.heals_drift,
        [
            *_iter_chain_groups(rules),
            *(_build_set_group(name, each) for name, each in sorted(elements.items())),
            *_iter_kernel_groups(sysctls),
        ],
        _get_cause(status.drift) is DriftCause.GONE,
    )


def _get_cause(drift: Mapping[str, Any]) -> DriftCause:
    return DriftCause(drift.get("cause", DriftCause.BY_HAND))


def _describe_cause(cause: DriftCause) -> str:
    return {
        DriftCause.BY_HAND: _("Changed by hand"),
        DriftCause.GONE: _("Table deleted"),
        DriftCause.DAMAGED: _("Not restored"),
        DriftCause.ANOTHERS: _("Another gateway's ruleset"),
        DriftCause.EMPTY: _("Newly set up"),
        DriftCause.OTHER: _("Another ruleset"),
    }[cause]


def _build_sentence(status: GatewayState) -> str:
    causes = {
        DriftCause.BY_HAND: _("%(gateway)s was changed by hand"),
        DriftCause.GONE: _("On %(gateway)s the whole table was deleted"),
        DriftCause.DAMAGED: _("%(gateway)s could not restore the ruleset that it had confirmed"),
        DriftCause.ANOTHERS: _("%(gateway)s runs the ruleset of another gateway"),
        DriftCause.EMPTY: _("%(gateway)s has no record of a confirmed ruleset"),
        DriftCause.OTHER: _("%(gateway)s runs a ruleset that the portal never let it confirm"),
    }
    said = causes[_get_cause(status.drift or {})] % {"gateway": status.gateway.name}
    if status.drift_since is None:
        return f"{said}."
    since = formats.format_moment(status.drift_since, timezone.now(), with_zone=True, with_seconds=False)
    return _("%(what)s, first seen at %(time)s.") % {"what": said, "time": since}


def _explain_cause(status: GatewayState, counted: str) -> str:
    """Explain what the cause means, or list the differences where that says more."""
    drift = status.drift or {}
    means = {
        DriftCause.GONE: _("nothing is translated, banned or refused there"),
        DriftCause.DAMAGED: translate_about_gateway(str(drift.get("why", ""))),
        DriftCause.ANOTHERS: _("its state files may have been copied from that one"),
        DriftCause.EMPTY: _("its state directory is empty, as on a new machine"),
        DriftCause.OTHER: _("its state directory may have been restored from a backup"),
    }
    return means.get(_get_cause(drift)) or counted


def _describe_consequence(status: GatewayState) -> str:
    if fault := status.disk or status.error:
        return _("It will be put right as soon as this is fixed: %(fault)s") % {"fault": translate_about_gateway(fault)}
    last = map_newest_rollouts().get(status.gateway.group_id)
    if last and last.state == Rollout.State.PAUSED:
        return _("It stays like this until the paused rollout of %(revision)s is resumed.") % {"revision": last}
    if status.gateway.group.heals_drift or _get_cause(status.drift or {}) in HEALS_ANYWAY:
        return _("The next check puts it right automatically.")
    return _("It stays like this until an administrator puts it right or the next change is rolled out.")


def _iter_differences(rules: list[str], elements: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for kind in ("chain", "set", "counter"):
        if names := [name.removeprefix(f"{kind} ") for name in rules if name.startswith(f"{kind} ")]:
            yield f"{_format_uncommitted(kind, len(names))} ({_join_some(names)})"
    missing, foreign = (sum(int(each.get(key, 0)) for each in elements.values()) for key in ("missing_count", "foreign_count"))
    if missing:
        yield ngettext("%(n)s element is missing", "%(n)s elements are missing", missing) % {"n": formats.format_number(missing)}
    if foreign:
        words = ngettext("%(n)s element should not be there", "%(n)s elements should not be there", foreign)
        yield words % {"n": formats.format_number(foreign)}


def _format_uncommitted(kind: str, number: int) -> str:
    words = {
        "chain": ngettext("%(n)d chain differs from the committed one", "%(n)d chains differ from the committed ones", number),
        "set": ngettext("%(n)d set differs from the committed one", "%(n)d sets differ from the committed ones", number),
        "counter": ngettext("%(n)d counter differs from the committed one", "%(n)d counters differ from the committed ones", number),
    }
    return words[kind] % {"n": number}


def _join_some(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (" …" if len(names) > NAMED else "")


@dataclass(frozen=True)
class PastDrift:
    """Drift that is over: its time, its cause, and how much differed."""

    since: datetime | None
    until: datetime
    word: str
    what: str


def list_past_drift(status: GatewayState | None) -> list[PastDrift]:
    """Return past drift, newest first."""
    return [_build_past(entry) for entry in (status.drifted_before if status else [])]


def _build_past(entry: Mapping[str, Any]) -> PastDrift:
    counted = ("rules", "missing", "foreign", "sysctls")
    what = ", ".join(_format_differed(kind, entry[kind]) for kind in counted if entry[kind])
    since = datetime.fromisoformat(entry["since"]) if entry["since"] else None
    return PastDrift(since, datetime.fromisoformat(entry["until"]), _describe_cause(_get_cause(entry)), what)


def _format_differed(kind: str, number: int) -> str:
    words = {
        "rules": ngettext("%(n)d chain, set or counter", "%(n)d chains, sets and counters", number),
        "missing": ngettext("%(n)d element missing", "%(n)d elements missing", number),
        "foreign": ngettext("%(n)d element too many", "%(n)d elements too many", number),
        "sysctls": ngettext("%(n)d kernel setting", "%(n)d kernel settings", number),
    }
    return words[kind] % {"n": number}


def _iter_setting_counts(sysctls: list[tuple[str, str, str]]) -> Iterator[str]:
    if sysctls:
        words = ngettext("%(n)d kernel setting differs", "%(n)d kernel settings differ", len(sysctls))
        yield words % {"n": len(sysctls)}


def _iter_kernel_groups(sysctls: list[tuple[str, str, str]]) -> Iterator[Group]:
    if sysctls:
        gone = [("\u2212", f"{name} = {found}", _("set by hand")) for name, _wanted, found in sysctls if found]
        rows = gone + [("+", f"{name} = {wanted}", _describe_origin(name)) for name, wanted, _found in sysctls]
        yield _("kernel settings"), "", sorted(rows, key=lambda row: row[1].partition(" = ")[0])


def _describe_origin(setting: str) -> str:
    return _("of the profile") if setting in profile.NAMES else _("of the uplink’s fair queues")


def _iter_chain_groups(rules: list[str]) -> Iterator[Group]:
    yield from ((name, _("differs from the committed one"), []) for name in rules)


def _build_set_group(name: str, each: Mapping[str, Any]) -> Group:
    missing, foreign = list(each.get("missing", [])), list(each.get("foreign", []))
    rows = [("+", text, _("missing")) for text in missing] + [("\u2212", text, _("should not be there")) for text in foreign]
    counts = (int(each.get("missing_count", len(missing))), int(each.get("foreign_count", len(foreign))))
    note = ", ".join(
        words % {"n": formats.format_number(count)}
        for count, words in zip(counts, (_("%(n)s missing"), _("%(n)s too many")), strict=True)
        if count
    )
    if sum(counts) > len(rows) and rows:
        note = _("%(note)s, first %(n)d shown") % {"note": note, "n": len(rows)}
    return f"set {name}", note, rows
