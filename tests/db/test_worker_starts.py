"""Workers start while the database is away."""

import os
from subprocess import PIPE, STDOUT, Popen
from threading import Timer

from portal.stack import commands


def test_a_worker_starts_while_the_database_is_away() -> None:
    given = {**os.environ, "NETZWART_DATABASE_URL": "host=/nowhere dbname=netzwart"}
    with Popen(commands.build_mailer().command, stdout=PIPE, stderr=STDOUT, text=True, cwd=commands.ROOT, env=given) as worker:
        assert worker.stdout
        patience = Timer(180, worker.kill)
        patience.start()
        try:
            assert any(line.rstrip().endswith(" ready.") for line in worker.stdout), "it ended"
        finally:
            patience.cancel()
            worker.kill()
