"""Portal and gateways run different versions of Python: what they compare or send must be the same under each version."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from ipaddress import IPv6Network
from pathlib import Path
from random import Random
from typing import Any

import pytest

from firewall import wire
from firewall.codec import encode
from firewall.compile import compile_policy
from firewall.policy import Management, Policy
from tests.packets import scenes
from tests.unit.test_render import CASES

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13")

# Prints digest, nft text and forwarded message of each ruleset on standard input
SAYS = """
import json, sys
from hashlib import sha256
from firewall import digest, render, wire
from firewall.codec import encode
for data in json.load(sys.stdin):
    ruleset = wire.parse_request(data).ruleset
    texts = render.render(ruleset, now=0), json.dumps(encode(ruleset))
    print(digest.format_digest(digest.digest_ruleset(ruleset)), *(sha256(text.encode()).hexdigest() for text in texts))
"""


def interpreters() -> dict[str, Path]:
    """Return a working interpreter of each version. A name on the PATH may be a shim that only reports a missing version."""
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    found = {}
    for version in VERSIONS:
        places = [Path(sys.executable)] if sys.version.startswith(f"{version}.") else []
        places += [path / "bin" / f"python{version}" for root in roots for path in sorted(root.glob(f"{version}*"))]
        places += [Path(name) for name in [shutil.which(f"python{version}")] if name]
        if starting := next(filter(_starts, places), None):
            found[version] = starting
    return found


def _starts(interpreter: Path) -> bool:
    return interpreter.exists() and subprocess.run([interpreter, "-c", ""], capture_output=True, check=False).returncode == 0


MAPPED = IPv6Network("::ffff:10.0.0.0/120")


@cache
def rulesets() -> tuple[Any, ...]:
    """Return requests on the wire: all golden files' policies, random policies, and addresses that versions write differently."""
    mapped = replace(scenes.MANAGED, management=Management((*scenes.MANAGED.management.sources, MAPPED)))
    given = [*CASES.values(), *(scenes.policy(Random(seed)) for seed in range(40)), Policy(mapped)]
    return tuple(encode(wire.Plan(0, compile_policy(policy))) for policy in given)


@cache
def said_by(interpreter: Path) -> list[str]:
    command, there = [str(interpreter), "-c", SAYS], {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, input=json.dumps(rulesets()), cwd=ROOT, env=there, text=True, capture_output=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("version", VERSIONS)
def test_digests_and_texts_are_the_same_as_under_this_version(version: str) -> None:
    found = interpreters()
    if version not in found:
        pytest.skip(f"no Python {version} on this machine")
    assert said_by(found[version]) == said_by(Path(sys.executable))
    assert len(said_by(found[version])) == len(rulesets())


def test_the_rulesets_hold_addresses_that_versions_write_differently() -> None:
    assert "::ffff:0:0/96" in json.dumps(rulesets()) and "::ffff:a00:0/120" in json.dumps(rulesets())
