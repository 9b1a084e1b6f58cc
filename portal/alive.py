"""Whether one of the portal's programs is alive: `python -m portal.alive NAME` exits with 0, or prints why not and exits with 1.

It is for the health checks of containers. As it runs for each program every half a minute, it loads neither Django nor the portal.
"""

import argparse
import http.client
import os
import sys
from socket import gethostname

import psycopg

from portal.programs import EVENTS_PORT, ROOT, WEB_PORT, list_programs

SILENT_SECONDS = 120  # programs write a sign of life every 5 s; a machine that is started anew is busy for a while
ANSWER_SECONDS = 20  # for the answer of a server or of the database
PORTS = {"web": WEB_PORT, "events": EVENTS_PORT}
REPORTING = tuple(name for name in list_programs(ROOT) if name not in PORTS)  # into the database
LAST_SEEN = "SELECT extract(epoch FROM now() - seen)::int FROM operations_hostheartbeat WHERE role = %s AND host = %s"


def explain_silence(program: str, database: str) -> str:
    """Return why the program does not count as alive, as a sentence; "" if it does. database: a libpq connection string or URL."""
    host = os.environ.get("NETZWART_HOST_NAME", "").strip() or gethostname()
    return explain_silent_server(PORTS[program]) if program in PORTS else explain_silent_role(program, host, database)


def explain_silent_server(port: int) -> str:
    """Return why the server does not count as alive. Any answer will do but a fault: one with another name refuses us, and lives."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"127.0.0.1:{port} does not answer: {error}"
    finally:
        connection.close()
    return f"127.0.0.1:{port} answers {status}." if status >= 500 else ""


def explain_silent_role(role: str, host: str, database: str) -> str:
    """Return why the role does not count as alive on this host. It is if it gave a sign of life there lately."""
    try:
        with psycopg.connect(database, connect_timeout=ANSWER_SECONDS) as connection:
            row = connection.execute(LAST_SEEN, [role, host]).fetchone()
    except psycopg.Error as error:
        return f"Nobody knows: the database does not answer. {error}"
    if row is None:
        return f"{role} has never given a sign of life on {host}."
    return f"{role} gave its last sign of life {row[0]} s ago." if row[0] > SILENT_SECONDS else ""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m portal.alive", description="Check if one of the portal's programs is alive.")
    parser.add_argument("program", choices=(*PORTS, *REPORTING))
    why = explain_silence(parser.parse_args().program, os.environ.get("NETZWART_DATABASE_URL", "dbname=netzwart"))
    if why:
        print(why)  # noqa: T201 - docker keeps it as the reason
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main())
