"""Runs conntrackd and keepalived on a gateway of a running lab, as systemd does on a machine: one that ends is started again.

In: a directory with the gateway's three files, rendered for the paths of a lab. Out: a line for each program that ends; what the
programs say themselves is in their logs in the directory. `build_command` returns the command for the gateway's node.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from firewall.failover import ProgramPaths
from lab.failover import PREFERS, render_wrapper
from lab.program import build_module_command

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
    asyncio.run(FailoverService(name, Path(directory)).run())


@dataclass(frozen=True, slots=True)
class FailoverService:
    """The failover of one gateway."""

    name: str
    directory: Path

    @property
    def paths(self) -> ProgramPaths:
        return ProgramPaths.build_for_lab(self.name)

    async def run(self) -> None:
        """Run both programs until SIGTERM. They are killed then: the lab ends, and nobody takes over."""
        task = asyncio.current_task()
        if task:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        self._install_files()
        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._keep_running(self._prepare_conntrackd, "conntrackd", "-C", self.paths.conntrackd))
                group.create_task(self._refresh_states())
                await self._await_readiness()
                group.create_task(self._share_families())
                pids = (f"-{option}{self.paths.runtime}/keepalived-{option}.pid" for option in "prc")
                await self._keep_running(self._prepare_keepalived, "keepalived", "-n", "-l", "-f", self.paths.keepalived, *pids)

    def _install_files(self) -> None:
        """Copy the gateway's files, and netzwart-failover, to where they are used: only root may write there, which keepalived demands."""
        target = Path(self.paths.runtime)
        target.mkdir(exist_ok=True)
        wanted = {file.name: file.read_text() for file in self.directory.glob("*.conf")}
        for name, text in {**wanted, "netzwart-failover": render_wrapper(self.name)}.items():
            draft = target / f"{name}.new"
            draft.write_text(text)
            draft.chmod(0o644 if name in wanted else 0o755)
            draft.replace(target / name)

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
        while True:
            await prepare()
            with (self.directory / f"{command[0]}.log").open("ab") as log:
                process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                status = await process.wait()
            except asyncio.CancelledError:
                process.kill()
                raise
            print(f"{command[0]} {_describe_exit(status)}. It starts again in {RESTART_SECONDS:.0f} s.", flush=True)
            await asyncio.sleep(RESTART_SECONDS)

    async def _prepare_conntrackd(self) -> None:
        self._install_files()
        Path(self.paths.lock).unlink(missing_ok=True)  # left behind if it was killed

    async def _prepare_keepalived(self) -> None:
        self._install_files()
        await self._call("prepare")

    async def _refresh_states(self) -> NoReturn:
        await _wait_for(lambda: _run("conntrackd", "-C", self.paths.conntrackd, "-s"))
        while True:
            await self._call("refresh")
            await asyncio.sleep(REFRESH_SECONDS)

    async def _call(self, *arguments: str) -> bool:
        """Call netzwart-failover. Return whether it succeeded."""
        return await _run(f"{self.paths.programs}/netzwart-failover", *arguments)


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
