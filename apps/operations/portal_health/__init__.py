"""Health of the portal itself: its database, its queues, its backups. Read once a minute, and judged by rules."""
