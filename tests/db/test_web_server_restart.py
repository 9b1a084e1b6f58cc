"""The web server is stopped while requests come: each is answered whole, or its connection was refused, so that a proxy can try again."""

import socket
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.web_server import web_server

CLIENTS = 12
REQUEST = b"POST /nowhere/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"


def attempt(port: int) -> str:
    """Return "refused", "answered", or what went wrong once a connection was there."""
    try:
        connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    except ConnectionRefusedError:
        return "refused"
    with connection:
        try:
            connection.sendall(REQUEST)
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))
        except OSError as error:
            return f"connected, then {error!r}"
    return "answered" if answer.startswith(b"HTTP/1.1 ") else f"connected, then {answer[:40]!r}"


@pytest.mark.parametrize("attempt_number", range(3))
def test_no_request_is_lost_when_the_server_is_stopped_under_load(tmp_path: Path, attempt_number: int) -> None:
    outcomes: list[str] = []
    over = Event()

    def keep_asking(port: int) -> None:
        while not over.is_set():
            outcomes.append(attempt(port))
            if outcomes[-1] == "refused":
                return

    with web_server(tmp_path) as web:
        clients = [Thread(target=keep_asking, args=[web.port]) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        while len(outcomes) < 200:
            over.wait(0.01)
    for client in clients:
        client.join(60)
    over.set()
    assert "answered" in outcomes and outcomes.count("refused") == CLIENTS
    assert [each for each in outcomes if each not in {"answered", "refused"}] == []
