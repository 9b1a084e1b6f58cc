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
    """`stop` is the signal that asks it to end in order; it also gets it when whoever started it is gone.

    Lines that match `hush` (at their beginning) are shown only if it dies.
    """

    name: str
    command: tuple[str, ...]
    stop: signal.Signals = signal.SIGTERM
    account: ServerAccount | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    hush: str = ""

    def arguments(self) -> list[str]:
        """The command behind setpriv(1), which drops to the account and asks the kernel for a signal at our death.

        setpriv, because the kernel forgets that wish when a process changes its account afterwards (prctl(2)).
        """
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise StackError("setpriv is not installed. It comes with the package util-linux (2.33 or newer).")
        return [setpriv, "--pdeathsig", self.stop.name.removeprefix("SIG"), *self._drop(), "--", *self.command]

    def _drop(self) -> tuple[str, ...]:
        if self.account is None or self.account.uid == os.geteuid():
            return ()
        return (f"--reuid={self.account.uid}", f"--regid={self.account.gid}", "--clear-groups")
