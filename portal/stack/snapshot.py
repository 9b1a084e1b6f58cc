"""Writes `migrations/schema.sql`: the schema after all migrations, which `apps/lib/database/schema_snapshot.py` reads.

It migrates an empty database on a server of its own, one migration after the other, and keeps what is the same for every
PostgreSQL version and every installation: no owners, no session settings, no comments of extensions.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from apps.lib.database.schema_snapshot import SNAPSHOT
from portal import programs
from portal.stack import commands, database, environment, postgres
from portal.stack.output import Output
from portal.stack.processes import supervise
from portal.stack.state_paths import StatePaths

HEADER = """\
-- The schema that the migrations lead to. Written by `python -m portal.stack snapshot`; a test compares it with what they make.
SET LOCAL search_path = '';
SET LOCAL check_function_bodies = false;
SET LOCAL client_min_messages = warning;
"""
# Beginnings of pg_dump's lines that do not describe the schema.
NOISE = re.compile(r"^(--|\\|SET |SELECT pg_catalog\.set_config|COMMENT ON (EXTENSION|TABLE public.django_migrations) )")
APPLIED = "SELECT format('    (%L, %L)', app, name) FROM django_migrations ORDER BY app, name"

ROWS = """\
INSERT INTO public.django_migrations (app, name, applied) SELECT app, name, now() FROM (VALUES
APPLIED
) AS these (app, name);
"""


async def write(output: Output, file: Path = SNAPSHOT) -> None:
    """Write the file. Takes as long as all migrations."""
    with tempfile.TemporaryDirectory(prefix="netzwart-", dir=programs.ROOT / "var") as directory:
        places = StatePaths.from_directory(Path(directory))
        async with supervise({**os.environ, **environment.build_variables(places)}, output) as supervisor:
            await database.start_servers(supervisor, places, throwaway=True)
            with output.show_step("Migrations, one by one"):
                await supervisor.run(commands.build_manage("migrate", "migrate", "--one-by-one", "--no-input", "--verbosity", "0"))
            file.write_text(dump(postgres.build_url(places), postgres.choose_server(places.postgres, postgres.list_installed_servers())))
        shutil.rmtree(places.sockets, ignore_errors=True)
    output.say(f"{file.relative_to(programs.ROOT)}: {len(file.read_text().splitlines()):,} lines")


def dump(url: str, server: postgres.Binaries) -> str:
    """Return a database's schema as SQL that creates it, with the names of its migrations."""
    schema = _run_for_output(server.get_tool_path("pg_dump"), "--schema-only", "--no-owner", "--no-privileges", url)
    lines = [line for line in schema.splitlines() if not NOISE.match(line)]
    names = _run_for_output(
        server.get_tool_path("psql"), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", APPLIED, url
    ).splitlines()
    return HEADER + re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n" + ROWS.replace("APPLIED", ",\n".join(names))


def _run_for_output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout
