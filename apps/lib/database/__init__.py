"""Database features that several apps share: history, triggers, periods of validity, query limits, the schema snapshot."""
