"""Compiles a group's failover: the files by which keepalived and conntrackd make two gateways one.

Input: a `FailoverGateway`; output: the text of each file by its path. Like a ruleset, it is a pure function of its values: the same
values give the same octets. It contains no text of people, only addresses, numbers and interface names.
"""

from firewall.failover.check import check_failover
from firewall.failover.files import digest_files, render_files
from firewall.failover.spec import FailoverGateway, FailoverSpec, InterfaceSide, ProgramPaths, StateCacheMode, VirtualAddress

__all__ = [
    "FailoverGateway",
    "FailoverSpec",
    "InterfaceSide",
    "ProgramPaths",
    "StateCacheMode",
    "VirtualAddress",
    "check_failover",
    "digest_files",
    "render_files",
]
