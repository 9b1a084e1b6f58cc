"""All files of a gateway's failover, by their paths, and the digests by which they are known again."""

from firewall.failover.check import check_failover
from firewall.failover.conntrackd import render_conntrackd
from firewall.failover.keepalived import render_keepalived
from firewall.failover.shell_settings import render_shell_settings
from firewall.failover.spec import FailoverGateway, ProgramPaths
from firewall.file_digest import digest_text


def render_files(gateway: FailoverGateway, paths: ProgramPaths = ProgramPaths()) -> dict[str, str]:  # noqa: B008 - frozen
    """Return the text of each file by its path. Raises PolicyError for values that the programs would refuse."""
    digest = digest_files(gateway)
    programs = _render_programs(gateway, paths)
    sums = {path: digest_text(text) for path, text in programs.items()}
    return {**programs, paths.settings: render_shell_settings(gateway, paths, digest, sums)}


def digest_files(gateway: FailoverGateway) -> str:
    """Return a digest of what the files say, wherever they are. Raises PolicyError as render_files does."""
    check_failover(gateway)
    paths = ProgramPaths()
    texts = _render_programs(gateway, paths) | {paths.settings: render_shell_settings(gateway, paths, "", {})}
    return digest_text("".join(texts.values()))


def _render_programs(gateway: FailoverGateway, paths: ProgramPaths) -> dict[str, str]:
    return {paths.keepalived: render_keepalived(gateway, paths), paths.conntrackd: render_conntrackd(gateway, paths)}
