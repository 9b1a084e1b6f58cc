"""OpenSSH as transport to a gateway: its arguments, its known hosts, and what its error messages mean.

Takes a gateway's row and returns arguments for ssh(1), never text for a shell. The gateway's forced command is the relay, so no
command is sent. No configuration file is read, and no connection is shared: each start is a new session.
"""

import hashlib
import os
import re
import tempfile
from base64 import b64decode, b64encode
from enum import Enum, auto
from pathlib import Path

from django.conf import settings

from apps.network.models import HOST_KEY, Gateway

CONNECT = 10  # seconds for the TCP connection and the key exchange
ALIVE = 5  # seconds between keepalive messages to sshd
UNANSWERED = 6  # unanswered keepalives that end the session; sshd on a busy machine may be slow
ALIAS = "gateway"  # the host's name in known_hosts, whatever its address
LONGEST_WORDS = 300  # characters of a program's output that are passed on

OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": str(CONNECT),
    "ServerAliveInterval": str(ALIVE),
    "ServerAliveCountMax": str(UNANSWERED),
    "ControlMaster": "no",
    "ControlPath": "none",
    "StrictHostKeyChecking": "yes",
    "GlobalKnownHostsFile": os.devnull,
    "HostKeyAlias": ALIAS,
    "HostKeyAlgorithms": "ssh-ed25519",
    "UpdateHostKeys": "no",
    "IdentitiesOnly": "yes",
    "IdentityAgent": "none",
    "PreferredAuthentications": "publickey",
    "ClearAllForwardings": "yes",
    "LogLevel": "ERROR",
}


def build_arguments(gateway: Gateway, port: int) -> tuple[str, ...]:
    """Return the command that opens a new session with the gateway, at this port of its sshd. See ssh(1) and ssh_config(5)."""
    options = OPTIONS | {"UserKnownHostsFile": _quote_path(get_known_hosts_path(gateway.host_key))}
    where = ("-i", str(settings.SSH_KEY), "-l", gateway.ssh_user, "-p", str(port))
    return ("ssh", "-F", "none", "-T", "-e", "none", *where, *_build_flags(options), "--", str(gateway.address))


def _build_flags(options: dict[str, str]) -> tuple[str, ...]:
    return tuple(word for name, value in options.items() for word in ("-o", f"{name}={value}"))


def _quote_path(path: Path) -> str:
    """Quote a path for an ssh option: ssh splits it at unquoted spaces and expands %."""
    return '"' + str(path).replace("%", "%%") + '"'


def get_known_hosts_path(host_key: str) -> Path:
    """Return the file that contains only this key. It is named after the key, so a new key gets a new file."""
    return Path(settings.SSH_KNOWN_HOSTS) / hashlib.sha256(host_key.encode()).hexdigest()[:32]


def write_known_hosts(host_key: str) -> None:
    """Write the key's known_hosts file, atomically and with mode 0600. Raises ValueError if it is not an ssh-ed25519 key."""
    if not re.fullmatch(HOST_KEY, host_key):
        raise ValueError("the gateway's host key is not an ssh-ed25519 key")
    file, text = get_known_hosts_path(host_key), f"{ALIAS} {host_key}\n"
    if file.exists() and file.read_text() == text:
        return
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False) as fresh:  # mode 0600
        fresh.write(text)
    Path(fresh.name).rename(file)


def compute_fingerprint(key: str) -> str:
    """Return the key's fingerprint as OpenSSH shows it: SHA256: and 43 characters of base64 (ssh-keygen(1), -l)."""
    return "SHA256:" + b64encode(hashlib.sha256(b64decode(key.split()[1])).digest()).decode().rstrip("=")


class SshFault(Enum):
    """What ended a session of ssh."""

    OTHER_HOST_KEY = auto()
    NO_KEY = auto()  # the portal has none
    KEY_REFUSED = auto()
    NO_HOST_KEY = auto()  # none of a type that the portal accepts
    OTHER = auto()


def classify_ssh_error(words: str) -> SshFault:
    """Return what ended the session, by ssh's standard error: ssh has one exit status for all of it."""
    if "Host key verification failed" in words or "HOST IDENTIFICATION HAS CHANGED" in words:
        return SshFault.OTHER_HOST_KEY
    if "Identity file" in words and "not accessible" in words:
        return SshFault.NO_KEY
    if "Permission denied" in words:
        return SshFault.KEY_REFUSED
    return SshFault.NO_HOST_KEY if "no matching host key type" in words else SshFault.OTHER


def explain_ssh_error(words: str, host_key: str) -> str:
    """Explain ssh's standard error in one sentence, with what to do."""
    match classify_ssh_error(words):
        case SshFault.OTHER_HOST_KEY:
            return _explain_other_host(words, compute_fingerprint(host_key))
        case SshFault.NO_KEY:
            return (
                f"the portal has no ssh key at {settings.SSH_KEY} on {settings.HOST_NAME}; make one with “manage.py gateway key”, "
                "or copy that of the portal's other hosts"
            )
        case SshFault.KEY_REFUSED:
            return (
                "the gateway does not accept the portal's key; add the line that “manage.py gateway key” prints to its authorized_keys. "
                "If it is there, its from= lacks this machine's address: run netzwart-join there with all of the portal's addresses"
            )
        case SshFault.NO_HOST_KEY:
            return "the gateway's sshd offers no ssh-ed25519 host key; make one there with “ssh-keygen -A” and restart sshd"
        case SshFault.OTHER:
            return get_last_line(words)


def _explain_other_host(words: str, expected: str) -> str:
    found = re.search(r"SHA256:[A-Za-z0-9+/]{43}", words)
    return (
        f"the host key has changed: expected {expected}, found {found.group() if found else 'another kind of key'}. Either another machine "
        "answers in between (a man in the middle), or the gateway was reinstalled. Compare on its console “ssh-keygen -lf "
        "/etc/ssh/ssh_host_ed25519_key.pub”; if that shows the key found, run “manage.py gateway trust NAME”, or replace the machine on "
        "the gateway's page if it is a new one"
    )


def get_last_line(words: str) -> str:
    """Return the last non-empty line, without control characters: it may come from a hostile gateway."""
    lines = ["".join(each for each in line if each.isprintable()).strip() for line in words.splitlines()]
    return next((line for line in reversed(lines) if line), "")[:LONGEST_WORDS]
