"""One reading of a gateway's health, about 2 ms of work."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

from firewall.health import MOST_CORES, Forwarding, HealthCounters, KernelCounter, MachineLevels
from gateway.conntrack import read_conntrack_statistics
from gateway.health import proc_files
from gateway.health.links import read_links
from gateway.health.queues import read_queues
from gateway.interfaces import has_internet_route, list_addresses

_NET = "/proc/thread-self/net"  # /proc/net is that of the process's first thread, which may be in another namespace
_FORWARDS4, _FORWARDS6 = "/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"
_CONNECTIONS, _MOST_CONNECTIONS = "/proc/sys/net/netfilter/nf_conntrack_count", "/proc/sys/net/netfilter/nf_conntrack_max"
_SENSORS = (("/sys/class/thermal", "thermal_zone*/temp"), ("/sys/class/hwmon", "hwmon*/temp*_input"))


def read_health(ruleset: Mapping[str, int], *, boot: str, agent: str, disk: Path) -> HealthCounters:
    """Read everything. ruleset: packets of our table's named counters. disk: a directory on the disk that matters. Raises TableError."""
    cores = proc_files.merge_cores(
        proc_files.parse_core_times(_read_text("/proc/stat")), proc_files.parse_backlog(_read_text(f"{_NET}/softnet_stat"))
    )
    links = read_links()
    return HealthCounters(
        boot=boot,
        uptime=time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000,
        clock=time.time_ns() // 1_000_000,
        agent=agent,
        cores=cores[:MOST_CORES],
        links=links,
        counters=_read_counters(),
        ruleset=ruleset,
        levels=_read_levels(disk),
        forwarding=Forwarding(_read_number(_FORWARDS4) == 1, _read_number(_FORWARDS6) == 1, has_internet_route(4), has_internet_route(6)),
        addresses=list_addresses(),
        queues=read_queues(each.name for each in links),
    )


def _read_counters() -> dict[str, int]:
    tables = proc_files.parse_snmp_tables(_read_text(f"{_NET}/snmp")) | proc_files.parse_snmp_tables(_read_text(f"{_NET}/netstat"))
    known = set(KernelCounter)
    tracked = {name: count for name, count in read_conntrack_statistics().items() if name in known}
    return tables | proc_files.parse_snmp6(_read_text(f"{_NET}/snmp6")) | tracked


def _read_levels(disk: Path) -> MachineLevels:
    memory, available = proc_files.parse_memory(_read_text("/proc/meminfo"))
    size = os.statvfs(disk)
    return MachineLevels(
        connections=_read_number(_CONNECTIONS),
        most_connections=_read_number(_MOST_CONNECTIONS),
        memory=memory,
        memory_available=available,
        disk=size.f_blocks * size.f_frsize,
        disk_free=size.f_bavail * size.f_frsize,
        temperature=max([0, *(_read_number(str(file)) for of, files in _SENSORS for file in Path(of).glob(files))]),
    )


def _read_text(name: str) -> str:
    """Return the file's text, "" if the kernel has no such file."""
    try:
        return Path(name).read_text()
    except OSError:
        return ""


def _read_number(name: str) -> int:
    """Return the number in the file; 0 if there is none, or a negative one."""
    text = _read_text(name).strip()
    return int(text) if text.isdecimal() else 0
