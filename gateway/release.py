"""Version of the agent: its release and a hash of its sources, so that two builds can be told apart."""

from functools import cache
from hashlib import sha256
from importlib import resources

VERSION_NUMBER = "0.1.0"  # as in pyproject.toml
PACKAGES = ("firewall", "gateway")


@cache
def compute_version() -> str:
    """Return a version such as 0.1.0+3f9a2c41. It is the same for a checkout and for the file built from it."""
    hasher = sha256()
    for package in PACKAGES:
        sources = {each.name: each for each in resources.files(package).iterdir() if each.name.endswith(".py")}
        for name in sorted(sources):
            hasher.update(f"{package}/{name}\0".encode() + sources[name].read_bytes())
    return f"{VERSION_NUMBER}+{hasher.hexdigest()[:8]}"
