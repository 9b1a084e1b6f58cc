"""Installing failover files on request: what the agent writes for netzwart-failover and reports back, and what that accepts as root."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from firewall import wire
from firewall.codec import encode
from firewall.failover import ProgramPaths, digest_files, render_files
from firewall.file_trial import FileTrial, FileTrialIs, FileTrialPhase, InstallFiles, KeepFiles, RevertFiles
from gateway.failover_files import BACK, KEEP, LARGEST, OUTCOME, REQUEST, FailoverFileRequests, FileRequestError, render_request
from gateway.table import TableError
from lab.failover import build_gateway
from tests.agent.gateways import InProcess

VALUES = build_gateway("nat-1")
ASKED = InstallFiles(VALUES, digest_files(VALUES))


@pytest.fixture
def installer(tmp_path: Path) -> FailoverFileRequests:
    return FailoverFileRequests(tmp_path, tmp_path / "trial")


def test_values_are_left_for_netzwart_failover_which_renders_the_portals_files(installer: FailoverFileRequests, tmp_path: Path) -> None:
    assert installer.answer(FileTrial()) == FileTrialIs(FileTrialPhase.NONE)
    assert installer.answer(ASKED) == FileTrialIs(FileTrialPhase.ASKED)
    (tmp_path / "files").mkdir()
    render_request(tmp_path / REQUEST, tmp_path / "files", ProgramPaths())
    assert {file.name: file.read_text() for file in (tmp_path / "files").iterdir()} == {
        Path(path).name: text for path, text in render_files(VALUES).items()
    }


def test_a_new_request_forgets_the_confirmation_of_the_one_before(installer: FailoverFileRequests, tmp_path: Path) -> None:
    installer.answer(KeepFiles(ASKED.digest))
    assert (tmp_path / KEEP).read_text() == f"{ASKED.digest}\n"
    installer.answer(ASKED)
    assert not (tmp_path / KEEP).exists()


def test_an_installation_that_has_not_begun_is_called_off(installer: FailoverFileRequests, tmp_path: Path) -> None:
    installer.answer(ASKED)
    assert installer.answer(RevertFiles()) == FileTrialIs(FileTrialPhase.NONE)
    assert not (tmp_path / REQUEST).exists()
    assert (tmp_path / KEEP).read_text() == f"{BACK}\n"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("asked", FileTrialIs(FileTrialPhase.ASKED)),
        ("trial 0123456789abcdef", FileTrialIs(FileTrialPhase.TRIAL, "0123456789abcdef")),
        ("kept 0123456789abcdef", FileTrialIs(FileTrialPhase.KEPT, "0123456789abcdef")),
        ("refused conntrackd does not work", FileTrialIs(FileTrialPhase.REFUSED, problem="conntrackd does not work")),
        ("nonsense", FileTrialIs(FileTrialPhase.NONE, "")),
        ("", FileTrialIs(FileTrialPhase.NONE)),
    ],
)
def test_the_agent_tells_how_far_netzwart_failover_got(
    installer: FailoverFileRequests, tmp_path: Path, said: str, told: FileTrialIs
) -> None:
    (tmp_path / "trial").write_text(f"{said}\n")
    assert installer.answer(FileTrial()) == told


def test_values_that_make_other_files_here_are_refused(installer: FailoverFileRequests, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="renders other files than the portal: install the portal's agent here"):
        installer.answer(replace(ASKED, digest="0" * 16))
    with pytest.raises(TableError, match=r"^failover: virtual_router: 0 is not between 1 and 255"):
        installer.answer(replace(ASKED, values=replace(VALUES, spec=replace(VALUES.spec, virtual_router=0))))
    assert list(tmp_path.iterdir()) == []


def test_an_agent_beside_which_nothing_installs_says_so(tmp_path: Path) -> None:
    for request in (ASKED, KeepFiles(ASKED.digest), RevertFiles(), FileTrial()):
        with pytest.raises(TableError, match=r"does not install files: install them by hand \(netzwart-failover install\)"):
            FailoverFileRequests(None).answer(request)


def test_the_messages_reach_the_agent(tmp_path: Path) -> None:
    gateway = InProcess(tmp_path / "state")
    try:
        for request in (ASKED, KeepFiles(ASKED.digest), RevertFiles(), FileTrial()):
            refused = gateway.ask(request)
            assert isinstance(refused, wire.Refused)
            assert (refused.reason, refused.text.partition(":")[0]) == ("state", "this agent does not install files")
    finally:
        gateway.close()


def _name_the_inside(name: str) -> str:
    """Return a request in which the inside interface has this name."""
    return json.dumps(encode(replace(ASKED, values=replace(VALUES, interfaces=replace(VALUES.interfaces, lan=name)))))


@pytest.mark.parametrize(
    "request_text",
    [
        "{",
        "[" * 30_000,
        " " * (LARGEST + 1),
        json.dumps(encode(ASKED) | {"path": "/etc/shadow"}),
        json.dumps(encode(KeepFiles(ASKED.digest))),
        _name_the_inside("lan0 }\nvrrp_script x {"),
        _name_the_inside("lan0'; reboot; '"),
        _name_the_inside("../lan0"),
    ],
)
def test_root_renders_nothing_from_a_request_that_is_not_values(tmp_path: Path, request_text: str) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / REQUEST).write_text(request_text)
    with pytest.raises(FileRequestError, match=r"^the portal's values cannot be used: "):
        render_request(tmp_path / REQUEST, tmp_path / "files", ProgramPaths())
    assert list((tmp_path / "files").iterdir()) == []


def test_root_follows_no_link_and_waits_for_no_pipe(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps(encode(ASKED)))
    (tmp_path / "link").symlink_to("elsewhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "missing"):
        with pytest.raises(FileRequestError):
            render_request(tmp_path / name, tmp_path, ProgramPaths())


def test_the_files_lie_where_the_units_look_for_them() -> None:
    units = Path(__file__).parents[2] / "gateway" / "systemd"
    assert f"PathExists=/run/netzwart/{REQUEST}\n" in (units / "netzwart-failover-install.path").read_text()
    assert f"adopt /run/netzwart/{REQUEST} /run/netzwart/{KEEP}\n" in (units / "netzwart-failover-install.service").read_text()
    assert " --installs /run/netzwart " in (units / "netzwart-agent.service").read_text()
    program = (units.parent / "debian" / "netzwart-failover").read_text()
    assert f"RUNTIME=${{NETZWART_FAILOVER_RUNTIME:-{OUTCOME.parent}}}\n" in program
    assert f'write "$RUNTIME/{OUTCOME.name}" ' in program
