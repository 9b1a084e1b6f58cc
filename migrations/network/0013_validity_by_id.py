from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # pages and changes go on while the index is built

    dependencies = [("network", "0012_uplink_fair_queues")]

    operations = [
        AddIndexConcurrently("holding", models.Index(fields=["id"], include=["valid"], name="holding_valid_by_id")),
    ]
