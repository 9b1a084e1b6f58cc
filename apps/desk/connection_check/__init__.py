"""Connection check, “Is it me or the network?”: findings about a member's connection, and a verdict."""
