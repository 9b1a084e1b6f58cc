"""The NETZWART_* variables of a state directory (docs/settings.md explains each one)."""

import os
import secrets
import shlex
from collections.abc import Mapping
from pathlib import Path

from portal.stack import postgres, redis
from portal.stack.state_paths import StatePaths

SECRET_CHARACTERS = 50


def build_variables(places: StatePaths, *, lab: bool = False) -> dict[str, str]:
    """Return the variables by which processes of this state directory find each other. Creates the secret key if there is none."""
    return {
        "NETZWART_VAR": str(places.var),
        "NETZWART_SECRET_KEY": ensure_secret_key(places.secret_key),
        "NETZWART_DATABASE_URL": postgres.build_url(places),
        "NETZWART_REDIS_URL": redis.build_url(places),
        "NETZWART_LAB_NAME": places.lab_name if lab else "",
        "NETZWART_LAB_STATE": str(places.lab),
        "NETZWART_GATEWAY_SOCKETS": str(places.gateway_sockets),
        "NETZWART_REQUIRE_SECOND_FACTOR": os.environ.get("NETZWART_REQUIRE_SECOND_FACTOR", "0"),
    }


def ensure_secret_key(file: Path) -> str:
    """Return the key in the file (mode 0600), which the first call creates."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as target:
            target.write(secrets.token_urlsafe(SECRET_CHARACTERS) + "\n")
        fresh.rename(file)  # atomically, so that no partial key is ever read
    return file.read_text().strip()


def render_exports(values: Mapping[str, str]) -> str:
    """Return lines that a shell can read: `export NAME='value'`."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in sorted(values.items()))
