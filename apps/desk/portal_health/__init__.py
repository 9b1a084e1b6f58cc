"""The page of the portal's own health."""
