"""Filters of Django's log records: remove tracebacks of expected exceptions, and tokens in paths."""

import logging
from typing import Final

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http.multipartparser import MultiPartParserError

from apps.lib.web.path_redaction import redact_path

EXPECTED: Final = (PermissionDenied, SuspiciousOperation, BadRequest, MultiPartParserError, OperationalError, InterfaceError)


class WithoutExpectedTracebacks(logging.Filter):
    """Removes the traceback from records of expected exceptions; passes every record.

    A refusal (403) or an unavailable database is not an error of the program. A traceback for each would hide the real ones, and
    let any client fill the log.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, EXPECTED):
            record.exc_info = record.exc_text = None
        return True


class WithoutSecretPaths(logging.Filter):
    """Removes tokens of links from paths in records; passes every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(redact_path(each) if isinstance(each, str) and each.startswith("/") else each for each in record.args)
        return True
