import os
from pathlib import Path

import pytest

from portal.stack.errors import StackError
from portal.stack.postgres import Binaries, choose_server, is_cluster_server, list_installed_servers

NEW, OLD = Binaries(17, Path("/17")), Binaries(15, Path("/15"))


def cluster_of(major: str, where: Path) -> Path:
    (where / "PG_VERSION").write_text(f"{major}\n")
    return where


def test_a_new_cluster_is_made_by_the_newest_server(tmp_path: Path) -> None:
    assert choose_server(tmp_path, [NEW, OLD]) == NEW


def test_a_cluster_is_served_by_the_version_that_made_it(tmp_path: Path) -> None:
    assert choose_server(cluster_of("15", tmp_path), [NEW, OLD]) == OLD


def test_a_cluster_of_a_version_that_is_not_installed_is_named_with_the_remedies(tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"made by PostgreSQL 16, but installed is 17 and 15\. Install postgresql-16"):
        choose_server(cluster_of("16", tmp_path), [NEW, OLD])


def test_a_server_that_is_too_old_is_no_server(tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"15 or newer is not installed \(only 13 was found\)"):
        choose_server(tmp_path, [Binaries(13, Path("/13"))])


def test_servers_are_found_under_debians_directories(tmp_path: Path) -> None:
    for version in ("15", "17", "common"):
        (tmp_path / version / "bin").mkdir(parents=True)
        (tmp_path / version / "bin" / "initdb").touch()
    assert [server.major for server in list_installed_servers(tmp_path)] == [17, 15]


def test_a_process_that_works_elsewhere_does_not_serve_the_cluster(tmp_path: Path) -> None:
    assert not is_cluster_server(os.getpid(), tmp_path)
    assert is_cluster_server(os.getpid(), Path.cwd())
