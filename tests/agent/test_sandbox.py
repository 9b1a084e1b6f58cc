"""The agent reads the machine with only the address families that its unit allows (RestrictAddressFamilies in systemd.exec(5))."""

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lab.program import ROOT

pytestmark = pytest.mark.kernel

UNIT = ROOT / "gateway" / "systemd" / "netzwart-agent.service"
# A filter as systemd installs it, in seccomp(2)'s language: socket() of another family fails with EAFNOSUPPORT.
READ = """
import ctypes, errno, socket, struct, sys
from pathlib import Path

SOCKET, ALLOW, REFUSE = 41, 0x7FFF0000, 0x00050000 | errno.EAFNOSUPPORT
families = [getattr(socket, name) for name in sys.argv[1:]]
rules = [(0x20, 0, 0, 0), (0x15, 0, len(families) + 2, SOCKET), (0x20, 0, 0, 16)]
rules += [(0x15, len(families) - at, 0, family) for at, family in enumerate(families)]
rules += [(0x06, 0, 0, REFUSE), (0x06, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sys.exit("the filter refuses nothing")
except OSError as error:
    assert error.errno == errno.EAFNOSUPPORT

from gateway.evidence.network_state import read_network
from gateway.evidence.tcp_sockets import read_tcp_sockets
from gateway.health.reading import read_health
from gateway.interfaces import list_interfaces

print(len(read_health({}, boot="", agent="", disk=Path("/")).links), len(list_interfaces()))
read_network(None)
read_tcp_sockets(None)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of socket() is that of x86-64")
def test_health_interfaces_and_evidence_are_read_within_the_units_address_families() -> None:
    found = re.search(r"^RestrictAddressFamilies=(.+)$", UNIT.read_text(), re.MULTILINE)
    assert found
    done = subprocess.run([sys.executable, "-c", READ, *found[1].split()], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\d+ \d+\n", done.stdout)


def test_only_programs_with_a_unit_of_their_own_open_sockets_of_the_internet() -> None:
    """What cannot be read is left out in some places, without a word: no error would show it."""
    opening = {
        str(file.relative_to(ROOT / "gateway"))
        for file in (ROOT / "gateway").rglob("*.py")
        if re.search(r"socket\.socket\(\s*(socket\.AF_INET|family|of\.family)", file.read_text())
    }
    assert opening == {str(Path("probes", "handshake.py")), str(Path("probes", "echo.py")), "responder.py"}
