from django.db import migrations

from migrations.deployments._touched import again, times, triggers


class Migration(migrations.Migration):
    """Rate limits touch all that their member holds, and so does another tariff; a tariff with other rates touches everybody who has it."""

    dependencies = [
        ("deployments", "0010_what_kernels_are_set_to"),
        ("traffic", "0010_rate_limits"),
        ("members", "0003_tariffs_have_rates"),
    ]
    operations = [
        triggers("traffic_ratelimit", "id, member_id, up_kbit, down_kbit, valid", "('member', r.member_id::text)"),
        times("traffic_ratelimit", "ratelimit"),
        *again("members_member", "id, state, tariff_id", "('member', r.id::text)"),
        triggers("members_tariff", "id, up_kbit, down_kbit", "('tariff', r.id::text)"),
    ]
