"""Documentation pages: links, commands, files, options and addresses that they name must exist."""

import importlib.util
import os
import re
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import Resolver404, get_resolver, resolve

from apps.events.asgi import STREAMS
from portal.api import router

ROOT = Path(__file__).parents[2]
UNREAD = {"var", "node_modules"}  # and folders that begin with a dot
PICTURES = ROOT / "docs" / "pictures"  # made last, from a running portal
SUFFIXES = (".py", ".md", ".toml", ".html", ".css", ".js", ".lock", ".in", ".yml")
PLACEHOLDER = re.compile(r"[A-Z]{2,}")

FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^(?: {4}| {6}).*\n?)+", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")
OPTION = re.compile(r"(?<=\s)--[a-z][a-z0-9-]*")
ADR_PARTS = ["Context", "Decision", "Consequences", "Measured"]


@cache
def pages() -> list[Path]:
    """Return all pages of the checkout."""
    found = (
        path for path in ROOT.rglob("*.md") if not any(each.startswith(".") or each in UNREAD for each in path.relative_to(ROOT).parts)
    )
    return sorted(found)


def name(page: Path) -> str:
    """Return the page's path from the root of the checkout."""
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """Return the page without its blocks of code."""
    return INDENTED.sub("", FENCE.sub("", page.read_text()))


def code(page: Path) -> Iterator[str]:
    """Yield the page's blocks and spans of code."""
    text = page.read_text()
    yield from (found.group() for found in FENCE.finditer(text))
    text = FENCE.sub("", text)
    yield from INDENTED.findall(text)
    yield from SPAN.findall(INDENTED.sub("", text))


def words(page: Path) -> set[str]:
    """Return the words of all code, without surrounding punctuation."""
    return {word.strip("\"'(),;:…[]=") for piece in code(page) for word in piece.split()}


def anchors(page: Path) -> set[str]:
    """Return the anchors of the page's headings."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def lines(page: Path) -> Iterator[str]:
    """Yield the lines of all code, with lines continued by a backslash joined."""
    for piece in code(page):
        yield from re.sub(r"\\\n\s*", "", piece).splitlines()


def iter_documented_options(page: Path) -> Iterator[tuple[str, str]]:
    """Yield each option of a management command that the page names, as command and option."""
    for line in lines(page):
        for command, rest in re.findall(r"manage\.py +([a-z_]+)((?: +(?!&&|;)[^\s#|`]+)*)", line):
            yield from ((command, option) for option in OPTION.findall(rest))


@cache
def options(command: str) -> set[str]:
    """Return all options of a management command, including its subcommands."""
    app = get_commands()[command]
    parser = load_command_class(app, command).create_parser("manage.py", command)
    return set(of_parser(parser))


def of_parser(parser: ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, _SubParsersAction):
            for each in action.choices.values():
                yield from of_parser(each)


@cache
def variables() -> set[str]:
    """Return the environment variables that one of our programs reads or sets."""
    programs = (file for folder in folders() for file in (ROOT / folder).rglob("*") if file.suffix in {".py", ""} and file.is_file())
    return {found for file in programs for found in re.findall(r"NETZWART_[A-Z_]+", file.read_text(errors="ignore"))}


def addresses(page: Path) -> set[str]:
    """Return paths of the portal: those after its address, and standalone ones that begin with a known part."""
    text = page.read_text()
    behind = re.findall(r"https?://(?:127\.0\.0\.1:8000|localhost:8000)(/[^\s'\"`)?#]*)", text)
    alone = [span.partition("?")[0] for span in SPAN.findall(prose(page)) if re.fullmatch(r"/[a-z]+/[\w/.-]*", span)]
    return {*behind, *(path for path in alone if path.split("/")[1] in begins())}


@cache
def begins() -> set[str]:
    """Return the first parts of all of the portal's paths."""
    return {str(each.pattern).lstrip("^").partition("/")[0] for each in get_resolver().url_patterns if str(each.pattern)}


def leads(path: str) -> bool:
    """Return whether the path leads to a page, or has pages of rows below it. `pk` stands for a number; examples begin with `/api`."""
    path = re.sub(r"(?<=/)pk(?=/|$)", "1", "/api/" if path == "/api" else path)
    return path in STREAMS or any(exists(each) for each in (path, f"{path}1/"))


def exists(path: str) -> bool:
    try:
        resolve(path)
    except Resolver404:
        return False
    return True


@cache
def folders() -> set[str]:
    """Return the folders at the root."""
    return {each.name for each in ROOT.iterdir() if each.is_dir() and each.name not in UNREAD}


@cache
def file_names() -> set[str]:
    """Return the names of all files in our folders and at the root."""
    inside = {file.name for folder in folders() if not folder.startswith(".") for file in (ROOT / folder).rglob("*")}
    return inside | {file.name for file in ROOT.iterdir()}


def missing(words: Iterable[str]) -> list[str]:
    """Return the words that look like our files but do not exist."""
    return sorted(word for word in words if PATH.fullmatch(word) and not is_our_file(word))


