"""Naming rules, enforced by `script/lint`: `python -m tests.naming` prints violations and exits with 1.

- A function or method, private ones too, is a verb or a question, not a bare participle: `count_hits`, `is_held`, not `counted`,
  `held`.
- A public class has a name that is unique in the whole tree, so that a search for it finds one class.
- No module has an empty word as its name, such as `utils`.
"""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("apps", "firewall", "gateway", "workers", "portal", "lab", "benchmarks", "tests")
IRREGULAR = """
begun bound bought broken brought built caught chosen done drawn driven fallen felt found given gone grown heard held hidden kept
known laid led left lent lit lost made meant met paid said seen sent shown sold sought spent spoken stolen sworn taken taught
thought told thrown understood won worn written
"""
PARTICIPLES = frozenset(IRREGULAR.split())
NO_PARTICIPLES = frozenset(("bed", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"))
EMPTY_WORDS = frozenset(("base", "common", "helpers", "manager", "misc", "util", "utils"))
SHARED_CLASSES = frozenset(("Command",))  # Django looks for this name
MODELS = frozenset(("Event", "Message", "Move", "Profile"))  # tables are named after them: they change with the schema


def is_participle(name: str) -> bool:
    """Whether the name is a single word and a past participle, such as `told`, `_kept`, `wanted`."""
    word = name.strip("_")
    return word not in NO_PARTICIPLES and word.islower() and "_" not in word and (word in PARTICIPLES or word.endswith("ed"))


def list_problems(modules: dict[str, ast.Module]) -> list[str]:
    """Return the violations as lines `path:line: sentence`. modules: the parsed source by path."""
    problems = [problem for path, tree in sorted(modules.items()) for problem in _iter_module_problems(path, tree)]
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in sorted(modules.items()):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in SHARED_CLASSES | MODELS:
                places[node.name].append(f"{path}:{node.lineno}")
    return problems + [
        f"{each}: class {name} is also at {', '.join(x for x in found if x != each)}"
        for name, found in sorted(places.items())
        for each in found[1:]
    ]


def _iter_module_problems(path: str, tree: ast.Module) -> Iterator[str]:
    if Path(path).stem in EMPTY_WORDS:
        yield f"{path}:1: the module's name does not say what is in it"
    for node in _iter_functions(tree):
        if is_participle(node.name):
            yield f"{path}:{node.lineno}: function {node.name} is a bare participle; name what it does, or ask a question (is_…)"


def _iter_functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of the module and the methods of its classes, without nested functions."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    yield from (node for body in bodies for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def read_modules() -> dict[str, ast.Module]:
    """Parse the committed modules of our own code."""
    listed = subprocess.run(
        ["git", "ls-files", *(f"{each}/*.py" for each in FOLDERS)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {path: ast.parse((ROOT / path).read_text()) for path in listed.stdout.split() if (ROOT / path).exists()}


if __name__ == "__main__":
    found = list_problems(read_modules())
    sys.stdout.writelines(f"{each}\n" for each in found)
    sys.exit(bool(found))
