from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # pages and changes go on while the index is built

    dependencies = [("traffic", "0002_retention_in_settings")]

    operations = [
        AddIndexConcurrently("ratelimit", models.Index(fields=["id"], include=["valid"], name="ratelimit_valid_by_id")),
    ]
