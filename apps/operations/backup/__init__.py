"""Backups of the whole portal: made, checked, and restored (docs/backup.md)."""
