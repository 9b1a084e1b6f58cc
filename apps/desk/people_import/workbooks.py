"""Reads workbooks in a process of its own (`workbook_reader.py`), which a hostile file can only end. Octets in, rows of text out."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryFile
from typing import Final

from django.utils.translation import gettext as _

from apps.desk.people_import.table_limits import (
    MOST_COLUMNS,
    MOST_ROWS,
    MOST_TEXT,
    TOO_LARGE,
    TOO_LONG,
    TOO_WIDE,
    UNREADABLE,
)
from apps.lib.errors import Problem

ROOT: Final = Path(__file__).parents[3]
READER: Final = "apps.desk.people_import.workbook_reader"


def iter_workbook_rows(content: bytes) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number and the cells of each row of the first sheet that has any. Raises Problem for what is no workbook or too large."""
    with TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        command = [sys.executable, "-E", "-s", "-m", READER]
        with Popen(command, stdin=file, stdout=PIPE, stderr=DEVNULL, cwd=ROOT, env={}) as child:
            yield from _iter_answer(child)


def _iter_answer(child: "Popen[bytes]") -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield what the child says. It is ended when nobody reads any further."""
    octets, stdout = 0, child.stdout
    try:
        while stdout and (line := stdout.readline(MOST_TEXT)):
            octets += len(line)
            if octets > MOST_TEXT:
                raise Problem(explain_exit(TOO_LARGE), "file")
            number, cells = json.loads(line)
            yield int(number), tuple(map(str, cells))
        if code := child.wait():
            raise Problem(explain_exit(code), "file")
    except ValueError as error:
        raise Problem(explain_exit(UNREADABLE), "file") from error
    finally:
        child.kill()


def explain_exit(code: int) -> str:
    """Return why the reader ended with this code; a negative one is the signal that the kernel sent it."""
    if code == TOO_WIDE:
        return _("The first sheet has more than %(most)d columns. Leave out those that are not needed.") % {"most": MOST_COLUMNS}
    if code == TOO_LONG:
        return _("The table has more than %(most)d lines. Split it.") % {"most": MOST_ROWS}
    if code == TOO_LARGE or code < 0:
        return _("This spreadsheet takes too much memory or time to read. Save the sheet as CSV, or split it.")
    return _("This is not a spreadsheet that can be read: it is damaged, or something else. Save it again, or save it as CSV.")
