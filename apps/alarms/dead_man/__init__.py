"""Dead-man's switch: somebody else notices when the portal falls silent, because it cannot report its own death."""
