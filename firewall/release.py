"""Version of the agent: its release and a hash of its sources, so that two builds can be told apart."""

from collections.abc import Mapping
from hashlib import sha256

VERSION_NUMBER = "0.1.0"  # as in pyproject.toml
PACKAGES = ("firewall", "firewall/failover", "gateway", "gateway/evidence", "gateway/health", "gateway/probes", "gateway/programs")
"""What the agent consists of; other subpackages are the portal's."""


def format_release_version(sources: Mapping[str, bytes]) -> str:
    """Return a version such as 0.1.0+3f9a2c41. sources: content by name, such as "gateway/main.py"."""
    hasher = sha256()
    for name in sorted(sources):
        hasher.update(f"{name}\0".encode() + sources[name])
    return f"{VERSION_NUMBER}+{hasher.hexdigest()[:8]}"
