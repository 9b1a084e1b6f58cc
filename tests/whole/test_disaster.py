"""The portal's database is lost and restored from an older backup, while a member's packets pass through real gateways."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from apps.deployments.models import Rollout
from apps.deployments.restored_database import restore_hold
from apps.deployments.services import reconcile
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.operations.backup.creation import create_backup
from apps.operations.backup.restoration import restore_backup
from lab.lab import Lab
from tests import factories
from tests.lost_database import database_afterwards, lose_database
from tests.whole.system import INTERNET, conversation, reaches

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]
KEPT, LATER = 8443, 9001


def forward(network: factories.Network, port: int) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def is_open(lab: Lab, port: int) -> bool:
    """Whether the internet reaches the member's host through this forward."""
    return reaches(lab, "internet", str(factories.PUBLIC), port) is not None


def test_packets_pass_through_the_loss_of_the_database_its_restore_and_the_first_rollout_after_it(
    lab: Lab, network: factories.Network, tmp_path: Path, settings: LazySettings
) -> None:
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = tmp_path / "id", tmp_path / "known_hosts.d"
    forward(network, KEPT)
    reconcile(network.group)
    with database_afterwards(), conversation(lab, "m3", INTERNET, 80) as goes_on:
        backup = create_backup(tmp_path / "backups", lambda _words: None)
        forward(network, LATER)
        reconcile(network.group)
        assert is_open(lab, LATER)
        lose_database()
        assert goes_on()
        assert is_open(lab, KEPT)
        assert is_open(lab, LATER)

        restore_backup(backup.path, lambda _words: None)
        reconcile(network.group, cause="schedule")
        assert goes_on()
        assert is_open(lab, LATER), "the gateways were changed before anybody agreed"

        said = StringIO()
        call_command("adopt", stdout=said)
        assert f"port forward TCP {factories.PUBLIC}:{LATER} → {network.residents['m1'].holding}:443 (Resident of m1)" in said.getvalue()
        assert ": one object that the database lacks" in said.getvalue()

        restore = restore_hold.find_open_restore()
        assert restore is not None
        restore_hold.agree(restore, by=network.admin, seen=None)
        rollout = reconcile(network.group, cause="schedule")
        assert rollout is not None
        assert rollout.state == Rollout.State.CONFIRMED
        assert goes_on()
        assert is_open(lab, KEPT)
        assert not is_open(lab, LATER)
