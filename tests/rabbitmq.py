"""A real RabbitMQ on loopback, in a directory of its own, with an epmd of its own: nothing of the machine's is used or left."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen

from kombu import Connection

from tests.free_ports import find_free_port
from tests.frozen_process import frozen, list_group
from tests.whole.system import wait_for

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
PATIENCE = 180.0  # seconds for a start on a busy machine


def why_no_rabbitmq() -> str:
    """Return the reason why tests with RabbitMQ cannot run here; "" if they can."""
    if not SERVER.exists() or shutil.which("epmd") is None:
        return "rabbitmq-server is not installed (Debian: rabbitmq-server)"
    return "" if os.geteuid() == 0 else "RabbitMQ's cookie is private: needs root"


class RabbitNode:
    """One node. It can be killed and started again with what it has on its disk."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._amqp, self._distribution, self._epmd = (find_free_port() for _each in range(3))
        self._process: Popen[bytes] | None = None
        self.url = f"amqp://guest:guest@127.0.0.1:{self._amqp}//"

    @contextmanager
    def run_epmd(self) -> Iterator[None]:
        """Run the name server of Erlang's nodes, which RabbitMQ would otherwise start for the whole machine."""
        with Popen(["epmd", "-port", str(self._epmd), "-address", "127.0.0.1"], stdout=DEVNULL, stderr=DEVNULL) as process:
            try:
                yield
            finally:
                process.terminate()

    def start(self) -> None:
        """Start, unless it runs, and wait until it takes connections."""
        if self._process:
            return
        with (self._directory / "rabbitmq.log").open("ab") as log:
            self._process = Popen([str(SERVER)], env=self._build_environment(), stdin=DEVNULL, stdout=log, stderr=log, process_group=0)
        wait_for(self._is_answering, seconds=PATIENCE)

    def kill(self) -> None:
        """End it at once, as a power cut does."""
        process, self._process = self._process, None
        if process:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def stop(self) -> None:
        """End it in order. Unlike after a kill, all that it has is on its disk."""
        process, self._process = self._process, None
        if process:
            process.terminate()
            process.wait(PATIENCE)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop it in the middle of whatever it does."""
        assert self._process
        with frozen(*list_group(self._process.pid)):
            yield

    def _is_answering(self) -> bool:
        assert self._process and self._process.poll() is None, (self._directory / "rabbitmq.log").read_text()
        try:
            with Connection(self.url, connect_timeout=5) as connection:
                connection.connect()
        except OSError:
            return False
        return True

    def _build_environment(self) -> dict[str, str]:
        own = {
            "HOME": self._directory,
            "ERL_EPMD_PORT": self._epmd,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": "netzwart-test@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": self._amqp,
            "RABBITMQ_DIST_PORT": self._distribution,
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} -start_epmd false +S 1:1",
            "RABBITMQ_MNESIA_BASE": self._directory / "mnesia",
            "RABBITMQ_LOG_BASE": self._directory / "log",
            "RABBITMQ_CONFIG_FILE": self._directory / "rabbitmq",
            "RABBITMQ_ADVANCED_CONFIG_FILE": self._directory / "advanced",
            "RABBITMQ_ENABLED_PLUGINS_FILE": self._directory / "plugins",
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_PID_FILE": self._directory / "pid",
        }
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **{name: str(value) for name, value in own.items()}}


@contextmanager
def run_rabbitmq(directory: Path) -> Iterator[RabbitNode]:
    """Run a node until the end of the block."""
    node = RabbitNode(directory)
    with node.run_epmd():
        try:
            node.start()
            yield node
        finally:
            node.kill()
