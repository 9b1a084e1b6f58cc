"""Reads how many connections a gateway lost because connection tracking could not insert them: `insert_failed` of conntrack(8)."""

import re
from subprocess import PIPE

from lab.lab import Lab
from lab.measure.runs import MeasuringError

COMMAND = ("conntrack", "-S")


def parse_insert_failed(statistics: str) -> int:
    """Return the sum over all processors. Raise `ValueError` if the text is not the output of `conntrack -S`."""
    counts = re.findall(r"\binsert_failed=(\d+)", statistics)
    if not counts:
        raise ValueError(f"“{' '.join(COMMAND)}” printed no insert_failed: {statistics.strip() or 'nothing'}")
    return sum(map(int, counts))


def read_insert_failed(lab: Lab, gateway: str) -> int:
    """Return the gateway's count since its namespace exists. Raise `MeasuringError`, with the gateway, if it cannot be read."""
    with lab.popen(gateway, COMMAND, stderr=PIPE, own_session=True) as process:
        output, complaint = process.communicate(timeout=30)
    try:
        return parse_insert_failed(output)
    except ValueError as error:
        raise MeasuringError(f"{gateway}: {error} {complaint.strip()}".strip()) from error
