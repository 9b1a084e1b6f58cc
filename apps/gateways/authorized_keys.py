"""What is left to do on a gateway that has never answered: the portal's line for its authorized_keys.

Only the public half of the portal's key is read, by ssh-keygen; a web process that may not read the file says where the line comes from.
"""

import os
import subprocess
from dataclasses import dataclass

from django.conf import settings

from apps.deployments.models import GatewayState
from apps.deployments.transport import ssh, ssh_keys
from apps.network.models import Gateway

PATIENCE = 2  # seconds


@dataclass(frozen=True, slots=True)
class SshAccessSetup:
    """line: for authorized_keys of the account; "" if this process cannot read the portal's key. fingerprint: of the host key."""

    line: str
    fingerprint: str


def build_ssh_access_setup(gateway: Gateway) -> SshAccessSetup | None:
    """Return what is left to do on a gateway that is reached by ssh; None once it has answered."""
    if gateway.link != Gateway.Link.SSH or GatewayState.objects.filter(gateway=gateway).exclude(seen=None).exists():
        return None
    return SshAccessSetup(_read_line(), ssh.compute_fingerprint(gateway.host_key))


def _read_line() -> str:
    """Return the line for authorized_keys; "" without a readable key. Makes no key."""
    if not os.access(settings.SSH_KEY, os.R_OK):
        return ""
    command = ["ssh-keygen", "-y", "-P", "", "-f", str(settings.SSH_KEY)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ssh_keys.build_authorized_keys_line(" ".join(done.stdout.split()[:2]))
