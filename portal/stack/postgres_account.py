"""The account that PostgreSQL runs as, and its access to its directory: the server refuses to run as root."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from portal.stack.errors import StackError

SERVER_ACCOUNTS = ("postgres", "nobody")


@dataclass(frozen=True)
class ServerAccount:
    name: str
    uid: int
    gid: int

    @classmethod
    def choose_for_server(cls) -> "ServerAccount":
        """Return our own account, or, as root, the first of SERVER_ACCOUNTS that exists."""
        if os.geteuid() != 0:
            return cls(str(os.geteuid()), os.geteuid(), os.getegid())
        known = {entry.pw_name: entry for entry in pwd.getpwall()}
        for name in SERVER_ACCOUNTS:
            if name in known:
                return cls(name, known[name].pw_uid, known[name].pw_gid)
        raise StackError(
            "PostgreSQL does not run as root, and there is no account 'postgres' or 'nobody'. Make one: useradd --system postgres"
        )

    @classmethod
    def from_owner(cls, path: Path) -> "ServerAccount":
        found = path.stat()
        try:
            name = pwd.getpwuid(found.st_uid).pw_name
        except KeyError:
            name = str(found.st_uid)
        return cls(name, found.st_uid, found.st_gid)


def make_private_directory(path: Path, owner: ServerAccount) -> None:
    """Create the directory with mode 0700 for the owner; refuse one that another account created first, or a link."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), owner.uid):
        raise StackError(f"{path} belongs to another account (uid {found.st_uid}). Remove it, and start again.")
    path.chmod(0o700)
    os.chown(path, owner.uid, owner.gid)


def allow_traversal(path: Path, account: ServerAccount) -> list[Path]:
    """Let the account traverse the parents of a path. Return the directories that were changed.

    Only the right to traverse is added, not the right to list, and only where the account lacks it.
    """
    changed = []
    for parent in reversed(path.absolute().parents):
        found = parent.stat()
        needed = _compute_pass_bit(found, account)
        if not found.st_mode & needed:
            parent.chmod(stat.S_IMODE(found.st_mode) | needed)
            changed.append(parent)
    return changed


def _compute_pass_bit(found: os.stat_result, account: ServerAccount) -> int:
    """Return the one bit of the mode that the kernel checks for this account."""
    if found.st_uid == account.uid:
        return stat.S_IXUSR
    return stat.S_IXGRP if found.st_gid == account.gid else stat.S_IXOTH
