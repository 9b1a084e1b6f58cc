"""Runs a real sshd for each of the demo's gateways, so that workers reach them like real ones.

Host keys are created before the demo network and mark it: a state directory that has them is reached by ssh.
"""

import os
import subprocess
from pathlib import Path

from lab import sshd
from lab.register import LabRegisterEntry
from lab.topology import load_topology
from portal import programs
from portal.stack import commands
from portal.stack.errors import StackError
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths

SYSTEM_PYTHON = "/usr/bin/python3"  # an account without rights may not be able to enter our Python's directory
CODE, SOCKETS = sshd.SHOWN / "code", sshd.SHOWN / "sockets"
READABLE = 0o005


def find_obstacle(places: StatePaths, no_lab: str) -> str:
    """Return why the gateways are not reached by ssh; "" if they are.

    Raises StackError if the demo network was made for ssh but ssh is not possible: outside the lab, its addresses belong to other
    hosts.
    """
    made_without = places.demo.exists() and not places.sshd.exists()
    reason = "the demo network was made without it" if made_without else no_lab or sshd.find_obstacle() or _find_unreadable()
    if reason and places.demo.exists() and places.sshd.exists():
        raise StackError(f"The demo network in {places.var} is reached by ssh, which is not possible now: {reason}. Use another --var.")
    return reason


def _find_unreadable() -> str:
    relay = programs.ROOT / "gateway" / "relay.py"
    if programs.ROOT.stat().st_mode & READABLE != READABLE or not relay.stat().st_mode & READABLE:
        return f"{programs.ROOT} may not be read by other accounts"
    recent = (SYSTEM_PYTHON, "-S", "-c", "import sys; sys.exit(sys.version_info < (3, 11))")
    tried = Path(SYSTEM_PYTHON).exists() and subprocess.run(recent, capture_output=True, check=False).returncode == 0
    return "" if tried else f"{SYSTEM_PYTHON} is missing or older than 3.11"


def prepare(places: StatePaths) -> None:
    """Create what is missing: the portal's key, the host keys, and the files that authorize the portal's key."""
    places.ssh_key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = ensure_portal_key(places.ssh_key)
    for name in commands.GATEWAYS:
        sshd.ensure_host_key(places.sshd / name)
        get_authorized_keys_path(places, name).write_text(render_relay_line(name, key))
    places.gateway_sockets.chmod(0o711)


def ensure_portal_key(file: Path) -> str:
    """Return the public half of the key in the file, which the first call creates."""
    if not file.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "netzwart", "-f", str(file)], check=True)
    done = subprocess.run(["ssh-keygen", "-y", "-f", str(file)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def render_relay_line(name: str, key: str) -> str:
    """Return the authorized_keys line that lets this public key relay to the gateway's agent, and do nothing else."""
    relay = f"PYTHONPATH={CODE} {SYSTEM_PYTHON} -S -m gateway relay --socket {SOCKETS}/{name}.sock"
    return f'restrict,command="{relay}" {key}\n'


def get_authorized_keys_path(places: StatePaths, name: str) -> Path:
    return places.sshd / name / "authorized_keys"


def build_program(places: StatePaths, name: str) -> Program:
    """Return the gateway's sshd, inside its node."""
    shown = {CODE.name: programs.ROOT, SOCKETS.name: places.gateway_sockets}
    command = sshd.build_command(places.sshd / name, get_authorized_keys_path(places, name), shown)
    return Program(f"sshd {name}", commands.build_lab_command(places, "exec", name, "--", *command), hush=".*")


def is_answering(places: StatePaths, name: str) -> bool:
    """Return whether a program other than the lab's own listener answers at the gateway's ssh port, as seen from the portal's node."""
    address = str(load_topology().get_node(name).list_ip_addresses(4, "management")[0])
    command = commands.build_lab_command(places, "connect", commands.PORTAL, "tcp", address, "22", "--timeout", "1")
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return "without an answer" in done.stderr


def wrap_in_portal_node(places: StatePaths, command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command as it must be run to reach the gateways: inside the portal's node while the lab is up, otherwise unchanged."""
    up = places.sshd.exists() and os.geteuid() == 0 and LabRegisterEntry(places.lab, places.lab_name).find()
    return commands.build_node_command(places, commands.PORTAL, command) if up else command
