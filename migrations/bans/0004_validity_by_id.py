from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # pages and changes go on while the index is built

    dependencies = [("bans", "0003_counted_bans")]

    operations = [
        AddIndexConcurrently("block", models.Index(fields=["id"], include=["valid"], name="block_valid_by_id")),
    ]
