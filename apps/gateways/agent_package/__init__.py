"""The agent as a file that gateways install: a zip application, and the Debian package around it. Needs the standard library only."""
