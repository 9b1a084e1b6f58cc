"""Who is limited for a time while a group's uplink is full: the heaviest members of the last minutes, and only then."""
