"""Figures: measured numbers, with their goals and baselines, and their output as JSON or as a table."""

import json
import operator
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

OPERATORS: dict[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, "==": operator.eq}


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number. A goal has a form such as "<= 3"; None means that there is no goal.

    A time has a baseline if another program can do comparable work in the same run. A slow or busy machine slows both down, so
    the goal is then for the ratio, and the absolute goal is its equivalent on the machine of docs/benchmarks.md.
    """

    name: str
    value: float
    unit: str
    goal: str | None = None  # in `unit`
    baseline: float | None = None  # in `unit`
    beside: str = ""  # name of the baseline
    ratio_goal: str | None = None  # for value / baseline
    about: str = ""  # what the number belongs to, where that is a result as well, such as the name of a table

    @property
    def ratio(self) -> float | None:
        """The value in multiples of its baseline; None without one."""
        return self.value / self.baseline if self.baseline else None

    @property
    def is_met(self) -> bool | None:
        """True if the goal is met, by the ratio if that has a goal; None without any goal."""
        if self.ratio_goal is not None and self.ratio is not None:
            return _reaches(self.ratio, self.ratio_goal)
        return None if self.goal is None else _reaches(self.value, self.goal)

    @property
    def is_goal_reached(self) -> bool:
        """True unless the value itself misses its goal. On a slower machine it may, while the ratio is met."""
        return self.goal is None or _reaches(self.value, self.goal)


def _reaches(value: float, goal: str) -> bool:
    sign, number = goal.split()
    return OPERATORS[sign](value, float(number))


def describe_machine() -> dict[str, object]:
    """Return properties of the machine that takes the measurements."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**30, 1),
        "cpu": _read_cpu(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def _read_cpu() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def build_report(bench: str, figures: Iterable[Figure], disturbance: dict[str, Any]) -> dict[str, Any]:
    """Return the whole result as values for JSON."""
    listed = [asdict(figure) | {"ratio": figure.ratio, "met": figure.is_met} for figure in figures]
    return {"bench": bench, "machine": describe_machine(), **disturbance, "figures": listed}


def render_json(bench: str, figures: Iterable[Figure], disturbance: dict[str, Any]) -> str:
    """Return the whole result as one JSON object."""
    return json.dumps(build_report(bench, figures, disturbance), indent=1)


def render_table(bench: str, figures: Iterable[Figure], disturbance: dict[str, Any]) -> str:
    """Return the whole result as a table for people."""
    about = describe_machine()
    rows = [_render_cells(figure) for figure in figures]
    widths = [max(len(row[column]) for row in [*rows, ("",) * 6]) for column in range(6)]
    lines = [f"{bench} on {about['cores']} cores, {about['memory_gib']} GiB, Python {about['python']}, load {about['load']}"]
    lines += [
        f"  {name:<{widths[0]}}  {value:>{widths[1]}} {unit:<{widths[2]}}  {ratio:<{widths[3]}}  {goal:<{widths[4]}}  {verdict}".rstrip()
        for name, value, unit, ratio, goal, verdict in rows
    ]
    others = ", ".join(f"{each['program']} {each['cores']:.2f}" for each in disturbance["disturbed_by"]) or "nothing"
    lines.append(
        f"  noise {disturbance['noise']:.3f}; disturbed by (cores in use): {others}; stolen by the host: {disturbance['stolen']:.1%}"
    )
    return "\n".join(lines)


def _render_cells(figure: Figure) -> tuple[str, str, str, str, str, str]:
    ratio = f"{figure.ratio:,.3g} × {figure.beside} ({_format_short(figure.baseline or 0)})" if figure.ratio is not None else ""
    goals = " and ".join(each for each in (figure.goal or "", f"{figure.ratio_goal} ×" if figure.ratio_goal else "") if each)
    verdict = {None: "", True: "met" if figure.is_goal_reached else "met by the ratio alone", False: "MISSED"}[figure.is_met]
    name = f"{figure.name} ({figure.about})" if figure.about else figure.name
    return name, _format_short(figure.value), figure.unit, ratio, goals, verdict


def _format_short(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")
