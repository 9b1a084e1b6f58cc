"""Runs a Python module of this tree in a Debian machine whose processor is emulated and whose clock counts instructions.

With QEMU's -icount each instruction takes a nanosecond of the guest's time, so the CPU time of a thread is the number of its
instructions: other programs on this machine, its speed and its caches do not change it. The module runs as the only program, in place
of init, on Debian's own kernel. It reads this tree from a second disk, and what it prints comes back over the serial line.
"""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from typing import Final

from lab.machines.image import MachineImage
from lab.machines.virtual_machine import BOARD, EMULATED, MachineError

ROOT: Final = Path(__file__).resolve().parent.parent.parent
PACKAGES: Final = ("benchmarks", "firewall", "gateway", "lab")  # what runs in the machine; the standard library is all that they need
INIT: Final = "/usr/sbin/run-module"
MARK: Final = "answer: "
"""What a line of the module begins with that is meant for the caller."""
MEMORY: Final = 1024  # MiB
KERNEL_LINE: Final = f"root=/dev/vda ro console=ttyS0 quiet mitigations=off random.trust_cpu=on tsc=reliable audit=0 panic=-1 init={INIT}"
SCRIPT: Final = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHON_COLORS=0 PYTHONHASHSEED=0 PYTHONPATH=/mnt
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /run
mount -o ro /dev/vdb /mnt
modprobe nf_conntrack
cd /mnt
{command} < /dev/null
echo "ended with $?"
echo o > /proc/sysrq-trigger
sleep 60
"""


def run_module(image: MachineImage, module: str, *arguments: str, patience: float, accelerator: Sequence[str] = EMULATED) -> Iterator[str]:
    """Yield what the module prints after MARK, line by line, as it comes. patience: seconds until the machine is ended.

    Raises MachineError with the end of its console if the module fails, or does not end in time.
    """
    with TemporaryDirectory(prefix="netzwart-count-", dir="/var/tmp") as made:
        directory = Path(made)
        _make_disks(image, directory, ("python3", "-m", module, *arguments))
        console = []
        with _switch_on(image, directory, patience, accelerator) as lines:
            for line in lines:
                console.append(line)
                if line.startswith(MARK):
                    yield line.removeprefix(MARK)
        if "ended with 0" not in console:
            end = "\n".join(console[-40:])
            raise MachineError(f"{module} failed in the machine, or took longer than {patience:.0f} s. Its console ends with:\n{end}")


def _make_disks(image: MachineImage, directory: Path, command: Sequence[str]) -> None:
    """Make the root disk, whose init runs the command, and the disk with the tree."""
    script = directory / "init"
    script.write_text(SCRIPT.format(command=join(command)))
    root = directory / "root.img"
    subprocess.run(["cp", "--sparse=always", str(image.disk), str(root)], check=True)
    for each in (f"write {script} {INIT}", f"set_inode_field {INIT} mode 0100755"):
        subprocess.run(["/usr/sbin/debugfs", "-w", "-R", each, str(root)], capture_output=True, check=True)
    tree = directory / "tree"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(
        ["/usr/sbin/mke2fs", "-q", "-t", "ext4", "-d", str(tree), str(directory / "tree.img"), "64M"], check=True, capture_output=True
    )


@contextmanager
def _switch_on(image: MachineImage, directory: Path, patience: float, accelerator: Sequence[str]) -> Iterator[Iterator[str]]:
    """Boot the machine, and end it with the block. Yields the lines of its console until it is off."""
    disks = [word for name in ("root", "tree") for word in ("-drive", f"file={directory / name}.img,format=raw,if=virtio,cache=unsafe")]
    boot = ("-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", KERNEL_LINE)
    command = ("qemu-system-x86_64", *accelerator, *BOARD, "-m", str(MEMORY), *boot, *disks, "-serial", "stdio", "-no-reboot")
    with subprocess.Popen(
        ["timeout", str(patience), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        try:
            yield (line.rstrip() for line in process.stdout or ())
        finally:
            process.terminate()
