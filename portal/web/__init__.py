"""The web server in front of Django: an event loop reads requests and writes answers, with deadlines; only Django runs in threads."""
