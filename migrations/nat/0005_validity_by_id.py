from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # pages and changes go on while the indexes are built

    dependencies = [("nat", "0004_claims_of_many_forwards")]

    operations = [
        AddIndexConcurrently("natmapping", models.Index(fields=["id"], include=["valid"], name="natmapping_valid_by_id")),
        AddIndexConcurrently("pinhole", models.Index(fields=["id"], include=["valid"], name="pinhole_valid_by_id")),
        AddIndexConcurrently("portforward", models.Index(fields=["id"], include=["valid"], name="portforward_valid_by_id")),
    ]
