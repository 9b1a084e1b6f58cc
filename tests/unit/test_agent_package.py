"""The agent's Debian package: its bytes, what dpkg reads from them, and what a careful packager looks at."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from apps.deployments.transport import ssh_keys
from apps.gateways.agent_package import debian_package
from apps.gateways.agent_package.archives import PackedFile, build_ar, build_tar, build_zip
from firewall.failover import ProgramPaths, render_files
from firewall.release import VERSION_NUMBER
from gateway.release import compute_version
from lab.failover import build_gateway

ROOT = Path(__file__).parents[2]
PACKAGE = debian_package.build_agent_package()
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43


def read_members(archive: bytes) -> dict[str, bytes]:
    """Return the members of an ar archive by name."""
    assert archive.startswith(b"!<arch>\n")
    members, at = {}, 8
    while at < len(archive):
        head = archive[at : at + 60]
        assert head.endswith(b"`\n")
        size = int(head[48:58])
        members[head[:16].decode().strip()] = archive[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    return members


def read_tar(name: str) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """Return entries and contents of one of the package's archives, by path."""
    with tarfile.open(fileobj=io.BytesIO(read_members(PACKAGE.content)[name])) as archive:
        return {each.name: (each, file.read() if (file := archive.extractfile(each)) else b"") for each in archive}


def test_its_version_is_that_of_the_agent_in_it() -> None:
    assert PACKAGE.version == compute_version()
    assert PACKAGE.version.startswith(f"{VERSION_NUMBER}+")
    assert PACKAGE.filename == f"netzwart-agent_{compute_version()}_all.deb"
    assert PACKAGE.digest == hashlib.sha256(PACKAGE.content).hexdigest()


def test_it_is_built_anew_to_the_same_bytes() -> None:
    debian_package.build_agent_package.cache_clear()
    assert debian_package.build_agent_package() == PACKAGE


def test_its_members_are_those_that_dpkg_expects_in_this_order() -> None:
    members = read_members(PACKAGE.content)
    assert list(members) == ["debian-binary", "control.tar", "data.tar"]
    assert members["debian-binary"] == b"2.0\n"


def test_it_contains_program_units_sysctls_and_the_command_to_join() -> None:
    files = {path for path, (entry, _) in read_tar("data.tar").items() if entry.isfile()}
    systemd = ROOT / "gateway" / "systemd"
    units = {f"./usr/lib/systemd/system/{each.relative_to(systemd)}" for each in systemd.rglob("*") if each.is_file()}
    assert units < files
    assert files - units == {
        "./usr/lib/netzwart/netzwart-agent.pyz",
        "./usr/lib/netzwart/package-parts",
        "./usr/sbin/netzwart-failover",
        "./usr/sbin/netzwart-join",
        "./usr/sbin/netzwart-probe",
        "./usr/share/doc/netzwart-agent/copyright",
        "./usr/share/netzwart/90-netzwart.conf",
    }
    assert "./etc/netzwart" in read_tar("data.tar")


def test_it_puts_nothing_where_an_installation_alone_switches_forwarding_on() -> None:
    """Debian 13 applies /usr/lib/sysctl.d whenever a package has put a file there: before the first rule stands."""
    assert not [path for path in read_tar("data.tar") if "sysctl.d" in path]


def test_everything_belongs_to_root_and_nobody_else_may_write() -> None:
    for entry, _ in (*read_tar("data.tar").values(), *read_tar("control.tar").values()):
        assert (entry.uid, entry.gid, entry.mode & 0o022) == (0, 0, 0), entry.name
        assert entry.mode & 0o111 or entry.isfile(), entry.name


def test_each_folder_comes_before_what_is_in_it() -> None:
    seen: set[str] = set()
    for path in read_tar("data.tar"):
        assert path == "." or str(Path(path).parent) in {str(Path(each)) for each in seen}, path
        seen.add(path)


def test_the_sums_are_those_of_the_files() -> None:
    files = {path[2:]: content for path, (entry, content) in read_tar("data.tar").items() if entry.isfile()}
    sums = [f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}  {path}" for path, content in files.items()]
    assert sorted(read_tar("control.tar")["./md5sums"][1].decode().splitlines()) == sorted(sums)


def test_the_units_and_the_portals_key_name_the_program_where_it_is() -> None:
    program = "/usr/lib/netzwart/netzwart-agent.pyz"
    assert program == ssh_keys.PROGRAM
    for unit in (ROOT / "gateway" / "systemd").glob("netzwart-*"):
        for line in unit.read_text().splitlines():
            assert "netzwart-agent.pyz" not in line or program in line, unit.name


