"""What the portal's Debian package holds besides code and its Python packages: control fields, units, the command and documents.

In: the checkout, a version and an architecture. Out: values. Pure but for reading the checkout: `package_tree` writes and builds it.
"""

import gzip
import hashlib
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final

from apps.gateways.agent_package.archives import PackedFile
from firewall.release import VERSION_NUMBER
from portal.package.environment_file import render_environment
from portal.package.production_files import LOCKS, ROOT, list_production_files

NAME: Final = "netzwart"
MAINTAINER: Final = "Netzwart <netzwart@localhost>"
SUITES: Final = {"trixie": ("3.13", "3.14")}
"""Debian releases whose Python can run the portal: its version, and the first one that cannot load what was built for it."""
SCRIPTS: Final = ("postinst", "postrm", "preinst", "prerm")
CODE: Final = "opt/netzwart/code"
VENV: Final = "opt/netzwart/venv"
DOCUMENTS: Final = f"usr/share/doc/{NAME}"
UNITS: Final = "usr/lib/systemd/system"


def compute_version(epoch: int) -> str:
    """Return a version such as 0.1.0+20261128.203015.3f9a2c41: a later commit is a higher version. epoch: Unix time of the sources."""
    hasher = hashlib.sha256()
    for path in (*list_production_files(), *LOCKS):
        hasher.update(f"{path}\0".encode() + (ROOT / path).read_bytes())
    return f"{VERSION_NUMBER}+{datetime.fromtimestamp(epoch, UTC):%Y%m%d.%H%M%S}.{hasher.hexdigest()[:8]}"


def list_package_files(version: str, epoch: int) -> list[PackedFile]:
    """Return the files that are not code, sorted by path."""
    units = ROOT / "portal" / "systemd"
    files = [
        *(PackedFile(f"{UNITS}/{file.relative_to(units)}", file.read_bytes()) for file in units.rglob("*") if file.is_file()),
        *(PackedFile(f"{DOCUMENTS}/docs/{file.name}", file.read_bytes()) for file in (ROOT / "docs").glob("*.md")),
        PackedFile(f"{DOCUMENTS}/CHANGELOG.md", (ROOT / "CHANGELOG.md").read_bytes()),
        PackedFile(f"{DOCUMENTS}/changelog.gz", _render_changelog(version, epoch)),
        PackedFile(f"{DOCUMENTS}/copyright", read_template("copyright")),
        PackedFile(f"{DOCUMENTS}/examples/Caddyfile", read_template("Caddyfile")),
        PackedFile(f"usr/share/lintian/overrides/{NAME}", read_template("lintian-overrides")),
        PackedFile(f"usr/share/{NAME}/environment", render_environment((ROOT / "docs" / "settings.md").read_text()).encode()),
        PackedFile(f"usr/bin/{NAME}", read_template(NAME), 0o755),
    ]
    return sorted(files, key=lambda file: file.path)


def fill_control(version: str, architecture: str, suite: str, kibibytes: int) -> str:
    """Return the control file. kibibytes: what the package takes when it is installed. Raises KeyError for an unknown suite."""
    python, too_new = SUITES[suite]
    text = read_template("control").decode()
    given = {"VERSION": version, "ARCHITECTURE": architecture, "PYTHON": python, "TOO_NEW": too_new, "SIZE": str(kibibytes)}
    for name, value in given.items():
        text = text.replace(f"@{name}@", value)
    return text


def read_template(name: str) -> bytes:
    """Return a file of portal/debian."""
    return (ROOT / "portal" / "debian" / name).read_bytes()


def _render_changelog(version: str, epoch: int) -> bytes:
    """Return Debian's changelog (Debian policy, 12.7), which only names the release: CHANGELOG.md beside it says what is new."""
    date = format_datetime(datetime.fromtimestamp(epoch, UTC))
    text = f"{NAME} ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {MAINTAINER}  {date}\n"
    return gzip.compress(text.encode(), 9, mtime=0)
