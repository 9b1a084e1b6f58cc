from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("deployments", "0007_gateway_standings"),
    ]

    operations = [
        migrations.AddField(
            model_name="gatewaystate",
            name="unshaped",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
