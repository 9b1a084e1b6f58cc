"""What a gateway's kernel held otherwise than was committed, in words: which chains, which elements, since when, and who puts it right."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import GatewayState
from apps.lib import formats

type Row = tuple[str, str, str]  # sign, element, comment
type Group = tuple[str, str, list[Row]]  # title, note, rows


@dataclass(frozen=True)
class Drifted:
    """sentence: that it is so, and since when; what: where; follows: what becomes of it; groups: what comes and goes to put it right."""

    since: datetime | None
    sentence: str
    what: str
    follows: str
    heals: bool
    groups: list[Group]


def drifted(status: GatewayState | None) -> Drifted | None:
    """None while the gateway holds what was committed. The row comes with its gateway and group."""
    if status is None or not status.drift:
        return None
    rules: list[str] = status.drift.get("rules", [])
    elements: Mapping[str, Mapping[str, Any]] = status.drift.get("elements", {})
    sysctls: list[tuple[str, str, str]] = status.drift.get("sysctls", [])
    group = status.gateway.group
    return Drifted(
        status.drift_since,
        _sentence(status),
        "; ".join([*_what(rules, elements), *_settings(sysctls)]),
        _("It is put right by itself, with the next look.")
        if group.heals_drift
        else _("It stays so until somebody puts it right, or the next change goes out."),
        group.heals_drift,
        [*_chains(rules), *(_set(name, each) for name, each in sorted(elements.items())), *_kernel(sysctls)],
    )


def _sentence(status: GatewayState) -> str:
    given = {"gateway": status.gateway.name}
    if status.drift_since is None:
        return _("%(gateway)s was changed by hand.") % given
    since = formats.moment(status.drift_since, timezone.now(), with_zone=True, with_seconds=False)
    return _("%(gateway)s was changed by hand, seen first at %(time)s.") % (given | {"time": since})


def _what(rules: list[str], elements: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if rules:
        words = ngettext("%(n)d chain is not as committed", "%(n)d chains are not as committed", len(rules))
        yield f"{words % {'n': len(rules)}} ({', '.join(rules)})"
    missing, foreign = (sum(int(each.get(key, 0)) for each in elements.values()) for key in ("missing_count", "foreign_count"))
    if missing:
        yield ngettext("%(n)s element is missing", "%(n)s elements are missing", missing) % {"n": formats.number(missing)}
    if foreign:
        words = ngettext("%(n)s element is there that should not be", "%(n)s elements are there that should not be", foreign)
        yield words % {"n": formats.number(foreign)}


def _settings(sysctls: list[tuple[str, str, str]]) -> Iterator[str]:
    if sysctls:
        words = ngettext("%(n)d kernel setting is another one", "%(n)d kernel settings are others", len(sysctls))
        yield words % {"n": len(sysctls)}


def _kernel(sysctls: list[tuple[str, str, str]]) -> Iterator[Group]:
    if sysctls:
        gone = [("\u2212", f"{name} = {found}", _("set by somebody")) for name, _wanted, found in sysctls if found]
        rows = gone + [("+", f"{name} = {wanted}", _("of the profile")) for name, wanted, _found in sysctls]
        yield _("kernel settings"), "", sorted(rows, key=lambda row: row[1].partition(" ")[0])


def _chains(rules: list[str]) -> Iterator[Group]:
    yield from ((f"chain {name}", _("not as committed"), []) for name in rules)


def _set(name: str, each: Mapping[str, Any]) -> Group:
    missing, foreign = list(each.get("missing", [])), list(each.get("foreign", []))
    rows = [("+", text, _("missing")) for text in missing] + [("\u2212", text, _("should not be there")) for text in foreign]
    counts = (int(each.get("missing_count", len(missing))), int(each.get("foreign_count", len(foreign))))
    note = ", ".join(
        words % {"n": formats.number(count)}
        for count, words in zip(counts, (_("%(n)s missing"), _("%(n)s that should not be there")), strict=True)
        if count
    )
    if sum(counts) > len(rows) and rows:
        note = _("%(note)s, the first %(n)d here") % {"note": note, "n": len(rows)}
    return f"set {name}", note, rows
