"""The same lab, for an account without privileges."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.program import ROOT
from lab.topology import Topology

pytestmark = pytest.mark.kernel

NOBODY = 65534
# The interpreter may lie where only root can look (in root's home): show it at /mnt, in a mount namespace of its own.
AS_NOBODY = """
mount --bind "$1" /mnt && shift && exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
  env LD_LIBRARY_PATH=/mnt/lib "/mnt/bin/$@"
"""

type Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def nobody() -> Iterator[Command]:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root, with setpriv, can become nobody")
    state = Path("/tmp", f"lab-of-nobody-{os.getpid()}")  # noqa: S108  tmp_path lies below a directory of root's
    state.mkdir()
    os.chown(state, NOBODY, NOBODY)
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["unshare", "--mount", "sh", "-c", AS_NOBODY, "sh", sys.base_prefix, python, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30, check=False)

    def lab(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run("-m", "lab", "--state", str(state), *arguments)

    try:
        if (trial := run("-c", "import lab.program")).returncode != 0:
            pytest.skip(f"nobody cannot run this Python here: {trial.stderr.strip()}")
        if (trial := lab("check")).returncode != 0:
            pytest.skip(trial.stderr.strip())
        yield lab
        lab("down")
    finally:
        shutil.rmtree(state)


def test_a_user_without_privileges_has_the_same_lab(nobody: Command, topology: Topology) -> None:
    assert nobody("check").stdout == "Labs can run here, without root.\n"
    assert nobody("up").returncode == 0
    assert nobody("status").stdout.count(" answers ") == 7
    assert nobody("exec", "nat-1", "--", "nft", "add table inet by_hand").returncode == 0
    assert '"node": "internet"' in nobody("connect", "m1", "tcp", topology.get_node("internet").ipv6, "443").stdout
    assert nobody("down").stdout == "The lab demo is down.\n"
