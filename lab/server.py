"""Server of a lab host: answers on every TCP and UDP port with one JSON line, the node, the address reached and the client's.

TCP then echoes lines. Packets for ports on which another program listens (a measuring tool, for example) are left to it. The
others are steered here by tproxy, which, unlike a redirect, keeps the destination address and port and needs no connection
tracking on the host.
"""

import selectors
import socket
import struct
import threading
from contextlib import suppress
from typing import NoReturn

from lab.answer import ANSWER, LONGEST_LINE, HostAnswer
from lab.datagram import send_from

PORT = 7
IP_RECVORIGDSTADDR = 20  # linux/in.h
IPV6_RECVORIGDSTADDR = 74  # linux/in6.h
IPV6_TRANSPARENT = 75

STEERING = f"""
table inet answer {{
  chain steer {{
    type filter hook prerouting priority mangle; policy accept;
    socket wildcard <= 1 accept comment "somebody listens, or the connection is ours"
    fib daddr type local meta l4proto {{ tcp, udp }} tproxy to :{PORT} accept
  }}
}}
"""

type Endpoint = tuple[str, int]


class Listeners:
    """The four sockets, made in the caller's namespace; they listen from then on."""

    def __init__(self) -> None:
        self.streams = [_open_transparent(family, socket.SOCK_STREAM) for family in (socket.AF_INET, socket.AF_INET6)]
        self.datagrams = [_open_transparent(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6)]
        for stream in self.streams:
            stream.listen(4096)

    def serve(self, node: str) -> NoReturn:
        with selectors.DefaultSelector() as selector:
            for stream in self.streams:
                selector.register(stream, selectors.EVENT_READ, _accept)
            for datagram in self.datagrams:
                selector.register(datagram, selectors.EVENT_READ, _reply)
            while True:
                for ready, _ in selector.select():
                    with suppress(OSError):  # this peer has gone or is unreachable; the next one may not be
                        ready.data(ready.fileobj, node)


def _open_transparent(family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
    listener = socket.socket(family, kind)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVORIGDSTADDR, 1)
    else:
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_TRANSPARENT, 1)
        listener.setsockopt(socket.IPPROTO_IP, IP_RECVORIGDSTADDR, 1)
    listener.bind(("", PORT))
    return listener


def _accept(listener: socket.socket, node: str) -> None:
    connection, peer = listener.accept()
    threading.Thread(target=_converse, args=(connection, peer[:2], node), daemon=True).start()


def _converse(connection: socket.socket, peer: Endpoint, node: str) -> None:
    with suppress(OSError), connection, connection.makefile("rwb") as stream:
        reached: Endpoint = connection.getsockname()[:2]
        stream.write(HostAnswer(node, "tcp", *reached, *peer).to_line())
        stream.flush()
        while line := stream.readline(LONGEST_LINE):
            stream.write(line)
            stream.flush()


def _reply(listener: socket.socket, node: str) -> None:
    """Answer a datagram, unless it is itself an answer, whose client has gone: two hosts would answer each other for ever."""
    said, ancillary, _, peer = listener.recvmsg(LONGEST_LINE, 256)
    if said.startswith(ANSWER):
        return
    reached = _get_original_destination(ancillary)
    send_from(reached, peer[:2], HostAnswer(node, "udp", *reached, *peer[:2]).to_line())


def _get_original_destination(ancillary: list[tuple[int, int, bytes]]) -> Endpoint:
    for level, kind, data in ancillary:
        if (level, kind) == (socket.IPPROTO_IP, IP_RECVORIGDSTADDR):  # struct sockaddr_in
            port, address = struct.unpack_from("!2xH4s", data)
            return socket.inet_ntop(socket.AF_INET, address), port
        if (level, kind) == (socket.IPPROTO_IPV6, IPV6_RECVORIGDSTADDR):  # struct sockaddr_in6
            port, address = struct.unpack_from("!2xH4x16s", data)
            return socket.inet_ntop(socket.AF_INET6, address), port
    raise OSError("the kernel did not say where the datagram went")
