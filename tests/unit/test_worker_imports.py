"""A process that serves pages does not load what only other programs need."""

import os
import subprocess
import sys

from portal.programs import ROOT

CODE = "import sys, portal.wsgi; print(sorted({'icalendar', 'recurring_ical_events'} & sys.modules.keys()))"


def test_the_web_server_loads_no_parser_of_calendars() -> None:
    given = {**os.environ, "NETZWART_SECRET_KEY": "of a test"}
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=given, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
