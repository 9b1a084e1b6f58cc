"""What the launcher tells the program that it starts, in one environment variable.

The launcher is the package's and may be older or newer than the program, so fields are only added, and each has a default.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

VARIABLE = "NETZWART_LAUNCH"


@dataclass(frozen=True, slots=True)
class Launch:
    """directory: of the programs. allowed_by: the file that allows programs from the portal. runs, packaged: SHA-256 of the program that
    is started, and of the package's. parts: digest of the package's other files. boot: the kernel's boot id. ends: when the trial is
    over, in seconds of CLOCK_MONOTONIC; 0 for a program that is not on trial.
    """

    directory: str = ""
    allowed_by: str = ""
    runs: str = ""
    packaged: str = ""
    parts: str = ""
    boot: str = ""
    ends: float = 0.0

    def to_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the environment for the program."""
        return {**environment, VARIABLE: json.dumps(asdict(self))}


def read_launch(environment: Mapping[str, str]) -> Launch | None:
    """Return what the launcher says; None for an agent that was started without it."""
    try:
        told = json.loads(environment.get(VARIABLE, ""))
    except ValueError:
        return None
    names = {each.name for each in fields(Launch)}
    return Launch(**{name: value for name, value in told.items() if name in names}) if isinstance(told, dict) else None
