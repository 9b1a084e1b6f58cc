"""A program to start, as a value."""

import os
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from portal.stack.errors import StackError
from portal.stack.postgres_account import ServerAccount


@dataclass(frozen=True)
class Program:
    """A command with the way to start and stop it.

    `stop` is the signal that asks it to end in order; it also gets this signal when its parent dies. Lines that match `hush` at
    their beginning are shown only if it dies.
    """

    name: str
    command: tuple[str, ...]
    stop: signal.Signals = signal.SIGTERM
    account: ServerAccount | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    hush: str = ""

    def build_arguments(self) -> list[str]:
        """Return the command behind setpriv(1), which changes to the account and makes the kernel send the signal at our death.

        It must be setpriv, because the kernel clears that setting when a process changes its account afterwards (prctl(2)).
        """
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise StackError("setpriv is not installed. It comes with the package util-linux (2.33 or newer).")
        return [setpriv, "--pdeathsig", self.stop.name.removeprefix("SIG"), *self._build_drop_options(), "--", *self.command]

    def _build_drop_options(self) -> tuple[str, ...]:
        if self.account is None or self.account.uid == os.geteuid():
            return ()
        return (f"--reuid={self.account.uid}", f"--regid={self.account.gid}", "--clear-groups")
