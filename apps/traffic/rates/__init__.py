"""Rate limits of members for a time, with reason, rate and end; and the switch that turns rate limits off for a gateway group."""
