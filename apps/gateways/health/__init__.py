"""Health of the gateways' machines: read every ten seconds, turned into rates, judged by rules, summed up for charts."""
