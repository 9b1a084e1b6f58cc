"""docker-compose.yml and Dockerfile as they stand; `script/test-compose` runs them."""

import re
from typing import Any

import pytest
import yaml

from apps.status.publication.emergency_sheet import RUNBOOK
from portal.alive import PORTS, REPORTING
from portal.programs import ROOT, list_programs

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
IGNORED = (ROOT / ".dockerignore").read_text().split()
TARGETS = re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.MULTILINE)
PORTAL_FILES = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE.split(" AS build\n")[1].split("\nFROM ")[0], re.MULTILINE)


def test_each_program_of_the_portal_has_a_container_that_becomes_it_and_asks_whether_it_lives() -> None:
    for name in list_programs(ROOT):
        assert SERVICES[name]["command"] == ["python", "-m", "portal.programs", name]
        assert SERVICES[name]["healthcheck"]["test"] == ["CMD", "python", "-m", "portal.alive", name]
    assert set(list_programs(ROOT)) == {*PORTS, *REPORTING}


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "lab"])
def test_no_container_of_a_portal_can_write_its_image_or_get_more_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert ("cap_add" in service) == (name == "proxy")


def test_nothing_but_the_portal_and_its_proxy_has_a_network() -> None:
    of_portal = {*list_programs(ROOT), "migrate", "proxy"}
    assert {name for name, service in SERVICES.items() if service["network_mode"] == "host"} == of_portal
    assert {service["network_mode"] for name, service in SERVICES.items() if name not in of_portal} == {"none"}


def test_what_others_than_a_portal_needs_starts_only_when_it_is_asked_for() -> None:
    assert {name: service["profiles"] for name, service in SERVICES.items() if "profiles" in service} == {"proxy": ["tls"], "lab": ["lab"]}


def test_each_image_is_built_from_the_one_dockerfile_and_nothing_is_fetched_when_it_starts() -> None:
    assert {service["build"]["target"] for service in SERVICES.values()} <= set(TARGETS)
    assert all(service["build"]["context"] == "." for service in SERVICES.values())
    started = " ".join(str(service.get("command", "")) for service in SERVICES.values())
    assert not re.search(r"pip|apt|curl|wget|http", started)


def test_no_stage_of_the_image_runs_as_root_but_the_lab_and_caddy_which_gives_it_up() -> None:
    for target in ("portal", "postgres", "redis"):
        stage = DOCKERFILE.split(f" AS {target}\n")[1].split("\nFROM ")[0]
        assert re.findall(r"^USER (\w+)$", stage, re.MULTILINE)[-1] not in {"root", "0"}
    proxy = DOCKERFILE.split(" AS proxy\n")[1]
    assert '"setpriv", "--reuid", "caddy"' in proxy


def test_what_the_image_copies_gets_past_the_list_of_what_is_sent_to_docker() -> None:
    assert IGNORED[0] == "*"
    copied = {word for line in PORTAL_FILES for word in line.split()}
    assert RUNBOOK.relative_to(ROOT).as_posix() in copied, "the emergency sheet contains it"
    assert not {name for name in copied if not {f"!{name}", f"!{name.split('/')[0]}"} & set(IGNORED)}
    assert not {name for name in copied if not (ROOT / name).exists()}


def test_every_program_of_the_portal_stops_in_its_own_time() -> None:
    """Docker's ten seconds would end a rollout, or a page that waits for a lock, half-way."""
    for name in ("web", "worker", "collector", "mailer", "feeds"):
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) >= 90


def test_an_upgrade_stops_every_program_before_the_database_is_brought_up_to_date() -> None:
    """docs/upgrade.md demands it: the release before must not write to the schema of the next one."""
    page = (ROOT / "docs" / "containers.md").read_text().split("\n## Upgrade\n")[1].split("\n## ")[0]
    stops, starts = (line.split()[3:] for line in page.splitlines() if re.match(r" {4}docker compose (stop|up)\b", line))
    assert (set(stops), starts) == (set(list_programs(ROOT)), ["--detach"])


def test_the_proxy_of_the_containers_is_the_one_that_the_documentation_shows() -> None:
    shown = (ROOT / "docs" / "live.md").read_text().split("```caddy\n")[1].split("```")[0]
    used = (ROOT / "containers" / "Caddyfile").read_text()
    assert _list_directives(shown, "portal.example.org {") == _list_directives(used, "{$TLS_NAME:localhost} {")


def _list_directives(text: str, site: str) -> list[str]:
    return [line.strip() for line in text.split(f"\n{site}\n")[1].splitlines()]
