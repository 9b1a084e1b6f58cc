"""What the portal itself writes: revisions and rollouts, webhooks, alarms, health of gateways, sizes of tables, stored answers.

Of tables that are pruned within a month, only the rows that are left at its end are written, and as many again.
"""

from datetime import timedelta
from typing import Final

from benchmarks.years import rates
from benchmarks.years.month import BLOB, SimulatedMonth

REVISIONS: Final = """
    WITH revisions AS (
        INSERT INTO deployments_revision (created, snapshot, cause, digests, changes, delta, elements, group_id, management, gateways)
            SELECT {at}, pg_current_snapshot(), 'change',
                jsonb_build_object('nat-1', repeat(md5(n::text), 2), 'nat-2', repeat(md5(n::text), 2)),
                '[{"kind": "bans", "added": 80, "removed": 80, "changed": 0, "of": 30000}]', left(%(words)s, %(delta)s), 100000, 1,
                '{"nat-1": {"interface": "mgmt0", "port": 22, "from": ["172.31.0.0/24"]}}', '{"nat-1": 1, "nat-2": 2}'
            FROM generate_series(1, %(count)s) n
        RETURNING id, created
    ), contents AS (
        INSERT INTO deployments_revisioncontent (revision_id, base_id, packed)
            SELECT id, CASE WHEN id = 1 OR id %% %(whole_every)s = 0 THEN NULL ELSE id - 1 END,
                substr(%(blob)s::bytea, 1 + (id %% 100)::int,
                    CASE WHEN id = 1 OR id %% %(whole_every)s = 0 THEN %(whole)s ELSE %(content)s END)
            FROM revisions
    ), rollouts AS (
        INSERT INTO deployments_rollout (state, created, finished, token, error, again, group_id, revision_id, attempts, goes_on,
                harmless, wish)
            SELECT 'confirmed', created, created + interval '1 s', 1, '', false, 1, id, 0, true, true, '' FROM revisions
        RETURNING id, created
    )
    INSERT INTO deployments_rolloutstep ("position", state, sent, sent_octets, committed, commit_ms, read_back_ms, confirmed, error,
            gateway_id, rollout_id, evidence, flows_cut, doing, done, "of", reason)
        SELECT g.id, 'confirmed', created, 4000, created, 5, 5, created, '', g.id, r.id,
            jsonb_build_array(jsonb_build_object('what', 'digest', 'passed', true, 'text', left(%(words)s, 300))), 0, '', 0, 0, ''
        FROM rollouts r, network_gateway g
"""
DELIVERIES: Final = """
    INSERT INTO webhooks_delivery (uid, event, source, "position", body, written, state, tries, due, status, answer, error, ended,
            endpoint_id)
        SELECT gen_random_uuid(), 'member.changed', 'members_memberevent', %(before)s + n, left(%(words)s, 800), {at}, 'sent', 1, {at},
            200, 'ok', '', {at},
            (SELECT min(id) FROM webhooks_endpoint)
        FROM generate_series(1, %(count)s) n
"""
ALARMS: Final = """
    WITH alarms AS (
        INSERT INTO alarms_alarm (key, severity, texts, path, began, gone, reported, ended, gateways, told_to, turn, worsenings, owes_end)
            SELECT 'gateway-' || n, 'warning', jsonb_build_object('en', left(%(words)s, 300)), '/gateways/', {at}, {at}, {at},
                {at}, '{1}', '{}', 0, '{}', false
            FROM generate_series(1, %(count)s) n
        RETURNING id, began
    )
    INSERT INTO alarms_channelmessage (event, severity, turn, title, text, written, state, tries, due, error, ended, alarm_id, channel_id)
        SELECT event, 'warning', 0, 'nat-1', left(%(words)s, 300), began, 'sent', 1, began, '', began, id,
            (SELECT min(id) FROM alarms_alarmchannel)
        FROM alarms, unnest(ARRAY['began', 'over']) event
"""
FIGURES: Final = "(SELECT jsonb_object_agg('figure_' || f, f * 1001) FROM generate_series(1, %(figures)s) f)"
READINGS: Final = f"""
    INSERT INTO gateways_healthreading (gateway_id, at, counters, measures)
        SELECT g.id, at, {FIGURES}, '{{}}' FROM network_gateway g,
            generate_series(%(end)s - interval '4 hours', %(end)s, interval '1 minute') at
"""  # noqa: S608 - constants
SAMPLES: Final = f"""
    INSERT INTO gateways_healthsample (gateway_id, span, "begin", averages, maxima)
        SELECT g.id, %(seconds)s, date_bin(%(unit)s, at, '2000-01-01Z'), {FIGURES}, {FIGURES}
        FROM network_gateway g, generate_series(greatest(%(begin)s::timestamptz, %(end)s - %(kept)s * 2), %(end)s, %(unit)s) at
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants
EVENTS: Final = """
    INSERT INTO events_event (kind, object_id, state, own, at)
        SELECT 'rollout', n, 'confirmed', false, %(end)s - n * interval '1 minute' FROM generate_series(1, %(count)s) n
