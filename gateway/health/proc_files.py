"""Parsers of the kernel's text files: proc_stat(5), proc_meminfo(5), proc_pid_net(5). Take text, read no file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from firewall.health import CoreCounters, KernelCounter

_SNMP_COUNTERS = frozenset(KernelCounter)


class CoreTimes(NamedTuple):
    """Times of one core since boot, in hundredths of a second."""

    busy: int
    softirq: int
    total: int


class BacklogCounters(NamedTuple):
    """What one core took from its queues since boot."""

    packets: int
    dropped: int
    squeezed: int


def parse_core_times(stat: str) -> dict[int, CoreTimes]:
    """Parse /proc/stat: "cpu0 user nice system idle iowait irq softirq steal …". Guests' time is a part of user's."""
    found = {}
    for line in stat.splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, idle, waiting, irq, softirq, steal = map(int, values[:8])
            busy = user + nice + system + irq + softirq + steal
            found[int(name[3:])] = CoreTimes(busy, softirq, busy + idle + waiting)
    return found


def parse_backlog(softnet: str) -> dict[int, BacklogCounters]:
    """Parse /proc/net/softnet_stat: hexadecimal; the thirteenth value is the core, which kernels before 5.10 leave out."""
    found = {}
    for at, line in enumerate(softnet.splitlines()):
        values = [int(each, 16) for each in line.split()]
        found[values[12] if len(values) > 12 else at] = BacklogCounters(*values[:3])
    return found


def merge_cores(times: Mapping[int, CoreTimes], backlog: Mapping[int, BacklogCounters]) -> tuple[CoreCounters, ...]:
    """Return the counters of each core, by its number."""
    none = BacklogCounters(0, 0, 0)
    return tuple(CoreCounters(*times[core], *backlog.get(core, none)) for core in sorted(times))


def parse_snmp_tables(text: str) -> dict[str, int]:
    """Parse /proc/net/snmp or netstat: pairs of lines, names and then values. Returns the counters of KernelCounter alone."""
    lines = [line.split() for line in text.splitlines()]
    tables = zip(lines[::2], lines[1::2], strict=False)
    return dict(_iter_wanted(pair for names, values in tables for pair in zip(names, values, strict=False)))


def parse_snmp6(text: str) -> dict[str, int]:
    """Parse /proc/net/snmp6: a name and a value on each line."""
    return dict(_iter_wanted(tuple(line.split()) for line in text.splitlines()))


def _iter_wanted(pairs: Iterable[Sequence[str]]) -> Iterator[tuple[str, int]]:
    for pair in pairs:
        if len(pair) == 2 and pair[0] in _SNMP_COUNTERS and pair[1].isdecimal():
            yield pair[0], int(pair[1])


def parse_memory(meminfo: str) -> tuple[int, int]:
    """Parse /proc/meminfo. Returns octets in all, and how many are available; 0 for what is not there."""
    values = {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in meminfo.splitlines()) if rest.split()}
    return values.get("MemTotal", 0), values.get("MemAvailable", 0)
