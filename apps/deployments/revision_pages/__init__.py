"""Revisions as pages show them: what each contains, what it changed, and how two of them differ."""
