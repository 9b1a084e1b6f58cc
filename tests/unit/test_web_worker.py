import json
import socket
import sys
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory

from apps.lib.api.problems import KINDS
from portal import web_worker
from portal.stack.plan import web
from tests.whole.system import wait_for


def test_an_address_that_is_too_long_is_told_as_a_problem_by_the_web_server_itself() -> None:
    assert "portal.web_worker.Worker" in web(8000).command
    with TemporaryDirectory(prefix="nw-") as directory:
        place = Path(directory) / "web.sock"
        options = ("--worker-class", "portal.web_worker.Worker", "--threads", "1", "--no-control-socket", "--bind", f"unix:{place}")
        with Popen([sys.executable, "-m", "gunicorn", *options, "wsgiref.simple_server:demo_app"]) as server:
            try:
                wait_for(place.exists)
                head, _, body = asked(place, "/api/members/members/?id__in=" + "1," * 4000).partition("\r\n\r\n")
                short = asked(place, "/")
            finally:
                server.terminate()
    assert head.startswith("HTTP/1.1 414 ") and "Content-Type: application/problem+json" in head
    assert json.loads(body) == web_worker.BODY and web_worker.BODY["type"] == f"/api/docs/#{KINDS[414]}"
    assert short.startswith("HTTP/1.1 200 ")


def asked(place: Path, path: str) -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(place))
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        found = b""
        while more := client.recv(65536):
            found += more
    return found.decode()
