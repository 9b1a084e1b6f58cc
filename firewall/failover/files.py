"""All files of a gateway's failover, by their paths."""

from firewall.failover.conntrackd import render_conntrackd
from firewall.failover.keepalived import render_keepalived
from firewall.failover.shell_settings import render_shell_settings
from firewall.failover.spec import FailoverGateway, ProgramPaths, check_failover


def render_files(gateway: FailoverGateway, paths: ProgramPaths = ProgramPaths()) -> dict[str, str]:  # noqa: B008 - frozen
    """Return the text of each file by its path. Raises PolicyError for values that the programs would refuse."""
    check_failover(gateway)
    return {
        paths.keepalived: render_keepalived(gateway, paths),
        paths.conntrackd: render_conntrackd(gateway, paths),
        paths.settings: render_shell_settings(gateway, paths),
    }
