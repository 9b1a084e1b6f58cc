"""Rules for names, which `script/lint` holds: `python -m tests.naming` prints what breaks them and ends with 1.

- A function or method, private ones too, is a verb or a question, not a bare participle: `count_hits`, `is_held`, not `counted`, `held`.
- A public class has a name of its own in the whole tree, so that a search for it finds one class.
- No module is named by a word that says nothing, such as `utils`.
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
    """Is the name one word, and that a past participle: `told`, `_kept`, `wanted`?"""
    word = name.strip("_")
    return word not in NO_PARTICIPLES and word.islower() and "_" not in word and (word in PARTICIPLES or word.endswith("ed"))


def list_problems(modules: dict[str, ast.Module]) -> list[str]:
    """What breaks a rule, as lines `path:line: sentence`. modules: the parsed source by path."""
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
    """Those of the module and of its classes; what is defined within a function stays there."""
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    yield from (node for body in bodies for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def read_modules() -> dict[str, ast.Module]:
    """The committed modules of our own code, parsed."""
    listed = subprocess.run(
        ["git", "ls-files", *(f"{each}/*.py" for each in FOLDERS)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {path: ast.parse((ROOT / path).read_text()) for path in listed.stdout.split() if (ROOT / path).exists()}


if __name__ == "__main__":
    found = list_problems(read_modules())
    sys.stdout.writelines(f"{each}\n" for each in found)
    sys.exit(bool(found))
