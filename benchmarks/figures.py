"""What a benchmark answers: figures, some of them with a goal."""

import json
import operator
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

OPERATORS: dict[str, Callable[[float, float], bool]] = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, "==": operator.eq}


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. `goal` is such as "<= 3", in the figure's unit; None where there is nothing to reach."""

    name: str
    value: float
    unit: str
    goal: str | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without one."""
        if self.goal is None:
            return None
        sign, number = self.goal.split()
        return OPERATORS[sign](self.value, float(number))


def machine() -> dict[str, object]:
    """What it was measured on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "cpu": _cpu(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def _cpu() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor())


def as_json(bench: str, figures: Iterable[Figure]) -> str:
    """The whole answer as one JSON object."""
    listed = [asdict(figure) | {"met": figure.met} for figure in figures]
    return json.dumps({"bench": bench, "machine": machine(), "figures": listed}, indent=1)


def as_table(bench: str, figures: Iterable[Figure]) -> str:
    """The same to read."""
    told = machine()
    rows = [
        (figure.name, f"{figure.value:,.3f}".rstrip("0").rstrip("."), figure.unit, figure.goal or "", _verdict(figure))
        for figure in figures
    ]
    widths = [max(len(row[column]) for row in [*rows, ("",) * 5]) for column in range(5)]
    lines = [f"{bench} on {told['cores']} cores, {told['memory_gib']} GiB, Python {told['python']}, load {told['load']}"]
    lines += [
        f"  {name:<{widths[0]}}  {value:>{widths[1]}} {unit:<{widths[2]}}  {goal:<{widths[3]}}  {verdict}"
        for name, value, unit, goal, verdict in rows
    ]
    return "\n".join(lines)


def _verdict(figure: Figure) -> str:
    return {None: "", True: "met", False: "MISSED"}[figure.met]