def test_the_command_to_join_writes_the_line_that_the_portal_shows() -> None:
    script = (ROOT / "gateway" / "debian" / "netzwart-join").read_text()
    command = next(line.split('"')[1] for line in script.splitlines() if line.strip().startswith('command="'))
    assert ssh_keys.build_authorized_keys_line(KEY) == f'restrict,command="{command}" {KEY} netzwart'


@pytest.mark.parametrize("name", [*debian_package.SCRIPTS, *debian_package.COMMANDS])
def test_its_scripts_stop_at_the_first_fault_and_parse(name: str) -> None:
    script = ROOT / "gateway" / "debian" / name
    assert script.read_text().startswith("#!/bin/sh\n")
    assert "\nset -e" in script.read_text()
    assert os.access(script, os.X_OK)
    subprocess.run(["sh", "-n", script], check=True)


def test_only_a_purge_deletes_the_table_and_no_script_flushes() -> None:
    scripts = {name: (ROOT / "gateway" / "debian" / name).read_text() for name in (*debian_package.SCRIPTS, *debian_package.COMMANDS)}
    assert [name for name, text in scripts.items() if "nft delete table" in text] == ["postrm"]
    commands = [line for text in scripts.values() for line in text.splitlines() if not line.strip().startswith("#")]
    assert not [line for line in commands if "flush" in line or "--now" in line]


FAKE_PROGRAM = """#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
case "${0##*/} $*" in "systemctl"*is-enabled*) for unit; do :; done; case " $ENABLED " in *" $unit "*) ;; *) exit 1 ;; esac ;; esac
"""  # getent and all others succeed, and systemctl says which units are enabled
FAKED = ("systemctl", "deb-systemd-invoke", "deb-systemd-helper", "getent", "install")
OPTIONAL_UNITS = ("netzwart-probe-namespace.service", "netzwart-prober.service", "netzwart-failover.timer")


def run_postinst(directory: Path, *arguments: str, enabled: tuple[str, ...]) -> list[str]:
    """Run the package's postinst as on a machine with systemd, where these units are enabled. Return the units that it starts, in order."""
    for name in FAKED:
        (directory / name).write_text(FAKE_PROGRAM)
        (directory / name).chmod(0o755)
    log, script = directory / "log", (ROOT / "gateway/debian/postinst").read_text()
    at = {"PATH": f"{directory}:{os.environ['PATH']}", "LOG": str(log), "ENABLED": " ".join(enabled)}
    subprocess.run(["sh", "-c", script.replace("/run/systemd/system", str(directory)), "postinst", *arguments], check=True, env=at)
    starts = [line.split()[2:] for line in log.read_text().splitlines() if line.startswith(("deb-systemd-invoke start", "systemctl start"))]
    return [unit for units in starts for unit in units]


def test_what_a_removal_stopped_runs_again_after_another_installation(tmp_path: Path) -> None:
    started = run_postinst(tmp_path, "configure", "0.1.0", enabled=OPTIONAL_UNITS)
    assert tuple(unit for unit in started if unit in OPTIONAL_UNITS) == OPTIONAL_UNITS
    stopped = re.findall(r"netzwart-[a-z-]+(?:\.\w+)?", (ROOT / "gateway/debian/prerm").read_text().split("set -e\n")[1])
    of_boot = {"netzwart-restore", "netzwart-closed", "netzwart-agent"}  # the agent is restarted
    assert {unit.removesuffix(".service") for unit in started} == set(stopped) - of_boot


def test_an_upgrade_starts_no_probe_and_no_failover_where_none_is_set_up(tmp_path: Path) -> None:
    assert not set(OPTIONAL_UNITS) & set(run_postinst(tmp_path, "configure", "0.1.0", enabled=()))


