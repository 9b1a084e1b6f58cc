"""Workers start while the database is away."""

import os
from subprocess import PIPE, STDOUT, Popen
from threading import Timer

from portal import programs


def test_a_worker_starts_while_the_database_is_away() -> None:
    given = {**os.environ, "NETZWART_DATABASE_URL": "host=/nowhere dbname=netzwart"}
    with Popen(
        [programs.PYTHON, "-m", "portal.programs", "mailer"], stdout=PIPE, stderr=STDOUT, text=True, cwd=programs.ROOT, env=given
    ) as worker:
        assert worker.stdout
        patience = Timer(180, worker.kill)
        patience.start()
        try:
            assert any(line.rstrip().endswith(" ready.") for line in worker.stdout), "it ended"
        finally:
            patience.cancel()
            worker.kill()