"""
ANSWERS: Final = """
    INSERT INTO lib_keptanswer (key, request, status, etag, body, at, user_id)
        SELECT md5({at}::text), md5({at}::text), 201, '', left(%(words)s, 500)::bytea, {at}, %(admin)s FROM generate_series(1, %(count)s) n
"""
SIZES: Final = """
    INSERT INTO operations_tableday (day, "table", octets)
        SELECT day::date, relname, n FROM generate_series(%(begin)s::timestamptz, %(end)s, interval '1 day') day,
            (SELECT relname, row_number() OVER () AS n FROM pg_class
                WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace LIMIT 60) named
    ON CONFLICT DO NOTHING;
    INSERT INTO operations_databaseday (day, octets)
        SELECT day::date, 1 FROM generate_series(%(begin)s::timestamptz, %(end)s, interval '1 day') day ON CONFLICT DO NOTHING;
    INSERT INTO status_serviceday (service, day, fine, degraded, down)
        SELECT service, day::date, 86400, 0, 0 FROM generate_series(%(begin)s::timestamptz, %(end)s, interval '1 day') day,
            unnest(ARRAY['ipv4', 'ipv6', 'portal']) service
    ON CONFLICT DO NOTHING;
    INSERT INTO audit_enquiry (asked, address, port, at, reason, by_id)
        SELECT %(begin)s, '198.18.0.1', 443, %(begin)s, 'a complaint', %(admin)s
"""


def write_portal_rows(month: SimulatedMonth) -> None:
    """Write what the portal writes in a month by itself. The group's number is 1, its gateways are the only two."""
    from apps.gateways.retention import SAMPLES_KEPT

    whole = rates.WHOLE_CONTENT * min(month.members, len(BLOB) // rates.WHOLE_CONTENT)
    packed = {"whole": whole, "content": rates.CONTENT, "whole_every": rates.WHOLE_EVERY}
    month.write(REVISIONS, rates.ROLLOUTS_A_DAY * 30, **packed, delta=rates.DELTA, blob=BLOB)
    month.write(DELIVERIES, rates.DELIVERIES_A_DAY * 30, before=month.number * rates.DELIVERIES_A_DAY * 31)
    month.write(ALARMS, rates.ALARMS)
    month.write(READINGS, figures=rates.SAMPLE_VALUES)
    for span, kept in SAMPLES_KEPT.items():
        seconds = int(span)
        month.write(SAMPLES, figures=rates.SAMPLE_VALUES, seconds=seconds, unit=timedelta(seconds=seconds), kept=kept)
    month.write(EVENTS, rates.EVENTS_A_DAY)
    month.write(ANSWERS, rates.ANSWERS_A_DAY * 30)
    month.write(SIZES)