@pytest.mark.parametrize(("option", "words"), [("--from", "--from needs an address"), ("--key", "--key needs a key")])
def test_the_command_that_joins_says_what_an_option_lacks(option: str, words: str) -> None:
    done = subprocess.run([ROOT / "gateway/debian/netzwart-join", "nat-1", option], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"netzwart-join: {words}\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "Usage"),
        (("--ipv4",), "netzwart-probe: --ipv4 needs an address"),
        (("--ipv4", "172.31.254.2;reboot"), "--ipv4 takes an address"),
        (("--ipv6", "2001:db8::$(id)"), "--ipv6 takes an address"),
        (("--interface", "probe0"), "give an address"),
        (("--ipv4", "172.31.254.2", "--interface", "a b"), "--interface takes a name"),
        (("--ipv5", "1"), "there is no option --ipv5"),
    ],
)
def test_the_command_of_the_probe_refuses_what_it_does_not_understand(options: tuple[str, ...], words: str) -> None:
    done = subprocess.run([ROOT / "gateway/debian/netzwart-probe", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and words in done.stderr


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("swich",), "there is no command “swich”; --help lists them"),
        (("install",), "name the directory"),
        (("drain",), "failover is not set up here: there is no /nonexistent"),
        (("drain", "--now"), "failover is not set up here: there is no /nonexistent"),
    ],
)
def test_the_command_of_failover_says_what_is_missing(words: tuple[str, ...], answer: str) -> None:
    command = [str(ROOT / "gateway/debian/netzwart-failover"), *words]
    at = {"PATH": os.environ["PATH"], "NETZWART_FAILOVER_CONF": "/nonexistent"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=at)
    assert (done.returncode, done.stderr) == (1, f"netzwart-failover: {answer}\n")


def call_unlock(directory: Path, *, answers: bool) -> bool:
    """Call it as conntrackd's unit does, where another conntrackd answers or not. Return whether the lock is still there."""
    lock, settings, file = (directory / name for name in ("conntrackd.lock", "failover.conf", "conntrackd.conf"))
    paths = ProgramPaths(conntrackd=str(file), settings=str(settings), lock=str(lock))
    lock.touch()
    for path, text in render_files(build_gateway("nat-1"), paths).items():
        (directory / Path(path).name).write_text(text)
    (directory / "conntrackd").write_text(f"#!/bin/sh\nexit {0 if answers else 1}\n")
    (directory / "conntrackd").chmod(0o755)
    at = {"PATH": f"{directory}:{os.environ['PATH']}", "NETZWART_FAILOVER_CONF": str(settings)}
    subprocess.run([ROOT / "gateway/debian/netzwart-failover", "unlock"], check=True, env=at)
    return lock.exists()


def test_a_conntrackd_that_was_killed_can_start_again_although_it_left_its_lock(tmp_path: Path) -> None:
    assert not call_unlock(tmp_path, answers=False)


def test_a_conntrackd_that_answers_keeps_its_lock(tmp_path: Path) -> None:
    assert call_unlock(tmp_path, answers=True)


def test_conntrackds_unit_puts_back_files_and_then_removes_the_lock_that_they_name() -> None:
    unit = (ROOT / "gateway/systemd/conntrackd.service.d/netzwart.conf").read_text()
    assert re.findall(r"^ExecStartPre=-\+/bin/sh /usr/sbin/netzwart-failover (\w+)$", unit, re.MULTILINE) == ["recover", "unlock"]


def test_what_keepalived_asks_each_second_reads_no_elements_of_sets() -> None:
    """nft 1.0.6 reads all elements for each list command but “list chains”."""
    lines = (ROOT / "gateway/debian/netzwart-failover").read_text().splitlines()
    asked = [line.strip() for line in lines if "nft " in line and not line.startswith("#")]
    assert [line.split(" 2>")[0] for line in asked] == ["nft list chains inet"]


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="dpkg-deb is not installed (Debian: dpkg)")
def test_dpkg_reads_it(tmp_path: Path) -> None:
    file = tmp_path / PACKAGE.filename
    file.write_bytes(PACKAGE.content)
    fields = subprocess.run(["dpkg-deb", "--field", file], check=True, capture_output=True, text=True).stdout
    assert f"Version: {PACKAGE.version}" in fields
    assert {"python3", "nftables", "libnftables1", "conntrack", "iputils-ping", "openssh-server"} <= set(fields.replace(",", " ").split())
    subprocess.run(["dpkg-deb", "--extract", file, tmp_path / "tree"], check=True)
    assert zipfile.ZipFile(tmp_path / "tree/usr/lib/netzwart/netzwart-agent.pyz").testzip() is None


def test_archives_do_not_depend_on_the_order_of_their_files() -> None:
    one, other = PackedFile("a/b", b"1"), PackedFile("a/c/d", b"22", 0o755)
    assert build_tar([one, other]) == build_tar([other, one])
    assert build_zip({"a": b"1", "b": b"2"}) == build_zip({"b": b"2", "a": b"1"})
    assert read_members(build_ar({"odd": b"123", "even": b"12"})) == {"odd": b"123", "even": b"12"}
