"""The portal as a Debian package. It only builds one: nothing here runs in production. Needs the standard library only."""
