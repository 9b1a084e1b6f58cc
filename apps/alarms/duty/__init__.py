"""The duty rota: who is told of alarms first, and when."""
