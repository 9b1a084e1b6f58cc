"""Commands of the documentation, in the order in which a person types them."""

import re
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"
SEEN: Final = "*You see*"  # begins what a section says of its commands' output


def list_commands(page: str, heading: str) -> list[str]:
    """Return the indented lines of a section of docs/`page`, without those of sections below it. Raise LookupError if there are none."""
    text = (DOCS / page).read_text()
    found = re.search(rf"^#+ {re.escape(heading)}$\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    commands = re.findall(r"^ {4,7}(\S.*)$", found[1].partition(SEEN)[0], re.MULTILINE) if found else []
    if not commands:
        raise LookupError(f"docs/{page} has no commands under “{heading}”")
    return commands
