"""The agent's own version (firewall/release.py). It is the same for a checkout and for the file built from it."""

from functools import cache
from importlib import resources

from firewall.release import PACKAGES, format_release_version


@cache
def compute_version() -> str:
    """Return the version of the sources that run."""
    sources = {
        f"{package}/{each.name}": each.read_bytes()
        for package in PACKAGES
        for each in resources.files(package.replace("/", ".")).iterdir()
        if each.name.endswith(".py")
    }
    return format_release_version(sources)
