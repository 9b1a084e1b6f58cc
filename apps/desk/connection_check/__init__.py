"""“Is it me or the network?”: what is known of a member's connection, one finding after the other, and the verdict."""
