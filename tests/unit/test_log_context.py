"""What lines of the log say besides their message, as text and as JSON."""

import json
import logging
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from structlog.contextvars import bound_contextvars

from apps.lib.log_context import ContextFormatter, JsonFormatter, choose_request_id, list_fact_processors, render_json_line


def build_record(message: str, *arguments: Any, error: BaseException | None = None) -> logging.LogRecord:
    trace = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("django.request", logging.WARNING, "views.py", 1, message, arguments, trace)


@pytest.mark.parametrize("chosen", ["abcdefgh", "script-2026.11_28", "A" * 64])
def test_an_id_that_somebody_gave_is_kept(chosen: str) -> None:
    assert choose_request_id(chosen) == chosen


@given(st.text(max_size=80))
def test_an_id_never_breaks_a_line_or_a_header_whatever_was_given(text: str) -> None:
    chosen = choose_request_id(text)
    assert 8 <= len(chosen) <= 64 and chosen.isascii() and chosen.isprintable() and " " not in chosen


def test_two_requests_have_two_ids() -> None:
    assert choose_request_id("") != choose_request_id("")


def test_a_line_of_a_library_has_the_ids_behind_it() -> None:
    assert ContextFormatter().format(build_record("Forbidden: %s", "/members/")) == "Forbidden: /members/"
    with bound_contextvars(task="reconcile", request="abcdefgh"):
        assert ContextFormatter().format(build_record("lost")) == "lost request=abcdefgh task=reconcile"


def test_a_line_of_a_library_is_one_json_object_with_its_traceback() -> None:
    with bound_contextvars(rollout=7):
        line = JsonFormatter().format(build_record("a\nb", error=KeyError("fault")))
    facts = json.loads(line)
    assert "\n" not in line
    assert (facts["event"], facts["level"], facts["logger"], facts["rollout"]) == ("a\nb", "warning", "django.request", 7)
    assert facts["exception"] == "KeyError: 'fault'" and facts["timestamp"].endswith("Z")


@given(st.dictionaries(st.sampled_from(["error", "name", "gateway"]), st.one_of(st.text(), st.integers(), st.binary(), st.none())))
def test_what_others_have_written_cannot_begin_a_line_of_its_own(facts: dict[str, Any]) -> None:
    line = render_json_line(None, "info", {"event": "e", **facts})
    assert "\n" not in str(line) and "\r" not in str(line)
    assert set(json.loads(line)) == {"event", *facts}


def test_a_line_of_ours_has_level_time_and_ids() -> None:
    with bound_contextvars(request="abcdefgh"):
        facts: Any = {"event": "nudge lost"}
        for add in list_fact_processors():
            facts = add(structlog.PrintLogger(), "warning", facts)
    assert facts.pop("timestamp")
    assert facts == {"event": "nudge lost", "level": "warning", "request": "abcdefgh"}
