from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # rollouts go on while the indexes are built

    dependencies = [("deployments", "0004_restored_database")]

    operations = [
        AddIndexConcurrently("rollout", models.Index(fields=["group", "-id"], name="rollout_by_group")),
        AddIndexConcurrently("rollout", models.Index(fields=["state", "-id"], name="rollout_by_state")),
    ]
