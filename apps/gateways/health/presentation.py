"""The health page of a gateway: whether all is usual, the figures that say so, and every measure beside what is usual."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from apps.gateways.health import finding_texts
from apps.gateways.health.judgement import FRESH
from apps.gateways.health.measures import ALL, BY_KEY, Measure, MeasureUnit, format_measure
from apps.gateways.health.models import HealthFinding, HealthReading, HealthStatus
from apps.gateways.health.rules import RULES
from apps.gateways.health.selectors import find_health_status, find_last_reading, find_usual_measures, list_findings
from apps.gateways.packet_probes.presentation import ProbeLine, list_probe_lines
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import Gateway

FIGURES: Final = ("probe4_ms", "probe6_ms", "busiest_core", "packets", "connections", "received_bits")
type UsualMeasures = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class HealthTruth:
    """The sentence at the top of the page: its kind, what is so, and what follows."""

    kind: StateKind
    sentence: str
    follows: str


@dataclass(frozen=True)
class KeyFigure:
    """A large number with its name, and a line below it. kind: of the worst finding that it shows."""

    name: str
    value: str
    below: str
    kind: StateKind


@dataclass(frozen=True)
class FindingLine:
    """A finding in words."""

    state: StateLabel
    title: str
    evidence: str
    preceding: str
    cure: str
    since: datetime


@dataclass(frozen=True)
class MeasureLine:
    """One measure: now, and between which values it usually is at this hour; "" if that is not known."""

    name: str
    now: str
    usual: str


@dataclass(frozen=True)
class HealthView:
    """Everything that the page shows but its charts."""

    truth: HealthTruth
    figures: Sequence[KeyFigure]
    findings: Sequence[FindingLine]
    measures: Sequence[MeasureLine]


def build_health_view(gateway: Gateway, now: datetime, *, carries: bool) -> HealthView:
    """Build the view. What is older than a minute is shown with its time, and nothing is said to be well."""
    status, reading = find_health_status(gateway), find_last_reading(gateway, now)
    findings = [each for each in list_findings(now) if each.gateway_id == gateway.pk]
    measures, usual = reading.measures if reading else {}, find_usual_measures(gateway, now)
    probes, lines = list_probe_lines(gateway, now), [_build_finding(each, gateway, carries=carries) for each in findings]
    figures = {key: _build_figure(key, measures, usual, findings, carries=carries) for key in FIGURES if key in measures}
    return HealthView(
        _build_truth(gateway, status, reading, lines, probes, now),
        list((figures | _build_lost_probes(probes)).values()),
        lines,
        [_build_line(each, measures, usual) for each in ALL if each.key in measures],
    )


def _build_truth(
    gateway: Gateway,
    status: HealthStatus | None,
    reading: HealthReading | None,
    findings: Sequence[FindingLine],
    probes: Sequence[ProbeLine],
    now: datetime,
) -> HealthTruth:
    """Return the worst that is known; that no fault was found only if a fresh reading and the probes show none."""
    if status and status.refusal:
        return HealthTruth(StateKind.WARN, _("The health of %(gateway)s is not known.") % {"gateway": gateway}, status.refusal)
    if reading is None:
        return HealthTruth(StateKind.PLAIN, _("No reading yet."), _("The first figures come within half a minute, if the gateway answers."))
    if now - reading.at > FRESH:
        text = _("No reading since %(time)s.") % {"time": formats.format_moment(reading.at, now, with_zone=True)}
        return HealthTruth(StateKind.WARN, text, _("What stands below is older: nothing is known of the time since then."))
    if findings:
        return HealthTruth(findings[0].state.kind, findings[0].title + ".", findings[0].evidence)
    for kind in (StateKind.BAD, StateKind.WARN):
        if failed := next((each for each in probes if each.state.kind is kind), None):
            return HealthTruth(kind, f"{failed.family}: {failed.state.word}.", failed.text or failed.figures)
    given = {"gateway": gateway, "number": len(RULES), "time": formats.format_moment(reading.at, now, with_zone=True)}
    checked = [_("%(number)d rules looked at its reading of %(time)s.") % given, *(f"{each.family}: {each.state.word}." for each in probes)]
    return HealthTruth(StateKind.OK, _("No fault was found on %(gateway)s.") % given, " ".join(checked))


def _build_lost_probes(probes: Sequence[ProbeLine]) -> dict[str, KeyFigure]:
    """Return the figures of families of which no packet comes back, by measure: times of earlier probes would say that they pass."""
    words = _("no answer")
    return {
        f"probe{each.family[-1]}_ms": KeyFigure(_name_figure(f"probe{each.family[-1]}_ms"), words, each.figures, StateKind.BAD)
        for each in probes
        if each.state.kind is StateKind.BAD
    }


def _build_figure(
    key: str, measures: Mapping[str, float], usual: UsualMeasures, findings: Sequence[HealthFinding], *, carries: bool
) -> KeyFigure:
    measure, shown = BY_KEY[key], [each for each in findings if RULES[each.rule].measure == key]
    kind = finding_texts.build_label(shown[0], carries=carries).kind if shown else StateKind.PLAIN
    below = [_describe_beside(key, measures), _describe_usual(measure, usual)]
    return KeyFigure(_name_figure(key), format_measure(measure.unit, measures[key]), ", ".join(filter(None, below)), kind)


def _name_figure(key: str) -> str:
    return {
        "probe4_ms": _("Probe IPv4"),
        "probe6_ms": _("Probe IPv6"),
        "busiest_core": _("Busiest core"),
        "packets": _("Packets"),
        "connections": _("Connections"),
        "received_bits": _("From the internet"),
    }[key]


def _describe_beside(key: str, measures: Mapping[str, float]) -> str:
    """Return what stands below a figure beside the usual range: what makes the number bad or good."""
    beside = {
        "probe4_ms": ("probe4_lost", _("loss %(value)s")),
        "probe6_ms": ("probe6_lost", _("loss %(value)s")),
        "busiest_core": ("mean_core", _("soft interrupts; all cores %(value)s busy")),
        "packets": ("dropped", _("dropped %(value)s")),
        "connections": ("connections_share", _("%(value)s of the table")),
        "received_bits": ("sent_bits", _("to it %(value)s")),
    }
    other, words = beside[key]
    return words % {"value": format_measure(BY_KEY[other].unit, measures[other])} if other in measures else ""


def _describe_usual(measure: Measure, usual: UsualMeasures) -> str:
    written = _write_range(measure.unit, usual.get(measure.key))
    return _("usually %(range)s at this hour") % {"range": written} if written else ""


def _write_range(unit: MeasureUnit, between: tuple[float, float] | None) -> str:
    if between is None:
        return ""
    lowest, highest = (format_measure(unit, each) for each in between)
    return lowest if lowest == highest else _("%(lowest)s to %(highest)s") % {"lowest": lowest, "highest": highest}


def _build_finding(finding: HealthFinding, gateway: Gateway, *, carries: bool) -> FindingLine:
    return FindingLine(
        finding_texts.build_label(finding, carries=carries),
        finding_texts.render_title(finding, gateway),
        finding_texts.render_evidence(finding),
        finding_texts.render_preceding_change(finding, gateway),
        finding_texts.render_cure(finding),
        finding.since,
    )


def _build_line(measure: Measure, measures: Mapping[str, float], usual: UsualMeasures) -> MeasureLine:
    return MeasureLine(
        capfirst(str(measure.title)),
        format_measure(measure.unit, measures[measure.key]),
        _write_range(measure.unit, usual.get(measure.key)),
    )
