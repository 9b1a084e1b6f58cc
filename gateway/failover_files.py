"""Installation of failover's files on this gateway, for the portal (docs/failover.md).

The agent may write nothing below /etc. It leaves the portal's values in a file; netzwart-failover-install.path sees it, and starts
netzwart-failover as root, which calls `render_request` here, installs the files on trial, and writes how far it got.
"""

import json
import os
import stat
from pathlib import Path

from firewall.codec import WireError, decode, encode
from firewall.failover import ProgramPaths, digest_files, render_files
from firewall.file_trial import FileTrial, FileTrialIs, FileTrialPhase, InstallFiles, KeepFiles, RevertFiles
from firewall.policy import PolicyError
from gateway.table import TableError

REQUEST, KEEP = "failover-wanted", "failover-keep"  # as in netzwart-failover-install.path and its service
BACK = "back"  # instead of a digest in KEEP, for netzwart-failover: the files before
OUTCOME = Path(ProgramPaths().runtime, "trial")  # written by netzwart-failover: the phase, and a digest or a sentence
LARGEST = 64 << 10  # octets of a request
_OLDER = "this gateway's agent renders other files than the portal: install the portal's agent here"


class FileRequestError(Exception):
    """The request cannot be rendered; the message says why."""


class FailoverFileRequests:
    """Requests to netzwart-failover. requests: directory in which it looks for them; None if nothing does on this machine."""

    def __init__(self, requests: Path | None, outcome: Path = OUTCOME) -> None:
        self._requests, self._outcome = requests, outcome

    def answer(self, request: InstallFiles | KeepFiles | RevertFiles | FileTrial) -> FileTrialIs:
        """Install, keep, put back, or only tell. Raises TableError if the values make no files here, or nothing installs them."""
        if self._requests is None:
            raise TableError("this agent does not install files: install them by hand (netzwart-failover install)")
        match request:
            case InstallFiles():
                self._ask(self._requests, request)
            case KeepFiles(digest=digest):
                _write(self._requests / KEEP, f"{digest}\n")
            case RevertFiles():
                _write(self._requests / KEEP, f"{BACK}\n")
                (self._requests / REQUEST).unlink(missing_ok=True)
        return self._read(self._requests)

    def _ask(self, requests: Path, request: InstallFiles) -> None:
        try:
            if digest_files(request.values) != request.digest:
                raise TableError(_OLDER)
        except PolicyError as error:
            raise TableError(str(error)) from error
        (requests / KEEP).unlink(missing_ok=True)
        _write(requests / REQUEST, json.dumps(encode(request)))

    def _read(self, requests: Path) -> FileTrialIs:
        if (requests / REQUEST).exists():
            return FileTrialIs(FileTrialPhase.ASKED)
        try:
            said, _space, rest = self._outcome.read_text(errors="replace").strip().partition(" ")
        except FileNotFoundError:
            return FileTrialIs(FileTrialPhase.NONE)
        phase = FileTrialPhase(said) if said in frozenset(FileTrialPhase) else FileTrialPhase.NONE
        return FileTrialIs(phase, problem=rest) if phase is FileTrialPhase.REFUSED else FileTrialIs(phase, digest=rest)


def _write(path: Path, text: str) -> None:
    """Write a file as a whole: it is read at any moment."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text)
    fresh.replace(path)


def render_request(request: Path, directory: Path, paths: ProgramPaths) -> None:
    """Write the files of a request into the directory. Raises FileRequestError.

    Runs as root, and the request lies in a directory of the agent: it is read with care, and only values that are checked get on.
    """
    try:
        wanted = decode(InstallFiles, json.loads(_read_safely(request)))
        files = render_files(wanted.values, paths)
    except (WireError, PolicyError, ValueError, RecursionError) as error:
        raise FileRequestError(f"the portal's values cannot be used: {error}") from error
    except OSError as error:
        raise FileRequestError(f"{request} cannot be read: {error.strerror}") from error
    for path, text in files.items():
        (directory / Path(path).name).write_text(text)


def _read_safely(path: Path) -> str:
    """Return the text of a regular file, not of what a link or a pipe leads to."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"more than {LARGEST} octets")
    return data.decode()
