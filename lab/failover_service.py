"""Runs conntrackd and keepalived on a gateway of a running lab, as systemd does on a machine: one that ends is started again.

In: a directory with the gateway's three files, rendered for the paths of a lab; without them it waits until the portal's are installed,
for which it starts netzwart-failover as the units of a machine do. Out: a line for each program that ends; what the programs say
themselves is in their logs in the directory. `build_command` returns the command for the gateway's node.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from firewall.failover import ProgramPaths
from lab.failover import PREFERS, get_request_directory, render_wrapper
from lab.program import build_module_command

SYSTEMCTL = """#!/bin/sh
case $1 in restart | stop) kill -HUP {pid} ;; esac
"""  # netzwart-failover calls it: both words end the programs, and one whose file is gone is not started again
REQUEST, KEEP = "failover-wanted", "failover-keep"  # as in gateway/systemd/netzwart-failover-install.path and its service
RESTART_SECONDS = 5.0
REFRESH_SECONDS = 30.0  # as gateway/systemd/netzwart-failover.timer
PATIENCE = 60.0  # seconds to wait for something that makes the start smoother
POLL_SECONDS = 0.2
FAMILIES = frozenset({4, 6})


def build_command(name: str, directory: Path) -> tuple[str, ...]:
    """Return the command that runs the gateway's failover, in its node, until SIGTERM."""
    return build_module_command("lab.failover_service", name, str(directory))


def main() -> None:
    """Run the failover of a gateway. Arguments: the gateway's name, and the directory with its files."""
    name, directory = sys.argv[1:]
    asyncio.run(FailoverSupervisor(name, Path(directory)).run())


@dataclass(frozen=True, slots=True)
class FailoverSupervisor:
    """The failover of one gateway."""

    name: str
    directory: Path
    _running: dict[str, Process] = field(default_factory=dict)
    _restarts: dict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))

    @property
    def paths(self) -> ProgramPaths:
        return ProgramPaths.build_for_lab(self.name)

    async def run(self) -> None:
        """Run both programs until SIGTERM. They are killed then: the lab ends, and nobody takes over."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task:
            loop.add_signal_handler(signal.SIGTERM, task.cancel)
        loop.add_signal_handler(signal.SIGHUP, self._restart)
        self._install_programs()
        is_set_up = self._install_files()
        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep_running(self._prepare_conntrackd, "conntrackd", "-C", self.paths.conntrackd))
                group.create_task(self._refresh_states())
                group.create_task(self._install_what_is_asked())
                if is_set_up:
                    await self._await_readiness()
                    group.create_task(self._share_families())
                pids = (f"-{option}{self.paths.runtime}/keepalived-{option}.pid" for option in "prc")
                await self._keep_running(self._prepare_keepalived, "keepalived", "-n", "-l", "-f", self.paths.keepalived, *pids)

    def _install_programs(self) -> None:
        """Write netzwart-failover, and the systemctl that it calls, to where only root may write, which keepalived demands."""
        _write(Path(self.paths.programs, "netzwart-failover"), render_wrapper(self.name), 0o755)
        _write(Path(self.paths.programs, "bin/systemctl"), SYSTEMCTL.format(pid=os.getpid()), 0o755)
        Path(get_request_directory(self.name)).mkdir(exist_ok=True)

    def _install_files(self) -> bool:
        """Copy the gateway's files to where they are used. Return whether there are any."""
        found = [path for path in self._list_files() if (self.directory / path.name).exists()]
        for path in found:
            _write(path, (self.directory / path.name).read_text(), 0o644)
        return bool(found)

    def _list_files(self) -> Iterator[Path]:
        return map(Path, (self.paths.keepalived, self.paths.conntrackd, self.paths.settings))

    def _restart(self) -> None:
        """Restart both programs now."""
        for restart in self._restarts.values():
            restart.set()
        for process in self._running.values():
            process.terminate()

    async def _install_what_is_asked(self) -> NoReturn:
        """Start netzwart-failover whenever the agent has left values, as netzwart-failover-install.path does."""
        request, keep = (Path(get_request_directory(self.name), name) for name in (REQUEST, KEEP))
        while True:
            if request.exists() and await self._call("adopt", str(request), str(keep)):
                for path in self._list_files():  # for the next start of the lab
                    _write(self.directory / path.name, path.read_text(), 0o644)
            await asyncio.sleep(POLL_SECONDS)

    async def _await_readiness(self) -> None:
        """Wait until the gateway forwards: otherwise the first gateway with a ruleset would carry both families."""
        await _wait_for(lambda: self._call("forwards"))
        await self._call("prepare")
        for family in self._list_others():
            (Path(self.paths.runtime) / f"drained{family}").write_text("1\n")

    async def _share_families(self) -> None:
        """Stand by for the other gateway's families as soon as it carries them, or nobody does: until then they are drained here."""
        own, *_ = PREFERS[self.name]
        await _wait_for(lambda: self._is_primary(own))
        for command in ("drain", "resume"):
            await self._call(command, *self._list_others())

    def _list_others(self) -> list[str]:
        """Return the families for which the other gateway is preferred."""
        return [str(family) for family in sorted(FAMILIES - PREFERS[self.name])]

    async def _is_primary(self, family: int) -> bool:
        role = Path(self.paths.runtime) / f"role{family}"
        return role.exists() and role.read_text().startswith("primary")

    async def _keep_running(self, prepare: Callable[[], Awaitable[object]], *command: str) -> NoReturn:
        program, file, restart = command[0], Path(getattr(self.paths, command[0])), self._restarts[command[0]]
        while True:
            if file.exists():
                await prepare()
                status = await self._run_program(*command)
                if not restart.is_set():
                    print(f"{program} {_describe_exit(status)}. It starts again in {RESTART_SECONDS:.0f} s.", flush=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(RESTART_SECONDS if file.exists() else None):
                    await restart.wait()
            restart.clear()

    async def _run_program(self, *command: str) -> int:
        """Run a program to its end. Return its status."""
        with (self.directory / f"{command[0]}.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
        self._running[command[0]] = process
        if self._restarts[command[0]].is_set():  # it may have read its file just before
            process.terminate()
        try:
            return await process.wait()
        except asyncio.CancelledError:
            process.kill()
            raise
        finally:
            del self._running[command[0]]

    async def _prepare_conntrackd(self) -> None:
        await self._call("unlock")

    async def _prepare_keepalived(self) -> None:
        await self._call("prepare")

    async def _refresh_states(self) -> NoReturn:
        await _wait_for(lambda: _run("conntrackd", "-C", self.paths.conntrackd, "-s"))
        while True:
            await self._call("refresh")
            await asyncio.sleep(REFRESH_SECONDS)

    async def _call(self, *arguments: str) -> bool:
        """Call netzwart-failover. Return whether it succeeded."""
        return await _run(f"{self.paths.programs}/netzwart-failover", *arguments)


def _write(path: Path, text: str, mode: int) -> None:
    """Write a file as a whole, with its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(text)
    draft.chmod(mode)
    draft.replace(path)


async def _wait_for(condition: Callable[[], Awaitable[bool]]) -> None:
    """Return when the condition holds, or when PATIENCE is at its end."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while not await condition():
                await asyncio.sleep(POLL_SECONDS)


def _describe_exit(status: int) -> str:
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


async def _run(*command: str) -> bool:
    nothing = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=nothing, stdout=nothing, stderr=nothing)
    return await process.wait() == 0
