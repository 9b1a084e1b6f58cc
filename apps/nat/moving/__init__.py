"""Moves of members to another room or address on a planned day; their forwards and pinholes follow or end."""
