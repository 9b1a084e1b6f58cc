"""The manifest of a backup: what is in it, and what its database held. Pure values; stored as JSON beside the files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from apps.operations.backup.errors import BackupError
from firewall.codec import decode, encode

FORMAT: Final = 1
NAME: Final = "manifest.json"
DUMP: Final = "database.dump"
DIRECTORY_PREFIX: Final = "netzwart-"


@dataclass(frozen=True)
class BackedUpFile:
    """A file of a backup: its path inside, its size in octets, and its SHA-256 in hexadecimal digits."""

    path: str
    octets: int
    sha256: str


@dataclass(frozen=True)
class BackupManifest:
    """What a backup holds.

    made: time of the database's snapshot, as ISO 8601 in UTC. release: of the portal that made it. server: the server's version as
    PostgreSQL numbers it, such as 150018. migrations: the names of those applied, by app. rows: their number in each table, in the same
    snapshot as the dump.
    """

    format: int
    made: str
    release: str
    server: int
    database: str
    migrations: Mapping[str, tuple[str, ...]]
    rows: Mapping[str, int]
    files: tuple[BackedUpFile, ...]

    @property
    def made_at(self) -> datetime:
        return datetime.fromisoformat(self.made)

    @property
    def octets(self) -> int:
        """Size of all files."""
        return sum(each.octets for each in self.files)


def render_manifest(manifest: BackupManifest) -> str:
    """Return the manifest as JSON for a file."""
    return json.dumps(encode(manifest), indent=2, sort_keys=True) + "\n"


def parse_manifest(text: str) -> BackupManifest:
    """Return the manifest. Raises BackupError if it is none, or of a newer format."""
    try:
        data = json.loads(text)
        known = data.get("format") if isinstance(data, dict) else None
        if isinstance(known, int) and known > FORMAT:
            raise BackupError(f"The backup has format {known}, and this release knows up to {FORMAT}. Use the release that made it.")
        manifest: BackupManifest = decode(BackupManifest, data)
        made = manifest.made_at
    except (ValueError, RecursionError) as error:  # WireError and json's error are ValueErrors
        raise BackupError(f"{NAME} cannot be understood: {error}") from error
    if made.tzinfo is None:
        raise BackupError(f"{NAME} cannot be understood: made: “{manifest.made}” has no zone.")
    return manifest


def build_directory_name(made: datetime) -> str:
    """Return the name of a backup's directory, such as netzwart-2026-11-28T16-50-00Z."""
    return f"{DIRECTORY_PREFIX}{made.astimezone(UTC):%Y-%m-%dT%H-%M-%SZ}"
