"""Runs a real sshd in a node: own host key, own configuration, and an unprivileged account that exists only there.

`build_command` returns the command for the node (`python -m lab exec`, `Lab.popen`). The program mounts its own /run and
/etc/passwd, which no other process sees, and becomes sshd in the foreground. The account sees the given directories at
/run/netzwart/NAME, even if they lie below directories that only root may enter. The key's line in authorized_keys decides what it
may do there (sshd(8)).
"""

import os
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from lab.program import build_module_command

ACCOUNT = "netzwart"
ACCOUNT_ID, GROUP_ID = 64000, 65534  # Debian leaves the first to local use; the other is its nogroup
GROUP = "nogroup"
SHOWN = Path("/run/netzwart")
SSHD = "/usr/sbin/sshd"  # it requires an absolute path: it starts itself again for each connection
WHOLE_ID_MAP = 1 << 16
PENALTIES = (9, 8)  # the release in which OpenSSH began to lock out clients that connect without logging in

PASSWD = f"""\
root:x:0:0:root:/root:/bin/sh
sshd:x:{ACCOUNT_ID + 1}:{GROUP_ID}::/run/sshd:/usr/sbin/nologin
{ACCOUNT}:x:{ACCOUNT_ID}:{GROUP_ID}::/:/bin/sh
"""
CONFIGURATION = f"""\
PidFile none
UsePAM no
UseDNS no
PrintMotd no
AllowUsers {ACCOUNT}
AuthenticationMethods publickey
AuthorizedKeysFile {SHOWN}/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
X11Forwarding no
MaxStartups 100
"""


def find_obstacle() -> str:
    """Return the reason why no sshd can run in a lab on this machine; "" if it can."""
    for program, package in ((SSHD, "openssh-server"), ("ssh-keygen", "openssh-client")):
        if not shutil.which(program):
            return f"the program {program} is missing (Debian: {package})"
    if os.geteuid() != 0:
        return "sshd changes to other accounts, and that needs root"
    mapped = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
    return "" if mapped >= WHOLE_ID_MAP else "sshd changes to other accounts, and this user namespace has too few"


def ensure_host_key(directory: Path) -> str:
    """Return the public host key of the directory, as `ssh-ed25519 AAAA…`; make it at the first call."""
    file = directory / "ssh_host_ed25519_key"
    if not file.exists():
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file)], check=True)
    return " ".join(file.with_suffix(".pub").read_text().split()[:2])


def build_command(directory: Path, authorized_keys: Path, shown: Mapping[str, Path], *, port: int = 22) -> tuple[str, ...]:
    """Return the command that runs sshd in a node.

    directory: holds the host key, which must exist; shown: directories for the account, by name.
    """
    visible = (word for name, path in shown.items() for word in ("--show", f"{name}={path}"))
    return build_module_command("lab.sshd", str(directory), str(authorized_keys), "--port", str(port), *visible)


def main() -> NoReturn:
    """Become sshd, inside the node; it logs to standard error."""
    parser = ArgumentParser("lab.sshd")
    parser.add_argument("directory", type=Path)
    parser.add_argument("authorized_keys", type=Path)
    parser.add_argument("--port", type=int, default=22)
    parser.add_argument("--show", action="append", default=[])
    given = parser.parse_args()
    keys = given.authorized_keys.read_text()
    try:
        _mount_own_run(dict(each.split("=", 1) for each in given.show))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"lab.sshd: {error}")
    (SHOWN / "authorized_keys").write_text(keys)
    (SHOWN / "sshd_config").write_text("".join(_iter_configuration(given.directory.resolve(), given.port)))
    os.execv(SSHD, [SSHD, "-D", "-e", "-f", str(SHOWN / "sshd_config")])  # noqa: S606


def _mount_own_run(shown: Mapping[str, str]) -> None:
    """Mount /run and /etc/passwd for this process only: `ip netns exec` gave it a mount namespace of its own."""
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    Path("/run/sshd").mkdir(mode=0o755)
    for name, path in shown.items():
        (SHOWN / name).mkdir(mode=0o755, parents=True)
        _mount("--bind", path, str(SHOWN / name))
    (SHOWN / "passwd").write_text(PASSWD)
    _mount("--bind", str(SHOWN / "passwd"), "/etc/passwd")


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _iter_configuration(directory: Path, port: int) -> Iterator[str]:
    yield f"{CONFIGURATION}Port {port}\nHostKey {directory}/ssh_host_ed25519_key\n"
    said = subprocess.run([SSHD, "-V"], capture_output=True, text=True, check=False)
    release = re.search(r"OpenSSH_(\d+)\.(\d+)", said.stdout + said.stderr)
    if release and (int(release[1]), int(release[2])) >= PENALTIES:
        yield "PerSourcePenalties no\n"
