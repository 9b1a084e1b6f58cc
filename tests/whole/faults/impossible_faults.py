"""Faults that cannot be caused in network namespaces, each with its reason: `tests/db/test_health.py` has their readings instead."""

from typing import Final

from tests.whole.faults.injected_fault import ImpossibleFault

IMPOSSIBLE: Final = (
    ImpossibleFault("connection table full", "net.netfilter.nf_conntrack_max is one number for the whole machine"),
    ImpossibleFault("one core busy with packets", "cores belong to the whole machine, and so does the time that they spend"),
    ImpossibleFault("backlog of a core full", "net.core.netdev_max_backlog is one number for the whole machine"),
    ImpossibleFault("short of memory", "memory belongs to the whole machine"),
    ImpossibleFault("clock wrong", "time namespaces do not cover the clock of the day"),
    ImpossibleFault("too hot", "sensors belong to the whole machine"),
    ImpossibleFault("slow link", "a virtual cable negotiates no speed"),
    ImpossibleFault("interface full", "a virtual cable has no speed that it could reach"),
    ImpossibleFault("damaged packets", "a virtual cable damages none"),
)
