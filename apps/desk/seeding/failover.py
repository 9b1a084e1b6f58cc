"""Seeded failover: the gateways of the demo network stand in for each other, with the files for the lab in which they run."""

from pathlib import Path
from typing import Final

from apps.accounts.models import User
from apps.desk.seeding.lab_network import LabNetwork
from apps.gateways.failover_files import render_failover_files
from apps.gateways.failover_settings import change_failover
from apps.network.models import Failover, Gateway, GatewayGroup
from firewall.failover import ProgramPaths

INTERVAL: Final = 100  # centiseconds: a busy machine makes keepalived late, and no role may move for that


def seed_failover(ground: LabNetwork, by: User) -> None:
    """Set the failover of the group, after its gateways have their interfaces."""
    of = ground.failover
    change_failover(
        group=GatewayGroup.objects.get(),
        version=0,
        inside=of.inside,
        outside=of.outside,
        servers=of.servers,
        virtual_router=of.virtual_router,
        interval=INTERVAL,
        by=by,
    )


def write_lab_failover_files(directory: Path) -> None:
    """Write each gateway's files to a subdirectory with its name; none if the group has no failover."""
    for failover in Failover.objects.select_related("group"):
        for gateway in Gateway.objects.filter(group=failover.group).select_related("group", "server_interface"):
            own = directory / gateway.name
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, text in render_failover_files(gateway, ProgramPaths.build_for_lab(gateway.name)).items():
                (own / name).write_text(text, encoding="utf-8")
