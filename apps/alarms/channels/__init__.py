"""Channels: ways beside mail by which people learn of alarms, such as Matrix, ntfy or Telegram, through apprise."""
