"""Keys and state outside the database without which a backup is worthless: the secret key, and the portal's own ssh key.

Encrypted columns cannot be read without the secret key, and gateways do not accept a portal with another ssh key.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.conf import settings

from apps.lib.secret_keys import list_secret_keys
from apps.operations.backup import files
from apps.operations.backup.errors import BackupError

SECRET_KEY: Final = "keys/secret_key"  # noqa: S105 - a file's name
SECRET_KEY_FALLBACKS: Final = "keys/secret_key_fallbacks"  # noqa: S105
SSH_KEY: Final = "keys/ssh_key"
KNOWN_HOSTS: Final = "keys/known_hosts.d"


def collect_keys() -> dict[str, bytes]:
    """Return the contents of all key files, by their path in the backup."""
    current, *former = list_secret_keys()
    found = {SECRET_KEY: f"{current}\n".encode()}
    if former:
        found[SECRET_KEY_FALLBACKS] = "".join(f"{each}\n" for each in former).encode()
    if Path(settings.SSH_KEY).exists():
        found[SSH_KEY] = Path(settings.SSH_KEY).read_bytes()
    hosts = Path(settings.SSH_KNOWN_HOSTS)
    if hosts.is_dir():
        found |= {f"{KNOWN_HOSTS}/{path.name}": path.read_bytes() for path in sorted(hosts.iterdir()) if path.is_file()}
    return found


def check_secret_key(backup: Path) -> None:
    """Raise BackupError if this installation could not read the backup's encrypted columns."""
    needed = (backup / SECRET_KEY).read_text().strip()
    if needed not in list_secret_keys():
        raise BackupError(
            f"The backup was made with another NETZWART_SECRET_KEY, without which what is encrypted in it cannot be read. Set "
            f"NETZWART_SECRET_KEY to the key in {backup / SECRET_KEY}, or add that key to NETZWART_SECRET_KEY_FALLBACKS."
        )


@dataclass(frozen=True)
class PlacedKeys:
    """Where keys were put; `aside`: where the ssh key is now that was there before, if it was another one."""

    written: tuple[Path, ...]
    aside: Path | None


def place_keys(backup: Path) -> PlacedKeys:
    """Put the portal's ssh key and known hosts where the settings have them, for their owner alone."""
    written: list[Path] = []
    aside = _move_other_key_aside(backup)
    if (backup / SSH_KEY).exists():
        _place(backup / SSH_KEY, Path(settings.SSH_KEY), written)
    for path in sorted((backup / KNOWN_HOSTS).glob("*")):
        _place(path, Path(settings.SSH_KNOWN_HOSTS) / path.name, written)
    return PlacedKeys(tuple(written), aside)


def _place(source: Path, target: Path, written: list[Path]) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.replace_private_file(target, source.read_bytes())
    written.append(target)


def _move_other_key_aside(backup: Path) -> Path | None:
    there, kept = Path(settings.SSH_KEY), backup / SSH_KEY
    if not (there.exists() and kept.exists()) or there.read_bytes() == kept.read_bytes():
        return None
    aside = there.with_name(f"{there.name}.before-restore")
    there.rename(aside)
    return aside
