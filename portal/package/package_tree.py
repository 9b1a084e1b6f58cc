"""Builds the portal's package in a fresh tree of a Debian release, so that it fits that release's Python and not this machine's.

In: an empty directory. Out: the package's file. Starts mmdebstrap, and pip and dpkg-deb inside the tree; needs root. apt's and pip's
configuration of this machine are used, and none of it gets into the package.
"""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from portal.package.portal_package import CODE, NAME, SCRIPTS, VENV, compute_version, fill_control, list_package_files, read_template
from portal.package.production_files import LOCKS, ROOT, list_production_files

INCLUDED: Final = "ca-certificates,python3-venv"
CERTIFICATES: Final = "etc/ssl/certs/ca-certificates.crt"
PACKAGE: Final = "build/netzwart"  # the package's root, in the tree
LENT: Final = ("pip_", "http_proxy", "https_proxy", "no_proxy")  # beginnings of variables that reach pip
BUILT: Final = "build/netzwart.deb"
ENTER: Final = 'mount -t proc proc "$1/proc" && exec chroot "$@"'
INSIDE: Final = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh")


@dataclass(frozen=True, slots=True)
class PortalBuild:
    """A build in a tree. epoch: Unix time of the sources, which no file in the package is younger than."""

    tree: Path
    suite: str
    epoch: int

    def build(self, output: Path) -> Path:
        """Make the tree, build the package in it, and return its file in the directory output. Raises CalledProcessError."""
        subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", f"--include={INCLUDED}", self.suite, str(self.tree)], check=True)
        self._lend_configuration()
        self._copy_code()
        self._run_step("install", *(f"/build/{lock}" for lock in LOCKS))
        version = compute_version(self.epoch)
        architecture = self._run("dpkg", "--print-architecture")
        self._lay_out(version)
        self._write_control(version, architecture)
        self._run_step("pack", f"/{PACKAGE}", f"/{BUILT}")
        target = output / f"{NAME}_{version}_{architecture}.deb"
        shutil.copyfile(self.tree / BUILT, target)
        return target

    def _lend_configuration(self) -> None:
        """Copy what pip needs to reach its index from inside: its configuration, certificates and name servers of this machine."""
        given = {Path("/etc/pip.conf"): "etc/pip.conf", Path("/etc/resolv.conf"): "etc/resolv.conf", Path(f"/{CERTIFICATES}"): CERTIFICATES}
        home = Path.home() / ".config" / "pip" / "pip.conf"
        for source, target in (given | {home: "root/.config/pip/pip.conf"}).items():
            if source.exists():
                (self.tree / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, self.tree / target)

    def _copy_code(self) -> None:
        for path in list_production_files():
            target = self.tree / CODE / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)
            target.chmod(0o755 if os.access(ROOT / path, os.X_OK) else 0o644)
        (self.tree / "build").mkdir()
        for path in LOCKS:
            shutil.copyfile(ROOT / path, self.tree / "build" / path)

    def _lay_out(self, version: str) -> None:
        """Move code and Python packages to where the package is made from, and write its other files beside them."""
        for path in (CODE, VENV):
            target = self.tree / PACKAGE / path
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).rename(target)
        for file in list_package_files(version, self.epoch):
            target = self.tree / PACKAGE / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content)
            target.chmod(file.mode)

    def _write_control(self, version: str, architecture: str) -> None:
        root = self.tree / PACKAGE
        files = sorted(file for file in root.rglob("*") if file.is_file() and not file.is_symlink())
        kibibytes = sum(-(-file.stat().st_size // 1024) for file in files)
        sums = (f"{hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()}  {file.relative_to(root)}\n" for file in files)
        head = root / "DEBIAN"
        contents = {"control": fill_control(version, architecture, self.suite, kibibytes).encode(), "md5sums": "".join(sums).encode()}
        contents |= {name: read_template(name) for name in SCRIPTS}
        head.mkdir()
        for name, content in contents.items():
            (head / name).write_bytes(content)
            (head / name).chmod(0o755 if name in SCRIPTS else 0o644)

    def _run_step(self, step: str, *arguments: str) -> None:
        """Run portal/debian/build inside the tree."""
        (self.tree / "build" / "build").write_bytes(read_template("build"))
        self._run("sh", "/build/build", step, *arguments)

    def _run(self, *command: str) -> str:
        """Run a program inside the tree, in namespaces of its own, and return what it prints. Its errors go to ours."""
        kept = {name: value for name, value in os.environ.items() if name.lower().startswith(LENT)}
        told = {"SOURCE_DATE_EPOCH": str(self.epoch), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        done = subprocess.run(
            [*INSIDE, str(self.tree), *command], env={**kept, **told, "HOME": "/root"}, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout.strip()
