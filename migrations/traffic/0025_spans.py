import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("traffic", "0024_totals_and_throughput_by_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="Span",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("since", "until"), name="span_once"),
                    models.CheckConstraint(condition=models.Q(("until__gt", models.F("since"))), name="span_ends_after_it_begins"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SpanUsage",
            fields=[
                ("pk", models.CompositePrimaryKey("span_id", "member_id", blank=True, editable=False, primary_key=True, serialize=False)),
                ("member_id", models.BigIntegerField()),
                ("up_octets", models.BigIntegerField()),
                ("down_octets", models.BigIntegerField()),
                ("span", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="traffic.span")),
            ],
        ),
    ]
