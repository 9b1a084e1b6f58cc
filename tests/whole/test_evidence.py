"""Evidence of a gateway in the lab: headers of members' real packets on both sides of the translation, and none of what they sent."""

import io
import socket
import sys
import tarfile
from threading import Thread

import pytest

from apps.deployments.services import reconcile
from apps.gateways.evidence.collection import collect_evidence
from apps.gateways.evidence.models import EvidenceArchive
from apps.gateways.evidence.requests import request_evidence
from lab.lab import Lab
from tests import factories
from tests.agent.test_evidence import SECRET, list_packets

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

FAR4 = "203.0.113.10"
FLOOD = """
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(20):
    sender.sendto(sys.argv[2].encode(), (sys.argv[1], 7))
"""


def read_files(archive: bytes) -> dict[str, bytes]:
    """Return the files by name, without their folder."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        found = {entry.name.partition("/")[2]: opened.extractfile(entry) for entry in opened}
        return {name: file.read() for name, file in found.items() if file}


def test_headers_of_members_packets_are_taken_and_nothing_of_what_they_sent(lab: Lab, network: factories.Network) -> None:
    assert reconcile(network.group)
    row = request_evidence(gateway=network.gateways[0], by=network.admin)
    collecting = Thread(target=collect_evidence, args=(row.pk,))
    collecting.start()
    while collecting.is_alive():
        lab.run("m1", [sys.executable, "-c", FLOOD, FAR4, SECRET.decode()])
    row.refresh_from_db()
    assert (row.state, row.problem) == (EvidenceArchive.State.DONE, "")
    files = read_files(bytes(row.file.octets))
    packets = [packet for protocol, packet in list_packets(files["headers.pcap"]) if protocol == 0x0800 and packet[9] == 17]
    sources = {socket.inet_ntoa(packet[12:16]) for packet in packets if packet[16:20] == socket.inet_aton(FAR4)}
    resident = network.residents["m1"]
    assert {str(resident.holding.prefix.network_address), str(resident.mapping.public)} <= sources
    assert all(len(packet) == 28 for packet in packets)
    assert not [name for name, octets in files.items() if any(SECRET[at : at + 6] in octets for at in range(len(SECRET) - 5))]
