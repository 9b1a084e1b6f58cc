"""A connection attempt, and its result: the other host's answer, or the reason why there was none."""

import socket
import sys
from typing import NamedTuple

from lab.answer import LONGEST_LINE, HostAnswer, parse_answer
from lab.enter import enter
from lab.namespace import move_process_into_node
from lab.process import ProcessRef

KINDS = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}


class NoAnswerError(Exception):
    """The attempt got no answer. The message is the reason: refused, timed out, reset, closed, or the kernel's words
    (unreachable, for example).
    """


class Attempt(NamedTuple):
    """Parameters of a connection attempt.

    `protocol` is tcp or udp. Without a source, the kernel chooses one. `timeout` is in seconds, for the whole attempt.
    """

    protocol: str
    host: str
    port: int
    timeout: float = 2.0
    source: str = ""
    source_port: int = 0

    def make(self) -> HostAnswer:
        """Connect from this process's network namespace and return the answer. Raise `NoAnswerError`."""
        try:
            return parse_answer(self._exchange())
        except TimeoutError as error:
            raise NoAnswerError("timed out") from error
        except ConnectionRefusedError as error:
            raise NoAnswerError("refused") from error
        except ConnectionResetError as error:
            raise NoAnswerError("reset") from error
        except ValueError as error:
            raise NoAnswerError("closed without an answer") from error
        except OSError as error:
            raise NoAnswerError((error.strerror or str(error)).lower()) from error

    def _exchange(self) -> bytes:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family, KINDS[self.protocol]) as client:
            client.settimeout(self.timeout)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if self.source or self.source_port:
                client.bind((self.source, self.source_port))
            client.connect((self.host, self.port))
            if self.protocol == "udp":
                client.send(b"?\n")
                return client.recv(LONGEST_LINE)
            with client.makefile("rb") as stream:
                return stream.readline(LONGEST_LINE)


def main() -> None:
    """Connect inside a lab. Arguments: PID STARTED NODE PROTOCOL HOST PORT TIMEOUT SOURCE SOURCE_PORT."""
    pid, started, node, protocol, host, port, timeout, source, source_port = sys.argv[1:]
    attempt = Attempt(protocol, host, int(port), float(timeout), source, int(source_port))
    enter(ProcessRef(int(pid), int(started)), lambda: report(node, attempt))


def report(node: str, attempt: Attempt) -> int:
    """Print the answer and return 0; or print the reason to standard error and return 1."""
    move_process_into_node(node)
    try:
        answer = attempt.make()
    except NoAnswerError as error:
        print(error, file=sys.stderr)
        return 1
    print(answer.to_line().decode(), end="")
    return 0
