"""Fixtures of tests that follow the documentation to the letter: fresh Debians that boot as the portal and as two gateways of a lab.

Run them with `script/try-documents`.
"""

import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from lab.lab import Lab
from lab.machines.booted_tree import BootedTree, make_tree
from lab.obstacles import list_obstacles
from lab.topology import load_topology
from tests.installed.administrator import ADDRESS, NAME
from tests.installed.trees import GATEWAY_SUITES, Trees, build_later_release
from tests.whole.system import inside

ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 300  # seconds


@pytest.fixture(scope="session")
def trees(request: pytest.FixtureRequest) -> Iterator[Trees]:
    """The packages, and bare Debians that can install them, from the mirrors of this machine."""
    if not request.config.getoption("--machines"):
        pytest.skip("needs machines that boot: script/try-documents")
    if found := [*list_obstacles(), *([] if shutil.which("mmdebstrap") else ["the program mmdebstrap is missing (Debian: mmdebstrap)"])]:
        pytest.skip("; ".join(found))
    with TemporaryDirectory(prefix="nw-trees-") as directory:  # not tmp_path, which other runs of pytest remove
        yield make_trees(Path(directory))


def make_trees(directory: Path) -> Trees:
    """Build the packages, and make the trees."""
    packages = directory / "packages"
    subprocess.run([str(ROOT / "script/build-deb"), "--output", str(packages)], check=True, stdin=subprocess.DEVNULL)
    [portal], [agent] = packages.glob("netzwart_*.deb"), packages.glob("netzwart-agent_*.deb")
    with ThreadPoolExecutor() as makers:
        made = [makers.submit(make_tree, "trixie", directory / "portal", portal, ["curl"])]
        for name, suite in GATEWAY_SUITES.items():
            made.append(makers.submit(make_tree, suite, directory / name, agent, ["ca-certificates", "wget"]))
    for each in made:
        each.result()
    return Trees(directory, build_later_release(portal, packages / "later"))


@pytest.fixture
def lab(trees: Trees) -> Iterator[Lab]:
    """A lab with this thread in the portal's node. Its gateways have no probe: `netzwart-probe` makes one."""
    del trees  # made before, in this machine's network
    with Lab.start(load_topology()) as made, inside(made, "portal"):
        for gateway in GATEWAY_SUITES:
            made.run(gateway, ["ip", "link", "delete", "probe0"])
        yield made


@pytest.fixture
def gateways(lab: Lab, trees: Trees) -> Iterator[dict[str, BootedTree]]:
    """Two bare Debians that have booted in place of the lab's gateways, by name."""
    machines = {name: BootedTree(name, trees.copy(name)) for name in GATEWAY_SUITES}
    try:
        for name, machine in machines.items():
            with inside(lab, name):
                machine.switch_on()
        yield machines
    finally:
        for machine in machines.values():
            machine.cut_power()


@pytest.fixture
def portal(lab: Lab, trees: Trees) -> Iterator[BootedTree]:
    """A bare Debian that has booted on the portal's machine."""
    del lab  # this thread is in the portal's node
    machine = BootedTree("portal", trees.copy("portal"))
    try:
        machine.switch_on()
        yield machine
    finally:
        machine.cut_power()


@pytest.fixture
def page(lab: Lab) -> Iterator[Page]:
    """A page of a browser on the portal's machine, which believes Caddy's own certificate."""
    del lab  # the browser is started in the portal's node
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking", f"--host-resolver-rules=MAP {NAME} {ADDRESS}"],
        )
        context = browser.new_context(base_url=f"https://{NAME}", locale="en-GB", timezone_id="Europe/Berlin", ignore_https_errors=True)
        context.set_default_timeout(PATIENCE * 1000)
        yield context.new_page()
        browser.close()
