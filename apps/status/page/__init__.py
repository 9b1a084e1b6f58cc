"""The public status page, without sign-in, and its feeds."""
