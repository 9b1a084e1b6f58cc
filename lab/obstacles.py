"""Checks whether labs can run on this machine, and lists the reasons if they cannot."""

import shutil
import subprocess
from functools import cache

from lab.launch import build_unshare_command, explain
from lab.server import STEERING

PACKAGES = {"unshare": "util-linux", "mount": "mount", "ip": "iproute2", "nft": "nftables"}
NAT = "table inet trial {\n chain srcnat {\n type nat hook postrouting priority srcnat\n masquerade\n}\n}\n"
TRIALS = (
    ("namespaces are not allowed here", ("true",), ""),
    ("no veth in this kernel", ("ip", "link", "add", "one", "type", "veth", "peer", "name", "other"), ""),
    ("no bridges in this kernel", ("ip", "link", "add", "one", "type", "bridge"), ""),
    ("nftables lacks what the hosts' servers need (tproxy)", ("nft", "-f", "-"), STEERING),
    ("nftables lacks NAT", ("nft", "-f", "-"), NAT),
)


@cache
def list_obstacles() -> tuple[str, ...]:
    """Return sentences, none if labs can run. Checked once per process."""
    missing = tuple(f"the program {name} is missing (Debian: {package})" for name, package in PACKAGES.items() if not shutil.which(name))
    return missing or _run_trials()


def _run_trials() -> tuple[str, ...]:
    failed = []
    for meaning, command, text in TRIALS:
        trial = subprocess.run([*build_unshare_command(), *command], input=text, capture_output=True, text=True, timeout=30, check=False)
        if trial.returncode != 0:
            failed.append(f"{meaning}: {explain(trial.stderr)}")
            if command == ("true",):
                break
    return tuple(failed)
