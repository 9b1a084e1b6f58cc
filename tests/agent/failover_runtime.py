"""Failover of a gateway in a test: its files, and the directory in which netzwart-failover leaves the roles."""

from dataclasses import replace
from pathlib import Path

from firewall.failover import ProgramPaths, render_files
from lab.failover import build_gateway
from tests.agent.gateways import AnyGateway, get_failover_path


def set_up_failover(gateway: AnyGateway) -> Path:
    """Write the gateway's files as `netzwart-failover install` does, and return the directory of its roles, which is empty."""
    made = gateway.state.parent / "runtime"
    made.mkdir()
    paths = replace(ProgramPaths.build_for_lab("nat-1"), runtime=str(made), settings=str(get_failover_path(gateway.state)))
    paths = replace(paths, keepalived=str(made / "keepalived.conf"), conntrackd=str(made / "conntrackd.conf"))
    for path, text in render_files(build_gateway("nat-1"), paths).items():
        Path(path).write_text(text)
    return made
