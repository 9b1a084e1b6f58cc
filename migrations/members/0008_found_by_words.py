import django.contrib.postgres.indexes
import django.db.models.functions.comparison
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0007_found_without_accents"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="device",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("name"), "gin_trgm_ops"),
                name="device_name_search",
            ),
        ),
        migrations.AddIndex(
            model_name="device",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.functions.text.Replace(
                        django.db.models.functions.comparison.Cast("mac", models.TextField()),
                        models.Value(":"),
                        models.Value(""),
                        output_field=models.TextField(),
                    ),
                    "gin_trgm_ops",
                ),
                name="device_mac_search",
            ),
        ),
    ]
