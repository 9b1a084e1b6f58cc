"""Pages of revisions: what each contains, what it changed, and how two of them differ."""
