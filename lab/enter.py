"""Runs a command inside a lab as if it ran here: same standard streams, same exit status, signals passed on.

A process can join a PID namespace only by forking, so there are always two: the outer process waits for the inner one, passes
signals on to it, and ends as it ended. If the outer process is killed, the kernel kills the inner one.
"""

import ctypes
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from lab.process import ProcessRef

PR_SET_PDEATHSIG = 1  # linux/prctl.h
SI_KERNEL = 0x80  # asm-generic/siginfo.h: sent by a terminal, which reaches the inner process by itself
HANDED_DOWN = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH}


def main() -> None:
    """Run a command in a node. Arguments: PID STARTED NODE COMMAND…; the first two are the `ProcessRef` that holds the lab."""
    pid, started, node, *command = sys.argv[1:]
    enter(ProcessRef(int(pid), int(started)), lambda: execute(node, command))


def execute(node: str, command: list[str]) -> NoReturn:
    """Replace this process by the command, inside the node. `ip netns exec` also mounts the node's /sys."""
    os.execvp("ip", ["ip", "netns", "exec", node, *command])  # noqa: S606


def enter(holder: ProcessRef, act: Callable[[], int]) -> NoReturn:
    """Call `act` in a child process inside the holder's namespaces; end with its exit status or by its signal."""
    try:
        _join(holder)
    except (ProcessLookupError, FileNotFoundError):
        sys.exit("the lab has ended")
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were inherited as ignored, the exit status would be lost
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {*HANDED_DOWN, signal.SIGCHLD})
    alive, hold = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hold)
        _die_with_parent(alive)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os._exit(_act(act))
    os.close(alive)
    _end_like(_wait(child))


def _act(act: Callable[[], int]) -> int:
    try:
        return act()
    except (OSError, LookupError) as error:
        print(error.args[0] if isinstance(error, LookupError) else error, file=sys.stderr)
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _join(holder: ProcessRef) -> None:
    here = os.getcwd()  # noqa: PTH109
    namespaces = os.CLONE_NEWNS | os.CLONE_NEWPID | os.CLONE_NEWNET
    root = os.open(f"/proc/{holder.pid}/root", os.O_PATH | os.O_DIRECTORY)
    with holder.open_pidfd() as descriptor:
        if not os.path.samefile(f"/proc/{holder.pid}/ns/user", "/proc/self/ns/user"):  # noqa: PTH121
            namespaces |= os.CLONE_NEWUSER
        os.setns(descriptor, namespaces)
    os.fchdir(root)  # setns leads to the root of the mount namespace, which is not the holder's root if the holder runs in a chroot
    os.chroot(".")
    os.close(root)
    with suppress(OSError):  # directories below /run do not exist in there
        os.chdir(here)


def _die_with_parent(alive: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if select.select([alive], [], [], 0)[0]:  # the pipe has ended: the parent died before prctl took effect
        os._exit(1)


def _wait(child: int) -> int:
    while True:
        received = signal.sigwaitinfo({*HANDED_DOWN, signal.SIGCHLD})
        if received.si_signo != signal.SIGCHLD:
            if received.si_code != SI_KERNEL:
                os.kill(child, received.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status


def _end_like(status: int) -> NoReturn:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)
