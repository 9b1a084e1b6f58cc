"""Faults of the programs and disks of a gateway's machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.frozen_process import frozen
from tests.whole.faults.injected_fault import ANSWERING, InjectedFault
from tests.whole.faults.scene import FaultScene
from tests.whole.faults.wordings import SILENT, say_nothing_known
from tests.whole.system import descendants

NAME = "nat-1"


@contextmanager
def kill_agent(scene: FaultScene) -> Iterator[None]:
    """Kill the agent, and start it in the end."""
    scene.agents[NAME].kill()
    try:
        yield
    finally:
        scene.end_agent(NAME)
        scene.start_agent(NAME)


@contextmanager
def freeze_agent(scene: FaultScene) -> Iterator[None]:
    """Stop the agent in the midst of whatever it does, and let it go on in the end."""
    with frozen(descendants(scene.agents[NAME].pid)[-1]):
        yield


@contextmanager
def hide_prober(scene: FaultScene) -> Iterator[None]:
    """Let the agent not find the program that sends its probes."""
    socket = scene.sockets / "probe-1.sock"
    hidden = socket.rename(socket.with_suffix(".hidden"))
    try:
        yield
    finally:
        hidden.rename(socket)


@contextmanager
def end_responder(scene: FaultScene) -> Iterator[None]:
    """End the program outside that connects back to the probes."""
    scene.end_responder()
    try:
        yield
    finally:
        scene.start_responder()


@contextmanager
def fill_disk(scene: FaultScene) -> Iterator[None]:
    """Leave no octet free on the disk of the agent's state."""
    with _mount_small_disk(scene, 1024):
        scene.enter_mounts(scene.agents[NAME], f"head -c 2M /dev/zero > {scene.sockets / NAME}/ballast || true")
        yield


@contextmanager
def nearly_fill_disk(scene: FaultScene) -> Iterator[None]:
    """Leave a few percent of the disk of the agent's state free."""
    with _mount_small_disk(scene, 102400):
        scene.enter_mounts(scene.agents[NAME], f"head -c 98M /dev/zero > {scene.sockets / NAME}/ballast")
        yield


@contextmanager
def _mount_small_disk(scene: FaultScene, size: int) -> Iterator[None]:
    """Move the agent's state to a disk of its own. size: KiB."""
    at = scene.sockets / NAME
    lines = f"cp -a {at} {at}.copy; mount -t tmpfs -o size={size}k,mode=700 tmpfs {at}; cp -a {at}.copy/. {at}"
    scene.enter_mounts(scene.agents[NAME], lines)
    try:
        yield
    finally:
        scene.enter_mounts(scene.agents[NAME], f"umount --lazy {at}; rm -r {at}.copy")


@contextmanager
def write_protect_disk(scene: FaultScene) -> Iterator[None]:
    """Let the disk of the agent's state be read only, as after an error of it."""
    at = scene.sockets / NAME
    scene.enter_mounts(scene.agents[NAME], f"mount --bind {at} {at}; mount -o remount,bind,ro {at}")
    try:
        yield
    finally:
        scene.enter_mounts(scene.agents[NAME], f"umount --lazy {at}")


@contextmanager
def end_sshd(scene: FaultScene) -> Iterator[None]:
    """End the gateway's sshd."""
    scene.end_sshd(NAME)
    try:
        yield
    finally:
        scene.start_sshd(NAME)


@contextmanager
def exchange_host_key(scene: FaultScene) -> Iterator[None]:
    """Let the gateway's sshd have another host key."""
    directory = scene.sockets / f"{NAME}.sshd"
    kept = directory.with_suffix(".kept")
    scene.end_sshd(NAME)
    directory.rename(kept)
    scene.start_sshd(NAME)
    try:
        yield
    finally:
        scene.end_sshd(NAME)
        shutil.rmtree(directory)
        kept.rename(directory)
        scene.start_sshd(NAME)


@contextmanager
def remove_key(scene: FaultScene) -> Iterator[None]:
    """Remove the portal's key from those that the gateway lets in, and end its sessions."""
    with end_sshd(scene):
        scene.start_sshd(NAME)
        try:
            scene.enter_mounts(scene.ssh_servers[NAME], ": > /run/netzwart/authorized_keys")
            yield
        finally:
            scene.end_sshd(NAME)


MACHINES: Final = (
    InjectedFault("agent killed", kill_agent, (rf"{SILENT}\. .* It may still forward traffic",), ANSWERING),
    InjectedFault("agent hangs", freeze_agent, (rf"{SILENT}\. .* It may still forward traffic",), ANSWERING),
    InjectedFault(
        "prober away",
        hide_prober,
        tuple(say_nothing_known(family, r"Is it running \(netzwart-prober\.service\)\?") for family in (4, 6)),
    ),
    InjectedFault(
        "responder outside away",
        end_responder,
        (r"^Nothing shows whether connections from outside come in\. .* port 7077: it hangs up without an answer\. Is the responder",),
    ),
    InjectedFault(
        "disk full",
        fill_disk,
        (r"^The disk of nat-1 is full, or nearly so\. 0 B of [\d.]+ MB are free\. On a full disk, the agent refuses every change\.",),
    ),
    InjectedFault(
        "disk nearly full",
        nearly_fill_disk,
        (r"^The disk of nat-1 is full, or nearly so\. [\d.]+ [kM]B of [\d.]+ MB are free\. On a full disk, the agent refuses every",),
    ),
    InjectedFault(
        "disk read only",
        write_protect_disk,
        (r"^nat-1 cannot write to its disk\. .* cannot be written: Read-only file system\. Until that is fixed it takes no changes",),
    ),
    InjectedFault(
        "sshd of a gateway ended",
        end_sshd,
        (rf"{SILENT}\. ssh: connect to host 172\.31\.0\.11 port 22: Connection refused\. It may still forward traffic",),
        ANSWERING,
    ),
    InjectedFault(
        "host key of a gateway changed",
        exchange_host_key,
        (rf"{SILENT}\. the host key has changed: expected SHA256:\S+, found SHA256:\S+\. .* It may still forward traffic",),
        ANSWERING,
    ),
    InjectedFault(
        "portal's key removed from a gateway",
        remove_key,
        (rf"{SILENT}\. .* does not accept the portal's key.* It may still forward traffic",),
        ANSWERING,
    ),
)
