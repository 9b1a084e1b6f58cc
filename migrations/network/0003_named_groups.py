from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("network", "0002_shares_kept_free"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="gatewaygroup",
            constraint=models.CheckConstraint(condition=models.Q(("name__regex", "\\S")), name="gatewaygroup_has_name"),
        ),
    ]
