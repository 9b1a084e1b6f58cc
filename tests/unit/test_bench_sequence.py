"""All benchmarks one after the other: what each has said is kept, whatever the others do, and an interrupt lets them clean up."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.sequence import BenchmarkOutcome, choose_status, run_in_sequence

ROOT = Path(__file__).resolve().parents[2]
MET = [sys.executable, "-c", 'print(\'{"bench": "first", "figures": []}\')']
MISSED = [*MET[:2], MET[2] + "; raise SystemExit(2)"]
BROKEN = [sys.executable, "-c", "print('half of an answ'); raise SystemExit(1)"]
ENDLESS = """
import pathlib, signal, sys
try:
    print("runs", file=sys.stderr, flush=True)
    signal.pause()
finally:
    pathlib.Path(sys.argv[1]).write_text("cleaned up")
"""
INTERRUPTED = """
import json, signal, sys
from benchmarks.sequence import choose_status, run_in_sequence
signal.signal(signal.SIGINT, signal.default_int_handler)
ends = run_in_sequence(json.loads(sys.argv[1]), in_json=True)
print(json.dumps([end.answer for end in ends.values()]))
raise SystemExit(choose_status(ends.values()))
"""


def test_one_that_fails_keeps_no_other_from_its_answer(capfd: pytest.CaptureFixture[str]) -> None:
    ends = run_in_sequence({"first": MET, "second": BROKEN, "third": MISSED}, in_json=True)
    assert [end.outcome for end in ends.values()] == [BenchmarkOutcome.MET, BenchmarkOutcome.FAILED, BenchmarkOutcome.MISSED]
    assert [end.answer for end in ends.values()] == [
        {"bench": "first", "figures": []},
        {"bench": "second", "failed": True},
        {"bench": "first", "figures": []},
    ]
    said = capfd.readouterr().err
    assert "── second, 2 of 3 ──" in said
    assert re.search(r"── second: failed, \d+ s ──", said)


@pytest.mark.parametrize(("commands", "status"), [([MET], 0), ([MET, MISSED], 2), ([MISSED, BROKEN, MET], 1)])
def test_the_status_is_that_of_the_worst(commands: list[list[str]], status: int) -> None:
    assert choose_status(run_in_sequence(dict(zip("abc", commands, strict=False)), in_json=True).values()) == status


def test_an_interrupt_waits_until_the_one_that_runs_has_cleaned_up_and_keeps_what_the_others_said(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    commands = {"first": MET, "second": [sys.executable, "-c", ENDLESS, str(trace)], "third": MET}
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, json.dumps(commands)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        assert program.stderr
        assert any(line == "runs\n" for line in program.stderr)
        os.killpg(program.pid, signal.SIGINT)
        said, _ = program.communicate()
    assert json.loads(said) == [
        {"bench": "first", "figures": []},
        {"bench": "second", "not_run": True},
        {"bench": "third", "not_run": True},
    ]
    assert (trace.read_text(), program.returncode) == ("cleaned up", 130)
