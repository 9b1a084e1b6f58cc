"""How gateways stand, and since when they have given rows, as a function: its plan stays in the session, also behind PgBouncer.

To plan this query takes PostgreSQL five times as long as to run it, and each list and object of the API asks it.
`apps/deployments/observed_state/gateway_standings.py` calls it and names the columns.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION deployments_gateway_standings(special text[], numbers int[], xids xid8[], times timestamptz[], groups bigint[])
RETURNS TABLE (
    id bigint, name varchar, group_id bigint, live boolean, silent_since timestamptz, error boolean, held_at bigint,
    rollout bigint, state varchar, revision bigint, step varchar, parts text[], restored boolean,
    row_numbers int[], row_times timestamptz[]
) LANGUAGE plpgsql STABLE AS $standings$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT g.id, g.name, g.group_id, gg.live_since IS NOT NULL, s.unreachable_since, coalesce(s.error, '') <> '', h.revision_id,
        r.id, r.state, r.revision_id,
        (SELECT st.state FROM deployments_rolloutstep st WHERE st.rollout_id = r.id AND st.gateway_id = g.id),
        ARRAY(SELECT concat_ws(' ', w.id, w.kind, w.digest) FROM deployments_heldback w
            WHERE w.group_id = g.group_id AND w.state = 'waiting' AND w.kind <> ALL(special) ORDER BY w.id),
        EXISTS (SELECT FROM deployments_databaserestore WHERE agreed IS NULL),
        its.numbers, its.times
    FROM network_gateway g
    JOIN network_gatewaygroup gg ON gg.id = g.group_id
    LEFT JOIN deployments_gatewaystate s ON s.gateway_id = g.id
    LEFT JOIN deployments_hold h ON h.group_id = g.group_id AND h.released IS NULL
    LEFT JOIN LATERAL (
        SELECT l.id, l.state, l.revision_id FROM deployments_rollout l WHERE l.group_id = g.group_id ORDER BY l.id DESC LIMIT 1
    ) r ON true
    CROSS JOIN LATERAL (
        SELECT array_agg(asked.number) AS numbers, array_agg(
            CASE WHEN pg_visible_in_snapshot(asked.xid, s.snapshot) THEN coalesce(
                (SELECT st.confirmed FROM deployments_rolloutstep st
                    JOIN deployments_rollout l ON l.id = st.rollout_id JOIN deployments_revision v ON v.id = l.revision_id
                    WHERE st.gateway_id = g.id AND st.confirmed >= asked.at AND pg_visible_in_snapshot(asked.xid, v.snapshot)
                    ORDER BY st.confirmed LIMIT 1),
                asked.at) END) AS times
        FROM unnest(numbers, xids, times, groups) AS asked(number, xid, at, group_id)
        WHERE asked.group_id = g.group_id OR asked.group_id IS NULL
    ) its
    WHERE g.retired IS NULL
    ORDER BY g.name;
END
$standings$;
"""
DROP = "DROP FUNCTION deployments_gateway_standings;"


class Migration(migrations.Migration):
    dependencies = [("deployments", "0006_objects_of_restored_gateways"), ("network", "0007_live_groups")]
    operations = [migrations.RunSQL(CREATE, DROP)]
