"""libnftables by ctypes, with a context that stays open: a new `nft` process costs ten times as much.

Runs text that firewall/render.py wrote, without knowing its content. See libnftables(3).
"""

import ctypes
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_bool, c_char_p, c_int, c_uint, c_void_p
from pathlib import Path

from gateway.table import CommitRefusedError, TableError

_STATELESS, _NUMERIC, _TERSE = 1 << 2, (1 << 7) | (1 << 8) | (1 << 9), 1 << 11
_JSON = 1 << 4
_AROUND_FAULT = 80  # characters shown on each side: one statement may hold a thousand elements
_MOST_FAULTS = 3
_FAULT = re.compile(r"/proc/self/fd/\d+:(?P<line>\d+):(?P<column>\d+)-\d+: (?P<words>Error: .*)")


class LibraryMissingError(TableError):
    """libnftables is not installed."""


class Libnftables:
    """One context of the library, in the network namespace of the thread that creates it."""

    def __init__(self) -> None:
        self._library = _load()
        self._context = self._open_context()

    def _open_context(self) -> int:
        context: int | None = self._library.nft_ctx_new(0)
        if not context:
            raise TableError("libnftables could not create a context: out of memory")
        self._library.nft_ctx_buffer_error(context)
        self._library.nft_ctx_buffer_output(context)
        self._library.nft_ctx_output_set_flags(context, _STATELESS | _NUMERIC | _TERSE)
        return context

    def close(self) -> None:
        """Free the context. It must not be used afterwards."""
        if self._context:
            self._library.nft_ctx_free(self._context)
            self._context = 0

    def run(self, text: str) -> str:
        """Run the statements as one transaction and return their output.

        Raises CommitRefusedError with nft's message and the place of the error.
        """
        return self._run(self._context, text)

    def check(self, text: str) -> None:
        """Raise CommitRefusedError if `run` would. The context is one of its own: the library remembers what a dry run deleted as gone."""
        context = self._open_context()
        try:
            self._library.nft_ctx_set_dry_run(context, True)
            self._run(context, text)
        finally:
            self._library.nft_ctx_free(context)

    def _run(self, context: int, text: str) -> str:
        with _open_memory_file(text) as path:
            failed = self._library.nft_run_cmd_from_filename(context, path.encode())
        output: bytes = self._library.nft_ctx_get_output_buffer(context)
        if failed:
            raise CommitRefusedError(explain_nft_error(self._library.nft_ctx_get_error_buffer(context).decode(errors="replace"), text))
        return output.decode(errors="replace")

    def read_version(self) -> str:
        """Return nft's version as its output in JSON states it, such as 1.0.6; "" where the library was built without JSON."""
        self._library.nft_ctx_output_set_flags(self._context, _JSON)
        try:
            head = json.loads(self.run("list tables"))["nftables"][0]
            return str(head["metainfo"]["version"])
        except (ValueError, LookupError, TypeError, CommitRefusedError):
            return ""
        finally:
            self._library.nft_ctx_output_set_flags(self._context, _STATELESS | _NUMERIC | _TERSE)


@contextmanager
def _open_memory_file(text: str) -> Iterator[str]:
    """Write the text to a file in memory and yield its path.

    From a file nft's errors name the line at fault, from a buffer always the first.
    """
    with os.fdopen(os.memfd_create("ruleset", os.MFD_CLOEXEC), "w+b", buffering=0) as file:
        rest = memoryview(text.encode())
        while rest:
            rest = rest[file.write(rest) :]
        yield f"/proc/self/fd/{file.fileno()}"


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libnftables.so.1")
    except OSError as error:
        raise LibraryMissingError("libnftables.so.1 is missing: install the package libnftables1 (or nftables)") from error
    signatures = {
        "nft_ctx_new": (c_void_p, [c_uint]),
        "nft_ctx_free": (None, [c_void_p]),
        "nft_ctx_buffer_error": (c_int, [c_void_p]),
        "nft_ctx_buffer_output": (c_int, [c_void_p]),
        "nft_ctx_output_set_flags": (None, [c_void_p, c_uint]),
        "nft_ctx_set_dry_run": (None, [c_void_p, c_bool]),
        "nft_run_cmd_from_filename": (c_int, [c_void_p, c_char_p]),
        "nft_ctx_get_error_buffer": (c_char_p, [c_void_p]),
        "nft_ctx_get_output_buffer": (c_char_p, [c_void_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def explain_nft_error(errors: str, text: str) -> str:
    """Return the library's errors in few lines: its words, and the text around the column that each names."""
    faults = []
    for fault in filter(None, map(_FAULT.match, errors.splitlines())):
        line = text.split("\n", int(fault["line"]))[int(fault["line"]) - 1]
        start = max(int(fault["column"]) - 1 - _AROUND_FAULT, 0)
        faults.append(f"{fault['words']} in: {line[start : start + 2 * _AROUND_FAULT].strip()}")
    return "\n".join(faults[:_MOST_FAULTS]) or errors.strip()[:1000] or "libnftables failed without an error message"


def find_library_file() -> str:
    """Return the file that libnftables was loaded from; its name contains the version."""
    _load()
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "libnftables" in line:
            return line.split()[-1]
    return "libnftables.so.1"
