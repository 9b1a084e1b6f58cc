"""Administration of accounts: their roles, second factors, sessions and tokens."""
