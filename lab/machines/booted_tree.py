"""A Debian in a directory that boots with its own systemd, as a container: cheaper than a virtual machine, with this machine's kernel.

Its network is that of the thread that boots it; processes, mounts, names and control groups are its own.
"""

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lab.machines.virtual_machine import MachineError

BOOT: Final = Path(__file__).with_name("boot_tree.sh")
NAMESPACES: Final = ("--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--ipc", "--uts", "--cgroup")
ENVIRONMENT: Final = ("PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")
PLACE: Final = "var/tmp"  # of the package in a tree
BOOTED: Final = ("running", "degraded")  # degraded: units for hardware and terminals, which is not there, have failed
PATIENCE: Final = 600.0  # seconds for a boot


def make_tree(suite: str, tree: Path, package: Path, more: Sequence[str]) -> None:
    """Make a bare Debian in `tree`, with all that apt needs to install the package in /var/tmp, and `more` of Debian's, without a network.

    Raises MachineError with what was printed.
    """
    _check(["mmdebstrap", "--quiet", "--variant=apt", "--include=systemd-sysv,dbus,udev,iproute2,procps", suite, str(tree)])
    shutil.copyfile("/etc/resolv.conf", tree / "etc/resolv.conf")
    shutil.copyfile(package, tree / PLACE / package.name)
    _check(["chroot", str(tree), "apt-get", "update", "-qq"])
    _check(["chroot", str(tree), "apt-get", "install", "-qq", "-y", "--download-only", f"/{PLACE}/{package.name}", *more])


def _check(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MachineError(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")


@dataclass
class BootedTree:
    """The machine in `tree`. name: what it is called; in two namespaces at once, it must be distinct."""

    name: str
    tree: Path
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def console(self) -> Path:
        """What the machine wrote before systemd's journal began."""
        return self.tree.with_suffix(".console")

    def switch_on(self) -> None:
        """Boot in the network of this thread. Return when systemd has started all units. Raise MachineError if it does not boot."""
        (self.tree / "etc/hostname").write_text(f"{self.name}\n")
        group = self._get_group()
        group.mkdir()
        join = f'echo $$ >"{group}/cgroup.procs" && exec unshare "$@"'
        command = ["bash", "-c", join, "bash", *NAMESPACES, "bash", str(BOOT), str(self.tree)]
        with self.console.open("w") as console:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        end = time.monotonic() + PATIENCE
        while not self._has_booted():
            if self._process.poll() is not None or time.monotonic() > end:
                raise MachineError(f"{self.name} does not boot: {self.console.read_text()[-2000:]}")
            time.sleep(0.2)

    def cut_power(self) -> None:
        """End the machine at once."""
        if self._process is not None:
            self._process.kill()  # its child, the booted system, is killed with it
            self._process.wait(60)
            self._process = None
        _remove_group(self._get_group())

    def run(self, command: str, *, text: str | None = None, timeout: float = 900, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the shell command on the machine as root, to its end. Raise MachineError if it fails and `check` is true."""
        done = subprocess.run(self._build_command(command), input=text or "", capture_output=True, text=True, timeout=timeout, check=False)
        if check and done.returncode:
            raise MachineError(f"{self.name}: {command!r} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def type(self, command: str, answers: Sequence[tuple[str, str]], *, timeout: float = 120) -> str:
        """Run the command in a terminal, answer each question, and return what was shown. answers: end of a question, and a line.

        Raises MachineError if a question does not come, or if the command fails.
        """
        with _open_terminal() as (ours, theirs):
            process = subprocess.Popen(self._build_command(command), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
            os.close(theirs)
            shown = ""
            for question, answer in answers:
                shown += _read_terminal(ours, question, timeout)
                os.write(ours, f"{answer}\n".encode())
            shown += _read_terminal(ours, None, timeout)
            if process.wait(timeout):
                raise MachineError(f"{self.name}: {command!r} ended with {process.returncode}: {shown}")
        return shown

    def _build_command(self, command: str) -> tuple[str, ...]:
        return (
            "nsenter",
            "--target",
            str(self._find_first_process()),
            "--all",
            "--root",
            "--",
            "env",
            "-i",
            *ENVIRONMENT,
            "sh",
            "-c",
            command,
        )

    def _find_first_process(self) -> int:
        if self._process is None:
            raise MachineError(f"{self.name} is switched off")
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if not children:
            raise MachineError(f"{self.name} does not run: {self.console.read_text()[-2000:]}")
        return int(children[0])

    def _has_booted(self) -> bool:
        try:
            return self.run("systemctl is-system-running --wait", check=False).stdout.strip() in BOOTED
        except MachineError:
            return False

    def _get_group(self) -> Path:
        """Return the control group of all that the machine starts."""
        find = ("findmnt", "--noheadings", "--first-only", "--output", "TARGET", "--types", "cgroup2")
        mounted = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
        return Path(mounted) / f"netzwart-{os.getpid()}-{self.name}"


@contextmanager
def _open_terminal() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    try:
        yield ours, theirs
    finally:
        os.close(ours)


def _read_terminal(ours: int, until: str | None, timeout: float) -> str:
    """Return what the terminal shows, up to `until`, or up to the end of the program if that is None."""
    shown, end = "", time.monotonic() + timeout
    while until is None or not shown.rstrip().endswith(until):
        if not select.select([ours], [], [], max(0, end - time.monotonic()))[0]:
            raise MachineError(f"“{until}” was not asked within {timeout:.0f} s, but: {shown}")
        try:
            read = os.read(ours, 4096)
        except OSError:  # EIO: nobody has the other end open any more
            read = b""
        if not read:
            if until is None:
                return shown
            raise MachineError(f"“{until}” was not asked, but: {shown}")
        shown += read.decode(errors="replace")
    return shown


def _remove_group(group: Path) -> None:
    """Remove the control group and those below, as soon as the kernel has buried their processes."""
    end = time.monotonic() + PATIENCE
    while group.exists() and time.monotonic() < end:
        for each in sorted(group.glob("**/"), reverse=True):
            try:
                each.rmdir()
            except OSError:  # a process is still being buried, or another group is below
                time.sleep(0.1)
