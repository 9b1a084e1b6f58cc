"""Rules for the source of migrations: what they import, and which locks they hold on tables that grow.

A statement that reads all rows of a large table under a lock stops the pages and programs that write to it for as long.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3] / "migrations"
ALLOWED = ("apps.lib.fields", "apps.lib.database.email_lookups", "migrations.")
OURS = ("apps", "firewall", "gateway", "lab", "portal", "tests", "workers")
GROWING = re.compile(
    r"(traffic|webhooks|inbound|audit)[._]\w+|\w+[._]\w+event|mail[._]message|gateways[._]healthsample|bans[._]banhits|tickets[._](ticket|message)"
    r"|members[._]member|network[._]holding|nat[._](natmapping|forward)|deployments[._](rollout|rolloutstep|revision|revisioncontent)"
)
"""Tables that may have more than a hundred thousand rows, as app.model or app_model."""
JUDGED_SINCE: Mapping[str, int] = {
    "alarms": 6,
    "deployments": 4,
    "gateways": 10,
    "mail": 3,
    "members": 6,
    "nat": 4,
    "network": 10,
    "operations": 3,
    "preferences": 4,
    "traffic": 3,
}
"""First migration of each app whose locks are judged; 2 for other apps. Those before ran on no large table."""
ADVICE: Mapping[str, str] = {
    "AddIndex": "use AddIndexConcurrently with atomic = False",
    "AddConstraint": "use AddConstraintNotValid, then ValidateConstraint in the next migration; build a unique one from a concurrent index",
    "AlterField": "add a new column and fill it in batches outside the migration; SeparateDatabaseAndState if the table stays as it is",
}


def list_migrations() -> list[Path]:
    """Return the files of all migrations."""
    return sorted(ROOT.glob("*/[0-9]*.py"))


def find_live_imports(source: str) -> list[str]:
    """Return the modules of ours that the migration imports although they may change."""
    return [name for name in _iter_imports(ast.parse(source)) if name.split(".")[0] in OURS and not name.startswith(ALLOWED)]


def _iter_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def are_locks_judged(app: str, name: str) -> bool:
    """True if the migration with this name came after the rule."""
    return int(name[:4]) >= JUDGED_SINCE.get(app, 2)


def find_long_locks(app: str, source: str) -> list[str]:
    """Return a sentence for each operation that holds a lock while it reads all rows of a growing table."""
    tree = ast.parse(source)
    calls = [(node.func.attr, node) for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    made = {_read_argument(node, "name") for kind, node in calls if kind == "CreateModel"}
    found = []
    for kind, node in calls:
        model = _read_argument(node, "model_name")
        if kind in ADVICE and model not in made and GROWING.fullmatch(f"{app}.{model}"):
            found.append(f"{kind} on {app}.{model}: {ADVICE[kind]}")
    return found + [text for each in ast.walk(tree) if isinstance(each, ast.Constant) and (text := _judge_sql(each.value))]


def _read_argument(call: ast.Call, name: str) -> str:
    """Return a model's name in lower case, as Django compares it; "" if the call has no such text."""
    values = [each.value for each in call.keywords if each.arg == name]
    return values[0].value.lower() if values and isinstance(values[0], ast.Constant) and isinstance(values[0].value, str) else ""


def _judge_sql(value: object) -> str:
    """Return what is wrong with a statement; "" for texts that are none, or hold no lock for long."""
    text = " ".join(value.split()).lower() if isinstance(value, str) else ""
    if match := re.search(r"create (?:unique )?index (?!concurrently)(?:if not exists )?(?:\S+ )?on (?:only )?(\w+)", text):
        advice = "CREATE INDEX CONCURRENTLY, with atomic = False"
    elif match := re.search(r"(?:\bupdate|\bdelete from) (\w+)\b", text):
        advice = "change its rows in batches outside the migration"
    return f"SQL on {match[1]}: {advice}" if match and GROWING.fullmatch(match[1]) else ""
