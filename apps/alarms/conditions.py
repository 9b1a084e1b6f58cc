"""Conditions: the dashboard's needs that are alarms, with their texts in each language."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.utils.translation import override

from apps.alarms.models import Severity
from apps.desk.needs.collection import list_attention_items
from apps.desk.needs.need import AttentionItem
from apps.lib.ui.states import StateKind

type Texts = Mapping[str, Mapping[str, str]]
"""By language code: `title` and `evidence`."""

SEVERITIES: Final = {StateKind.BAD: Severity.CRITICAL, StateKind.WARN: Severity.WARNING}


@dataclass(frozen=True)
class Condition:
    """Something that is wrong now. since: when it began, if that is known. stands_for: the keys of the conditions that it
    replaces. gateways: ids of the gateways whose state it is; none: it is the network's.
    """

    key: str
    severity: Severity
    texts: Texts
    path: str
    since: datetime | None
    stands_for: frozenset[str]
    gateways: frozenset[int]


def list_conditions(now: datetime) -> list[Condition]:
    """Return what is wrong now. The dashboard is read once for each language, because its sentences are made in one; only for the first
    if nothing is wrong.
    """
    first, *others = [code for code, _name in settings.LANGUAGES]
    needs = _read_needs(first, now)
    wrong = [(need, severity) for need in needs if (severity := find_severity(need))]
    if not wrong:
        return []
    read = {first: needs} | {code: _read_needs(code, now) for code in others}
    texts = {code: {need.key: {"title": need.what, "evidence": need.evidence} for need in each} for code, each in read.items()}
    return [_build_condition(need, severity, texts) for need, severity in wrong]


def _build_condition(need: AttentionItem, severity: Severity, texts: Mapping[str, Texts]) -> Condition:
    """Build a condition. texts: by language, those of all needs; a need that only one reading found has the same words in all languages."""
    own = {"title": need.what, "evidence": need.evidence}
    words = {code: each.get(need.key, own) for code, each in texts.items()}
    return Condition(need.key, severity, words, need.url, need.at, need.stands_for, need.gateways)


def find_severity(need: AttentionItem) -> Severity | None:
    """Return how urgent a need is; None if it is no alarm: information, work without haste, or what a person has chosen."""
    if need.is_intended:
        return None
    return Severity.DECISION if need.is_decision else SEVERITIES.get(need.state.kind)


def is_part_of(key: str, conditions: Mapping[str, Condition]) -> bool:
    """True if one of these conditions stands for this one, too."""
    return any(key in each.stands_for for each in conditions.values())


def _read_needs(language: str, now: datetime) -> list[AttentionItem]:
    with override(language):
        return list_attention_items(now)
