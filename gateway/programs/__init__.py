"""Programs of the agent that the portal sent: kept in the state directory, tried, and started instead of the package's (docs/agent.md)."""
