import stat
from pathlib import Path

import pytest

from portal.stack import environment
from portal.stack.errors import StackError
from portal.stack.postgres_account import ServerAccount, allow_traversal, make_private_directory
from portal.stack.state_paths import LONGEST_GATEWAY_NAME, LONGEST_SOCKET_PATH, StatePaths

LONG = Path("/srv") / ("deep/" * 30)
STRANGER = ServerAccount("stranger", 54_321, 54_321)


@pytest.mark.parametrize("var", [Path("/srv/var"), LONG])
def test_every_socket_path_is_short_enough_for_the_kernel(var: Path) -> None:
    places = StatePaths.from_directory(var)
    paths = [places.sockets / ".s.PGSQL.5432", places.redis_socket, places.gateway_sockets / ("g" * LONGEST_GATEWAY_NAME + ".sock")]
    assert max(len(bytes(path)) for path in paths) <= LONGEST_SOCKET_PATH


def test_gateway_sockets_lie_in_the_state_directory_while_they_fit() -> None:
    assert StatePaths.from_directory(Path("/srv/var")).gateway_sockets == Path("/srv/var/gateways")
    assert StatePaths.from_directory(LONG).gateway_sockets == StatePaths.from_directory(LONG).sockets / "gateways"


def test_two_state_directories_share_no_socket_and_no_lab() -> None:
    one, other = StatePaths.from_directory(Path("/srv/one")), StatePaths.from_directory(Path("/srv/other"))
    assert one.sockets != other.sockets
    assert one.lab_name != other.lab_name


def test_the_secret_key_is_made_once_and_only_we_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "var" / "secret-key"
    first = environment.ensure_secret_key(file)
    assert len(first) >= 50
    assert environment.ensure_secret_key(file) == first
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_environment_names_the_lab_only_where_it_runs(tmp_path: Path) -> None:
    places = StatePaths.from_directory(tmp_path)
    assert environment.build_variables(places)["NETZWART_LAB_NAME"] == ""
    assert environment.build_variables(places, lab=True)["NETZWART_LAB_NAME"] == places.lab_name


def test_export_lines_survive_a_shell() -> None:
    assert environment.render_exports({"B": "it's", "A": "1 2"}) == "export A='1 2'\nexport B='it'\"'\"'s'\n"


def test_a_directory_of_a_stranger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises((StackError, FileExistsError)):
        make_private_directory(link, ServerAccount.choose_for_server())


def test_the_way_is_opened_by_the_right_to_pass_and_nothing_more(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "open").mkdir(mode=0o755)
    changed = allow_traversal(closed / "open" / "cluster", STRANGER)
    assert closed in changed
    assert closed / "open" not in changed
    assert stat.S_IMODE(closed.stat().st_mode) == 0o701
    assert allow_traversal(closed / "open" / "cluster", STRANGER) == []
