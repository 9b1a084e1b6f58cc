from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("traffic", "0003_validity_by_id")]

    operations = [
        migrations.AddField(
            model_name="collected",
            name="former_logs",
            field=ArrayField(base_field=models.CharField(max_length=100), blank=True, db_default=[], default=list, size=None),
        ),
    ]
