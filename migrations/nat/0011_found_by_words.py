import django.contrib.postgres.indexes
import django.db.models.functions.text
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("lib", "0001_extensions"),
        ("nat", "0010_forwards_in_the_order_of_their_list"),
        ("network", "0014_pings_for_a_minute"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="pinhole",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("purpose"), "gin_trgm_ops"),
                name="pinhole_purpose_search",
            ),
        ),
        migrations.AddIndex(
            model_name="portforward",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("purpose"), "gin_trgm_ops"),
                name="portforward_purpose_search",
            ),
        ),
    ]
