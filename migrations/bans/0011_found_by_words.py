import django.contrib.postgres.indexes
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("lib", "0001_extensions"),
        ("bans", "0010_refreshes_are_claimed_by_token"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddIndex(
            model_name="ban",
            index=django.contrib.postgres.indexes.GinIndex(
                django.contrib.postgres.indexes.OpClass(django.db.models.functions.text.Upper("comment"), "gin_trgm_ops"),
                name="ban_comment_search",
            ),
        ),
    ]
