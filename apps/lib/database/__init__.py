"""Database features that several apps share: history, triggers, periods of validity, limits on queries, the snapshot of the schema."""