def is_our_file(word: str) -> bool:
    """Return whether the word is one of our files or folders, or does not look like one."""
    first, slash, rest = word.partition("/")
    if slash:
        return first not in folders() or bool(PLACEHOLDER.fullmatch(rest)) or any(ROOT.glob(word.rstrip("/")))
    return not word.endswith(SUFFIXES) or word in file_names()


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_link_leads_to_a_page_and_to_a_heading_of_it(page: Path) -> None:
    lost = []
    for link in LINK.findall(prose(page)):
        target, _, anchor = link.partition("#")
        at = (page.parent / target).resolve() if target else page
        if re.match(r"[a-z]+:", link) or PICTURES in at.parents:
            continue
        if not at.exists() or (anchor and anchor not in anchors(at)):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    assert missing(words(page)) == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_script_that_is_named_can_be_run(page: Path) -> None:
    named = {word for word in words(page) if re.fullmatch(r"script/\w+", word)}
    assert [word for word in sorted(named) if not os.access(ROOT / word, os.X_OK)] == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_management_command_that_is_named_exists(page: Path) -> None:
    named = {command for piece in code(page) for command in re.findall(r"manage\.py +([a-z_]+)", piece)}
    assert sorted(named - get_commands().keys()) == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_module_that_is_to_be_run_exists(page: Path) -> None:
    named = {module for piece in code(page) for module in re.findall(r"python -m ([a-z_.]+)", piece)}
    assert [module for module in sorted(named) if importlib.util.find_spec(module) is None] == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_option_of_a_management_command_that_is_named_exists(page: Path) -> None:
    assert [f"{command} {option}" for command, option in iter_documented_options(page) if option not in options(command)] == []


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_option_of_a_script_that_is_named_exists(page: Path) -> None:
    lost = []
    for line in lines(page):
        for script, rest in re.findall(r"(script/[a-z-]+)((?: +[^\s#|]+)*)", line):
            known = (ROOT / script).read_text() + "".join(file.read_text() for file in (ROOT / "portal" / "stack").glob("*.py"))
            lost += [f"{script} {option}" for option in OPTION.findall(rest) if option not in known and script != "script/bench"]
    assert lost == []


@pytest.mark.parametrize("page", [*pages(), ROOT / "docker-compose.yml"], ids=name)
def test_every_variable_that_is_named_is_read_somewhere(page: Path) -> None:
    named = set(re.findall(r"NETZWART_[A-Z][A-Z_]*[A-Z]", page.read_text()))
    assert sorted(named - variables()) == []


@pytest.mark.parametrize(
    "page", [page for page in pages() if page.name != "permissions.md"], ids=name
)  # generated by a command, and checked by that command's test
def test_every_address_of_the_portal_that_is_named_leads_somewhere(page: Path) -> None:
    assert [path for path in sorted(addresses(page)) if not leads(path)] == []


@pytest.mark.parametrize("page", [ROOT / "docs/containers.md", ROOT / "docs/install.md", ROOT / "script/test-compose"], ids=name)
def test_a_portal_that_is_set_up_by_the_page_answers_monitors_on_its_own_machine(page: Path) -> None:
    """The runbook asks for http://127.0.0.1:8000/healthz; under another name than those, any answer is 400."""
    given = re.findall(r"^ *NETZWART_ALLOWED_HOSTS=(.+)$", page.read_text(), re.MULTILINE)
    assert given and all("127.0.0.1" in hosts.split(",") for hosts in given)


def test_the_runbook_says_what_manage_py_is_on_each_kind_of_portal() -> None:
    opening = (ROOT / "docs/runbook.md").read_text().split("**Three things to know**")[0]
    assert {".venv/bin/python manage.py", "netzwart", "docker compose exec web netzwart"} <= set(SPAN.findall(opening))


def test_every_page_is_named_where_readers_look_for_it() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(prose(index))}
    assert [name(page) for page in pages() if index.parent in page.parents and page not in linked | {index}] == []


def test_every_endpoint_of_the_api_is_described_and_no_other() -> None:
    described = re.findall(r"^## `/api/(\w+/\w+)/`$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert sorted(described) == sorted(prefix for prefix, _viewset, _basename in router.registry)


def test_decisions_are_numbered_without_a_gap() -> None:
    numbers = [int(page.name[:4]) for page in sorted((ROOT / "docs" / "adr").glob("*.md"))]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=name)
def test_a_decision_has_its_number_and_its_four_parts(page: Path) -> None:
    title, *parts = HEADING.findall(page.read_text())
    assert title.startswith(f"{int(page.name[:4])}. ")
    assert parts == ADR_PARTS


def test_what_does_not_exist_would_be_seen() -> None:
    assert "--gateway" in options("compile") and "--management" in options("gateway") and "--live" not in options("compile")
    assert leads("/members/pk/") and leads("/api/gateways/limits/") and not leads("/members/pk/nothing/")
    assert "NETZWART_SECRET_KEY" in variables() and f"NETZWART_{'NOTHING'}" not in variables()


def test_a_page_that_names_a_file_that_is_none_would_be_seen() -> None:
    assert missing(["firewall/nothing.py", "script/nothing", "nothing.py", "firewall/compile.py", "n/m", "compile.py"]) == [
        "firewall/nothing.py",
        "nothing.py",
        "script/nothing",
    ]
