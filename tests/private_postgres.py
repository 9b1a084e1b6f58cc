"""A private PostgreSQL server with a copy of the test's database, which a test may stop and start again."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen

from django.db import connection

from portal.stack import postgres
from portal.stack.state_paths import StatePaths
from tests.whole.system import wait_for


class OwnCluster:
    """The server; it runs from the moment this object is made."""

    def __init__(self, places: StatePaths) -> None:
        self._places = places
        places.var.mkdir()
        postgres.prepare(places)
        self.start()

    @property
    def url(self) -> str:
        return postgres.build_url(self._places)

    def start(self) -> None:
        program = postgres.build_program(self._places, throwaway=True)
        self._popen = Popen(program.build_arguments(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: postgres.is_answering(self._places))

    def stop(self) -> None:
        """Stop it as an administrator does: all connections are cut."""
        self._popen.send_signal(postgres.build_program(self._places).stop)
        self._popen.wait(60)

    def copy_test_database(self) -> None:
        """Copy everything that the test has committed."""
        tools = postgres.choose_server(self._places.postgres, postgres.list_installed_servers())
        given = connection.settings_dict
        dump = [tools.get_tool_path("pg_dump"), "-h", given["HOST"], "-U", given["USER"] or postgres.OWNER, given["NAME"]]
        said = subprocess.run(dump, capture_output=True, check=True).stdout
        into = [tools.get_tool_path("psql"), "-q", "-v", "ON_ERROR_STOP=1", self.url]
        subprocess.run(into, input=said, stdout=subprocess.DEVNULL, check=True)


@contextmanager
def own_cluster() -> Iterator[OwnCluster]:
    """Run a server until the end of the block, then remove it."""
    # Not tmp_path: that lies in a directory that other accounts cannot enter, and the server runs as another account.
    with tempfile.TemporaryDirectory(prefix="netzwart-test-", dir="/tmp") as directory:
        places = StatePaths.from_directory(Path(directory) / "var")
        cluster = OwnCluster(places)
        try:
            yield cluster
        finally:
            cluster.stop()
            with suppress(OSError):
                for left in places.sockets.iterdir():
                    left.unlink()
                places.sockets.rmdir()
