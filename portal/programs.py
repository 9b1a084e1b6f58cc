"""The programs of a portal, as data, for every way of running it: to start something else, change it here and nowhere else.

`python -m portal.programs NAME` becomes one of them: containers and systemd's units call it, `script/server` starts them by itself.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
WEB_PORT, EVENTS_PORT = 8000, 8001  # on loopback, for the proxy before them
CHANGES, READINGS, MAIL, FEEDS = "celery", "readings", "mail", "feeds"  # the queues of workers.app, which cannot be imported without Django
WEB_WORKERS, WEB_THREADS = 2, 8
WEB_ARBITER = "python:portal.web.arbiter"
WEB_WORKER = "portal.web.worker.WebWorker"
PROTOCOL = "portal.web.deadlines:DeadlineProtocol"
SILENT_SECONDS = 120  # a worker whose event loop did not run for so long is replaced; a busy machine starves one for tens of seconds
# Longer than proxies keep an idle connection to us (nginx 60 s, Caddy 120 s): if we close it while a request is on its way, and the request
# changes something, proxies do not repeat it (RFC 9110, 9.2.2), so a form would be answered with 502.
KEEP_ALIVE_SECONDS = 150
# gunicorn's own default is 2048; a queue shorter than the kernel allows makes it answer with SYN cookies under load.
SMALLEST_BACKLOG = 2048
GRACEFUL_SECONDS = 30  # until requests that are still running are ended, when the web server is stopped
EVENTS_GRACEFUL_SECONDS = 10  # the same for streams
EVENTS_CONNECTIONS = 4000  # the streams of NETZWART_EVENTS_STREAMS, and those that are refused
# True, but the operator cannot change it: the demo's network needs root.
ROOT_WARNING = "You're running the worker with superuser privileges"

type Command = tuple[str, ...]


def build_web(port: int, *, graceful: int = GRACEFUL_SECONDS, access_log: bool = False) -> Command:
    """Return the web server. It loads the code once and then forks, which halves the work at the start and saves memory.

    graceful: seconds that requests have to end when it is stopped.
    """
    options = ("--config", WEB_ARBITER, "--preload")
    workers = ("--worker-class", WEB_WORKER, "--workers", str(WEB_WORKERS), "--threads", str(WEB_THREADS))
    bind = ("--bind", f"127.0.0.1:{port}", "--backlog", str(max(read_accept_queue_limit(), SMALLEST_BACKLOG)))
    log = ("--log-level", "warning", *(("--access-logfile", "-") if access_log else ()))
    limits = ("--graceful-timeout", str(graceful), "--timeout", str(SILENT_SECONDS), "--keep-alive", str(KEEP_ALIVE_SECONDS))
    return (PYTHON, "-m", "gunicorn", *options, *workers, *bind, *log, *limits, "--no-control-socket", "portal.wsgi:application")


def build_events(port: int, *, graceful: int = EVENTS_GRACEFUL_SECONDS) -> Command:
    """Return the process of live events and of requests that wait, for any number of streams.

    Our settings say which proxies are trusted. graceful: seconds that streams have to end when it is stopped; browsers come again.
    """
    bind = ("--host", "127.0.0.1", "--port", str(port), "--backlog", str(max(read_accept_queue_limit(), SMALLEST_BACKLOG)))
    most = ("--http", PROTOCOL, "--limit-concurrency", str(EVENTS_CONNECTIONS), "--timeout-graceful-shutdown", str(graceful))
    rest = ("--timeout-keep-alive", str(KEEP_ALIVE_SECONDS))
    quiet = ("--no-proxy-headers", "--no-server-header", "--no-access-log", "--log-level", "warning", "--lifespan", "on")
    return (PYTHON, "-m", "uvicorn", *bind, *most, *rest, *quiet, "portal.asgi:application")


def build_changes_worker() -> Command:
    """Return the worker that brings changes to the gateways."""
    return _build_celery_worker("worker", CHANGES, 4)


def build_collector() -> Command:
    """Return the worker that reads the gateways' counters, in a process of its own: it keeps Python busy, which would delay changes."""
    return _build_celery_worker("collector", READINGS, 4)


def build_mailer() -> Command:
    """Return the worker that sends mail, and may wait for a slow server while others work."""
    return _build_celery_worker("mailer", MAIL, 2)


def build_feed_worker() -> Command:
    """Return the worker that imports feeds: a large one takes minutes, and no other task waits behind it."""
    return _build_celery_worker("feeds", FEEDS, 2)


def _build_celery_worker(name: str, queue: str, threads: int) -> Command:
    alone = ("--without-gossip", "--without-mingle", "--without-heartbeat")  # workers need not communicate with each other
    tasks = ("--queues", queue, "--hostname", f"{name}@%h", "--pool", "threads", "--concurrency", str(threads))
    return build_celery_command("worker", "--loglevel", "INFO", *tasks, *alone)


def build_ticker(schedule: Path) -> Command:
    """Return the scheduler, with the file of its state. It stores nothing that matters: its tasks only make a worker check what is due."""
    return build_celery_command("beat", "--loglevel", "WARNING", "--schedule", str(schedule))


def build_celery_command(*arguments: str) -> Command:
    return (PYTHON, "-W", f"ignore:{ROOT_WARNING}", "-m", "celery", "--quiet", "-A", "workers", *arguments)


def read_accept_queue_limit() -> int:
    """Return the kernel's limit for the queue of connections that wait to be accepted."""
    file = Path("/proc/sys/net/core/somaxconn")
    return int(file.read_text()) if file.exists() else SMALLEST_BACKLOG


def list_programs(state: Path) -> dict[str, Callable[[], Command]]:
    """Return each program's name with what builds it, for a portal with this state directory (NETZWART_VAR)."""
    return {
        "web": lambda: build_web(WEB_PORT),
        "events": lambda: build_events(EVENTS_PORT),
        "worker": build_changes_worker,
        "collector": build_collector,
        "mailer": build_mailer,
        "feeds": build_feed_worker,
        "beat": lambda: build_ticker(state / "beat" / "schedule"),
    }


def main() -> None:
    """Become the program that the first argument names: this process keeps its id, so signals and exit statuses are the program's."""
    state = Path(os.environ.get("NETZWART_VAR", ROOT / "var"))
    programs = list_programs(state)
    parser = argparse.ArgumentParser(prog="python -m portal.programs", description="Become one of the portal's programs.")
    parser.add_argument("program", choices=programs)
    command = programs[parser.parse_args().program]()
    (state / "beat").mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    os.execv(command[0], command)  # noqa: S606 - the plan above says what is started


if __name__ == "__main__":
    main()
