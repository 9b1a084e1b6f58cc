"""Filters of log records of Django: tracebacks of what is expected, and tokens in paths, stay out of the log."""

import logging
from typing import Final

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http.multipartparser import MultiPartParserError

from apps.lib.web.path_redaction import redact_path

EXPECTED: Final = (PermissionDenied, SuspiciousOperation, BadRequest, MultiPartParserError, OperationalError, InterfaceError)


class WithoutExpectedTracebacks(logging.Filter):
    """Takes the traceback from records about expected exceptions; lets every record pass.

    A refusal (403) or a database that is away is no fault of the program. A traceback for each would bury the real ones, and let anybody
    fill the log.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, EXPECTED):
            record.exc_info = record.exc_text = None
        return True


class WithoutSecretPaths(logging.Filter):
    """Takes the tokens of links from the paths in records; lets every record pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(redact_path(each) if isinstance(each, str) and each.startswith("/") else each for each in record.args)
        return True
