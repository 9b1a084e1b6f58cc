"""A virtual machine that stands in a lab in place of one of its nodes: switched on, off like a power cut, and reached as root.

Without hardware virtualisation QEMU emulates the processor, and the guest's clock counts its instructions (-icount): however busy this
machine is, nothing times out in the guest.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lab.lab import Lab
from lab.machines.files import build_mac, render_files
from lab.machines.image import MachineImage
from lab.topology import Interface, Node

MEMORY: Final = 512  # MiB
KERNEL_LINE: Final = (
    "root=/dev/vda ro console=ttyS0 net.ifnames=1 mitigations=off random.trust_cpu=on tsc=reliable audit=0 systemd.show_status=false"
)
EMULATED: Final = ("-accel", "tcg,tb-size=128", "-cpu", "Nehalem,+rdrand", "-icount", "shift=0,sleep=on")
HARDWARE: Final = ("-accel", "kvm", "-cpu", "host")
BOARD: Final = ("-machine", "q35,sata=off,smbus=off,usb=off", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none")
HOME: Final = "core"  # the node in which QEMU runs: it holds most of the switches


class MachineError(Exception):
    """The machine does not run as it should; the message says what it wrote last to its console."""


@dataclass
class VirtualMachine:
    """The machine in place of `node`. number: from 1, distinct in its lab; directory: its disk, console and logs."""

    lab: Lab
    node: Node
    number: int
    image: MachineImage
    directory: Path
    accelerator: Sequence[str] = EMULATED
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def console(self) -> Path:
        """What the machine wrote to its serial console since it was switched on."""
        return self.directory / "console"

    def install(self) -> None:
        """Give the machine a fresh disk with its own name, addresses and routes."""
        self.directory.mkdir(parents=True, exist_ok=True)
        disk = self.directory / "disk.img"
        subprocess.run(["cp", "--sparse=always", str(self.image.disk), str(disk)], check=True)
        files = self.directory / "files"
        shutil.rmtree(files, ignore_errors=True)
        commands = []
        for number, (path, text) in enumerate(sorted(render_files(self.node, self.number).items())):
            source = files / str(number)
            source.parent.mkdir(exist_ok=True)
            source.write_text(text)
            commands += [f"rm {path}", f"write {source} {path}"]
        script = self.directory / "debugfs"
        script.write_text("\n".join([*commands, ""]))
        subprocess.run(["/usr/sbin/debugfs", "-w", "-f", str(script), str(disk)], capture_output=True, check=True)

    def switch_on(self) -> None:
        """Begin to boot."""
        for card in self.node.interfaces:
            self._ip("tuntap", "add", self._tap(card), "mode", "tap")
        self.console.write_text("")
        with (self.directory / "qemu.log").open("w") as log:
            self._process = self.lab.popen(HOME, self._build_command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._wait_for_taps()
        for card in self.node.interfaces:
            self._plug(card)

    def cut_power(self) -> None:
        """End the machine at once, as a power cut does: what it had not written to its disk is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None
        for card in self.node.interfaces:
            for node in {HOME, self._get_switch(card)[0]}:  # it may not have been moved yet
                self.lab.run(node, ["ip", "link", "delete", self._tap(card)], check=False)

    def build_ssh_command(self, *command: str) -> tuple[str, ...]:
        """Return the command that runs this one on the machine as root. It works in the lab's node `portal`."""
        options = ("UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no", "LogLevel=ERROR", "BatchMode=yes", "ConnectTimeout=20")
        address = self.node.list_ip_addresses(4, "management")[0]
        flags = [word for option in options for word in ("-o", option)]
        return ("ssh", "-F", "none", "-i", str(self.image.key), *flags, f"root@{address}", *command)

    def run(self, command: str, *, text: str | None = None, timeout: float = 600, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the shell command on the machine as root, to its end. Raise MachineError if it fails and `check` is true."""
        done = self.lab.run("portal", self.build_ssh_command(command), text=text, timeout=timeout, check=False)
        if check and done.returncode:
            raise MachineError(f"{self.name}: {command!r} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def is_up(self) -> bool:
        """True if a session of ssh gets in. Raise MachineError if QEMU has ended."""
        self.check_is_running()
        return self.run("true", check=False, timeout=60).returncode == 0

    def _build_command(self) -> Sequence[str]:
        cards = [word for number, card in enumerate(self.node.interfaces, 1) for word in self._iter_card_options(number, card)]
        disk = f"file={self.directory / 'disk.img'},format=raw,if=virtio,cache=unsafe"
        boot = ("-kernel", str(self.image.kernel), "-initrd", str(self.image.initrd), "-append", KERNEL_LINE)
        devices = ("-drive", disk, "-device", "virtio-rng-pci", "-serial", f"file:{self.console}", "-rtc", "base=utc,clock=host")
        return ("qemu-system-x86_64", *self.accelerator, *BOARD, "-m", str(MEMORY), *boot, *devices, *cards)

    def _iter_card_options(self, number: int, card: Interface) -> Iterator[str]:
        yield from ("-netdev", f"tap,id={card.name},ifname={self._tap(card)},script=no,downscript=no")
        yield from ("-device", f"virtio-net-pci,netdev={card.name},mac={build_mac(self.number, number)},romfile=")

    def _wait_for_taps(self) -> None:
        """Wait until QEMU has opened all cards: a tap moves to another node only afterwards."""
        taps = [self._tap(card) for card in self.node.interfaces]
        for tap in taps:
            self._ip("link", "set", tap, "up")
        carriers = [f"/sys/class/net/{tap}/carrier" for tap in taps]
        while self.lab.run(HOME, ["cat", *carriers]).stdout.split() != ["1"] * len(taps):
            self.check_is_running()
            time.sleep(0.1)

    def check_is_running(self) -> None:
        """Raise MachineError if QEMU has ended."""
        if self._process is None or self._process.poll() is not None:
            raise MachineError(f"{self.name} does not run: {(self.directory / 'qemu.log').read_text()}{self.console.read_text()[-2000:]}")

    def _plug(self, card: Interface) -> None:
        node, switch = self._get_switch(card)
        if node != HOME:
            self._ip("link", "set", self._tap(card), "netns", node)
        self.lab.run(node, ["ip", "link", "set", self._tap(card), "master", switch, "up"])

    def _get_switch(self, card: Interface) -> tuple[str, str]:
        """Return the node and the name of the bridge that the card is plugged into."""
        segment = next(each for each in self.lab.topology.networks if each.name == card.network)
        return (segment.bridge or HOME), segment.name

    def _tap(self, card: Interface) -> str:
        return f"{self.name}.{card.name}"

    def _ip(self, *arguments: str) -> None:
        self.lab.run(HOME, ["ip", *arguments])
