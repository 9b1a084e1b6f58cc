"""SSH keys of both sides: the portal's own, which gateways accept, and a gateway's host key, which a person compares once."""

import os
import re
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from apps.deployments.transport import ssh
from apps.deployments.transport.agent_channel import Unreachable
from apps.lib.fields import Address
from apps.network.models import HOST_KEY

PROGRAM = "/usr/lib/netzwart/netzwart-agent.pyz"  # as in docs/gateway-setup.md
SOCKET = "/run/netzwart/agent"
SCAN = 5  # seconds


def ensure_portal_key() -> tuple[str, bool]:
    """Return the public half of the portal's key, and whether it was created just now."""
    made = _make_key(Path(settings.SSH_KEY))
    done = subprocess.run(["ssh-keygen", "-y", "-P", "", "-f", str(settings.SSH_KEY)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{settings.SSH_KEY}: ssh-keygen cannot read it: {ssh.get_last_line(done.stderr)}")
    return " ".join(done.stdout.split()[:2]), made


def _make_key(file: Path) -> bool:
    """Create the key atomically. Return False if it exists; of two processes at once, the first one's key is used."""
    if file.exists():
        return False
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as directory:
        fresh = Path(directory, "key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "netzwart", "-f", str(fresh)], check=True)
        with suppress(FileExistsError):
            os.link(fresh, file)
            return True
    return False


def build_authorized_keys_line(key: str) -> str:
    """Return the line for authorized_keys on a gateway (sshd(8)): the key opens the relay and nothing else."""
    return f'restrict,command="/usr/bin/python3 {PROGRAM} relay --socket {SOCKET}" {key} netzwart'


def scan_host_key(address: Address, port: int) -> str:
    """Return the host key that the machine at this address shows now. It is not verified. Raises Unreachable."""
    command = ["ssh-keyscan", "-T", str(SCAN), "-t", "ed25519", "-p", str(port), str(address)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SCAN * 2, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unreachable(f"no host key came from {address}, port {port} within {SCAN * 2} s") from error
    for line in done.stdout.splitlines():
        key = " ".join(line.split()[1:3])
        if re.fullmatch(HOST_KEY, key):
            return key
    said = ssh.get_last_line("\n".join(line for line in done.stderr.splitlines() if not line.startswith("#")))
    raise Unreachable(f"no ssh-ed25519 host key came from {address}, port {port}{f': {said}' if said else ''}")
