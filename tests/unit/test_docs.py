"""The pages keep their word: links lead somewhere, and commands and files that they name exist."""

import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands

from portal.api import router

ROOT = Path(__file__).parents[2]
UNREAD = {"var", "node_modules"}  # and whatever begins with a dot
PICTURES = ROOT / "docs" / "pictures"  # made last, from a running portal
SUFFIXES = (".py", ".md", ".toml", ".html", ".css", ".js", ".lock", ".in", ".yml")
PLACEHOLDER = re.compile(r"[A-Z]{2,}")

FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^(?: {4}| {6}).*\n?)+", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")
ADR_PARTS = ["Context", "Decision", "Consequences", "Measured"]


@cache
def pages() -> list[Path]:
    """Every page of the checkout."""
    found = (
        path for path in ROOT.rglob("*.md") if not any(each.startswith(".") or each in UNREAD for each in path.relative_to(ROOT).parts)
    )
    return sorted(found)


def name(page: Path) -> str:
    """The page, from the root of the checkout."""
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """The page without its blocks of code."""
    return INDENTED.sub("", FENCE.sub("", page.read_text()))


def code(page: Path) -> Iterator[str]:
    """Blocks and spans of code."""
    text = page.read_text()
    yield from (found.group() for found in FENCE.finditer(text))
    text = FENCE.sub("", text)
    yield from INDENTED.findall(text)
    yield from SPAN.findall(INDENTED.sub("", text))


def words(page: Path) -> set[str]:
    """The words of all code, without the signs around them."""
    return {word.strip("\"'(),;:…[]=") for piece in code(page) for word in piece.split()}


def anchors(page: Path) -> set[str]:
    """The names that a page's headings can be linked by."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@cache
def folders() -> set[str]:
    """The folders at the root."""
    return {each.name for each in ROOT.iterdir() if each.is_dir() and each.name not in UNREAD}


@cache
def file_names() -> set[str]:
    """The names of all files in our folders, and at the root."""
    inside = {file.name for folder in folders() if not folder.startswith(".") for file in (ROOT / folder).rglob("*")}
    return inside | {file.name for file in ROOT.iterdir()}


def missing(words: Iterable[str]) -> list[str]:
    """Words that look like files of ours and are none."""
    return sorted(word for word in words if PATH.fullmatch(word) and not there(word))


def there(word: str) -> bool:
    """Is it a file or folder of ours, or does it not look like one?"""
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


def test_a_page_that_names_a_file_that_is_none_would_be_seen() -> None:
    assert missing(["firewall/nothing.py", "script/nothing", "nothing.py", "firewall/compile.py", "n/m", "compile.py"]) == [
        "firewall/nothing.py",
        "nothing.py",
        "script/nothing",
    ]
