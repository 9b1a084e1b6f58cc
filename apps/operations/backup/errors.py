"""What keeps a backup from being made, checked or restored."""


class BackupError(Exception):
    """A backup cannot be made, is not whole, or must not be restored here. Its text says why, and what to do."""
