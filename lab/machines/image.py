"""Builds a bare Debian as kernel, initial RAM disk and root file system, from Debian's packages alone.

In: a suite, such as bookworm. Out: files that QEMU boots. The image has systemd, ifupdown and sshd, and root's key; it has nothing of
Netzwart. The packages that a gateway needs lie in apt's cache, because the machines of a lab reach no mirror; a prepared image has
them installed.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BASE: Final = (
    "systemd-sysv", "udev", "dbus", "kmod", "ifupdown", "iproute2", "procps", "openssh-server", "e2fsprogs", "initramfs-tools",
    "netbase", "adduser", "linux-image-cloud-amd64",
)  # fmt: skip
CACHED: Final = (
    "python3", "nftables", "libnftables1", "conntrack", "wget", "ca-certificates", "conntrackd", "keepalived", "iputils-ping",
)  # fmt: skip  # fetched into apt's cache; installed in a prepared image only
MODULES: Final = ("virtio_pci", "virtio_blk", "virtio_net", "ext4")  # all that the initial RAM disk has to know
DISK_SIZE: Final = "2G"
PROGRAMS: Final = {
    "mmdebstrap": "mmdebstrap", "qemu-system-x86_64": "qemu-system-x86", "mke2fs": "e2fsprogs", "debugfs": "e2fsprogs",
    "ssh-keygen": "openssh-client",
}  # fmt: skip
QUIET_UNITS: Final = (
    "apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "fstrim.timer", "man-db.timer", "dpkg-db-backup.timer",
)  # fmt: skip
FORMAT: Final = "3"  # of the image; another one is built anew


@dataclass(frozen=True, slots=True)
class MachineImage:
    """A built image. key: the private key whose owner may sign in as root."""

    directory: Path
    key: Path

    @property
    def kernel(self) -> Path:
        return self.directory / "kernel"

    @property
    def initrd(self) -> Path:
        return self.directory / "initrd"

    @property
    def disk(self) -> Path:
        return self.directory / "disk.img"


def list_missing_programs() -> tuple[str, ...]:
    """Return a sentence for each program that is not installed."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = {name: package for name, package in PROGRAMS.items() if not shutil.which(name, path=path)}
    return tuple(f"the program {name} is missing (Debian: {package})" for name, package in missing.items())


def ensure_image(suite: str, directory: Path, *, prepared: bool = False) -> MachineImage:
    """Return the image of the suite, built on the first call, which takes minutes. Raise `subprocess.CalledProcessError`.

    prepared: the packages that a gateway needs are installed in it; an emulated machine takes minutes to install them.
    """
    directory.mkdir(parents=True, exist_ok=True)
    name = f"{suite}-prepared" if prepared else suite
    with _lock(directory / f"{name}.lock"):
        image = MachineImage(directory / name, _ensure_key(directory / "key"))
        stamp = image.directory / "format"
        if not stamp.exists() or stamp.read_text() != FORMAT:
            shutil.rmtree(image.directory, ignore_errors=True)
            image.directory.mkdir()
            _build(suite, image, prepared=prepared)
            stamp.write_text(FORMAT)
    return image


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ensure_key(path: Path) -> Path:
    if not path.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(path)], check=True)
    return path


def _build(suite: str, image: MachineImage, *, prepared: bool) -> None:
    tree = image.directory / "tree"
    with (image.directory / "build.log").open("w") as log:
        bootstrap = build_bootstrap_command(suite, tree, prepared=prepared)
        subprocess.run(bootstrap, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)
        _finish_tree(tree, image)
        (kernel,), (initrd,) = tree.glob("boot/vmlinuz-*"), tree.glob("boot/initrd.img-*")
        shutil.copyfile(kernel, image.kernel)
        shutil.move(initrd, image.initrd)
        format_disk = ["mke2fs", "-q", "-t", "ext4", "-L", "root", "-d", str(tree), str(image.disk), DISK_SIZE]
        subprocess.run(format_disk, stdout=log, stderr=log, check=True)
    shutil.rmtree(tree)


def build_bootstrap_command(suite: str, tree: Path, *, prepared: bool = False) -> Sequence[str]:
    """Return the command that makes the tree. Files that nobody reads in a test are left out."""
    left_out = [f"--dpkgopt=path-exclude=/usr/share/{each}/*" for each in ("doc", "man", "locale", "info")]
    modules = "\\n".join(MODULES)
    initramfs = (
        'mkdir -p "$1/etc/initramfs-tools/conf.d"; printf "MODULES=list\\nCOMPRESS=gzip\\n" > "$1/etc/initramfs-tools/conf.d/small"; '
        f'printf "{modules}\\n" > "$1/etc/initramfs-tools/modules"'
    )
    included = (*BASE, *CACHED) if prepared else BASE
    fetch = f'chroot "$1" apt-get install --yes --download-only --no-install-recommends {" ".join(CACHED)}'
    return (
        "mmdebstrap", "--variant=minbase", "--mode=root", "--skip=cleanup/apt", f"--include={','.join(included)}", *left_out,
        f"--essential-hook={initramfs}", f"--customize-hook={fetch}", suite, str(tree),
    )  # fmt: skip


def _finish_tree(tree: Path, image: MachineImage) -> None:
    authorized = tree / "root/.ssh/authorized_keys"
    authorized.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.copyfile(image.key.with_suffix(".pub"), authorized)
    (tree / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 1\n")
    (tree / "etc/machine-id").write_text("")
    for unit in QUIET_UNITS:
        link = tree / "etc/systemd/system" / unit
        link.unlink(missing_ok=True)
        link.symlink_to("/dev/null")
