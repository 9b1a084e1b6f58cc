"""Upgrades of a group's agents by the portal: each gateway tries the new program, the one that carries least first (docs/upgrade.md)."""
