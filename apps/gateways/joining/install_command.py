"""The command that an administrator pastes on a bare Debian: it fetches the agent's package from the portal, installs it, and joins.

It holds no secret: the package has none, and the portal's key is the public half. The digest in it protects the package on its way,
also over plain HTTP; whoever can change the page itself can change the command, too.
"""

from dataclasses import dataclass
from ipaddress import ip_address
from shlex import quote
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse

from apps.gateways.agent_package.debian_package import build_agent_package
from apps.gateways.joining.models import JoiningMachine
from apps.lib.fields import Address

FILE = "/var/cache/apt/archives/netzwart-agent.deb"  # apt's own account can read there
OPTIONS = "-y --no-install-recommends"


@dataclass(frozen=True, slots=True)
class InstallCommand:
    """text: several lines that the shell takes as one command. by_hand: only its last line, for a machine that has the package.

    leads_here: True if NETZWART_URL names the machine itself, so that no other can fetch from there.
    """

    text: str
    by_hand: str
    url: str
    leads_here: bool


def build_install_command(machine: JoiningMachine) -> InstallCommand | None:
    """Return the command; None until a worker has said which key and which address it uses."""
    if not machine.portal_key or machine.portal_address is None:
        return None
    package = build_agent_package()
    url = settings.PORTAL_URL + reverse("gateways:agent-package", args=[package.filename])
    join = build_join_command(machine.name, machine.portal_address, machine.portal_key)
    steps = (
        f"apt-get update && apt-get install {OPTIONS} ca-certificates wget",
        f"wget -nv -O {FILE} {quote(url)}",
        f"echo '{package.digest}  {FILE}' | sha256sum -c",
        f"apt-get install {OPTIONS} --reinstall --allow-downgrades {FILE}",
        join,
    )
    return InstallCommand(" &&\n".join(steps), join, url, _leads_here(url))


def build_join_command(name: str, portal: Address, key: str) -> str:
    """Return the command that prepares a machine on which the package is installed."""
    return f"netzwart-join {quote(name)} --from {portal} --key {quote(key)}"


def _leads_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
