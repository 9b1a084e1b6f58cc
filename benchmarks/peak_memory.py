"""The peak memory of this program."""

from pathlib import Path


def read_peak_mib() -> float:
    """Return the peak memory of this program (proc(5), VmHWM); ru_maxrss also contains the parent's peak from before exec."""
    [line] = [each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024
