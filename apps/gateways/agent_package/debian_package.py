"""The Debian package of the agent, built from the checkout's own sources: netzwart-agent_VERSION_all.deb.

The same checkout gives the same bytes. They are read once in a process: a portal that was updated is restarted anyway.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from apps.gateways.agent_package.archives import PackedFile, build_ar, build_tar, build_zip
from firewall.release import PACKAGES, format_release_version

ROOT = Path(__file__).resolve().parents[3]
NAME = "netzwart-agent"
PROGRAM = f"{NAME}.pyz"
PARTS = "package-parts"  # as in gateway/programs/launcher.py
SHEBANG = b"#!/usr/bin/env python3\n"
SCRIPTS = ("postinst", "postrm", "prerm")
COMMANDS = ("netzwart-failover", "netzwart-join", "netzwart-probe")
SYSCTLS = "90-netzwart.conf"


@dataclass(frozen=True, slots=True)
class AgentPackage:
    """The package's file. digest: SHA-256 in hexadecimal, which a gateway's administrator pastes with the command that fetches it.

    program, program_digest: the agent in it, and its SHA-256. parts: digest of all other files, which no program can bring.
    """

    version: str
    content: bytes
    digest: str
    program: bytes
    program_digest: str
    parts: str

    @property
    def filename(self) -> str:
        return f"{NAME}_{self.version}_all.deb"


def read_sources() -> dict[str, bytes]:
    """Return the agent's sources by name, such as "gateway/main.py"."""
    files = (file for package in PACKAGES for file in (ROOT / package).glob("*.py"))
    return {str(file.relative_to(ROOT)): file.read_bytes() for file in files}


def build_program(sources: dict[str, bytes]) -> bytes:
    """Return netzwart-agent.pyz, which starts as `python -m gateway` does."""
    return SHEBANG + build_zip({"__main__.py": sources["gateway/__main__.py"], **sources})


@cache
def build_agent_package() -> AgentPackage:
    """Build the package of this checkout."""
    return build_package(read_sources())


def build_package(sources: dict[str, bytes]) -> AgentPackage:
    """Build the package of an agent with these sources, by name as in `read_sources`."""
    version = format_release_version(sources)
    program, others = build_program(sources), _read_files()
    parts = _digest_parts(others)
    own = [PackedFile(f"usr/lib/netzwart/{PROGRAM}", program, 0o755), PackedFile(f"usr/lib/netzwart/{PARTS}", f"{parts}\n".encode())]
    files = [*own, *others]
    control = _fill_control(version, files)
    sums = "".join(f"{hashlib.md5(file.content, usedforsecurity=False).hexdigest()}  {file.path}\n" for file in files)
    scripts = [PackedFile(name, _read(name), 0o755) for name in SCRIPTS]
    head = build_tar([PackedFile("control", control.encode()), PackedFile("md5sums", sums.encode()), *scripts])
    content = build_ar({"debian-binary": b"2.0\n", "control.tar": head, "data.tar": build_tar(files, ["etc/netzwart"])})
    return AgentPackage(version, content, _digest(content), program, _digest(program), parts)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_parts(files: list[PackedFile]) -> str:
    """Return a digest of units, commands of root and settings: a gateway says which it has (`ProgramIs.parts`)."""
    scripts = [PackedFile(name, _read(name), 0o755) for name in SCRIPTS]
    lines = [f"{file.path} {file.mode:o} {_digest(file.content)}\n" for file in (*files, *scripts)]
    return _digest("".join(sorted(lines)).encode())


def _read_files() -> list[PackedFile]:
    """Return the package's files besides the program, in the order of their paths."""
    units = ROOT / "gateway" / "systemd"
    files = sorted(file for file in units.rglob("*") if file.is_file())
    return [
        *(PackedFile(f"usr/lib/systemd/system/{file.relative_to(units)}", file.read_bytes()) for file in files),
        *(PackedFile(f"usr/sbin/{command}", _read(command), 0o755) for command in COMMANDS),
        PackedFile(f"usr/share/doc/{NAME}/copyright", _read("copyright")),
        PackedFile(f"usr/share/netzwart/{SYSCTLS}", _read(SYSCTLS)),  # not in sysctl.d: Debian 13 applies what a package puts there at once
    ]


def _read(name: str) -> bytes:
    return (ROOT / "gateway" / "debian" / name).read_bytes()


def _fill_control(version: str, files: list[PackedFile]) -> str:
    kibibytes = sum(-(-len(file.content) // 1024) for file in files)
    return _read("control").decode().replace("@VERSION@", version).replace("@SIZE@", str(kibibytes))
