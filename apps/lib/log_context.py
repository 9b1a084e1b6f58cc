"""What lines of the log have besides their message: `request`, `task` and `rollout`, the ids by which the lines of one change are found.

A request gets an id, or keeps the one that a proxy or a script gives it. Tasks that it sends carry the id to the workers.
"""

import logging
import re
import secrets
import sys
from collections.abc import Mapping
from typing import Any, Final

import structlog
from structlog.types import Processor

REQUEST_HEADER: Final = "X-Request-ID"
MESSAGE_HEADER: Final = "request"
"""Header of a task's message: the request that sent it."""
WELL_FORMED: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")
ID_OCTETS: Final = 8


def choose_request_id(given: str) -> str:
    """Return the given id, or a new one if it is none: 8 to 64 letters, digits, dots, dashes and underscores."""
    return given if WELL_FORMED.fullmatch(given) else secrets.token_hex(ID_OCTETS)


def get_request_id() -> str:
    """Return the id of the request that this thread works for; "" if there is none."""
    return str(structlog.contextvars.get_contextvars().get("request", ""))


def configure_structlog(*, as_json: bool) -> None:
    """Let structlog write each line as text for people, or as one JSON object, with the same facts."""
    structlog.configure(
        processors=[*list_fact_processors(), render_json_line if as_json else structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty())]
    )


def list_fact_processors() -> list[Processor]:
    """Return what adds ids, level, traceback and time to a line."""
    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)
    return [structlog.contextvars.merge_contextvars, structlog.processors.add_log_level, structlog.dev.set_exc_info, stamp]


def render_json_line(logger: Any, name: str, facts: Any) -> str | bytes:
    """Render the facts of a line, a traceback as text. Values that JSON has no form for become their text."""
    facts = structlog.processors.format_exc_info(logger, name, facts)
    return structlog.processors.JSONRenderer(default=str, ensure_ascii=False)(logger, name, facts)


class ContextFormatter(logging.Formatter):
    """Formats what Django, Celery and libraries say: their message, and the ids behind it."""

    def format(self, record: logging.LogRecord) -> str:
        return "".join((super().format(record), *(f" {name}={value}" for name, value in _get_context().items())))


class JsonFormatter(logging.Formatter):
    """The same as one JSON object, as structlog's lines are."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, Any] = {"event": record.getMessage(), "logger": record.name}
        if record.exc_info:
            facts["exception"] = self.formatException(record.exc_info)
        for add in list_fact_processors():
            facts = add(None, record.levelname.lower(), facts)  # type: ignore[assignment]  # each returns the dict that it was given
        return str(render_json_line(None, record.levelname.lower(), facts))


def _get_context() -> Mapping[str, Any]:
    return dict(sorted(structlog.contextvars.get_contextvars().items()))
