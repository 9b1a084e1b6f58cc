"""Self-check of a program before its trial: `self-check` imports all of the agent and reads what it has stored.

The launcher starts it within the agent's sandbox, while no agent runs. It changes nothing.
"""

from contextlib import closing
from importlib import import_module, resources
from pathlib import Path

from firewall.release import PACKAGES
from gateway.persistent_state import StateDirectory
from gateway.release import compute_version


def check_itself(state: Path) -> str:
    """Import every module of the agent, load the ruleset from the state directory, and return the program's version.

    Raises StateError if what is stored cannot be read, or whatever an import raises.
    """
    for name in (package.replace("/", ".") for package in PACKAGES if package.startswith("gateway")):
        for each in resources.files(name).iterdir():
            if each.name.endswith(".py") and not each.name.startswith("__"):
                import_module(f"{name}.{each.name.removesuffix('.py')}")
    with closing(StateDirectory(state)) as directory:
        directory.load()
    return compute_version()
