"""Commands that start a module of this package as a program, from any directory and with any environment."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build_module_command(name: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that calls the module's `main()`.

    It runs without `site`: the lab needs only the standard library, and starts faster.
    """
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from {name} import main; main()"
    return (sys.executable, "-I", "-S", "-c", start, *arguments)
