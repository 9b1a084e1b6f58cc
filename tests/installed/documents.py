"""Commands of the documentation, in the order in which a person types them."""

import re
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"
OUTPUT: Final = "netzwart: "  # begins a line of output that a page shows


def list_commands(page: str, heading: str) -> list[str]:
    """Return the indented lines of a section of docs/`page`, without those of sections below it. Raise LookupError if there are none."""
    text = (DOCS / page).read_text()
    found = re.search(rf"^#+ {re.escape(heading)}$\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^ {4,7}(\S.*)$", found[1], re.MULTILINE) if found else []
    commands = [each for each in lines if not each.startswith(OUTPUT)]
    if not commands:
        raise LookupError(f"docs/{page} has no commands under “{heading}”")
    return commands
