from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("members", "0002_found_fast"),
    ]

    operations = [
        migrations.AddField(
            model_name="tariff",
            name="down_kbit",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="rate down"),
        ),
        migrations.AddField(
            model_name="tariff",
            name="up_kbit",
            field=models.PositiveIntegerField(blank=True, null=True, verbose_name="rate up"),
        ),
        migrations.AddField(
            model_name="tariff",
            name="version",
            field=models.PositiveIntegerField(default=1, editable=False),
        ),
        migrations.AddConstraint(
            model_name="tariff",
            constraint=models.CheckConstraint(
                condition=models.Q(("up_kbit", None), ("up_kbit__range", (64, 10000000)), _connector="OR"), name="tariff_up_kbit"
            ),
        ),
        migrations.AddConstraint(
            model_name="tariff",
            constraint=models.CheckConstraint(
                condition=models.Q(("down_kbit", None), ("down_kbit__range", (64, 10000000)), _connector="OR"), name="tariff_down_kbit"
            ),
        ),
    ]
