"""Streams tables as CSV, so that memory is constant, whatever their length."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.http import StreamingHttpResponse
from django.utils import timezone

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters of a formula in spreadsheets (OWASP, "CSV Injection")


class EchoFile:
    """A file that returns what is written to it."""

    def write(self, text: str) -> str:
        return text


def escape_formula(cell: str) -> str:
    """Return text that a spreadsheet shows instead of running it."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def iter_csv_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the file's lines, with the byte order mark by which spreadsheets recognise UTF-8."""
    writer = csv.writer(EchoFile())
    yield "\ufeff" + writer.writerow(head)
    for row in rows:
        yield writer.writerow([escape_formula(str(cell)) for cell in row])


def build_csv_download(name: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingHttpResponse:
    """Return a response that downloads the table as name-2026-11-21.csv."""
    response = StreamingHttpResponse(iter_csv_lines(head, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-{timezone.localdate():%Y-%m-%d}.csv"'
    return response
