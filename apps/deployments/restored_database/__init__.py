"""A database that was restored from a backup: nothing is sent to gateways until a person has seen what differs (docs/backup.md)."""
