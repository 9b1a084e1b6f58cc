import errno
import io
import threading

import pytest

from portal.stack.output import CLEAR_LINE, GREEN, LONGEST_LINE, LineSplitter, Output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_are_whole_however_the_bytes_arrive() -> None:
    lines = LineSplitter()
    assert [*lines.feed(b"one\ntw"), *lines.feed(b"o\r\n\nthr"), *lines.end()] == ["one", "two", "", "thr"]
    assert [*lines.end()] == []


def test_bytes_that_are_no_text_are_shown_all_the_same() -> None:
    assert [*LineSplitter().feed(b"\xff\xfe ok\n")] == ["\ufffd\ufffd ok"]


def test_a_line_without_end_does_not_grow_for_ever() -> None:
    lines = LineSplitter()
    shown = [line for _ in range(10) for line in lines.feed(b"x" * LONGEST_LINE)]
    assert len(shown) == 9
    assert len("".join(lines.end())) == LONGEST_LINE


def test_names_are_aligned_and_plain_in_a_file() -> None:
    stream = io.StringIO()
    Output(stream, width=6).write_line("web", "hello")
    assert stream.getvalue() == "web    │ hello\n"


def test_each_name_has_its_own_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    output = Output(stream)
    for name in ("web", "worker", "web"):
        output.write_line(name, "")
    first, second, third = stream.getvalue().splitlines()
    assert first == third
    assert first[:5] != second[:5]


def test_a_reader_who_is_gone_is_no_reason_to_fail() -> None:
    stream = io.StringIO()
    stream.close()
    Output(Terminal()).say("x")
    output = Output(Terminal())
    output._stream = stream
    output.write_line("web", "hello")


class HungUpTerminal(Terminal):
    """A terminal whose window was closed: whatever is written there fails."""

    def flush(self) -> None:
        raise OSError(errno.EIO, "Input/output error")


def test_a_terminal_that_was_closed_is_no_reason_to_fail() -> None:
    Output(HungUpTerminal()).say("SIGHUP: stopping …")


def test_a_step_that_failed_says_so() -> None:
    stream = io.StringIO()
    with pytest.raises(ValueError, match="broken"), Output(stream).show_step("Redis"):
        raise ValueError("broken")
    assert stream.getvalue() == "· Redis …\n✗ Redis\n"


def test_a_step_is_shown_from_its_beginning_and_other_lines_stand_above_it() -> None:
    stream = Terminal()
    output = Output(stream)
    with output.show_step("Database schema"):
        while "Database schema" not in stream.getvalue():
            threading.Event().wait(0.01)
        output.write_line("web", "hello")
        while stream.getvalue().count("Database schema") < 3:
            threading.Event().wait(0.01)
    shown = stream.getvalue()
    assert shown.index("Database schema") < shown.index("hello")
    assert shown.split("\n")[-2].split(CLEAR_LINE)[-1].startswith(f"{output.paint('✓', GREEN)} Database schema")


def test_steps_that_run_at_once_share_the_line_and_each_ends_with_its_own() -> None:
    stream = Terminal()
    output = Output(stream)
    with output.show_step("Database schema"):
        with output.show_step("Lab network"):
            while not [line for line in stream.getvalue().split(CLEAR_LINE) if "Database schema" in line and "Lab network" in line]:
                threading.Event().wait(0.01)
        while "Database schema" not in stream.getvalue().rsplit("Lab network", 1)[-1]:
            threading.Event().wait(0.01)
    ends = [line.split(CLEAR_LINE)[-1] for line in stream.getvalue().split("\n")[:-1]]
    assert [end.split(" ")[1:3] for end in ends] == [["Lab", "network"], ["Database", "schema"]]


def test_a_long_step_in_a_file_says_now_and_then_that_it_is_running(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.stack.output.REMINDER_SECONDS", 0.01)
    stream = io.StringIO()
    with Output(stream).show_step("Lab network"):
        while stream.getvalue().count("Lab network") < 3:
            threading.Event().wait(0.01)
    assert stream.getvalue().startswith("· Lab network …\n· Lab network … 0 s\n")
