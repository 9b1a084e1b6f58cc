"""A mailbox on loopback that speaks the part of IMAP (RFC 9051) that fetching needs, and keeps the seen flags."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from time import sleep

from apps.inbound_mail.imap_mailbox import ImapAccount

FETCH = re.compile(r"(\d+) \((RFC822\.SIZE|BODY\.PEEK\[\]|BODY\.PEEK\[HEADER\]<0\.\d+>)\)")


@dataclass
class Box:
    """Content and behaviour of the mailbox. `mails`: by UID. `breaks_before`: the connection ends instead of marking this UID as seen.
    `refuses`: the UID of which it sends a part, then refuses the rest; `dribbles`: the UID that it sends so slowly that it never ends.
    `refusal`: what it says of another folder."""

    mails: dict[int, bytes] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    breaks_before: int = 0
    refuses: int = 0
    dribbles: int = 0
    refusal: str = "NO such folder"
    fetched: list[int] = field(default_factory=list)
    mailbox: ImapAccount = field(default_factory=lambda: ImapAccount("127.0.0.1", "netzwart", "secret", tls=False))


class _Session(StreamRequestHandler):
    box: Box

    def handle(self) -> None:
        self._say("* OK ready")
        while line := self.rfile.readline().decode().rstrip("\r\n"):
            tag, command, arguments = (*line.split(" ", 2), "")[:3]
            if command == "UID":
                command, arguments = (*arguments.split(" ", 1), "")[:2]
            answer = getattr(self, f"_{command.lower()}", self._unknown)(arguments)
            if answer is None:
                return
            self._say(f"{tag} {answer} - that is all")

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())

    def _unknown(self, arguments: str) -> str:
        return "BAD what?"

    def _capability(self, arguments: str) -> str:
        self._say("* CAPABILITY IMAP4rev1")
        return "OK"

    def _login(self, arguments: str) -> str:
        return "OK" if arguments == 'netzwart "secret"' else "NO wrong password"

    def _select(self, arguments: str) -> str:
        self._say(f"* {len(self.box.mails)} EXISTS")
        self._say("* OK [UIDVALIDITY 7] as ever")
        return "OK" if arguments == '"INBOX"' else self.box.refusal

    def _search(self, arguments: str) -> str:
        self._say(" ".join(["* SEARCH", *(str(uid) for uid in sorted(self.box.mails) if uid not in self.box.seen)]))
        return "OK"

    def _fetch(self, arguments: str) -> str | None:
        found = FETCH.fullmatch(arguments)
        assert found, arguments
        uid, what = int(found[1]), found[2]
        octets = self.box.mails[uid]
        if what == "RFC822.SIZE":
            self._say(f"* 1 FETCH (UID {uid} RFC822.SIZE {len(octets)})")
            return "OK"
        self.box.fetched.append(uid)
        if uid == self.box.refuses:
            self._say(f"* 1 FETCH (UID {uid} BODY[] {{4}}\r\nhalf)")
            return "NO damaged"
        sent = octets.partition(b"\n\n")[0] + b"\n\n" if "HEADER" in what else octets
        self._say(f"* 1 FETCH (UID {uid} BODY[] {{{len(sent)}}}")
        if uid == self.box.dribbles and "HEADER" not in what:
            self._dribble(sent)
            return None
        self.wfile.write(sent + b")\r\n")
        return "OK"

    def _dribble(self, octets: bytes) -> None:
        """Send an octet now and then, until the client hangs up."""
        with suppress(OSError):
            for at in range(len(octets)):
                self.wfile.write(octets[at : at + 1])
                sleep(0.2)

    def _store(self, arguments: str) -> str | None:
        uid, _space, what = arguments.partition(" ")
        assert what == r"+FLAGS.SILENT (\Seen)", arguments
        if int(uid) == self.box.breaks_before:
            self.box.breaks_before = 0
            return None
        self.box.seen.add(int(uid))
        return "OK"

    def _logout(self, arguments: str) -> str:
        return "OK"


@contextmanager
def mailbox() -> Iterator[Box]:
    """Run the mailbox until the end of the block."""
    box = Box()
    with ThreadingTCPServer(("127.0.0.1", 0), type("Session", (_Session,), {"box": box})) as server:
        server.daemon_threads = True
        box.mailbox = ImapAccount("127.0.0.1", "netzwart", "secret", port=server.server_address[1], tls=False)
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield box
        finally:
            server.shutdown()
            thread.join()
