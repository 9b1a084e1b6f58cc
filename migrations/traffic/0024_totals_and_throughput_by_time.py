from django.db import migrations, models

# sum() of bigint counts in numeric, with a state of its own for each group; octets of a member stay far below 2^63, and above it this
# one fails rather than lies
TOTAL = """
    CREATE AGGREGATE traffic_total (bigint) (SFUNC = int8pl, STYPE = bigint, INITCOND = '0', COMBINEFUNC = int8pl, PARALLEL = SAFE)
"""


class Migration(migrations.Migration):
    dependencies = [("traffic", "0023_today_and_weeks")]

    operations = [
        migrations.RunSQL(TOTAL, "DROP AGGREGATE traffic_total (bigint)"),
        migrations.AddIndex(model_name="throughput", index=models.Index(fields=["bucket"], name="throughput_by_time")),
    ]
