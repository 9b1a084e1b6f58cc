-- The schema that the migrations lead to. Written by `python -m portal.stack snapshot`; a test compares it with what they make.
SET LOCAL search_path = '';
SET LOCAL check_function_bodies = false;
SET LOCAL client_min_messages = warning;


CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;

CREATE FUNCTION public._pgh_attach_context() RETURNS uuid
    LANGUAGE plpgsql
    AS $$
    DECLARE
        context uuid := nullif(current_setting('pghistory.context_id', true), '');
        told jsonb := nullif(current_setting('pghistory.context_metadata', true), '');
    BEGIN
        IF context IS NULL OR told IS NULL THEN
            RETURN NULL;
        END IF;
        INSERT INTO pghistory_context (id, metadata, created_at, updated_at) VALUES (context, told, now(), now())
            ON CONFLICT (id) DO UPDATE SET metadata = EXCLUDED.metadata, updated_at = EXCLUDED.updated_at
            WHERE pghistory_context.metadata <> EXCLUDED.metadata;
        RETURN context;
    END $$;

CREATE FUNCTION public._pgtrigger_should_ignore(trigger_name name) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
        SELECT coalesce(trigger_name = ANY(nullif(current_setting('pgtrigger.ignore', true), '')::text[]), false)
    $$;

CREATE FUNCTION public.bans_allowentry_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, prefix, expires FROM come) r, LATERAL (VALUES ('allowed', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, prefix, expires FROM gone) r, LATERAL (VALUES ('allowed', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, prefix, expires FROM gone EXCEPT SELECT id, prefix, expires FROM come) UNION ALL (SELECT id, prefix, expires FROM come EXCEPT SELECT id, prefix, expires FROM gone)) r, LATERAL (VALUES ('allowed', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.bans_ban_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, list_id, prefix, expires, direction FROM come) r, LATERAL (VALUES ('ban', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, list_id, prefix, expires, direction FROM gone) r, LATERAL (VALUES ('ban', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, list_id, prefix, expires, direction FROM gone EXCEPT SELECT id, list_id, prefix, expires, direction FROM come) UNION ALL (SELECT id, list_id, prefix, expires, direction FROM come EXCEPT SELECT id, list_id, prefix, expires, direction FROM gone)) r, LATERAL (VALUES ('ban', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.bans_banlist_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, enabled FROM come) r, LATERAL (VALUES ('list', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, enabled FROM gone) r, LATERAL (VALUES ('list', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, enabled FROM gone EXCEPT SELECT id, enabled FROM come) UNION ALL (SELECT id, enabled FROM come EXCEPT SELECT id, enabled FROM gone)) r, LATERAL (VALUES ('list', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.bans_block_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, member_id, valid FROM come) r, LATERAL (VALUES ('member', r.member_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, member_id, valid FROM gone) r, LATERAL (VALUES ('member', r.member_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, member_id, valid FROM gone EXCEPT SELECT id, member_id, valid FROM come) UNION ALL (SELECT id, member_id, valid FROM come EXCEPT SELECT id, member_id, valid FROM gone)) r, LATERAL (VALUES ('member', r.member_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.bans_listener_apart() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    culprit text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('bans_listener', 0));
    SELECT p.name || ' (' || p.prefix || ')' INTO culprit FROM network_pool p
        WHERE p.kind IN ('private4', 'prefix6') AND p.prefix >>= NEW.address LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'listener ' || NEW.name || ' lies in the pool ' || culprit,
            CONSTRAINT = 'listener_outside_pools', DETAIL = culprit;
    END IF;
    SELECT f.id INTO culprit FROM nat_portforward f
        WHERE f.public = NEW.address AND f.protocol = NEW.protocol AND f.public_port <= NEW.port
            AND NEW.port < f.public_port + coalesce((to_jsonb(f) ->> 'ports')::int, 1)
            AND (upper_inf(f.valid) OR upper(f.valid) > statement_timestamp()) LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'listener ' || NEW.name || ' is the public side of forward ' || culprit,
            CONSTRAINT = 'listener_beside_forwards', DETAIL = culprit;
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION public.bans_listener_beside_forward() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    culprit text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('bans_listener', 0));
    SELECT l.name INTO culprit FROM bans_listener l
        WHERE l.address = NEW.public AND l.protocol = NEW.protocol AND l.port >= NEW.public_port
            AND l.port < NEW.public_port + coalesce((to_jsonb(NEW) ->> 'ports')::int, 1)
            AND (upper_inf(NEW.valid) OR upper(NEW.valid) > statement_timestamp()) LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'forward from ' || host(NEW.public) || ' is where ' || culprit || ' listens',
            CONSTRAINT = 'listener_beside_forwards', DETAIL = culprit;
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION public.bans_listener_outside_pool() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    culprit text;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('bans_listener', 0));
    SELECT l.name || ' (' || host(l.address) || ')' INTO culprit FROM bans_listener l
        WHERE NEW.kind IN ('private4', 'prefix6') AND NEW.prefix >>= l.address LIMIT 1;
    IF FOUND THEN
        RAISE exclusion_violation USING MESSAGE = 'pool ' || NEW.prefix || ' holds the listener ' || culprit,
            CONSTRAINT = 'listener_outside_pools', DETAIL = culprit;
    END IF;
    RETURN NEW;
END
$$;

CREATE FUNCTION public.bans_listener_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, group_id, name, address, protocol, port, guarded, window_scale, enabled FROM come) r, LATERAL (VALUES ('listener', r.protocol || ' ' || host(r.address) || ' ' || r.port)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, group_id, name, address, protocol, port, guarded, window_scale, enabled FROM gone) r, LATERAL (VALUES ('listener', r.protocol || ' ' || host(r.address) || ' ' || r.port)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, group_id, name, address, protocol, port, guarded, window_scale, enabled FROM gone EXCEPT SELECT id, group_id, name, address, protocol, port, guarded, window_scale, enabled FROM come) UNION ALL (SELECT id, group_id, name, address, protocol, port, guarded, window_scale, enabled FROM come EXCEPT SELECT id, group_id, name, address, protocol, port, guarded, window_scale, enabled FROM gone)) r, LATERAL (VALUES ('listener', r.protocol || ' ' || host(r.address) || ' ' || r.port)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.deployments_gateway_standings(special text[], numbers integer[], xids xid8[], times timestamp with time zone[], groups bigint[]) RETURNS TABLE(id bigint, name character varying, group_id bigint, live boolean, silent_since timestamp with time zone, error boolean, held_at bigint, rollout bigint, state character varying, revision bigint, step character varying, parts text[], restored boolean, row_numbers integer[], row_times timestamp with time zone[])
    LANGUAGE plpgsql STABLE
    AS $$
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
$$;

CREATE FUNCTION public.deployments_gatewaystate_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$

DECLARE
    few CONSTANT int := 100;
    noted text[];
BEGIN
    IF NEW.unreachable_since IS NOT NULL THEN
        PERFORM events_tell('gateway', NEW.gateway_id, 'unreachable', NULL, false);
        RETURN NULL;
    END IF;
    PERFORM events_tell('gateway', NEW.gateway_id, CASE WHEN NEW.drift_since IS NULL THEN 'confirmed' ELSE 'drifted' END, NULL, false);
    IF TG_OP = 'INSERT' THEN
        RETURN NULL;
    END IF;
    noted := ARRAY(
        SELECT DISTINCT kind || ' ' || key FROM deployments_touched
        WHERE kind IN ('forward', 'pinhole', 'holding', 'everything') AND xid >= pg_snapshot_xmin(OLD.snapshot)
            AND NOT pg_visible_in_snapshot(xid, OLD.snapshot) AND pg_visible_in_snapshot(xid, NEW.snapshot)
        LIMIT few + 1);
    IF cardinality(noted) > few OR 'everything ' = ANY (noted) THEN
        PERFORM events_tell('several', NEW.gateway_id, 'confirmed', NULL, true);
        RETURN NULL;
    END IF;
    INSERT INTO events_event (kind, object_id, state, member_id, own)
    WITH note AS MATERIALIZED (SELECT string_to_array(text, ' ') AS part FROM unnest(noted) text),
    forward AS MATERIALIZED (SELECT part[2] AS protocol, part[3]::inet AS public, part[4]::int AS port FROM note WHERE part[1] = 'forward'),
    pinhole AS MATERIALIZED (SELECT part[2]::inet AS address FROM note WHERE part[1] = 'pinhole'),
    holding AS MATERIALIZED (SELECT part[2]::bigint AS id FROM note WHERE part[1] = 'holding'),
    come AS (
        SELECT 'forward' AS kind, f.id, f.holding_id, f.changed_in FROM forward n JOIN nat_portforward f
            ON f.public_port = n.port AND f.protocol = n.protocol AND f.public = n.public
        UNION SELECT 'pinhole', p.id, p.holding_id, p.changed_in FROM pinhole n JOIN nat_pinhole p ON p.address = n.address
        UNION SELECT 'address', h.id, h.id, h.changed_in FROM holding n JOIN network_holding h ON h.id = n.id
    )
    SELECT c.kind, c.id, 'confirmed', h.member_id, true FROM come c JOIN network_holding h ON h.id = c.holding_id
    WHERE NOT pg_visible_in_snapshot(c.changed_in, OLD.snapshot) AND pg_visible_in_snapshot(c.changed_in, NEW.snapshot);
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RAISE WARNING 'nothing is told of gateway %: %', NEW.gateway_id, SQLERRM;
    RETURN NULL;
END

$$;

CREATE FUNCTION public.deployments_heldback_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN PERFORM events_tell('approval', NEW.id, NEW.state, NULL, false); RETURN NULL; END
$$;

CREATE FUNCTION public.deployments_hold_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$

BEGIN
    PERFORM events_tell('hold', NEW.id, CASE WHEN NEW.released IS NULL THEN 'held' ELSE 'released' END, NULL, false);
    RETURN NULL;
END

$$;

CREATE FUNCTION public.deployments_rollout_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN PERFORM events_tell('rollout', NEW.id, NEW.state, NULL, false); RETURN NULL; END
$$;

CREATE FUNCTION public.deployments_rolloutstep_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN PERFORM events_tell('step', NEW.rollout_id, NEW.state, NULL, false); RETURN NULL; END
$$;

CREATE FUNCTION public.events_presence_gone() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM events_tell('presence', OLD.ticket_id, 'gone', NULL, false);
    RETURN NULL;
END
$$;

CREATE FUNCTION public.events_presence_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$

BEGIN
    PERFORM events_tell('presence', NEW.ticket_id, CASE WHEN NEW.writing THEN 'writing' ELSE 'looking' END, NULL, false);
    RETURN NULL;
END

$$;

CREATE FUNCTION public.events_tell(kind text, object bigint, state text, member bigint, own boolean) RETURNS void
    LANGUAGE sql
    AS $$
    INSERT INTO events_event (kind, object_id, state, member_id, own) VALUES (kind, object, state, member, own)
$$;

CREATE FUNCTION public.events_touched(old pg_snapshot, new pg_snapshot) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
    SELECT EXISTS (SELECT 1 FROM deployments_touched WHERE xid >= pg_snapshot_xmin(old)
        AND NOT pg_visible_in_snapshot(xid, old) AND pg_visible_in_snapshot(xid, new))
$$;

CREATE FUNCTION public.events_wake() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('netzwart_events', '');
    RETURN NULL;
END
$$;

CREATE FUNCTION public.gateways_carrierchange_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM events_tell('failover', NEW.group_id, CASE cardinality(NEW.carriers) WHEN 0 THEN 'nobody' WHEN 1 THEN 'carried' ELSE 'several' END,
        NULL, false);
    RETURN NULL;
END
$$;

CREATE FUNCTION public.gateways_roleswitch_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM events_tell('failover', NEW.group_id, 'switch ' || NEW.state, NULL, false);
    RETURN NULL;
END
$$;

CREATE FUNCTION public.members_member_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, state, tariff_id FROM come) r, LATERAL (VALUES ('member', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, state, tariff_id FROM gone) r, LATERAL (VALUES ('member', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, state, tariff_id FROM gone EXCEPT SELECT id, state, tariff_id FROM come) UNION ALL (SELECT id, state, tariff_id FROM come EXCEPT SELECT id, state, tariff_id FROM gone)) r, LATERAL (VALUES ('member', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.members_tariff_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, up_kbit, down_kbit FROM come) r, LATERAL (VALUES ('tariff', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, up_kbit, down_kbit FROM gone) r, LATERAL (VALUES ('tariff', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, up_kbit, down_kbit FROM gone EXCEPT SELECT id, up_kbit, down_kbit FROM come) UNION ALL (SELECT id, up_kbit, down_kbit FROM come EXCEPT SELECT id, up_kbit, down_kbit FROM gone)) r, LATERAL (VALUES ('tariff', r.id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_claim_of_forward() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM nat_portclaim WHERE forward_id IS NOT NULL;
        RETURN NULL;
    ELSIF TG_OP <> 'INSERT' THEN
        DELETE FROM nat_portclaim WHERE forward_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO nat_portclaim (forward_id, member_id, public, ports, protocols, valid)
        SELECT NEW.id, h.member_id, NEW.public,
            int4range(NEW.public_port, NEW.public_port + coalesce((to_jsonb(NEW) ->> 'ports')::int, 1)),
            CASE NEW.protocol WHEN 'tcp' THEN int4range(6, 7) ELSE int4range(17, 18) END, NEW.valid
        FROM network_holding h WHERE h.id = NEW.holding_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_claim_of_mapping() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM nat_portclaim WHERE mapping_id IS NOT NULL;
        RETURN NULL;
    ELSIF TG_OP <> 'INSERT' THEN
        DELETE FROM nat_portclaim WHERE mapping_id = OLD.id;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.sharing <> 'shared' THEN
        INSERT INTO nat_portclaim (mapping_id, member_id, public, ports, protocols, valid)
        SELECT NEW.id, h.member_id, NEW.public, coalesce(NEW.block, int4range(0, 65536)), int4range(0, 256), NEW.valid
        FROM network_holding h WHERE h.id = NEW.holding_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_claim_of_new_forwards() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO nat_portclaim (forward_id, member_id, public, ports, protocols, valid)
    SELECT n.id, (SELECT h.member_id FROM network_holding h WHERE h.id = n.holding_id), n.public,
        int4range(n.public_port, n.public_port + n.ports),
        CASE n.protocol WHEN 'tcp' THEN int4range(6, 7) ELSE int4range(17, 18) END, n.valid
    FROM come n;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_claim_of_new_mappings() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO nat_portclaim (mapping_id, member_id, public, ports, protocols, valid)
    SELECT n.id, (SELECT h.member_id FROM network_holding h WHERE h.id = n.holding_id), n.public,
        coalesce(n.block, int4range(0, 65536)), int4range(0, 256), n.valid
    FROM come n WHERE n.sharing <> 'shared';
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_claims_change_hands() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE nat_portclaim SET member_id = NEW.member_id
    WHERE mapping_id IN (SELECT id FROM nat_natmapping WHERE holding_id = NEW.id)
        OR forward_id IN (SELECT id FROM nat_portforward WHERE holding_id = NEW.id);
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_natmapping_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, holding_id, public, sharing, block, valid FROM come) r, LATERAL (VALUES ('holding', r.holding_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, holding_id, public, sharing, block, valid FROM gone) r, LATERAL (VALUES ('holding', r.holding_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, holding_id, public, sharing, block, valid FROM gone EXCEPT SELECT id, holding_id, public, sharing, block, valid FROM come) UNION ALL (SELECT id, holding_id, public, sharing, block, valid FROM come EXCEPT SELECT id, holding_id, public, sharing, block, valid FROM gone)) r, LATERAL (VALUES ('holding', r.holding_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_pinhole_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, holding_id, address, protocol, port, ports, valid, enabled FROM come) r, LATERAL (VALUES ('pinhole', host(r.address) || ' ' || r.protocol || ' ' || r.port || ' ' || r.ports)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, holding_id, address, protocol, port, ports, valid, enabled FROM gone) r, LATERAL (VALUES ('pinhole', host(r.address) || ' ' || r.protocol || ' ' || r.port || ' ' || r.ports)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, holding_id, address, protocol, port, ports, valid, enabled FROM gone EXCEPT SELECT id, holding_id, address, protocol, port, ports, valid, enabled FROM come) UNION ALL (SELECT id, holding_id, address, protocol, port, ports, valid, enabled FROM come EXCEPT SELECT id, holding_id, address, protocol, port, ports, valid, enabled FROM gone)) r, LATERAL (VALUES ('pinhole', host(r.address) || ' ' || r.protocol || ' ' || r.port || ' ' || r.ports)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.nat_portforward_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled FROM come) r, LATERAL (VALUES ('forward', r.protocol || ' ' || host(r.public) || ' ' || r.public_port || ' ' || r.ports)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled FROM gone) r, LATERAL (VALUES ('forward', r.protocol || ' ' || host(r.public) || ' ' || r.public_port || ' ' || r.ports)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled FROM gone EXCEPT SELECT id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled FROM come) UNION ALL (SELECT id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled FROM come EXCEPT SELECT id, holding_id, public, protocol, public_port, private_port, ports, valid, enabled FROM gone)) r, LATERAL (VALUES ('forward', r.protocol || ' ' || host(r.public) || ' ' || r.public_port || ' ' || r.ports)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.network_gateway_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, probe_source4, probe_public4 FROM come) r, LATERAL (VALUES ('address', host(coalesce(r.probe_source4, '0.0.0.0')))) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, probe_source4, probe_public4 FROM gone) r, LATERAL (VALUES ('address', host(coalesce(r.probe_source4, '0.0.0.0')))) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, probe_source4, probe_public4 FROM gone EXCEPT SELECT id, probe_source4, probe_public4 FROM come) UNION ALL (SELECT id, probe_source4, probe_public4 FROM come EXCEPT SELECT id, probe_source4, probe_public4 FROM gone)) r, LATERAL (VALUES ('address', host(coalesce(r.probe_source4, '0.0.0.0')))) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.network_holding_of_retired_pool() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    culprit text;
BEGIN
    SELECT p.name INTO culprit FROM come JOIN network_pool p ON p.id = come.pool_id WHERE p.retired IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE check_violation USING MESSAGE = 'the pool ' || culprit || ' gives no more addresses', CONSTRAINT = 'holding_pool_in_service';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.network_holding_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, prefix, group_id, kind, member_id, valid FROM come) r, LATERAL (VALUES ('holding', r.id::text), ('address', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, prefix, group_id, kind, member_id, valid FROM gone) r, LATERAL (VALUES ('holding', r.id::text), ('address', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, prefix, group_id, kind, member_id, valid FROM gone EXCEPT SELECT id, prefix, group_id, kind, member_id, valid FROM come) UNION ALL (SELECT id, prefix, group_id, kind, member_id, valid FROM come EXCEPT SELECT id, prefix, group_id, kind, member_id, valid FROM gone)) r, LATERAL (VALUES ('holding', r.id::text), ('address', r.prefix::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.pgtrigger_count_added_39599() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO bans_bancount (list_id, number) SELECT list_id, count(*) FROM new_values GROUP BY list_id;RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_count_added_ea44d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO mail_messagecount (state, number) SELECT state, count(*) FROM new_values GROUP BY state;RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_count_moved_7f18c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO mail_messagecount (state, number) VALUES (OLD.state, -1), (NEW.state, 1);RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_count_moved_f8c4e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO bans_bancount (list_id, number) VALUES (OLD.list_id, -1), (NEW.list_id, 1);RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_count_removed_8554e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO bans_bancount (list_id, number) SELECT list_id, -count(*) FROM old_values GROUP BY list_id;RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_count_removed_9b7b3() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO mail_messagecount (state, number) SELECT state, -count(*) FROM old_values GROUP BY state;RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_19f14() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_userevent" ("date_joined", "email", "first_name", "id", "is_active", "keys", "language", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "username") SELECT old_values."date_joined", old_values."email", old_values."first_name", old_values."id", old_values."is_active", old_values."keys", old_values."language", old_values."last_name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."roles", old_values."username" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_1ce5e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_serverinterfaceevent" ("gateway_id", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT old_values."gateway_id", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_1fc4a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_noticeevent" ("contact", "group_id", "id", "ipv4", "ipv6", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "version") SELECT old_values."contact", old_values."group_id", old_values."id", old_values."ipv4", old_values."ipv6", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."port", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_1ffb6() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_departureevent" ("by_id", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "state") SELECT old_values."by_id", old_values."id", old_values."member_id", old_values."on", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."planned", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_209ed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "announcements_announcementevent" ("audience", "author_id", "by_mail", "created", "id", "narrowed_by", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "published", "published_by_id", "reached", "shown_from", "shown_until", "state", "text_de", "text_en", "title_de", "title_en", "version", "withdrawn", "withdrawn_by_id") SELECT old_values."audience", old_values."author_id", old_values."by_mail", old_values."created", old_values."id", old_values."narrowed_by", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."published", old_values."published_by_id", old_values."reached", old_values."shown_from", old_values."shown_until", old_values."state", old_values."text_de", old_values."text_en", old_values."title_de", old_values."title_en", old_values."version", old_values."withdrawn", old_values."withdrawn_by_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_2161e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("clamp_mss", "confirm_within", "flood_mode", "goes_on", "heals_drift", "id", "live_since", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "responder_port", "version") SELECT old_values."clamp_mss", old_values."confirm_within", old_values."flood_mode", old_values."goes_on", old_values."heals_drift", old_values."id", old_values."live_since", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."probe_port", old_values."probe_target4", old_values."probe_target6", old_values."removal_least", old_values."removal_share", old_values."responder_port", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_249a1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_blockevent" ("author_id", "id", "lifted_by_id", "member_id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "valid", "version") SELECT old_values."author_id", old_values."id", old_values."lifted_by_id", old_values."member_id", old_values."message", old_values."note", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."reason", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_2b343() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_profileevent" ("buckets", "connections", "first_port", "generic", "group_id", "icmp", "id", "last_port", "managed", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tcp_close_wait", "tcp_established", "tcp_fin_wait", "tcp_loose", "tcp_syn_sent", "tcp_time_wait", "udp", "udp_stream", "version") SELECT old_values."buckets", old_values."connections", old_values."first_port", old_values."generic", old_values."group_id", old_values."icmp", old_values."id", old_values."last_port", old_values."managed", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."tcp_close_wait", old_values."tcp_established", old_values."tcp_fin_wait", old_values."tcp_loose", old_values."tcp_syn_sent", old_values."tcp_time_wait", old_values."udp", old_values."udp_stream", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_34779() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberinvitationevent" ("by_id", "expires", "id", "made", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "taken", "withdrawn") SELECT old_values."by_id", old_values."expires", old_values."id", old_values."made", old_values."member_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."taken", old_values."withdrawn" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_4588f() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_natmappingevent" ("block", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "public", "sharing", "valid", "version") SELECT old_values."block", old_values."group_id", old_values."held", old_values."holding_id", old_values."id", old_values."kind", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."pool_id", old_values."pool_kind", old_values."pool_prefix", old_values."public", old_values."sharing", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_45dc7() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_ratelimitevent" ("author_id", "down_kbit", "id", "member_id", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "released_by_id", "up_kbit", "valid", "version") SELECT old_values."author_id", old_values."down_kbit", old_values."id", old_values."member_id", old_values."note", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."reason", old_values."released_by_id", old_values."up_kbit", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_4681e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "alarms_dutyshiftevent" ("begins", "by_id", "calendar_id", "ends", "id", "person_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "uid") SELECT old_values."begins", old_values."by_id", old_values."calendar_id", old_values."ends", old_values."id", old_values."person_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."uid" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_4b6ee() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portforwardevent" ("enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "ports", "private_port", "protocol", "public", "public_port", "purpose", "valid", "version") SELECT old_values."enabled", old_values."group_id", old_values."held", old_values."holding_id", old_values."id", old_values."kind", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."pool_id", old_values."pool_kind", old_values."pool_prefix", old_values."ports", old_values."private_port", old_values."protocol", old_values."public", old_values."public_port", old_values."purpose", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_50bfe() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banevent" ("author_id", "comment", "created", "direction", "expires", "id", "list_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT old_values."author_id", old_values."comment", old_values."created", old_values."direction", old_values."expires", old_values."id", old_values."list_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."prefix", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_54dfe() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "status_incidentevent" ("attach_tickets", "began", "ended", "id", "impact", "kind", "next_update", "opened", "opened_by_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned_end", "public", "report", "services", "title_de", "title_en", "version") SELECT old_values."attach_tickets", old_values."began", old_values."ended", old_values."id", old_values."impact", old_values."kind", old_values."next_update", old_values."opened", old_values."opened_by_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."planned_end", old_values."public", old_values."report", old_values."services", old_values."title_de", old_values."title_en", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_64e13() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banfeedevent" ("comment", "direction", "enabled", "id", "interval", "list_id", "minimum_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shrink_limit", "source", "version") SELECT old_values."comment", old_values."direction", old_values."enabled", old_values."id", old_values."interval", old_values."list_id", old_values."minimum_count", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."shrink_limit", old_values."source", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_67775() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_moveevent" ("by_id", "follow", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "pool_id", "problem", "room_id", "state") SELECT old_values."by_id", old_values."follow", old_values."id", old_values."member_id", old_values."on", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."planned", old_values."pool_id", old_values."problem", old_values."room_id", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_69483() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_tariffevent" ("down_kbit", "id", "most_devices", "most_forwards", "name", "offered", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "trial", "up_kbit", "version") SELECT old_values."down_kbit", old_values."id", old_values."most_devices", old_values."most_forwards", old_values."name", old_values."offered", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."trial", old_values."up_kbit", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_6e065() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_apitokenevent" ("created", "expires", "group_id", "id", "member_id", "name", "networks", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scopes", "sha256", "site_id", "start", "user_id") SELECT old_values."created", old_values."expires", old_values."group_id", old_values."id", old_values."member_id", old_values."name", old_values."networks", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."scopes", old_values."sha256", old_values."site_id", old_values."start", old_values."user_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_6fa03() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_reachableevent" ("address", "id", "name", "notice_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol") SELECT old_values."address", old_values."id", old_values."name", old_values."notice_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."port", old_values."protocol" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_7182d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "machine_name", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "retired", "ssh_user", "sync", "sync_address", "version", "wan") SELECT old_values."address", old_values."carries4", old_values."carries6", old_values."group_id", old_values."host_key", old_values."id", old_values."lan", old_values."link", old_values."machine_name", old_values."management", old_values."management_networks", old_values."management_port", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."probe_interface", old_values."probe_public4", old_values."probe_source4", old_values."probe_source6", old_values."retired", old_values."ssh_user", old_values."sync", old_values."sync_address", old_values."version", old_values."wan" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_7e399() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "webhooks_endpointevent" ("active", "created", "id", "kinds", "name", "on", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "url", "version") SELECT old_values."active", old_values."created", old_values."id", old_values."kinds", old_values."name", old_values."on", old_values."owner_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."url", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_84422() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") SELECT old_values."address", old_values."assignee_id", old_values."id", old_values."language", old_values."member_id", old_values."merged_into_id", old_values."opened_at", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."priority", old_values."split_from_id", old_values."state", old_values."subject", old_values."tags", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_925fb() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberevent" ("email", "id", "language", "name", "note", "number", "paid_until", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "room_id", "since", "state", "tariff_id", "user_id", "version") SELECT old_values."email", old_values."id", old_values."language", old_values."name", old_values."note", old_values."number", old_values."paid_until", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."room_id", old_values."since", old_values."state", old_values."tariff_id", old_values."user_id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_938f8() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_failoverevent" ("announce", "cache", "failback", "group_id", "id", "inside", "interval", "outside", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "servers", "version", "virtual_router") SELECT old_values."announce", old_values."cache", old_values."failback", old_values."group_id", old_values."id", old_values."inside", old_values."interval", old_values."outside", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."servers", old_values."version", old_values."virtual_router" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_9537a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") SELECT old_values."address", old_values."enabled", old_values."group_id", old_values."guarded", old_values."id", old_values."name", old_values."note", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."port", old_values."protocol", old_values."version", old_values."window_scale" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_98271() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_siteevent" ("code", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT old_values."code", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_a310d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") SELECT old_values."octets", _pgh_attached_context.value, NOW(), 'delete', old_values."tariff_id", old_values."tariff_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_a3f74() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_holdingevent" ("device_id", "group_id", "id", "kind", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_prefix", "prefix", "valid") SELECT old_values."device_id", old_values."group_id", old_values."id", old_values."kind", old_values."member_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."pool_id", old_values."pool_prefix", old_values."prefix", old_values."valid" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_ae5ed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_databaserestoreevent" ("agreed", "agreed_by_id", "backup_made", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "restored") SELECT old_values."agreed", old_values."agreed_by_id", old_values."backup_made", old_values."id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."restored" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_aeba1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "preferences_networksettingsevent" ("backup_hours", "contact", "default_language", "duty_minutes", "erase_days", "forbidden_ports", "hold_days", "id", "invitation_days", "keep_ban_history_days", "keep_days_days", "keep_five_minutes_days", "keep_hits_days", "keep_hours_days", "keep_mail_days", "keep_revisions_days", "keep_webhook_days", "longest_range", "lowest_port", "messages_an_hour", "network_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT old_values."backup_hours", old_values."contact", old_values."default_language", old_values."duty_minutes", old_values."erase_days", old_values."forbidden_ports", old_values."hold_days", old_values."id", old_values."invitation_days", old_values."keep_ban_history_days", old_values."keep_days_days", old_values."keep_five_minutes_days", old_values."keep_hits_days", old_values."keep_hours_days", old_values."keep_mail_days", old_values."keep_revisions_days", old_values."keep_webhook_days", old_values."longest_range", old_values."lowest_port", old_values."messages_an_hour", old_values."network_name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_b0139() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "open_sampled", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") SELECT old_values."exempt", old_values."group_id", old_values."id", old_values."mail_rate", old_values."member_burst", old_values."member_open", old_values."member_rate", old_values."open_sampled", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."refuses", old_values."source_burst", old_values."source_open", old_values."source_rate", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_bb881() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") SELECT old_values."bgp_peers", old_values."bogons", old_values."ftp_ports", old_values."group_id", old_values."id", old_values."ospf_peers", old_values."own", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."sip_ports", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_be28b() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") SELECT old_values."id", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."text_de", old_values."text_en", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_beb41() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "alarms_dutycalendarevent" ("active", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shown", "version") SELECT old_values."active", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."shown", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_c2eea() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "retired", "sharing", "version") SELECT old_values."block_size", old_values."group_id", old_values."id", old_values."kept", old_values."kept_first", old_values."kind", old_values."member_length", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."prefix", old_values."retired", old_values."sharing", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_c338b() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banlistevent" ("description", "enabled", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT old_values."description", old_values."enabled", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_c6fdf() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_allowentryevent" ("author_id", "comment", "created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT old_values."author_id", old_values."comment", old_values."created", old_values."expires", old_values."id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."prefix", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_cdaf3() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "alarms_alarmchannelevent" ("active", "after_minutes", "id", "language", "name", "only_critical", "person_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "quiet_from", "quiet_until", "shown", "version") SELECT old_values."active", old_values."after_minutes", old_values."id", old_values."language", old_values."name", old_values."only_critical", old_values."person_id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."quiet_from", old_values."quiet_until", old_values."shown", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_d16fe() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_pinholeevent" ("address", "enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "ports", "prefix", "protocol", "purpose", "valid", "version") SELECT old_values."address", old_values."enabled", old_values."group_id", old_values."held", old_values."holding_id", old_values."id", old_values."kind", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."port", old_values."ports", old_values."prefix", old_values."protocol", old_values."purpose", old_values."valid", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_de061() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portrulesevent" ("forbidden", "group_id", "id", "longest", "lowest", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT old_values."forbidden", old_values."group_id", old_values."id", old_values."longest", old_values."lowest", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_e34ca() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_roomevent" ("floor", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "site_id", "version") SELECT old_values."floor", old_values."id", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."site_id", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_e90d9() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_fairshareevent" ("calm_minutes", "down_kbit", "end_percent", "group_id", "id", "limit_minutes", "minutes", "most", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_percent", "up_kbit", "version") SELECT old_values."calm_minutes", old_values."down_kbit", old_values."end_percent", old_values."group_id", old_values."id", old_values."limit_minutes", old_values."minutes", old_values."most", old_values."on", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."start_percent", old_values."up_kbit", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_ea490() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") SELECT old_values."alone", old_values."asker_unknown", old_values."decided", old_values."decided_by_id", old_values."digest", old_values."earlier", old_values."group_id", old_values."id", old_values."kind", old_values."of", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."reason", old_values."removed", old_values."since", old_values."state" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_ed214() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_rolechangeevent" ("asked", "by_id", "decided", "decided_by_id", "id", "new", "old", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "user_id") SELECT old_values."asked", old_values."by_id", old_values."decided", old_values."decided_by_id", old_values."id", old_values."new", old_values."old", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."reason", old_values."state", old_values."user_id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_f2c14() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_invitationevent" ("by_id", "email", "expires", "id", "made", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "taken", "withdrawn") SELECT old_values."by_id", old_values."email", old_values."expires", old_values."id", old_values."made", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."roles", old_values."taken", old_values."withdrawn" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_f3d20() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_uplinkevent" ("down_kbit", "framing", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "queue_down_kbit", "queue_up_kbit", "up_kbit", "version") SELECT old_values."down_kbit", old_values."framing", old_values."group_id", old_values."id", old_values."limits_rates", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."queue_down_kbit", old_values."queue_up_kbit", old_values."up_kbit", old_values."version" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_f481e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_deviceevent" ("id", "mac", "member_id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT old_values."id", old_values."mac", old_values."member_id", old_values."name", _pgh_attached_context.value, NOW(), 'delete', old_values."id" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_delete_delete_faebd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT old_values."alone", old_values."by_id", old_values."group_id", old_values."id", _pgh_attached_context.value, NOW(), 'delete', old_values."id", old_values."released", old_values."released_by_id", old_values."revision_id", old_values."since", old_values."why" FROM ( SELECT old_values.* FROM old_values  ) AS old_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_enquiry_stays_8bcca() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_00c56() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "open_sampled", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") SELECT new_values."exempt", new_values."group_id", new_values."id", new_values."mail_rate", new_values."member_burst", new_values."member_open", new_values."member_rate", new_values."open_sampled", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."refuses", new_values."source_burst", new_values."source_open", new_values."source_rate", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_01b7d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_apitokenevent" ("created", "expires", "group_id", "id", "member_id", "name", "networks", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scopes", "sha256", "site_id", "start", "user_id") SELECT new_values."created", new_values."expires", new_values."group_id", new_values."id", new_values."member_id", new_values."name", new_values."networks", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."scopes", new_values."sha256", new_values."site_id", new_values."start", new_values."user_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_04853() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_roomevent" ("floor", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "site_id", "version") SELECT new_values."floor", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."site_id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_0b10e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") SELECT new_values."alone", new_values."asker_unknown", new_values."decided", new_values."decided_by_id", new_values."digest", new_values."earlier", new_values."group_id", new_values."id", new_values."kind", new_values."of", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."reason", new_values."removed", new_values."since", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_0b1d2() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_ratelimitevent" ("author_id", "down_kbit", "id", "member_id", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "released_by_id", "up_kbit", "valid", "version") SELECT new_values."author_id", new_values."down_kbit", new_values."id", new_values."member_id", new_values."note", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."reason", new_values."released_by_id", new_values."up_kbit", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_16aa3() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_pinholeevent" ("address", "enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "ports", "prefix", "protocol", "purpose", "valid", "version") SELECT new_values."address", new_values."enabled", new_values."group_id", new_values."held", new_values."holding_id", new_values."id", new_values."kind", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."port", new_values."ports", new_values."prefix", new_values."protocol", new_values."purpose", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_170ba() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_allowentryevent" ("author_id", "comment", "created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT new_values."author_id", new_values."comment", new_values."created", new_values."expires", new_values."id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."prefix", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_1a281() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_tariffevent" ("down_kbit", "id", "most_devices", "most_forwards", "name", "offered", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "trial", "up_kbit", "version") SELECT new_values."down_kbit", new_values."id", new_values."most_devices", new_values."most_forwards", new_values."name", new_values."offered", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."trial", new_values."up_kbit", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_1e618() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_profileevent" ("buckets", "connections", "first_port", "generic", "group_id", "icmp", "id", "last_port", "managed", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tcp_close_wait", "tcp_established", "tcp_fin_wait", "tcp_loose", "tcp_syn_sent", "tcp_time_wait", "udp", "udp_stream", "version") SELECT new_values."buckets", new_values."connections", new_values."first_port", new_values."generic", new_values."group_id", new_values."icmp", new_values."id", new_values."last_port", new_values."managed", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."tcp_close_wait", new_values."tcp_established", new_values."tcp_fin_wait", new_values."tcp_loose", new_values."tcp_syn_sent", new_values."tcp_time_wait", new_values."udp", new_values."udp_stream", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_232fc() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "announcements_announcementevent" ("audience", "author_id", "by_mail", "created", "id", "narrowed_by", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "published", "published_by_id", "reached", "shown_from", "shown_until", "state", "text_de", "text_en", "title_de", "title_en", "version", "withdrawn", "withdrawn_by_id") SELECT new_values."audience", new_values."author_id", new_values."by_mail", new_values."created", new_values."id", new_values."narrowed_by", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."published", new_values."published_by_id", new_values."reached", new_values."shown_from", new_values."shown_until", new_values."state", new_values."text_de", new_values."text_en", new_values."title_de", new_values."title_en", new_values."version", new_values."withdrawn", new_values."withdrawn_by_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_25775() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portrulesevent" ("forbidden", "group_id", "id", "longest", "lowest", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT new_values."forbidden", new_values."group_id", new_values."id", new_values."longest", new_values."lowest", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_26312() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_noticeevent" ("contact", "group_id", "id", "ipv4", "ipv6", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "version") SELECT new_values."contact", new_values."group_id", new_values."id", new_values."ipv4", new_values."ipv6", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."port", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_29e4a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "preferences_networksettingsevent" ("backup_hours", "contact", "default_language", "duty_minutes", "erase_days", "forbidden_ports", "hold_days", "id", "invitation_days", "keep_ban_history_days", "keep_days_days", "keep_five_minutes_days", "keep_hits_days", "keep_hours_days", "keep_mail_days", "keep_revisions_days", "keep_webhook_days", "longest_range", "lowest_port", "messages_an_hour", "network_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT new_values."backup_hours", new_values."contact", new_values."default_language", new_values."duty_minutes", new_values."erase_days", new_values."forbidden_ports", new_values."hold_days", new_values."id", new_values."invitation_days", new_values."keep_ban_history_days", new_values."keep_days_days", new_values."keep_five_minutes_days", new_values."keep_hits_days", new_values."keep_hours_days", new_values."keep_mail_days", new_values."keep_revisions_days", new_values."keep_webhook_days", new_values."longest_range", new_values."lowest_port", new_values."messages_an_hour", new_values."network_name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_2d01a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") SELECT new_values."address", new_values."assignee_id", new_values."id", new_values."language", new_values."member_id", new_values."merged_into_id", new_values."opened_at", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."priority", new_values."split_from_id", new_values."state", new_values."subject", new_values."tags", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_2df50() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberevent" ("email", "id", "language", "name", "note", "number", "paid_until", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "room_id", "since", "state", "tariff_id", "user_id", "version") SELECT new_values."email", new_values."id", new_values."language", new_values."name", new_values."note", new_values."number", new_values."paid_until", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."room_id", new_values."since", new_values."state", new_values."tariff_id", new_values."user_id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_2fa13() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "status_incidentevent" ("attach_tickets", "began", "ended", "id", "impact", "kind", "next_update", "opened", "opened_by_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned_end", "public", "report", "services", "title_de", "title_en", "version") SELECT new_values."attach_tickets", new_values."began", new_values."ended", new_values."id", new_values."impact", new_values."kind", new_values."next_update", new_values."opened", new_values."opened_by_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."planned_end", new_values."public", new_values."report", new_values."services", new_values."title_de", new_values."title_en", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_37197() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_portforwardevent" ("enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "ports", "private_port", "protocol", "public", "public_port", "purpose", "valid", "version") SELECT new_values."enabled", new_values."group_id", new_values."held", new_values."holding_id", new_values."id", new_values."kind", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."pool_id", new_values."pool_kind", new_values."pool_prefix", new_values."ports", new_values."private_port", new_values."protocol", new_values."public", new_values."public_port", new_values."purpose", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_3867c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_userevent" ("date_joined", "email", "first_name", "id", "is_active", "keys", "language", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "username") SELECT new_values."date_joined", new_values."email", new_values."first_name", new_values."id", new_values."is_active", new_values."keys", new_values."language", new_values."last_name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."roles", new_values."username" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_39804() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_siteevent" ("code", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT new_values."code", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_3f6ca() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_rolechangeevent" ("asked", "by_id", "decided", "decided_by_id", "id", "new", "old", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "user_id") SELECT new_values."asked", new_values."by_id", new_values."decided", new_values."decided_by_id", new_values."id", new_values."new", new_values."old", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."reason", new_values."state", new_values."user_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_5bba2() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_fairshareevent" ("calm_minutes", "down_kbit", "end_percent", "group_id", "id", "limit_minutes", "minutes", "most", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_percent", "up_kbit", "version") SELECT new_values."calm_minutes", new_values."down_kbit", new_values."end_percent", new_values."group_id", new_values."id", new_values."limit_minutes", new_values."minutes", new_values."most", new_values."on", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."start_percent", new_values."up_kbit", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_68072() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_deviceevent" ("id", "mac", "member_id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT new_values."id", new_values."mac", new_values."member_id", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_6adf4() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_serverinterfaceevent" ("gateway_id", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") SELECT new_values."gateway_id", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_6b74f() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_departureevent" ("by_id", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "state") SELECT new_values."by_id", new_values."id", new_values."member_id", new_values."on", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."planned", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_6dc99() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_natmappingevent" ("block", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "public", "sharing", "valid", "version") SELECT new_values."block", new_values."group_id", new_values."held", new_values."holding_id", new_values."id", new_values."kind", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."pool_id", new_values."pool_kind", new_values."pool_prefix", new_values."public", new_values."sharing", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_6f328() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "members_memberinvitationevent" ("by_id", "expires", "id", "made", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "taken", "withdrawn") SELECT new_values."by_id", new_values."expires", new_values."id", new_values."made", new_values."member_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."taken", new_values."withdrawn" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_781dd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_uplinkevent" ("down_kbit", "framing", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "queue_down_kbit", "queue_up_kbit", "up_kbit", "version") SELECT new_values."down_kbit", new_values."framing", new_values."group_id", new_values."id", new_values."limits_rates", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."queue_down_kbit", new_values."queue_up_kbit", new_values."up_kbit", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_7e331() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_blockevent" ("author_id", "id", "lifted_by_id", "member_id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "valid", "version") SELECT new_values."author_id", new_values."id", new_values."lifted_by_id", new_values."member_id", new_values."message", new_values."note", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."reason", new_values."valid", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_7fbc5() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "nat_moveevent" ("by_id", "follow", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "pool_id", "problem", "room_id", "state") SELECT new_values."by_id", new_values."follow", new_values."id", new_values."member_id", new_values."on", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."planned", new_values."pool_id", new_values."problem", new_values."room_id", new_values."state" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_8c354() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "accounts_invitationevent" ("by_id", "email", "expires", "id", "made", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "taken", "withdrawn") SELECT new_values."by_id", new_values."email", new_values."expires", new_values."id", new_values."made", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."roles", new_values."taken", new_values."withdrawn" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_925e2() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "alarms_dutyshiftevent" ("begins", "by_id", "calendar_id", "ends", "id", "person_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "uid") SELECT new_values."begins", new_values."by_id", new_values."calendar_id", new_values."ends", new_values."id", new_values."person_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."uid" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_92d85() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") SELECT new_values."bgp_peers", new_values."bogons", new_values."ftp_ports", new_values."group_id", new_values."id", new_values."ospf_peers", new_values."own", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."sip_ports", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_942ba() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banevent" ("author_id", "comment", "created", "direction", "expires", "id", "list_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") SELECT new_values."author_id", new_values."comment", new_values."created", new_values."direction", new_values."expires", new_values."id", new_values."list_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."prefix", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_9dc6a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banlistevent" ("description", "enabled", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") SELECT new_values."description", new_values."enabled", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_a4941() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_failoverevent" ("announce", "cache", "failback", "group_id", "id", "inside", "interval", "outside", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "servers", "version", "virtual_router") SELECT new_values."announce", new_values."cache", new_values."failback", new_values."group_id", new_values."id", new_values."inside", new_values."interval", new_values."outside", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."servers", new_values."version", new_values."virtual_router" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_a70c2() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_holdingevent" ("device_id", "group_id", "id", "kind", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_prefix", "prefix", "valid") SELECT new_values."device_id", new_values."group_id", new_values."id", new_values."kind", new_values."member_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."pool_id", new_values."pool_prefix", new_values."prefix", new_values."valid" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_a97a3() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") SELECT new_values."id", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."text_de", new_values."text_en", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_acf6b() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "alarms_dutycalendarevent" ("active", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shown", "version") SELECT new_values."active", new_values."id", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."shown", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_b6625() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") SELECT new_values."alone", new_values."by_id", new_values."group_id", new_values."id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."released", new_values."released_by_id", new_values."revision_id", new_values."since", new_values."why" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_b7d76() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "deployments_databaserestoreevent" ("agreed", "agreed_by_id", "backup_made", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "restored") SELECT new_values."agreed", new_values."agreed_by_id", new_values."backup_made", new_values."id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."restored" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_be2a6() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") SELECT new_values."address", new_values."enabled", new_values."group_id", new_values."guarded", new_values."id", new_values."name", new_values."note", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."port", new_values."protocol", new_values."version", new_values."window_scale" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_c1e88() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "machine_name", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "retired", "ssh_user", "sync", "sync_address", "version", "wan") SELECT new_values."address", new_values."carries4", new_values."carries6", new_values."group_id", new_values."host_key", new_values."id", new_values."lan", new_values."link", new_values."machine_name", new_values."management", new_values."management_networks", new_values."management_port", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."probe_interface", new_values."probe_public4", new_values."probe_source4", new_values."probe_source6", new_values."retired", new_values."ssh_user", new_values."sync", new_values."sync_address", new_values."version", new_values."wan" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_d1c7c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") SELECT new_values."octets", _pgh_attached_context.value, NOW(), 'insert', new_values."tariff_id", new_values."tariff_id" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_e0322() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "webhooks_endpointevent" ("active", "created", "id", "kinds", "name", "on", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "url", "version") SELECT new_values."active", new_values."created", new_values."id", new_values."kinds", new_values."name", new_values."on", new_values."owner_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."url", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_e584a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_reachableevent" ("address", "id", "name", "notice_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol") SELECT new_values."address", new_values."id", new_values."name", new_values."notice_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."port", new_values."protocol" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_e8f4d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "retired", "sharing", "version") SELECT new_values."block_size", new_values."group_id", new_values."id", new_values."kept", new_values."kept_first", new_values."kind", new_values."member_length", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."prefix", new_values."retired", new_values."sharing", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_eff18() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "alarms_alarmchannelevent" ("active", "after_minutes", "id", "language", "name", "only_critical", "person_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "quiet_from", "quiet_until", "shown", "version") SELECT new_values."active", new_values."after_minutes", new_values."id", new_values."language", new_values."name", new_values."only_critical", new_values."person_id", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."quiet_from", new_values."quiet_until", new_values."shown", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_f93d1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "bans_banfeedevent" ("comment", "direction", "enabled", "id", "interval", "list_id", "minimum_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shrink_limit", "source", "version") SELECT new_values."comment", new_values."direction", new_values."enabled", new_values."id", new_values."interval", new_values."list_id", new_values."minimum_count", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."shrink_limit", new_values."source", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_insert_insert_fe8f6() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    WITH _pgh_attached_context AS ( SELECT _pgh_attach_context() AS value ) INSERT INTO "network_gatewaygroupevent" ("clamp_mss", "confirm_within", "flood_mode", "goes_on", "heals_drift", "id", "live_since", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "responder_port", "version") SELECT new_values."clamp_mss", new_values."confirm_within", new_values."flood_mode", new_values."goes_on", new_values."heals_drift", new_values."id", new_values."live_since", new_values."name", _pgh_attached_context.value, NOW(), 'insert', new_values."id", new_values."probe_port", new_values."probe_target4", new_values."probe_target6", new_values."removal_least", new_values."removal_share", new_values."responder_port", new_values."version" FROM ( SELECT new_values.* FROM new_values  ) AS new_values, _pgh_attached_context; RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_last_network_admin_b0978() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    
            IF NOT (OLD.is_active AND OLD.roles @> ARRAY['network_admin']::varchar[]) OR (TG_OP = 'UPDATE' AND NEW.is_active AND NEW.roles @> ARRAY['network_admin']::varchar[]) THEN
                RETURN COALESCE(NEW, OLD);
            END IF;
            PERFORM pg_advisory_xact_lock(hashtext('user_last_network_admin'));
            IF NOT EXISTS (SELECT FROM accounts_user u WHERE u.id <> OLD.id AND u.is_active AND u.roles @> ARRAY['network_admin']::varchar[]) THEN
                RAISE EXCEPTION 'the last network admin' USING ERRCODE = 'check_violation', CONSTRAINT = 'user_last_network_admin';
            END IF;
            RETURN COALESCE(NEW, OLD);
        
                END;
            $$;

CREATE FUNCTION public.pgtrigger_notes_when_left_98df4() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    
            IF NEW.state <> 'left' THEN
                NEW.left_at = NULL;
            ELSIF TG_OP = 'UPDATE' THEN
                NEW.left_at = COALESCE(NEW.left_at, OLD.left_at, clock_timestamp());
            ELSE
                NEW.left_at = COALESCE(NEW.left_at, clock_timestamp());
            END IF;
            RETURN NEW;
        
                END;
            $$;

CREATE FUNCTION public.pgtrigger_periods_of_changed_d44df() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    
    UPDATE members_membership m
    SET valid = tstzrange(lower(m.valid), greatest(clock_timestamp(), lower(m.valid) + interval '1 microsecond'))
    FROM old_values o JOIN new_values n ON n.id = o.id
    WHERE o.state = 'active' AND n.state <> 'active' AND m.member_id = n.id AND upper_inf(m.valid);

    INSERT INTO members_membership (member_id, valid) SELECT n.id, tstzrange(greatest(
        clock_timestamp(), (SELECT max(upper(m.valid)) FROM members_membership m WHERE m.member_id = n.id)), NULL)
    FROM old_values o JOIN new_values n ON n.id = o.id WHERE o.state <> 'active' AND n.state = 'active';
RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_periods_of_new_db609() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    
    INSERT INTO members_membership (member_id, valid)
    SELECT n.id, tstzrange(least(n.since::timestamptz, clock_timestamp()), NULL) FROM new_values n WHERE n.state = 'active';
RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_1032f() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_93ef2() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_9b50c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_a082c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_a4b8e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_b3db6() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_b595e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_b8458() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_be5d6() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_c34a3() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_ce10e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_e24e5() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_f812e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_stamp_transaction_fd686() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    NEW.changed_in = pg_current_xact_id(); NEW.changed_at = statement_timestamp(); RETURN NEW;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_004cb() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "members_roomevent" ("floor", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "site_id", "version") VALUES (NEW."floor", NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."site_id", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_02c7e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "members_tariffevent" ("down_kbit", "id", "most_devices", "most_forwards", "name", "offered", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "trial", "up_kbit", "version") VALUES (NEW."down_kbit", NEW."id", NEW."most_devices", NEW."most_forwards", NEW."name", NEW."offered", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."trial", NEW."up_kbit", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_0e890() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_userevent" ("date_joined", "email", "first_name", "id", "is_active", "keys", "language", "last_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "username") VALUES (NEW."date_joined", NEW."email", NEW."first_name", NEW."id", NEW."is_active", NEW."keys", NEW."language", NEW."last_name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."roles", NEW."username"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_0fc7d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "nat_pinholeevent" ("address", "enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "ports", "prefix", "protocol", "purpose", "valid", "version") VALUES (NEW."address", NEW."enabled", NEW."group_id", NEW."held", NEW."holding_id", NEW."id", NEW."kind", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."port", NEW."ports", NEW."prefix", NEW."protocol", NEW."purpose", NEW."valid", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_12ba2() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "nat_portrulesevent" ("forbidden", "group_id", "id", "longest", "lowest", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."forbidden", NEW."group_id", NEW."id", NEW."longest", NEW."lowest", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_1a582() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "traffic_quotaevent" ("octets", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tariff_id") VALUES (NEW."octets", _pgh_attach_context(), NOW(), 'update', NEW."tariff_id", NEW."tariff_id"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_1b05d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_failoverevent" ("announce", "cache", "failback", "group_id", "id", "inside", "interval", "outside", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "servers", "version", "virtual_router") VALUES (NEW."announce", NEW."cache", NEW."failback", NEW."group_id", NEW."id", NEW."inside", NEW."interval", NEW."outside", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."servers", NEW."version", NEW."virtual_router"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_25f99() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_protectionevent" ("bgp_peers", "bogons", "ftp_ports", "group_id", "id", "ospf_peers", "own", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "sip_ports", "version") VALUES (NEW."bgp_peers", NEW."bogons", NEW."ftp_ports", NEW."group_id", NEW."id", NEW."ospf_peers", NEW."own", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."sip_ports", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_28497() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_blockevent" ("author_id", "id", "lifted_by_id", "member_id", "message", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "valid", "version") VALUES (NEW."author_id", NEW."id", NEW."lifted_by_id", NEW."member_id", NEW."message", NEW."note", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."reason", NEW."valid", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_30f33() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "alarms_dutyshiftevent" ("begins", "by_id", "calendar_id", "ends", "id", "person_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "uid") VALUES (NEW."begins", NEW."by_id", NEW."calendar_id", NEW."ends", NEW."id", NEW."person_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."uid"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_31984() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_banevent" ("author_id", "comment", "created", "direction", "expires", "id", "list_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") VALUES (NEW."author_id", NEW."comment", NEW."created", NEW."direction", NEW."expires", NEW."id", NEW."list_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."prefix", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_3bc25() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_serverinterfaceevent" ("gateway_id", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."gateway_id", NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_426fa() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_limitsevent" ("exempt", "group_id", "id", "mail_rate", "member_burst", "member_open", "member_rate", "open_sampled", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "refuses", "source_burst", "source_open", "source_rate", "version") VALUES (NEW."exempt", NEW."group_id", NEW."id", NEW."mail_rate", NEW."member_burst", NEW."member_open", NEW."member_rate", NEW."open_sampled", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."refuses", NEW."source_burst", NEW."source_open", NEW."source_rate", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_44fbd() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_rolechangeevent" ("asked", "by_id", "decided", "decided_by_id", "id", "new", "old", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "state", "user_id") VALUES (NEW."asked", NEW."by_id", NEW."decided", NEW."decided_by_id", NEW."id", NEW."new", NEW."old", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."reason", NEW."state", NEW."user_id"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_46f09() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_uplinkevent" ("down_kbit", "framing", "group_id", "id", "limits_rates", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "queue_down_kbit", "queue_up_kbit", "up_kbit", "version") VALUES (NEW."down_kbit", NEW."framing", NEW."group_id", NEW."id", NEW."limits_rates", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."queue_down_kbit", NEW."queue_up_kbit", NEW."up_kbit", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_4e12d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_invitationevent" ("by_id", "email", "expires", "id", "made", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "roles", "taken", "withdrawn") VALUES (NEW."by_id", NEW."email", NEW."expires", NEW."id", NEW."made", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."roles", NEW."taken", NEW."withdrawn"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_5d09d() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "members_deviceevent" ("id", "mac", "member_id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id") VALUES (NEW."id", NEW."mac", NEW."member_id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_62340() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_gatewayevent" ("address", "carries4", "carries6", "group_id", "host_key", "id", "lan", "link", "machine_name", "management", "management_networks", "management_port", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_interface", "probe_public4", "probe_source4", "probe_source6", "retired", "ssh_user", "sync", "sync_address", "version", "wan") VALUES (NEW."address", NEW."carries4", NEW."carries6", NEW."group_id", NEW."host_key", NEW."id", NEW."lan", NEW."link", NEW."machine_name", NEW."management", NEW."management_networks", NEW."management_port", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."probe_interface", NEW."probe_public4", NEW."probe_source4", NEW."probe_source6", NEW."retired", NEW."ssh_user", NEW."sync", NEW."sync_address", NEW."version", NEW."wan"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_6342c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "webhooks_endpointevent" ("active", "created", "id", "kinds", "name", "on", "owner_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "url", "version") VALUES (NEW."active", NEW."created", NEW."id", NEW."kinds", NEW."name", NEW."on", NEW."owner_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."url", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_6f165() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_banfeedevent" ("comment", "direction", "enabled", "id", "interval", "list_id", "minimum_count", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shrink_limit", "source", "version") VALUES (NEW."comment", NEW."direction", NEW."enabled", NEW."id", NEW."interval", NEW."list_id", NEW."minimum_count", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."shrink_limit", NEW."source", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_735d1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "deployments_holdevent" ("alone", "by_id", "group_id", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "released", "released_by_id", "revision_id", "since", "why") VALUES (NEW."alone", NEW."by_id", NEW."group_id", NEW."id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."released", NEW."released_by_id", NEW."revision_id", NEW."since", NEW."why"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_7edf5() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "traffic_ratelimitevent" ("author_id", "down_kbit", "id", "member_id", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "released_by_id", "up_kbit", "valid", "version") VALUES (NEW."author_id", NEW."down_kbit", NEW."id", NEW."member_id", NEW."note", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."reason", NEW."released_by_id", NEW."up_kbit", NEW."valid", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_8186a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_gatewaygroupevent" ("clamp_mss", "confirm_within", "flood_mode", "goes_on", "heals_drift", "id", "live_since", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "probe_port", "probe_target4", "probe_target6", "removal_least", "removal_share", "responder_port", "version") VALUES (NEW."clamp_mss", NEW."confirm_within", NEW."flood_mode", NEW."goes_on", NEW."heals_drift", NEW."id", NEW."live_since", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."probe_port", NEW."probe_target4", NEW."probe_target6", NEW."removal_least", NEW."removal_share", NEW."responder_port", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_8fc0c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "alarms_alarmchannelevent" ("active", "after_minutes", "id", "language", "name", "only_critical", "person_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "quiet_from", "quiet_until", "shown", "version") VALUES (NEW."active", NEW."after_minutes", NEW."id", NEW."language", NEW."name", NEW."only_critical", NEW."person_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."quiet_from", NEW."quiet_until", NEW."shown", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_9416e() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "deployments_databaserestoreevent" ("agreed", "agreed_by_id", "backup_made", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "restored") VALUES (NEW."agreed", NEW."agreed_by_id", NEW."backup_made", NEW."id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."restored"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_9e133() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "nat_moveevent" ("by_id", "follow", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "pool_id", "problem", "room_id", "state") VALUES (NEW."by_id", NEW."follow", NEW."id", NEW."member_id", NEW."on", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."planned", NEW."pool_id", NEW."problem", NEW."room_id", NEW."state"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_a503a() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_profileevent" ("buckets", "connections", "first_port", "generic", "group_id", "icmp", "id", "last_port", "managed", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "tcp_close_wait", "tcp_established", "tcp_fin_wait", "tcp_loose", "tcp_syn_sent", "tcp_time_wait", "udp", "udp_stream", "version") VALUES (NEW."buckets", NEW."connections", NEW."first_port", NEW."generic", NEW."group_id", NEW."icmp", NEW."id", NEW."last_port", NEW."managed", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."tcp_close_wait", NEW."tcp_established", NEW."tcp_fin_wait", NEW."tcp_loose", NEW."tcp_syn_sent", NEW."tcp_time_wait", NEW."udp", NEW."udp_stream", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_a77cc() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "status_incidentevent" ("attach_tickets", "began", "ended", "id", "impact", "kind", "next_update", "opened", "opened_by_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned_end", "public", "report", "services", "title_de", "title_en", "version") VALUES (NEW."attach_tickets", NEW."began", NEW."ended", NEW."id", NEW."impact", NEW."kind", NEW."next_update", NEW."opened", NEW."opened_by_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."planned_end", NEW."public", NEW."report", NEW."services", NEW."title_de", NEW."title_en", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_aa425() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_allowentryevent" ("author_id", "comment", "created", "expires", "id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "version") VALUES (NEW."author_id", NEW."comment", NEW."created", NEW."expires", NEW."id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."prefix", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_b1727() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "alarms_dutycalendarevent" ("active", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "shown", "version") VALUES (NEW."active", NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."shown", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_b1bc1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "members_memberevent" ("email", "id", "language", "name", "note", "number", "paid_until", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "room_id", "since", "state", "tariff_id", "user_id", "version") VALUES (NEW."email", NEW."id", NEW."language", NEW."name", NEW."note", NEW."number", NEW."paid_until", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."room_id", NEW."since", NEW."state", NEW."tariff_id", NEW."user_id", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_b4cf0() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "tickets_cannedevent" ("id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "text_de", "text_en", "version") VALUES (NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."text_de", NEW."text_en", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_b6194() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "members_departureevent" ("by_id", "id", "member_id", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "planned", "state") VALUES (NEW."by_id", NEW."id", NEW."member_id", NEW."on", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."planned", NEW."state"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_b7240() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "deployments_heldbackevent" ("alone", "asker_unknown", "decided", "decided_by_id", "digest", "earlier", "group_id", "id", "kind", "of", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "removed", "since", "state") VALUES (NEW."alone", NEW."asker_unknown", NEW."decided", NEW."decided_by_id", NEW."digest", NEW."earlier", NEW."group_id", NEW."id", NEW."kind", NEW."of", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."reason", NEW."removed", NEW."since", NEW."state"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_b90b7() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "members_memberinvitationevent" ("by_id", "expires", "id", "made", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "taken", "withdrawn") VALUES (NEW."by_id", NEW."expires", NEW."id", NEW."made", NEW."member_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."taken", NEW."withdrawn"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_bed81() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "traffic_fairshareevent" ("calm_minutes", "down_kbit", "end_percent", "group_id", "id", "limit_minutes", "minutes", "most", "on", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "start_percent", "up_kbit", "version") VALUES (NEW."calm_minutes", NEW."down_kbit", NEW."end_percent", NEW."group_id", NEW."id", NEW."limit_minutes", NEW."minutes", NEW."most", NEW."on", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."start_percent", NEW."up_kbit", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_c33b6() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_noticeevent" ("contact", "group_id", "id", "ipv4", "ipv6", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "version") VALUES (NEW."contact", NEW."group_id", NEW."id", NEW."ipv4", NEW."ipv6", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."port", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_c471b() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "members_siteevent" ("code", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."code", NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_c6bd0() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "tickets_ticketevent" ("address", "assignee_id", "id", "language", "member_id", "merged_into_id", "opened_at", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "split_from_id", "state", "subject", "tags", "version") VALUES (NEW."address", NEW."assignee_id", NEW."id", NEW."language", NEW."member_id", NEW."merged_into_id", NEW."opened_at", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."priority", NEW."split_from_id", NEW."state", NEW."subject", NEW."tags", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_c8e08() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_poolevent" ("block_size", "group_id", "id", "kept", "kept_first", "kind", "member_length", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "prefix", "retired", "sharing", "version") VALUES (NEW."block_size", NEW."group_id", NEW."id", NEW."kept", NEW."kept_first", NEW."kind", NEW."member_length", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."prefix", NEW."retired", NEW."sharing", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_c956b() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_banlistevent" ("description", "enabled", "id", "name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."description", NEW."enabled", NEW."id", NEW."name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_cdf08() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "nat_portforwardevent" ("enabled", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "ports", "private_port", "protocol", "public", "public_port", "purpose", "valid", "version") VALUES (NEW."enabled", NEW."group_id", NEW."held", NEW."holding_id", NEW."id", NEW."kind", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."pool_id", NEW."pool_kind", NEW."pool_prefix", NEW."ports", NEW."private_port", NEW."protocol", NEW."public", NEW."public_port", NEW."purpose", NEW."valid", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_de3f1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_reachableevent" ("address", "id", "name", "notice_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol") VALUES (NEW."address", NEW."id", NEW."name", NEW."notice_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."port", NEW."protocol"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_df53b() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "accounts_apitokenevent" ("created", "expires", "group_id", "id", "member_id", "name", "networks", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "scopes", "sha256", "site_id", "start", "user_id") VALUES (NEW."created", NEW."expires", NEW."group_id", NEW."id", NEW."member_id", NEW."name", NEW."networks", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."scopes", NEW."sha256", NEW."site_id", NEW."start", NEW."user_id"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_e1577() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "network_holdingevent" ("device_id", "group_id", "id", "kind", "member_id", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_prefix", "prefix", "valid") VALUES (NEW."device_id", NEW."group_id", NEW."id", NEW."kind", NEW."member_id", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."pool_id", NEW."pool_prefix", NEW."prefix", NEW."valid"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_e6ac9() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "announcements_announcementevent" ("audience", "author_id", "by_mail", "created", "id", "narrowed_by", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "published", "published_by_id", "reached", "shown_from", "shown_until", "state", "text_de", "text_en", "title_de", "title_en", "version", "withdrawn", "withdrawn_by_id") VALUES (NEW."audience", NEW."author_id", NEW."by_mail", NEW."created", NEW."id", NEW."narrowed_by", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."published", NEW."published_by_id", NEW."reached", NEW."shown_from", NEW."shown_until", NEW."state", NEW."text_de", NEW."text_en", NEW."title_de", NEW."title_en", NEW."version", NEW."withdrawn", NEW."withdrawn_by_id"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_f534c() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "preferences_networksettingsevent" ("backup_hours", "contact", "default_language", "duty_minutes", "erase_days", "forbidden_ports", "hold_days", "id", "invitation_days", "keep_ban_history_days", "keep_days_days", "keep_five_minutes_days", "keep_hits_days", "keep_hours_days", "keep_mail_days", "keep_revisions_days", "keep_webhook_days", "longest_range", "lowest_port", "messages_an_hour", "network_name", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "version") VALUES (NEW."backup_hours", NEW."contact", NEW."default_language", NEW."duty_minutes", NEW."erase_days", NEW."forbidden_ports", NEW."hold_days", NEW."id", NEW."invitation_days", NEW."keep_ban_history_days", NEW."keep_days_days", NEW."keep_five_minutes_days", NEW."keep_hits_days", NEW."keep_hours_days", NEW."keep_mail_days", NEW."keep_revisions_days", NEW."keep_webhook_days", NEW."longest_range", NEW."lowest_port", NEW."messages_an_hour", NEW."network_name", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_f5910() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "bans_listenerevent" ("address", "enabled", "group_id", "guarded", "id", "name", "note", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "port", "protocol", "version", "window_scale") VALUES (NEW."address", NEW."enabled", NEW."group_id", NEW."guarded", NEW."id", NEW."name", NEW."note", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."port", NEW."protocol", NEW."version", NEW."window_scale"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.pgtrigger_update_update_ff591() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
                
                BEGIN
                    IF ("public"._pgtrigger_should_ignore(TG_NAME) IS TRUE) THEN
                        IF (TG_OP = 'DELETE') THEN
                            RETURN OLD;
                        ELSE
                            RETURN NEW;
                        END IF;
                    END IF;
                    INSERT INTO "nat_natmappingevent" ("block", "group_id", "held", "holding_id", "id", "kind", "pgh_context_id", "pgh_created_at", "pgh_label", "pgh_obj_id", "pool_id", "pool_kind", "pool_prefix", "public", "sharing", "valid", "version") VALUES (NEW."block", NEW."group_id", NEW."held", NEW."holding_id", NEW."id", NEW."kind", _pgh_attach_context(), NOW(), 'update', NEW."id", NEW."pool_id", NEW."pool_kind", NEW."pool_prefix", NEW."public", NEW."sharing", NEW."valid", NEW."version"); RETURN NULL;
                END;
            $$;

CREATE FUNCTION public.tickets_gather_words(tickets bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM FROM tickets_words WHERE ticket_id = ANY (tickets) ORDER BY ticket_id FOR UPDATE;  -- then what others wrote meanwhile is seen
    UPDATE tickets_words known SET characters = found.characters, search = found.search
    FROM unnest(tickets) asked CROSS JOIN LATERAL tickets_words_in(asked) found WHERE known.ticket_id = asked;
END $$;

CREATE FUNCTION public.tickets_message_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$

BEGIN
    PERFORM events_tell('ticket', NEW.ticket_id, CASE NEW.kind WHEN 'answer' THEN 'answered' WHEN 'note' THEN 'noted' ELSE 'written' END,
        (SELECT member_id FROM tickets_ticket WHERE id = NEW.ticket_id), NEW.kind <> 'note');
    RETURN NULL;
END

$$;

CREATE FUNCTION public.tickets_ticket_tells() RETURNS trigger
    LANGUAGE plpgsql
    AS $$

BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM events_tell('ticket', NEW.id, NEW.state, NEW.member_id, true);
    ELSE
        PERFORM events_tell('ticket', NEW.id, CASE WHEN NEW.assignee_id IS DISTINCT FROM OLD.assignee_id AND NEW.assignee_id IS NOT NULL
            THEN 'taken' ELSE NEW.state END, NEW.member_id, NEW.state <> OLD.state);
    END IF;
    RETURN NULL;
END

$$;

CREATE FUNCTION public.tickets_words_and(known tsvector, said text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE
    AS $$
BEGIN
    RETURN known || ts_delete('''.'':10'::tsvector || tickets_words_of(said), '.');
EXCEPTION WHEN program_limit_exceeded THEN
    RETURN known;
END $$;

CREATE FUNCTION public.tickets_words_in(ticket bigint, OUT characters bigint, OUT search tsvector) RETURNS record
    LANGUAGE sql STABLE
    AS $$
    SELECT LEAST(sum(length(piece)), 200000), tickets_words_of_all(left(piece, (200000 - before)::int) ORDER BY id)
               FILTER (WHERE before < 200000)
    FROM (SELECT id, piece, COALESCE(sum(length(piece)) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
          FROM (SELECT 0 AS id, subject AS piece FROM tickets_ticket WHERE tickets_ticket.id = ticket
                UNION ALL
                SELECT id, left(text, 20000) FROM tickets_message WHERE ticket_id = ticket AND text <> '') said) thread
$$;

CREATE FUNCTION public.tickets_words_of(said text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT COALESCE(
        string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''':' || array_to_string(positions, ','), ' '), ''
    )::tsvector
    FROM (SELECT * FROM unnest(to_tsvector('german', said))
          UNION ALL SELECT * FROM unnest(to_tsvector('english', said))
          UNION ALL SELECT * FROM unnest(to_tsvector('simple', said))) word
$$;

CREATE FUNCTION public.tickets_words_of_messages() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    message record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR message IN SELECT ticket_id, left(text, 20000) AS piece FROM added WHERE text <> '' ORDER BY id LOOP
            UPDATE tickets_words SET characters = LEAST(characters + length(message.piece), 200000),
                search = tickets_words_and(search, left(message.piece, 200000 - characters))
            WHERE ticket_id = message.ticket_id AND characters < 200000;
        END LOOP;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM tickets_gather_words(ARRAY(SELECT DISTINCT ticket_id FROM removed));
    ELSE
        PERFORM tickets_gather_words(ARRAY(
            SELECT ticket_id FROM (SELECT id, ticket_id, text FROM removed EXCEPT SELECT id, ticket_id, text FROM added) gone
            UNION SELECT ticket_id FROM (SELECT id, ticket_id, text FROM added EXCEPT SELECT id, ticket_id, text FROM removed) come));
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION public.tickets_words_of_subject() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM tickets_gather_words(ARRAY[NEW.id]);
    RETURN NULL;
END $$;

CREATE FUNCTION public.tickets_words_of_tickets() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO tickets_words (ticket_id, characters, search)
    SELECT id, length(subject), tickets_words_and('', subject) FROM added;
    RETURN NULL;
END $$;

CREATE FUNCTION public.traffic_ratelimit_touched() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, member_id, up_kbit, down_kbit, valid FROM come) r, LATERAL (VALUES ('member', r.member_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'DELETE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM (SELECT id, member_id, up_kbit, down_kbit, valid FROM gone) r, LATERAL (VALUES ('member', r.member_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH touched AS MATERIALIZED (
            SELECT k.kind, k.key FROM ((SELECT id, member_id, up_kbit, down_kbit, valid FROM gone EXCEPT SELECT id, member_id, up_kbit, down_kbit, valid FROM come) UNION ALL (SELECT id, member_id, up_kbit, down_kbit, valid FROM come EXCEPT SELECT id, member_id, up_kbit, down_kbit, valid FROM gone)) r, LATERAL (VALUES ('member', r.member_id::text)) k (kind, key) LIMIT 2000 + 1
        )
        INSERT INTO deployments_touched (kind, key)
        SELECT kind, key FROM touched WHERE (SELECT count(*) FROM touched) <= 2000
        UNION ALL SELECT 'everything', '' WHERE (SELECT count(*) FROM touched) > 2000;
    ELSE
        INSERT INTO deployments_touched (kind) VALUES ('everything');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION public.without_accents(value text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
BEGIN
    RETURN lower(public.unaccent('public.unaccent'::regdictionary, value));
END
$$;

CREATE AGGREGATE public.tickets_words_of_all(text) (
    SFUNC = public.tickets_words_and,
    STYPE = tsvector,
    INITCOND = ''
);

CREATE AGGREGATE public.traffic_total(bigint) (
    SFUNC = int8pl,
    STYPE = bigint,
    INITCOND = '0',
    COMBINEFUNC = int8pl,
    PARALLEL = safe
);

CREATE TABLE public.account_emailaddress (
    id integer NOT NULL,
    email character varying(254) NOT NULL,
    verified boolean NOT NULL,
    "primary" boolean NOT NULL,
    user_id bigint NOT NULL
);

ALTER TABLE public.account_emailaddress ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailaddress_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.account_emailconfirmation (
    id integer NOT NULL,
    created timestamp with time zone NOT NULL,
    sent timestamp with time zone,
    key character varying(64) NOT NULL,
    email_address_id integer NOT NULL
);

ALTER TABLE public.account_emailconfirmation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.account_emailconfirmation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_apitoken (
    id bigint NOT NULL,
    name character varying(80) NOT NULL,
    sha256 character varying(64) NOT NULL,
    created timestamp with time zone NOT NULL,
    last_used timestamp with time zone,
    expires timestamp with time zone,
    user_id bigint NOT NULL,
    member_id bigint,
    networks cidr[] NOT NULL,
    scopes character varying(40)[],
    start character varying(8) NOT NULL,
    group_id bigint,
    site_id bigint,
    CONSTRAINT apitoken_one_limit_at_most CHECK ((((group_id IS NULL) AND (member_id IS NULL)) OR ((member_id IS NULL) AND (site_id IS NULL)) OR ((group_id IS NULL) AND (site_id IS NULL))))
);

ALTER TABLE public.accounts_apitoken ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_apitoken_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_apitokenevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    name character varying(80) NOT NULL,
    sha256 character varying(64) NOT NULL,
    created timestamp with time zone NOT NULL,
    expires timestamp with time zone,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    user_id bigint NOT NULL,
    member_id bigint,
    networks cidr[] NOT NULL,
    scopes character varying(40)[],
    start character varying(8) NOT NULL,
    group_id bigint,
    site_id bigint
);

ALTER TABLE public.accounts_apitokenevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_apitokenevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_invitation (
    id bigint NOT NULL,
    email character varying(254) NOT NULL,
    roles character varying(20)[] NOT NULL,
    made timestamp with time zone NOT NULL,
    expires timestamp with time zone NOT NULL,
    taken timestamp with time zone,
    withdrawn timestamp with time zone,
    by_id bigint NOT NULL
);

ALTER TABLE public.accounts_invitation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_invitation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_invitationevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    email character varying(254) NOT NULL,
    roles character varying(20)[] NOT NULL,
    made timestamp with time zone NOT NULL,
    expires timestamp with time zone NOT NULL,
    taken timestamp with time zone,
    withdrawn timestamp with time zone,
    by_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL
);

ALTER TABLE public.accounts_invitationevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_invitationevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_rolechange (
    id bigint NOT NULL,
    old character varying(20)[] NOT NULL,
    new character varying(20)[] NOT NULL,
    reason character varying(200) NOT NULL,
    state character varying(8) NOT NULL,
    asked timestamp with time zone NOT NULL,
    decided timestamp with time zone,
    by_id bigint NOT NULL,
    decided_by_id bigint,
    user_id bigint NOT NULL,
    CONSTRAINT rolechange_agreed_by_another CHECK (((NOT ((state)::text = 'done'::text)) OR (decided_by_id IS NULL) OR (NOT ((decided_by_id = by_id) AND (decided_by_id IS NOT NULL))))),
    CONSTRAINT rolechange_has_a_reason CHECK ((NOT ((reason)::text = ''::text))),
    CONSTRAINT rolechange_not_of_oneself CHECK ((NOT (user_id = by_id))),
    CONSTRAINT rolechange_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'done'::character varying, 'dropped'::character varying])::text[])))
);

ALTER TABLE public.accounts_rolechange ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_rolechange_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_rolechangeevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    old character varying(20)[] NOT NULL,
    new character varying(20)[] NOT NULL,
    reason character varying(200) NOT NULL,
    state character varying(8) NOT NULL,
    asked timestamp with time zone NOT NULL,
    decided timestamp with time zone,
    by_id bigint NOT NULL,
    decided_by_id bigint,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    user_id bigint NOT NULL
);

ALTER TABLE public.accounts_rolechangeevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_rolechangeevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_user (
    id bigint NOT NULL,
    password character varying(128) NOT NULL,
    last_login timestamp with time zone,
    username character varying(150) NOT NULL,
    first_name character varying(150) NOT NULL,
    last_name character varying(150) NOT NULL,
    email character varying(254) NOT NULL,
    is_active boolean NOT NULL,
    date_joined timestamp with time zone NOT NULL,
    language character varying(2) NOT NULL,
    roles character varying(20)[] NOT NULL,
    is_staff boolean GENERATED ALWAYS AS ((roles && ARRAY['helpdesk'::character varying(20), 'network_admin'::character varying(20), 'approver'::character varying(20), 'auditor'::character varying(20), 'automation'::character varying(20)])) STORED,
    keys boolean DEFAULT true NOT NULL,
    CONSTRAINT user_roles_are_known CHECK ((roles <@ ARRAY['member'::character varying(20), 'helpdesk'::character varying(20), 'network_admin'::character varying(20), 'approver'::character varying(20), 'auditor'::character varying(20), 'automation'::character varying(20)]))
);

ALTER TABLE public.accounts_user ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_user_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.accounts_userevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    username character varying(150) NOT NULL,
    first_name character varying(150) NOT NULL,
    last_name character varying(150) NOT NULL,
    email character varying(254) NOT NULL,
    is_active boolean NOT NULL,
    date_joined timestamp with time zone NOT NULL,
    language character varying(2) NOT NULL,
    roles character varying(20)[] NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    keys boolean DEFAULT true NOT NULL
);

ALTER TABLE public.accounts_userevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.accounts_userevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_alarm (
    id bigint NOT NULL,
    key character varying(80) NOT NULL,
    severity character varying(8) NOT NULL,
    texts jsonb NOT NULL,
    path character varying(300) NOT NULL,
    began timestamp with time zone NOT NULL,
    gone timestamp with time zone,
    reported timestamp with time zone,
    ended timestamp with time zone,
    seen timestamp with time zone,
    seen_by_id bigint,
    gateways bigint[] NOT NULL,
    escalated timestamp with time zone,
    told_to bigint[] NOT NULL,
    announced timestamp with time zone,
    owes_end boolean NOT NULL,
    turn integer NOT NULL,
    waits_since timestamp with time zone,
    worsened timestamp with time zone,
    worsenings timestamp with time zone[] NOT NULL,
    CONSTRAINT alarm_ends_after_it_began CHECK (((ended IS NULL) OR (ended >= began))),
    CONSTRAINT alarm_has_a_key CHECK ((NOT ((key)::text = ''::text))),
    CONSTRAINT alarm_is_gone_before_it_ends CHECK (((ended IS NULL) OR (gone IS NOT NULL))),
    CONSTRAINT alarm_owes_its_end_once_over CHECK (((NOT owes_end) OR (ended IS NOT NULL))),
    CONSTRAINT alarm_seen_by_at_a_time CHECK (((seen_by_id IS NULL) OR (seen IS NOT NULL))),
    CONSTRAINT alarm_severity CHECK (((severity)::text = ANY ((ARRAY['critical'::character varying, 'warning'::character varying, 'decision'::character varying])::text[]))),
    CONSTRAINT alarms_alarm_turn_check CHECK ((turn >= 0))
);

ALTER TABLE public.alarms_alarm ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_alarm_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_alarmchannel (
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    target text NOT NULL,
    shown character varying(300) NOT NULL,
    only_critical boolean NOT NULL,
    after_minutes smallint NOT NULL,
    quiet_from time without time zone,
    quiet_until time without time zone,
    language character varying(8) NOT NULL,
    active boolean NOT NULL,
    failing_since timestamp with time zone,
    error character varying(300) NOT NULL,
    person_id bigint,
    CONSTRAINT alarms_alarmchannel_after_minutes_check CHECK ((after_minutes >= 0)),
    CONSTRAINT alarms_alarmchannel_version_check CHECK ((version >= 0)),
    CONSTRAINT channel_after_minutes CHECK ((after_minutes <= 1440)),
    CONSTRAINT channel_goes_somewhere CHECK (((NOT ((name)::text = ''::text)) AND (NOT (target = ''::text)))),
    CONSTRAINT channel_is_not_always_quiet CHECK (((quiet_from IS NULL) OR (NOT ((quiet_from = quiet_until) AND (quiet_from IS NOT NULL) AND (quiet_until IS NOT NULL))))),
    CONSTRAINT channel_quiet_hours CHECK ((((quiet_from IS NULL) AND (quiet_until IS NULL)) OR ((quiet_from IS NOT NULL) AND (quiet_until IS NOT NULL))))
);

ALTER TABLE public.alarms_alarmchannel ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_alarmchannel_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_alarmchannelevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    shown character varying(300) NOT NULL,
    only_critical boolean NOT NULL,
    after_minutes smallint NOT NULL,
    quiet_from time without time zone,
    quiet_until time without time zone,
    language character varying(8) NOT NULL,
    active boolean NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    person_id bigint,
    CONSTRAINT alarms_alarmchannelevent_after_minutes_check CHECK ((after_minutes >= 0)),
    CONSTRAINT alarms_alarmchannelevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.alarms_alarmchannelevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_alarmchannelevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_channelmessage (
    id bigint NOT NULL,
    event character varying(5) NOT NULL,
    severity character varying(8) NOT NULL,
    title character varying(300) NOT NULL,
    text text NOT NULL,
    written timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    state character varying(7) NOT NULL,
    tries smallint NOT NULL,
    due timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    claimed_until timestamp with time zone,
    error character varying(300) NOT NULL,
    ended timestamp with time zone,
    alarm_id bigint,
    channel_id bigint NOT NULL,
    turn integer NOT NULL,
    CONSTRAINT alarms_channelmessage_tries_check CHECK ((tries >= 0)),
    CONSTRAINT alarms_channelmessage_turn_check CHECK ((turn >= 0)),
    CONSTRAINT channelmessage_ended_once CHECK ((((ended IS NULL) AND ((state)::text = 'waiting'::text)) OR ((NOT ((state)::text = 'waiting'::text)) AND (ended IS NOT NULL)))),
    CONSTRAINT channelmessage_event CHECK ((((alarm_id IS NULL) AND ((event)::text = 'test'::text)) OR (((event)::text = ANY ((ARRAY['began'::character varying, 'over'::character varying])::text[])) AND (alarm_id IS NOT NULL)))),
    CONSTRAINT channelmessage_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'sent'::character varying, 'failed'::character varying])::text[])))
);

ALTER TABLE public.alarms_channelmessage ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_channelmessage_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_dutycalendar (
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    target text NOT NULL,
    shown character varying(300) NOT NULL,
    active boolean NOT NULL,
    content bytea NOT NULL,
    etag character varying(300) NOT NULL,
    last_modified character varying(100) NOT NULL,
    due timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    tried timestamp with time zone,
    read timestamp with time zone,
    error jsonb NOT NULL,
    error_since timestamp with time zone,
    unmatched jsonb NOT NULL,
    CONSTRAINT alarms_dutycalendar_version_check CHECK ((version >= 0)),
    CONSTRAINT dutycalendar_comes_from_somewhere CHECK (((NOT ((name)::text = ''::text)) AND (NOT ((shown)::text = ''::text))))
);

ALTER TABLE public.alarms_dutycalendar ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_dutycalendar_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_dutycalendarevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    shown character varying(300) NOT NULL,
    active boolean NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT alarms_dutycalendarevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.alarms_dutycalendarevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_dutycalendarevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_dutyfeed (
    user_id bigint NOT NULL,
    serial integer NOT NULL,
    CONSTRAINT alarms_dutyfeed_serial_check CHECK ((serial >= 0)),
    CONSTRAINT dutyfeed_serial CHECK ((serial >= 1))
);

CREATE TABLE public.alarms_dutyshift (
    id bigint NOT NULL,
    begins timestamp with time zone NOT NULL,
    ends timestamp with time zone NOT NULL,
    uid character varying(100) NOT NULL,
    by_id bigint,
    calendar_id bigint,
    person_id bigint NOT NULL,
    CONSTRAINT dutyshift_ends_after_it_begins CHECK ((ends > begins)),
    CONSTRAINT dutyshift_of_a_calendar_has_its_event CHECK ((((calendar_id IS NULL) AND ((uid)::text = ''::text)) OR ((calendar_id IS NOT NULL) AND (NOT ((uid)::text = ''::text)))))
);

ALTER TABLE public.alarms_dutyshift ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_dutyshift_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_dutyshiftevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    begins timestamp with time zone NOT NULL,
    ends timestamp with time zone NOT NULL,
    uid character varying(100) NOT NULL,
    by_id bigint,
    calendar_id bigint,
    person_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL
);

ALTER TABLE public.alarms_dutyshiftevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_dutyshiftevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.alarms_silence (
    id bigint NOT NULL,
    key character varying(80) NOT NULL,
    reason character varying(200) NOT NULL,
    since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    until timestamp with time zone NOT NULL,
    by_id bigint,
    ended_by_id bigint,
    CONSTRAINT silence_ends_after_it_began CHECK ((until >= since)),
    CONSTRAINT silence_has_a_reason CHECK ((NOT ((reason)::text = ''::text)))
);

ALTER TABLE public.alarms_silence ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alarms_silence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.announcements_announcement (
    id bigint NOT NULL,
    version integer NOT NULL,
    title_en character varying(200) NOT NULL,
    title_de character varying(200) NOT NULL,
    text_en text NOT NULL,
    text_de text NOT NULL,
    narrowed_by character varying(8)[] NOT NULL,
    audience text NOT NULL,
    shown_from timestamp with time zone,
    shown_until timestamp with time zone NOT NULL,
    by_mail boolean NOT NULL,
    state character varying(9) NOT NULL,
    reached integer,
    created timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    published timestamp with time zone,
    withdrawn timestamp with time zone,
    author_id bigint,
    published_by_id bigint,
    withdrawn_by_id bigint,
    CONSTRAINT announcement_audience_is_named CHECK (((narrowed_by = '{}'::character varying(8)[]) OR (NOT (audience = ''::text)))),
    CONSTRAINT announcement_audience_kinds CHECK ((narrowed_by <@ ARRAY['sites'::character varying(8), 'pools'::character varying(8), 'groups'::character varying(8), 'tariffs'::character varying(8)])),
    CONSTRAINT announcement_english_is_whole CHECK ((((text_en = ''::text) AND ((title_en)::text = ''::text)) OR ((NOT ((title_en)::text = ''::text)) AND (NOT (text_en = ''::text))))),
    CONSTRAINT announcement_german_is_whole CHECK ((((text_de = ''::text) AND ((title_de)::text = ''::text)) OR ((NOT ((title_de)::text = ''::text)) AND (NOT (text_de = ''::text))))),
    CONSTRAINT announcement_reaches_somebody CHECK (((reached IS NULL) OR (reached > 0))),
    CONSTRAINT announcement_says_something CHECK ((NOT (((title_de)::text = ''::text) AND ((title_en)::text = ''::text)))),
    CONSTRAINT announcement_state CHECK ((((published IS NULL) AND (reached IS NULL) AND ((state)::text = 'draft'::text) AND (withdrawn IS NULL)) OR ((published IS NOT NULL) AND (reached IS NOT NULL) AND (shown_from IS NOT NULL) AND ((state)::text = 'published'::text) AND (withdrawn IS NULL)) OR ((published IS NOT NULL) AND (reached IS NOT NULL) AND (shown_from IS NOT NULL) AND ((state)::text = 'withdrawn'::text) AND (withdrawn IS NOT NULL)))),
    CONSTRAINT announcement_until_after_from CHECK (((shown_from IS NULL) OR (shown_until > shown_from))),
    CONSTRAINT announcements_announcement_reached_check CHECK ((reached >= 0)),
    CONSTRAINT announcements_announcement_version_check CHECK ((version >= 0))
);

CREATE TABLE public.announcements_announcement_groups (
    id bigint NOT NULL,
    announcement_id bigint NOT NULL,
    gatewaygroup_id bigint NOT NULL
);

ALTER TABLE public.announcements_announcement_groups ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.announcements_announcement_groups_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.announcements_announcement ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.announcements_announcement_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.announcements_announcement_pools (
    id bigint NOT NULL,
    announcement_id bigint NOT NULL,
    pool_id bigint NOT NULL
);

ALTER TABLE public.announcements_announcement_pools ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.announcements_announcement_pools_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.announcements_announcement_sites (
    id bigint NOT NULL,
    announcement_id bigint NOT NULL,
    site_id bigint NOT NULL
);

ALTER TABLE public.announcements_announcement_sites ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.announcements_announcement_sites_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.announcements_announcement_tariffs (
    id bigint NOT NULL,
    announcement_id bigint NOT NULL,
    tariff_id bigint NOT NULL
);

ALTER TABLE public.announcements_announcement_tariffs ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.announcements_announcement_tariffs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.announcements_announcementevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    title_en character varying(200) NOT NULL,
    title_de character varying(200) NOT NULL,
    text_en text NOT NULL,
    text_de text NOT NULL,
    narrowed_by character varying(8)[] NOT NULL,
    audience text NOT NULL,
    shown_from timestamp with time zone,
    shown_until timestamp with time zone NOT NULL,
    by_mail boolean NOT NULL,
    state character varying(9) NOT NULL,
    reached integer,
    created timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    published timestamp with time zone,
    withdrawn timestamp with time zone,
    author_id bigint,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    published_by_id bigint,
    withdrawn_by_id bigint,
    CONSTRAINT announcements_announcementevent_reached_check CHECK ((reached >= 0)),
    CONSTRAINT announcements_announcementevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.announcements_announcementevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.announcements_announcementevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.announcements_announcementrecipient (
    id bigint NOT NULL,
    since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    delivery character varying(10) NOT NULL,
    seen timestamp with time zone,
    announcement_id bigint NOT NULL,
    member_id bigint NOT NULL,
    message_id bigint,
    CONSTRAINT announcement_delivery CHECK (((delivery)::text = ANY ((ARRAY['page'::character varying, 'waiting'::character varying, 'written'::character varying, 'no_address'::character varying, 'unwanted'::character varying, 'left'::character varying, 'stopped'::character varying])::text[]))),
    CONSTRAINT announcement_mail_is_written CHECK (((message_id IS NULL) OR ((delivery)::text = 'written'::text)))
);

ALTER TABLE public.announcements_announcementrecipient ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.announcements_announcementrecipient_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.audit_enquiry (
    id bigint NOT NULL,
    asked timestamp with time zone NOT NULL,
    address inet NOT NULL,
    port integer,
    at timestamp with time zone NOT NULL,
    reason character varying(200) NOT NULL,
    by_id bigint NOT NULL,
    CONSTRAINT audit_enquiry_port_check CHECK ((port >= 0)),
    CONSTRAINT enquiry_has_a_reason CHECK ((NOT ((reason)::text = ''::text))),
    CONSTRAINT enquiry_port CHECK (((port IS NULL) OR ((port IS NOT NULL) AND ((port >= 1) AND (port <= 65535)))))
);

ALTER TABLE public.audit_enquiry ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.audit_enquiry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.auth_group (
    id integer NOT NULL,
    name character varying(150) NOT NULL
);

ALTER TABLE public.auth_group ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.auth_group_permissions (
    id bigint NOT NULL,
    group_id integer NOT NULL,
    permission_id integer NOT NULL
);

ALTER TABLE public.auth_group_permissions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_group_permissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.auth_permission (
    id integer NOT NULL,
    name character varying(255) NOT NULL,
    content_type_id integer NOT NULL,
    codename character varying(100) NOT NULL
);

ALTER TABLE public.auth_permission ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.auth_permission_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_allowentry (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    prefix cidr NOT NULL,
    comment character varying(200) NOT NULL,
    created timestamp with time zone NOT NULL,
    expires timestamp with time zone,
    author_id bigint,
    CONSTRAINT allowentry_not_too_wide CHECK ((((family((prefix)::inet) = 4) AND (masklen((prefix)::inet) >= 8)) OR ((family((prefix)::inet) = 6) AND ((masklen((prefix)::inet) >= 16) AND (masklen((prefix)::inet) <= 64))) OR ((family((prefix)::inet) = 6) AND (masklen((prefix)::inet) = 128)))),
    CONSTRAINT bans_allowentry_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_allowentry ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_allowentry_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_allowentryevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    prefix cidr NOT NULL,
    comment character varying(200) NOT NULL,
    created timestamp with time zone NOT NULL,
    expires timestamp with time zone,
    author_id bigint,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT bans_allowentryevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_allowentryevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_allowentryevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_ban (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    prefix cidr NOT NULL,
    comment character varying(200) NOT NULL,
    created timestamp with time zone NOT NULL,
    expires timestamp with time zone,
    author_id bigint,
    list_id bigint NOT NULL,
    direction character varying(4) DEFAULT 'both'::character varying NOT NULL,
    CONSTRAINT ban_has_a_direction CHECK (((direction)::text = ANY ((ARRAY['both'::character varying, 'in'::character varying, 'out'::character varying])::text[]))),
    CONSTRAINT ban_not_too_wide CHECK ((((family((prefix)::inet) = 4) AND (masklen((prefix)::inet) >= 8)) OR ((family((prefix)::inet) = 6) AND ((masklen((prefix)::inet) >= 16) AND (masklen((prefix)::inet) <= 64))) OR ((family((prefix)::inet) = 6) AND (masklen((prefix)::inet) = 128)))),
    CONSTRAINT bans_ban_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_ban ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_ban_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_bancount (
    id bigint NOT NULL,
    number bigint NOT NULL,
    list_id bigint NOT NULL
);

ALTER TABLE public.bans_bancount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_bancount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_banevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    prefix cidr NOT NULL,
    comment character varying(200) NOT NULL,
    created timestamp with time zone NOT NULL,
    expires timestamp with time zone,
    author_id bigint,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    list_id bigint NOT NULL,
    direction character varying(4) DEFAULT 'both'::character varying NOT NULL,
    CONSTRAINT bans_banevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_banevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_banevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_banfeed (
    id bigint NOT NULL,
    version integer NOT NULL,
    source character varying(1000) NOT NULL,
    "interval" integer NOT NULL,
    enabled boolean NOT NULL,
    direction character varying(4) NOT NULL,
    minimum_count integer NOT NULL,
    comment character varying(200) NOT NULL,
    shrink_limit smallint NOT NULL,
    due timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    claimed_until timestamp with time zone,
    phase character varying(12) NOT NULL,
    octets bigint NOT NULL,
    checked timestamp with time zone,
    refreshed timestamp with time zone,
    etag character varying(1000) NOT NULL,
    last_modified character varying(200) NOT NULL,
    error jsonb,
    error_since timestamp with time zone,
    outcome jsonb NOT NULL,
    held bytea,
    held_since timestamp with time zone,
    held_removed integer NOT NULL,
    held_of integer NOT NULL,
    list_id bigint NOT NULL,
    claim uuid,
    CONSTRAINT banfeed_has_a_direction CHECK (((direction)::text = ANY ((ARRAY['both'::character varying, 'in'::character varying, 'out'::character varying])::text[]))),
    CONSTRAINT banfeed_has_a_source CHECK ((NOT ((source)::text = ''::text))),
    CONSTRAINT banfeed_interval CHECK ((("interval" >= 5) AND ("interval" <= 43200))),
    CONSTRAINT banfeed_shrink_limit CHECK ((shrink_limit <= 100)),
    CONSTRAINT bans_banfeed_held_of_check CHECK ((held_of >= 0)),
    CONSTRAINT bans_banfeed_held_removed_check CHECK ((held_removed >= 0)),
    CONSTRAINT bans_banfeed_interval_check CHECK (("interval" >= 0)),
    CONSTRAINT bans_banfeed_minimum_count_check CHECK ((minimum_count >= 0)),
    CONSTRAINT bans_banfeed_octets_check CHECK ((octets >= 0)),
    CONSTRAINT bans_banfeed_shrink_limit_check CHECK ((shrink_limit >= 0)),
    CONSTRAINT bans_banfeed_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_banfeed ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_banfeed_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_banfeedevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    source character varying(1000) NOT NULL,
    "interval" integer NOT NULL,
    enabled boolean NOT NULL,
    direction character varying(4) NOT NULL,
    minimum_count integer NOT NULL,
    comment character varying(200) NOT NULL,
    shrink_limit smallint NOT NULL,
    list_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT bans_banfeedevent_interval_check CHECK (("interval" >= 0)),
    CONSTRAINT bans_banfeedevent_minimum_count_check CHECK ((minimum_count >= 0)),
    CONSTRAINT bans_banfeedevent_shrink_limit_check CHECK ((shrink_limit >= 0)),
    CONSTRAINT bans_banfeedevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_banfeedevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_banfeedevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_banhits (
    id bigint NOT NULL,
    prefix cidr NOT NULL,
    packets bigint NOT NULL,
    octets bigint NOT NULL,
    last_hit timestamp with time zone,
    gateway_id bigint NOT NULL,
    direction character varying(4) DEFAULT 'both'::character varying NOT NULL,
    CONSTRAINT bans_banhits_octets_check CHECK ((octets >= 0)),
    CONSTRAINT bans_banhits_packets_check CHECK ((packets >= 0))
);

ALTER TABLE public.bans_banhits ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_banhits_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_banlist (
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(60) NOT NULL,
    description character varying(200) NOT NULL,
    enabled boolean NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT banlist_has_a_name CHECK ((NOT ((name)::text = ''::text))),
    CONSTRAINT bans_banlist_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_banlist ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_banlist_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_banlistevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(60) NOT NULL,
    description character varying(200) NOT NULL,
    enabled boolean NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT bans_banlistevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_banlistevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_banlistevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_block (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    reason character varying(8) NOT NULL,
    message character varying(500) NOT NULL,
    note text NOT NULL,
    valid tstzrange NOT NULL,
    author_id bigint,
    lifted_by_id bigint,
    member_id bigint NOT NULL,
    CONSTRAINT bans_block_version_check CHECK ((version >= 0)),
    CONSTRAINT block_reason CHECK (((reason)::text = ANY ((ARRAY['abuse'::character varying, 'infected'::character varying, 'unpaid'::character varying, 'rules'::character varying, 'other'::character varying])::text[]))),
    CONSTRAINT block_valid_some_time CHECK ((NOT isempty(valid)))
);

ALTER TABLE public.bans_block ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_block_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_blockevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    reason character varying(8) NOT NULL,
    message character varying(500) NOT NULL,
    note text NOT NULL,
    valid tstzrange NOT NULL,
    author_id bigint,
    lifted_by_id bigint,
    member_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT bans_blockevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_blockevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_blockevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_listener (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    name character varying(60) NOT NULL,
    address inet NOT NULL,
    protocol character varying(3) NOT NULL,
    port integer NOT NULL,
    enabled boolean NOT NULL,
    note character varying(200) NOT NULL,
    group_id bigint NOT NULL,
    guarded boolean DEFAULT false NOT NULL,
    window_scale smallint DEFAULT 7 NOT NULL,
    CONSTRAINT bans_listener_port_check CHECK ((port >= 0)),
    CONSTRAINT bans_listener_version_check CHECK ((version >= 0)),
    CONSTRAINT bans_listener_window_scale_check CHECK ((window_scale >= 0)),
    CONSTRAINT listener_guard_is_for_tcp CHECK (((NOT guarded) OR ((protocol)::text = 'tcp'::text))),
    CONSTRAINT listener_has_a_name CHECK ((NOT ((name)::text = ''::text))),
    CONSTRAINT listener_port CHECK (((port >= 1) AND (port <= 65535))),
    CONSTRAINT listener_protocol CHECK (((protocol)::text = ANY ((ARRAY['tcp'::character varying, 'udp'::character varying])::text[]))),
    CONSTRAINT listener_window_scale CHECK ((window_scale <= 14))
);

ALTER TABLE public.bans_listener ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_listener_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_listenerevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(60) NOT NULL,
    address inet NOT NULL,
    protocol character varying(3) NOT NULL,
    port integer NOT NULL,
    enabled boolean NOT NULL,
    note character varying(200) NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    guarded boolean DEFAULT false NOT NULL,
    window_scale smallint DEFAULT 7 NOT NULL,
    CONSTRAINT bans_listenerevent_port_check CHECK ((port >= 0)),
    CONSTRAINT bans_listenerevent_version_check CHECK ((version >= 0)),
    CONSTRAINT bans_listenerevent_window_scale_check CHECK ((window_scale >= 0))
);

ALTER TABLE public.bans_listenerevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_listenerevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_notice (
    id bigint NOT NULL,
    version integer NOT NULL,
    ipv4 inet,
    ipv6 inet,
    port integer NOT NULL,
    contact character varying(200) NOT NULL,
    group_id bigint NOT NULL,
    CONSTRAINT bans_notice_port_check CHECK ((port >= 0)),
    CONSTRAINT bans_notice_version_check CHECK ((version >= 0)),
    CONSTRAINT notice_ipv4_is_ipv4 CHECK ((family(ipv4) = 4)),
    CONSTRAINT notice_ipv6_is_ipv6 CHECK ((family(ipv6) = 6)),
    CONSTRAINT notice_port CHECK (((port >= 1) AND (port <= 65535)))
);

ALTER TABLE public.bans_notice ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_notice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_noticeevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    ipv4 inet,
    ipv6 inet,
    port integer NOT NULL,
    contact character varying(200) NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT bans_noticeevent_port_check CHECK ((port >= 0)),
    CONSTRAINT bans_noticeevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.bans_noticeevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_noticeevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_reachable (
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    address inet NOT NULL,
    protocol character varying(3) NOT NULL,
    port integer NOT NULL,
    notice_id bigint NOT NULL,
    CONSTRAINT bans_reachable_port_check CHECK ((port >= 0)),
    CONSTRAINT reachable_port CHECK (((port >= 1) AND (port <= 65535))),
    CONSTRAINT reachable_protocol CHECK (((protocol)::text = ANY ((ARRAY['tcp'::character varying, 'udp'::character varying])::text[])))
);

ALTER TABLE public.bans_reachable ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_reachable_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_reachableevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    address inet NOT NULL,
    protocol character varying(3) NOT NULL,
    port integer NOT NULL,
    notice_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT bans_reachableevent_port_check CHECK ((port >= 0))
);

ALTER TABLE public.bans_reachableevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_reachableevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_serverinterface (
    id bigint NOT NULL,
    name character varying(15) NOT NULL,
    gateway_id bigint NOT NULL,
    CONSTRAINT serverinterface_has_a_name CHECK ((NOT ((name)::text = ''::text)))
);

ALTER TABLE public.bans_serverinterface ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_serverinterface_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_serverinterfaceevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    name character varying(15) NOT NULL,
    gateway_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL
);

ALTER TABLE public.bans_serverinterfaceevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_serverinterfaceevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.bans_upload (
    id bigint NOT NULL,
    created timestamp with time zone NOT NULL,
    name character varying(200) NOT NULL,
    content bytea NOT NULL,
    keep boolean NOT NULL,
    minimum_count integer NOT NULL,
    comment character varying(200) NOT NULL,
    expires timestamp with time zone,
    by_id bigint NOT NULL,
    list_id bigint NOT NULL,
    direction character varying(4) NOT NULL,
    CONSTRAINT bans_upload_minimum_count_check CHECK ((minimum_count >= 0))
);

ALTER TABLE public.bans_upload ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.bans_upload_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_databaserestore (
    id bigint NOT NULL,
    backup_made timestamp with time zone NOT NULL,
    restored timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    agreed timestamp with time zone,
    agreed_by_id bigint,
    CONSTRAINT databaserestore_agreed_afterwards CHECK (((agreed IS NULL) OR (agreed >= restored))),
    CONSTRAINT databaserestore_agreed_at_a_time CHECK (((agreed_by_id IS NULL) OR (agreed IS NOT NULL)))
);

ALTER TABLE public.deployments_databaserestore ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_databaserestore_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_databaserestoreevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    backup_made timestamp with time zone NOT NULL,
    restored timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    agreed timestamp with time zone,
    agreed_by_id bigint,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL
);

ALTER TABLE public.deployments_databaserestoreevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_databaserestoreevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_gatewaystate (
    gateway_id bigint NOT NULL,
    digest character varying(64) NOT NULL,
    snapshot pg_snapshot,
    since timestamp with time zone,
    in_memory boolean NOT NULL,
    seen timestamp with time zone,
    unreachable_since timestamp with time zone,
    error text NOT NULL,
    revision_id bigint,
    drift jsonb,
    drift_since timestamp with time zone,
    kernel jsonb,
    disk text NOT NULL,
    agent character varying(40) NOT NULL,
    drifted_before jsonb NOT NULL,
    protocol smallint NOT NULL,
    unshaped text DEFAULT ''::text NOT NULL,
    CONSTRAINT deployments_gatewaystate_protocol_check CHECK ((protocol >= 0))
);

CREATE TABLE public.deployments_heldback (
    id bigint NOT NULL,
    kind character varying(12) NOT NULL,
    digest character varying(64) NOT NULL,
    removed integer NOT NULL,
    of integer NOT NULL,
    packed bytea NOT NULL,
    text text NOT NULL,
    state character varying(8) NOT NULL,
    since timestamp with time zone NOT NULL,
    decided timestamp with time zone,
    alone boolean NOT NULL,
    decided_by_id bigint,
    group_id bigint NOT NULL,
    asker_unknown boolean DEFAULT false NOT NULL,
    baseline pg_snapshot,
    earlier integer DEFAULT 0 NOT NULL,
    reason character varying(200) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT deployments_heldback_earlier_check CHECK ((earlier >= 0)),
    CONSTRAINT deployments_heldback_of_check CHECK ((of >= 0)),
    CONSTRAINT deployments_heldback_removed_check CHECK ((removed >= 0)),
    CONSTRAINT heldback_approved_by_somebody CHECK (((NOT ((state)::text = 'approved'::text)) OR (decided IS NOT NULL))),
    CONSTRAINT heldback_refused_for_a_reason CHECK (((NOT ((state)::text = 'refused'::text)) OR (NOT ((reason)::text = ''::text)))),
    CONSTRAINT heldback_state_is_known CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'approved'::character varying, 'refused'::character varying, 'obsolete'::character varying, 'done'::character varying])::text[])))
);

CREATE TABLE public.deployments_heldback_askers (
    id bigint NOT NULL,
    heldback_id bigint NOT NULL,
    user_id bigint NOT NULL
);

ALTER TABLE public.deployments_heldback_askers ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_heldback_askers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.deployments_heldback ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_heldback_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_heldbackevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    kind character varying(12) NOT NULL,
    digest character varying(64) NOT NULL,
    removed integer NOT NULL,
    of integer NOT NULL,
    state character varying(8) NOT NULL,
    since timestamp with time zone NOT NULL,
    decided timestamp with time zone,
    alone boolean NOT NULL,
    decided_by_id bigint,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    asker_unknown boolean DEFAULT false NOT NULL,
    earlier integer DEFAULT 0 NOT NULL,
    reason character varying(200) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT deployments_heldbackevent_earlier_check CHECK ((earlier >= 0)),
    CONSTRAINT deployments_heldbackevent_of_check CHECK ((of >= 0)),
    CONSTRAINT deployments_heldbackevent_removed_check CHECK ((removed >= 0))
);

ALTER TABLE public.deployments_heldbackevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_heldbackevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_hold (
    id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    why character varying(200) NOT NULL,
    released timestamp with time zone,
    by_id bigint,
    group_id bigint NOT NULL,
    released_by_id bigint,
    revision_id bigint NOT NULL,
    alone boolean DEFAULT false NOT NULL,
    CONSTRAINT hold_says_why CHECK ((NOT ((why)::text = ''::text)))
);

ALTER TABLE public.deployments_hold ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_hold_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_holdevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    why character varying(200) NOT NULL,
    released timestamp with time zone,
    by_id bigint,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    released_by_id bigint,
    revision_id bigint NOT NULL,
    alone boolean DEFAULT false NOT NULL
);

ALTER TABLE public.deployments_holdevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_holdevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_restoredifference (
    id bigint NOT NULL,
    compared timestamp with time zone NOT NULL,
    error text NOT NULL,
    running character varying(64) NOT NULL,
    target character varying(64) NOT NULL,
    changes jsonb NOT NULL,
    chains integer NOT NULL,
    text text NOT NULL,
    gateway_id bigint NOT NULL,
    restore_id bigint NOT NULL,
    object_count integer,
    objects_found jsonb NOT NULL,
    CONSTRAINT deployments_restoredifference_chains_check CHECK ((chains >= 0)),
    CONSTRAINT deployments_restoredifference_object_count_check CHECK ((object_count >= 0))
);

ALTER TABLE public.deployments_restoredifference ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_restoredifference_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_revision (
    id bigint NOT NULL,
    created timestamp with time zone NOT NULL,
    snapshot pg_snapshot NOT NULL,
    cause character varying(40) NOT NULL,
    digests jsonb NOT NULL,
    changes jsonb NOT NULL,
    delta text NOT NULL,
    elements integer NOT NULL,
    by_id bigint,
    group_id bigint NOT NULL,
    again_id bigint,
    management jsonb NOT NULL,
    gateways jsonb NOT NULL,
    CONSTRAINT deployments_revision_elements_check CHECK ((elements >= 0))
);

ALTER TABLE public.deployments_revision ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_revision_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_revisioncontent (
    revision_id bigint NOT NULL,
    packed bytea NOT NULL,
    base_id bigint,
    CONSTRAINT revisioncontent_goes_on_from_older CHECK (((base_id IS NULL) OR (base_id < revision_id)))
);

CREATE TABLE public.deployments_rollout (
    id bigint NOT NULL,
    state character varying(9) NOT NULL,
    created timestamp with time zone NOT NULL,
    finished timestamp with time zone,
    lease_until timestamp with time zone,
    token bigint NOT NULL,
    error text NOT NULL,
    again boolean NOT NULL,
    group_id bigint NOT NULL,
    revision_id bigint NOT NULL,
    attempts smallint NOT NULL,
    goes_on boolean NOT NULL,
    harmless boolean NOT NULL,
    stopped_by_id bigint,
    wish character varying(5) NOT NULL,
    CONSTRAINT deployments_rollout_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT deployments_rollout_token_check CHECK ((token >= 0)),
    CONSTRAINT rollout_state_is_known CHECK (((state)::text = ANY ((ARRAY['queued'::character varying, 'applying'::character varying, 'paused'::character varying, 'confirmed'::character varying, 'failed'::character varying, 'aborted'::character varying])::text[]))),
    CONSTRAINT rollout_wish_is_known CHECK (((wish)::text = ANY ((ARRAY[''::character varying, 'pause'::character varying, 'abort'::character varying])::text[])))
);

ALTER TABLE public.deployments_rollout ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_rollout_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_rolloutstep (
    id bigint NOT NULL,
    "position" smallint NOT NULL,
    state character varying(10) NOT NULL,
    sent timestamp with time zone,
    sent_octets bigint NOT NULL,
    committed timestamp with time zone,
    commit_ms integer NOT NULL,
    read_back_ms integer NOT NULL,
    confirmed timestamp with time zone,
    error text NOT NULL,
    gateway_id bigint NOT NULL,
    rollout_id bigint NOT NULL,
    evidence jsonb NOT NULL,
    flows_cut integer NOT NULL,
    goes_back timestamp with time zone,
    doing character varying(20) NOT NULL,
    done integer NOT NULL,
    of integer NOT NULL,
    heard timestamp with time zone,
    reason character varying(10) NOT NULL,
    CONSTRAINT deployments_rolloutstep_commit_ms_check CHECK ((commit_ms >= 0)),
    CONSTRAINT deployments_rolloutstep_done_check CHECK ((done >= 0)),
    CONSTRAINT deployments_rolloutstep_flows_cut_check CHECK ((flows_cut >= 0)),
    CONSTRAINT deployments_rolloutstep_of_check CHECK ((of >= 0)),
    CONSTRAINT deployments_rolloutstep_position_check CHECK (("position" >= 0)),
    CONSTRAINT deployments_rolloutstep_read_back_ms_check CHECK ((read_back_ms >= 0)),
    CONSTRAINT deployments_rolloutstep_sent_octets_check CHECK ((sent_octets >= 0)),
    CONSTRAINT rolloutstep_state_is_known CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'sending'::character varying, 'probing'::character varying, 'confirming'::character varying, 'reverting'::character varying, 'asking'::character varying, 'confirmed'::character varying, 'refused'::character varying, 'away'::character varying, 'went_back'::character varying, 'lost'::character varying, 'impaired'::character varying, 'skipped'::character varying])::text[])))
);

ALTER TABLE public.deployments_rolloutstep ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_rolloutstep_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE public.deployments_token
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.deployments_touched (
    id bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    kind text NOT NULL,
    key text DEFAULT ''::text NOT NULL
);

ALTER TABLE public.deployments_touched ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.deployments_touched_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.deployments_unapprovedloss (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    packed bytea NOT NULL,
    group_id bigint NOT NULL
);

ALTER TABLE public.deployments_unapprovedloss ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.deployments_unapprovedloss_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_content_type (
    id integer NOT NULL,
    app_label character varying(100) NOT NULL,
    model character varying(100) NOT NULL
);

ALTER TABLE public.django_content_type ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_content_type_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_migrations (
    id bigint NOT NULL,
    app character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    applied timestamp with time zone NOT NULL
);

ALTER TABLE public.django_migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.django_migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.django_session (
    session_key character varying(40) NOT NULL,
    session_data text NOT NULL,
    expire_date timestamp with time zone NOT NULL
);

CREATE TABLE public.events_event (
    id bigint NOT NULL,
    kind character varying(16) NOT NULL,
    object_id bigint NOT NULL,
    state character varying(20) NOT NULL,
    member_id bigint,
    own boolean NOT NULL,
    transaction xid8 DEFAULT pg_current_xact_id() NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL
);

ALTER TABLE public.events_event ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.events_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE UNLOGGED TABLE public.events_presence (
    id bigint NOT NULL,
    ticket_id bigint NOT NULL,
    writing boolean NOT NULL,
    seen timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    user_id bigint NOT NULL
);

ALTER TABLE public.events_presence ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.events_presence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_agentupgrade (
    id bigint NOT NULL,
    agent character varying(40) NOT NULL,
    digest character varying(64) NOT NULL,
    state character varying(7) NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    ended timestamp with time zone,
    token bigint NOT NULL,
    lease_until timestamp with time zone,
    by_id bigint,
    group_id bigint NOT NULL,
    CONSTRAINT agentupgrade_ended_when_over CHECK (((((state)::text = 'running'::text) OR (ended IS NOT NULL)) AND (1 = (
CASE
    WHEN ((state)::text = 'running'::text) THEN 1
    ELSE 0
END +
CASE
    WHEN (ended IS NOT NULL) THEN 1
    ELSE 0
END)))),
    CONSTRAINT agentupgrade_state CHECK (((state)::text = ANY ((ARRAY['running'::character varying, 'done'::character varying, 'stopped'::character varying])::text[]))),
    CONSTRAINT gateways_agentupgrade_token_check CHECK ((token >= 0))
);

ALTER TABLE public.gateways_agentupgrade ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_agentupgrade_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_agentupgradestep (
    id bigint NOT NULL,
    "position" smallint NOT NULL,
    state character varying(9) NOT NULL,
    since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    before character varying(40) NOT NULL,
    attempts smallint NOT NULL,
    failing jsonb NOT NULL,
    problem character varying(11) NOT NULL,
    reason character varying(1000) NOT NULL,
    needs_package boolean NOT NULL,
    gateway_id bigint NOT NULL,
    upgrade_id bigint NOT NULL,
    CONSTRAINT agentupgradestep_problem_if_it_failed CHECK (((((state)::text = ANY ((ARRAY['refused'::character varying, 'went_back'::character varying])::text[])) OR ((problem)::text = ''::text)) AND (1 = (
CASE
    WHEN ((state)::text = ANY ((ARRAY['refused'::character varying, 'went_back'::character varying])::text[])) THEN 1
    ELSE 0
END +
CASE
    WHEN ((problem)::text = ''::text) THEN 1
    ELSE 0
END)))),
    CONSTRAINT agentupgradestep_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'sending'::character varying, 'trial'::character varying, 'confirmed'::character varying, 'current'::character varying, 'refused'::character varying, 'went_back'::character varying, 'skipped'::character varying])::text[]))),
    CONSTRAINT gateways_agentupgradestep_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT gateways_agentupgradestep_position_check CHECK (("position" >= 0))
);

ALTER TABLE public.gateways_agentupgradestep ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_agentupgradestep_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_carrierchange (
    id bigint NOT NULL,
    family smallint NOT NULL,
    carriers character varying(40)[] NOT NULL,
    at timestamp with time zone NOT NULL,
    cause character varying(8) NOT NULL,
    group_id bigint NOT NULL,
    switch_id bigint,
    CONSTRAINT carrierchange_cause CHECK (((cause)::text = ANY ((ARRAY['first'::character varying, 'switch'::character varying, 'install'::character varying, 'drained'::character varying, 'fault'::character varying, 'election'::character varying])::text[]))),
    CONSTRAINT carrierchange_family CHECK ((family = ANY (ARRAY[4, 6]))),
    CONSTRAINT gateways_carrierchange_family_check CHECK ((family >= 0))
);

ALTER TABLE public.gateways_carrierchange ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_carrierchange_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_evidencearchive (
    id bigint NOT NULL,
    cause character varying(8) NOT NULL,
    state character varying(7) NOT NULL,
    asked timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    started timestamp with time zone,
    finished timestamp with time zone,
    problem character varying(11) NOT NULL,
    reason character varying(300) NOT NULL,
    parts jsonb NOT NULL,
    size integer NOT NULL,
    by_id bigint,
    gateway_id bigint NOT NULL,
    CONSTRAINT evidence_cause CHECK (((cause)::text = ANY ((ARRAY['person'::character varying, 'switch'::character varying, 'revert'::character varying, 'rollback'::character varying])::text[]))),
    CONSTRAINT evidence_ends_with_archive_or_problem CHECK ((((finished IS NULL) AND (size = 0) AND ((state)::text = ANY ((ARRAY['waiting'::character varying, 'running'::character varying])::text[]))) OR ((finished IS NOT NULL) AND (size > 0) AND ((state)::text = 'done'::text)) OR ((finished IS NOT NULL) AND (size = 0) AND ((state)::text = 'failed'::text) AND (NOT ((problem)::text = ''::text))))),
    CONSTRAINT evidence_problem CHECK (((problem)::text = ANY ((ARRAY[''::character varying, 'unreachable'::character varying, 'older'::character varying, 'refused'::character varying, 'late'::character varying, 'lost'::character varying])::text[]))),
    CONSTRAINT gateways_evidencearchive_size_check CHECK ((size >= 0))
);

ALTER TABLE public.gateways_evidencearchive ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_evidencearchive_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_evidencedownload (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    archive_id bigint NOT NULL,
    by_id bigint
);

ALTER TABLE public.gateways_evidencedownload ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_evidencedownload_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_evidencefile (
    archive_id bigint NOT NULL,
    octets bytea NOT NULL
);

CREATE TABLE public.gateways_failoverstatus (
    gateway_id bigint NOT NULL,
    asked timestamp with time zone NOT NULL,
    seen timestamp with time zone,
    problem text NOT NULL,
    elected timestamp with time zone,
    synchronised timestamp with time zone,
    tracked integer NOT NULL,
    running character varying(16) NOT NULL,
    edited text[] NOT NULL,
    CONSTRAINT gateways_failoverstatus_tracked_check CHECK ((tracked >= 0))
);

CREATE TABLE public.gateways_gatewayrole (
    id bigint NOT NULL,
    family smallint NOT NULL,
    role character varying(7) NOT NULL,
    since timestamp with time zone,
    carries boolean NOT NULL,
    is_drained boolean NOT NULL,
    status_id bigint NOT NULL,
    CONSTRAINT gatewayrole_family CHECK ((family = ANY (ARRAY[4, 6]))),
    CONSTRAINT gatewayrole_role CHECK (((role)::text = ANY ((ARRAY['primary'::character varying, 'standby'::character varying, 'fault'::character varying, 'stopped'::character varying, 'unknown'::character varying])::text[]))),
    CONSTRAINT gateways_gatewayrole_family_check CHECK ((family >= 0))
);

ALTER TABLE public.gateways_gatewayrole ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_gatewayrole_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_healthfinding (
    id bigint NOT NULL,
    rule character varying(40) NOT NULL,
    kind character varying(4) NOT NULL,
    evidence jsonb NOT NULL,
    since timestamp with time zone NOT NULL,
    at timestamp with time zone NOT NULL,
    times integer NOT NULL,
    missed integer NOT NULL,
    gateway_id bigint NOT NULL,
    CONSTRAINT gateways_healthfinding_missed_check CHECK ((missed >= 0)),
    CONSTRAINT gateways_healthfinding_times_check CHECK ((times >= 0)),
    CONSTRAINT healthfinding_ends_after_it_began CHECK ((at >= since)),
    CONSTRAINT healthfinding_kind CHECK (((kind)::text = ANY ((ARRAY['bad'::character varying, 'warn'::character varying])::text[])))
);

ALTER TABLE public.gateways_healthfinding ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_healthfinding_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_healthreading (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    counters jsonb NOT NULL,
    measures jsonb NOT NULL,
    gateway_id bigint NOT NULL
);

ALTER TABLE public.gateways_healthreading ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_healthreading_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_healthsample (
    id bigint NOT NULL,
    span integer NOT NULL,
    begin timestamp with time zone NOT NULL,
    averages jsonb NOT NULL,
    maxima jsonb NOT NULL,
    gateway_id bigint NOT NULL,
    CONSTRAINT gateways_healthsample_span_check CHECK ((span >= 0)),
    CONSTRAINT healthsample_span CHECK ((span = ANY (ARRAY[300, 3600, 86400])))
);

ALTER TABLE public.gateways_healthsample ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_healthsample_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_healthstatus (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    refusal character varying(300) NOT NULL,
    gateway_id bigint NOT NULL
);

ALTER TABLE public.gateways_healthstatus ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_healthstatus_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_joiningmachine (
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(40) NOT NULL,
    address inet NOT NULL,
    port integer NOT NULL,
    host_key text NOT NULL,
    begun timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    requested timestamp with time zone,
    examined timestamp with time zone,
    progress character varying(9) NOT NULL,
    problem text NOT NULL,
    connect_ms double precision,
    seen_key text NOT NULL,
    portal_key text NOT NULL,
    portal_address inet,
    facts jsonb,
    clock_offset bigint,
    clock_doubt bigint,
    by_id bigint,
    group_id bigint NOT NULL,
    CONSTRAINT gateways_joiningmachine_clock_doubt_check CHECK ((clock_doubt >= 0)),
    CONSTRAINT gateways_joiningmachine_port_check CHECK ((port >= 0)),
    CONSTRAINT gateways_joiningmachine_version_check CHECK ((version >= 0)),
    CONSTRAINT joiningmachine_host_key CHECK (((host_key = ''::text) OR (host_key ~ '^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}$'::text))),
    CONSTRAINT joiningmachine_name CHECK (((name)::text ~ '^[a-z][a-z0-9-]{0,39}$'::text)),
    CONSTRAINT joiningmachine_port CHECK (((port >= 1) AND (port <= 65535))),
    CONSTRAINT joiningmachine_ready CHECK (((NOT ((progress)::text = 'ready'::text)) OR ((NOT (host_key = ''::text)) AND (facts IS NOT NULL)))),
    CONSTRAINT joiningmachine_seen_key CHECK (((seen_key = ''::text) OR (seen_key ~ '^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}$'::text)))
);

ALTER TABLE public.gateways_joiningmachine ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_joiningmachine_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_probestatus (
    id bigint NOT NULL,
    family smallint NOT NULL,
    at timestamp with time zone NOT NULL,
    answered timestamp with time zone,
    state character varying(7) NOT NULL,
    since timestamp with time zone NOT NULL,
    failures integer NOT NULL,
    text text NOT NULL,
    recent integer[] NOT NULL,
    gateway_id bigint NOT NULL,
    full_size_answered timestamp with time zone,
    full_size_lost integer NOT NULL,
    lost_echoes smallint[] NOT NULL,
    mtu integer NOT NULL,
    number bigint NOT NULL,
    series character varying(16) NOT NULL,
    inward_answered timestamp with time zone,
    inward_at timestamp with time zone,
    inward_failures integer NOT NULL,
    inward_shown boolean NOT NULL,
    inward_text text NOT NULL,
    CONSTRAINT gateways_probestatus_failures_check CHECK ((failures >= 0)),
    CONSTRAINT gateways_probestatus_family_check CHECK ((family >= 0)),
    CONSTRAINT gateways_probestatus_full_size_lost_check CHECK ((full_size_lost >= 0)),
    CONSTRAINT gateways_probestatus_inward_failures_check CHECK ((inward_failures >= 0)),
    CONSTRAINT gateways_probestatus_mtu_check CHECK ((mtu >= 0)),
    CONSTRAINT gateways_probestatus_number_check CHECK ((number >= 0)),
    CONSTRAINT probestatus_failures CHECK ((((answered IS NOT NULL) AND (failures = 0) AND ((state)::text = 'passed'::text)) OR ((NOT ((state)::text = 'passed'::text)) AND (failures > 0)))),
    CONSTRAINT probestatus_family CHECK ((family = ANY (ARRAY[4, 6]))),
    CONSTRAINT probestatus_inward CHECK ((((inward_answered IS NULL) AND (inward_at IS NULL) AND (inward_failures = 0)) OR ((inward_at IS NOT NULL) AND ((inward_failures > 0) OR ((inward_answered = inward_at) AND (inward_answered IS NOT NULL)))))),
    CONSTRAINT probestatus_one_history CHECK ((
CASE
    WHEN (lost_echoes IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(lost_echoes, 1), 0)
END =
CASE
    WHEN (recent IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(recent, 1), 0)
END)),
    CONSTRAINT probestatus_state CHECK (((state)::text = ANY ((ARRAY['passed'::character varying, 'lost'::character varying, 'unknown'::character varying])::text[])))
);

ALTER TABLE public.gateways_probestatus ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_probestatus_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_roleswitch (
    id bigint NOT NULL,
    kind character varying(7) NOT NULL,
    families smallint[] NOT NULL,
    state character varying(7) NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    started timestamp with time zone,
    ended timestamp with time zone,
    outcome character varying(16) NOT NULL,
    details jsonb NOT NULL,
    by_id bigint,
    gateway_id bigint NOT NULL,
    group_id bigint NOT NULL,
    CONSTRAINT roleswitch_ends_with_outcome CHECK ((((ended IS NULL) AND ((outcome)::text = ''::text) AND ((state)::text = ANY ((ARRAY['waiting'::character varying, 'running'::character varying])::text[]))) OR ((ended IS NOT NULL) AND ((state)::text = ANY ((ARRAY['done'::character varying, 'failed'::character varying])::text[])) AND (NOT ((outcome)::text = ''::text))))),
    CONSTRAINT roleswitch_families CHECK (((
CASE
    WHEN (families IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(families, 1), 0)
END >= 1) AND (families <@ ARRAY[(4)::smallint, (6)::smallint]))),
    CONSTRAINT roleswitch_kind CHECK (((kind)::text = ANY ((ARRAY['switch'::character varying, 'drain'::character varying, 'resume'::character varying, 'install'::character varying])::text[])))
);

ALTER TABLE public.gateways_roleswitch ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_roleswitch_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.gateways_timeoutreading (
    id bigint NOT NULL,
    state character varying(8) NOT NULL,
    asked timestamp with time zone NOT NULL,
    read timestamp with time zone,
    answer jsonb,
    problem character varying(300) NOT NULL,
    by_id bigint,
    gateway_id bigint NOT NULL,
    CONSTRAINT timeoutreading_has_time CHECK ((((answer = 'null'::jsonb) AND (read IS NULL)) OR ((answer IS NOT NULL) AND (read IS NOT NULL)))),
    CONSTRAINT timeoutreading_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'running'::character varying, 'done'::character varying, 'failed'::character varying, 'older'::character varying])::text[])))
);

ALTER TABLE public.gateways_timeoutreading ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.gateways_timeoutreading_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.inbound_arrival (
    id bigint NOT NULL,
    arrived timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    way character varying(4) NOT NULL,
    sender character varying(320),
    recipients character varying(320)[] NOT NULL,
    octets bytea,
    size integer NOT NULL,
    sha256 bytea NOT NULL,
    message_id character varying(250) NOT NULL,
    place character varying(500),
    times integer NOT NULL,
    state character varying(11) NOT NULL,
    tries integer NOT NULL,
    claimed_until timestamp with time zone,
    ended timestamp with time zone,
    reason character varying(200) NOT NULL,
    detail character varying(500) NOT NULL,
    ended_by_id bigint,
    CONSTRAINT inbound_arrival_size_check CHECK ((size >= 0)),
    CONSTRAINT inbound_arrival_times_check CHECK ((times >= 0)),
    CONSTRAINT inbound_arrival_tries_check CHECK ((tries >= 0)),
    CONSTRAINT inbound_claimed_is_a_try CHECK (((claimed_until IS NULL) OR (((state)::text = 'waiting'::text) AND (tries > 0)))),
    CONSTRAINT inbound_ended CHECK ((((ended IS NULL) AND ((state)::text = 'waiting'::text)) OR ((NOT ((state)::text = 'waiting'::text)) AND (ended IS NOT NULL)))),
    CONSTRAINT inbound_kept_until_read CHECK (((octets IS NOT NULL) OR ((state)::text = ANY ((ARRAY['taken'::character varying, 'deleted'::character varying])::text[])))),
    CONSTRAINT inbound_place CHECK (((place IS NULL) OR (NOT (((place)::text = ''::text) AND (place IS NOT NULL))))),
    CONSTRAINT inbound_quarantine_says_why CHECK (((NOT ((state)::text = 'quarantined'::text)) OR (NOT ((reason)::text = ''::text)))),
    CONSTRAINT inbound_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'taken'::character varying, 'quarantined'::character varying, 'deleted'::character varying])::text[]))),
    CONSTRAINT inbound_way CHECK (((way)::text = ANY ((ARRAY['pipe'::character varying, 'lmtp'::character varying, 'imap'::character varying])::text[])))
);

ALTER TABLE public.inbound_arrival ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.inbound_arrival_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.inbound_mailbox (
    id smallint NOT NULL,
    place character varying(700) NOT NULL,
    tried timestamp with time zone NOT NULL,
    succeeded timestamp with time zone,
    failing timestamp with time zone,
    error character varying(500) NOT NULL,
    CONSTRAINT inbound_failing_says_why CHECK (((((error)::text = ''::text) AND (failing IS NULL)) OR ((failing IS NOT NULL) AND (NOT ((error)::text = ''::text))))),
    CONSTRAINT inbound_mailbox_id_check CHECK ((id >= 0)),
    CONSTRAINT inbound_one_mailbox CHECK ((id = 1))
);

CREATE TABLE public.lib_keptanswer (
    id bigint NOT NULL,
    key character varying(100) NOT NULL,
    request character varying(64) NOT NULL,
    status smallint NOT NULL,
    etag character varying(80) NOT NULL,
    body bytea NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    user_id bigint NOT NULL,
    location character varying(200) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT lib_keptanswer_status_check CHECK ((status >= 0))
);

ALTER TABLE public.lib_keptanswer ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.lib_keptanswer_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.mail_message (
    id bigint NOT NULL,
    "to" character varying(254) NOT NULL,
    language character varying(2) NOT NULL,
    template character varying(60) NOT NULL,
    notice character varying(20) NOT NULL,
    urgent boolean NOT NULL,
    confidential boolean NOT NULL,
    automatic boolean NOT NULL,
    subject character varying(250) NOT NULL,
    text text NOT NULL,
    html text NOT NULL,
    sender character varying(320) NOT NULL,
    reply_to character varying(320) NOT NULL,
    message_id character varying(250) NOT NULL,
    in_reply_to character varying(998) NOT NULL,
    "references" text NOT NULL,
    unsubscribe character varying(800) NOT NULL,
    about_type character varying(60) NOT NULL,
    about_id bigint,
    key character varying(120),
    written timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    state character varying(9) NOT NULL,
    tries integer NOT NULL,
    due timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    claimed_until timestamp with time zone,
    error character varying(500) NOT NULL,
    ended timestamp with time zone,
    reason character varying(200) NOT NULL,
    erased timestamp with time zone,
    ended_by_id bigint,
    bulk boolean DEFAULT false NOT NULL,
    CONSTRAINT mail_about CHECK ((((about_id IS NULL) AND ((about_type)::text = ''::text)) OR ((NOT ((about_type)::text = ''::text)) AND (about_id IS NOT NULL)))),
    CONSTRAINT mail_claimed_is_a_try CHECK (((claimed_until IS NULL) OR (tries > 0))),
    CONSTRAINT mail_ended CHECK ((((ended IS NULL) AND ((state)::text = 'waiting'::text)) OR ((NOT ((state)::text = 'waiting'::text)) AND (ended IS NOT NULL)))),
    CONSTRAINT mail_goes_somewhere CHECK (((NOT (("to")::text = ''::text)) AND (NOT ((message_id)::text = ''::text)))),
    CONSTRAINT mail_key CHECK (((key IS NULL) OR (NOT (((key)::text = ''::text) AND (key IS NOT NULL))))),
    CONSTRAINT mail_message_tries_check CHECK ((tries >= 0)),
    CONSTRAINT mail_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'sent'::character varying, 'failed'::character varying, 'discarded'::character varying])::text[]))),
    CONSTRAINT mail_urgent_is_not_bulk CHECK (((NOT urgent) OR (NOT bulk)))
);

ALTER TABLE public.mail_message ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mail_message_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.mail_messagecount (
    id bigint NOT NULL,
    state character varying(9) NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT mail_count_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'sent'::character varying, 'failed'::character varying, 'discarded'::character varying])::text[])))
);

ALTER TABLE public.mail_messagecount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mail_messagecount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.mail_serveraway (
    id smallint NOT NULL,
    since timestamp with time zone NOT NULL,
    failures integer NOT NULL,
    next_try timestamp with time zone NOT NULL,
    error character varying(500) NOT NULL,
    CONSTRAINT mail_one_server CHECK ((id = 1)),
    CONSTRAINT mail_serveraway_failures_check CHECK ((failures >= 0)),
    CONSTRAINT mail_serveraway_id_check CHECK ((id >= 0))
);

CREATE TABLE public.mail_switchedoff (
    id bigint NOT NULL,
    address character varying(254) NOT NULL,
    notice character varying(20) NOT NULL,
    since timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    CONSTRAINT mail_switched_off_what CHECK (((NOT ((address)::text = ''::text)) AND (NOT ((notice)::text = ''::text))))
);

ALTER TABLE public.mail_switchedoff ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mail_switchedoff_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_departure (
    id bigint NOT NULL,
    "on" date NOT NULL,
    state character varying(8) NOT NULL,
    planned timestamp with time zone NOT NULL,
    by_id bigint NOT NULL,
    member_id bigint NOT NULL,
    CONSTRAINT departure_state CHECK (((state)::text = ANY ((ARRAY['planned'::character varying, 'done'::character varying, 'dropped'::character varying])::text[])))
);

ALTER TABLE public.members_departure ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_departure_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_departureevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    "on" date NOT NULL,
    state character varying(8) NOT NULL,
    planned timestamp with time zone NOT NULL,
    by_id bigint NOT NULL,
    member_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL
);

ALTER TABLE public.members_departureevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_departureevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_device (
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    mac macaddr NOT NULL,
    member_id bigint NOT NULL
);

ALTER TABLE public.members_device ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_device_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_deviceevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    mac macaddr NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    member_id bigint NOT NULL
);

ALTER TABLE public.members_deviceevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_deviceevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_member (
    id bigint NOT NULL,
    version integer NOT NULL,
    number integer NOT NULL,
    name character varying(120) NOT NULL,
    email character varying(254) NOT NULL,
    language character varying(2) NOT NULL,
    state character varying(8) NOT NULL,
    since date NOT NULL,
    paid_until date,
    note text NOT NULL,
    user_id bigint,
    room_id bigint,
    tariff_id bigint NOT NULL,
    erased_at timestamp with time zone,
    left_at timestamp with time zone,
    CONSTRAINT member_erased_has_left CHECK (((erased_at IS NULL) OR ((state)::text = 'left'::text))),
    CONSTRAINT member_has_a_name CHECK ((NOT ((name)::text = ''::text))),
    CONSTRAINT member_left_at_some_time CHECK ((((left_at IS NOT NULL) AND ((state)::text = 'left'::text)) OR ((NOT ((state)::text = 'left'::text)) AND (left_at IS NULL)))),
    CONSTRAINT member_state_known CHECK (((state)::text = ANY ((ARRAY['pending'::character varying, 'active'::character varying, 'left'::character varying])::text[]))),
    CONSTRAINT members_member_number_check CHECK ((number >= 0)),
    CONSTRAINT members_member_version_check CHECK ((version >= 0))
);

ALTER TABLE public.members_member ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_member_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_memberevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    number integer NOT NULL,
    name character varying(120) NOT NULL,
    email character varying(254) NOT NULL,
    language character varying(2) NOT NULL,
    state character varying(8) NOT NULL,
    since date NOT NULL,
    paid_until date,
    note text NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    user_id bigint,
    room_id bigint,
    tariff_id bigint NOT NULL,
    CONSTRAINT members_memberevent_number_check CHECK ((number >= 0)),
    CONSTRAINT members_memberevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.members_memberevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_memberevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_memberinvitation (
    id bigint NOT NULL,
    made timestamp with time zone NOT NULL,
    expires timestamp with time zone NOT NULL,
    taken timestamp with time zone,
    withdrawn timestamp with time zone,
    by_id bigint NOT NULL,
    member_id bigint NOT NULL,
    CONSTRAINT memberinvitation_taken_or_withdrawn CHECK (((taken IS NULL) OR (withdrawn IS NULL)))
);

ALTER TABLE public.members_memberinvitation ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_memberinvitation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_memberinvitationevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    made timestamp with time zone NOT NULL,
    expires timestamp with time zone NOT NULL,
    taken timestamp with time zone,
    withdrawn timestamp with time zone,
    by_id bigint NOT NULL,
    member_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL
);

ALTER TABLE public.members_memberinvitationevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_memberinvitationevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_membership (
    id bigint NOT NULL,
    valid tstzrange NOT NULL,
    member_id bigint NOT NULL,
    CONSTRAINT membership_some_time CHECK ((NOT isempty(valid)))
);

ALTER TABLE public.members_membership ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_membership_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_peopleupload (
    id bigint NOT NULL,
    created timestamp with time zone NOT NULL,
    name character varying(200) NOT NULL,
    content bytea NOT NULL,
    meanings character varying(20)[] NOT NULL,
    create_rooms boolean NOT NULL,
    report jsonb,
    by_id bigint NOT NULL,
    by_worker boolean DEFAULT false NOT NULL,
    claim uuid,
    claimed_until timestamp with time zone,
    done integer DEFAULT 0 NOT NULL,
    language character varying(10) DEFAULT ''::character varying NOT NULL,
    lines integer,
    of integer,
    problem text DEFAULT ''::text NOT NULL,
    state character varying(9) DEFAULT 'open'::character varying NOT NULL,
    task character varying(6) DEFAULT 'check'::character varying NOT NULL,
    tries smallint DEFAULT 0 NOT NULL,
    as_last_time boolean DEFAULT false NOT NULL,
    header_key character varying(64) DEFAULT ''::character varying NOT NULL,
    CONSTRAINT members_peopleupload_done_check CHECK ((done >= 0)),
    CONSTRAINT members_peopleupload_lines_check CHECK ((lines >= 0)),
    CONSTRAINT members_peopleupload_of_check CHECK ((of >= 0)),
    CONSTRAINT members_peopleupload_tries_check CHECK ((tries >= 0)),
    CONSTRAINT peopleupload_claimed_while_running CHECK ((((claim IS NOT NULL) AND (claimed_until IS NOT NULL) AND ((state)::text = 'running'::text)) OR ((NOT ((state)::text = 'running'::text)) AND (claim IS NULL) AND (claimed_until IS NULL)))),
    CONSTRAINT peopleupload_has_a_report CHECK (((NOT ((state)::text = ANY ((ARRAY['checked'::character varying, 'imported'::character varying])::text[]))) OR (report IS NOT NULL))),
    CONSTRAINT peopleupload_state CHECK (((state)::text = ANY ((ARRAY['open'::character varying, 'waiting'::character varying, 'running'::character varying, 'checked'::character varying, 'imported'::character varying, 'cancelled'::character varying, 'failed'::character varying])::text[]))),
    CONSTRAINT peopleupload_task CHECK (((task)::text = ANY ((ARRAY['check'::character varying, 'import'::character varying])::text[])))
);

ALTER TABLE public.members_peopleupload ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_peopleupload_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_rememberedcolumns (
    id bigint NOT NULL,
    key character varying(64) NOT NULL,
    meanings character varying(20)[] NOT NULL,
    chosen timestamp with time zone NOT NULL
);

ALTER TABLE public.members_rememberedcolumns ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_rememberedcolumns_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_room (
    id bigint NOT NULL,
    floor smallint NOT NULL,
    name character varying(20) NOT NULL,
    site_id bigint NOT NULL,
    version integer NOT NULL,
    CONSTRAINT members_room_version_check CHECK ((version >= 0)),
    CONSTRAINT room_name_trimmed CHECK (((name)::text ~ '^\S(.*\S)?$'::text))
);

ALTER TABLE public.members_room ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_room_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_roomevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    floor smallint NOT NULL,
    name character varying(20) NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    site_id bigint NOT NULL,
    CONSTRAINT members_roomevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.members_roomevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_roomevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_site (
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    code character varying(8) NOT NULL,
    version integer NOT NULL,
    CONSTRAINT members_site_version_check CHECK ((version >= 0)),
    CONSTRAINT site_code_is_a_word CHECK (((code)::text ~ '^\w+$'::text)),
    CONSTRAINT site_name_trimmed CHECK (((name)::text ~ '^\S(.*\S)?$'::text))
);

ALTER TABLE public.members_site ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_site_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_siteevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(60) NOT NULL,
    code character varying(8) NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT members_siteevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.members_siteevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_siteevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_tariff (
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    most_forwards smallint NOT NULL,
    trial boolean NOT NULL,
    down_kbit integer,
    up_kbit integer,
    version integer NOT NULL,
    most_devices smallint DEFAULT 8 NOT NULL,
    offered boolean DEFAULT true NOT NULL,
    CONSTRAINT members_tariff_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT members_tariff_most_devices_check CHECK ((most_devices >= 0)),
    CONSTRAINT members_tariff_most_forwards_check CHECK ((most_forwards >= 0)),
    CONSTRAINT members_tariff_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT members_tariff_version_check CHECK ((version >= 0)),
    CONSTRAINT tariff_down_kbit CHECK (((down_kbit IS NULL) OR ((down_kbit >= 64) AND (down_kbit <= 10000000)))),
    CONSTRAINT tariff_up_kbit CHECK (((up_kbit IS NULL) OR ((up_kbit >= 64) AND (up_kbit <= 10000000))))
);

ALTER TABLE public.members_tariff ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_tariff_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.members_tariffevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(60) NOT NULL,
    most_forwards smallint NOT NULL,
    most_devices smallint DEFAULT 8 NOT NULL,
    trial boolean NOT NULL,
    offered boolean DEFAULT true NOT NULL,
    up_kbit integer,
    down_kbit integer,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT members_tariffevent_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT members_tariffevent_most_devices_check CHECK ((most_devices >= 0)),
    CONSTRAINT members_tariffevent_most_forwards_check CHECK ((most_forwards >= 0)),
    CONSTRAINT members_tariffevent_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT members_tariffevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.members_tariffevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.members_tariffevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.mfa_authenticator (
    id bigint NOT NULL,
    type character varying(20) NOT NULL,
    data jsonb NOT NULL,
    user_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone
);

ALTER TABLE public.mfa_authenticator ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.mfa_authenticator_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_move (
    id bigint NOT NULL,
    "on" date NOT NULL,
    follow boolean NOT NULL,
    state character varying(8) NOT NULL,
    problem character varying(300) NOT NULL,
    planned timestamp with time zone NOT NULL,
    by_id bigint NOT NULL,
    member_id bigint NOT NULL,
    pool_id bigint,
    room_id bigint,
    CONSTRAINT move_changes_something CHECK (((room_id IS NOT NULL) OR (pool_id IS NOT NULL) OR (NOT ((state)::text = 'planned'::text)))),
    CONSTRAINT move_state CHECK (((state)::text = ANY ((ARRAY['planned'::character varying, 'done'::character varying, 'dropped'::character varying])::text[])))
);

ALTER TABLE public.nat_move ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_move_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_moveevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    "on" date NOT NULL,
    follow boolean NOT NULL,
    state character varying(8) NOT NULL,
    problem character varying(300) NOT NULL,
    planned timestamp with time zone NOT NULL,
    by_id bigint NOT NULL,
    member_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    pool_id bigint,
    room_id bigint
);

ALTER TABLE public.nat_moveevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_moveevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_natmapping (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    kind character varying(8) NOT NULL,
    held tstzrange NOT NULL,
    pool_kind character varying(8) NOT NULL,
    pool_prefix cidr NOT NULL,
    public inet NOT NULL,
    valid tstzrange NOT NULL,
    group_id bigint NOT NULL,
    holding_id bigint NOT NULL,
    pool_id bigint NOT NULL,
    block int4range,
    sharing character varying(8) DEFAULT 'shared'::character varying NOT NULL,
    CONSTRAINT nat_natmapping_version_check CHECK ((version >= 0)),
    CONSTRAINT natmapping_block CHECK ((((upper(block) <= 65536) AND (NOT isempty(block)) AND (block IS NOT NULL) AND (lower(block) >= 1) AND ((sharing)::text = 'blocks'::text)) OR ((NOT ((sharing)::text = 'blocks'::text)) AND (block IS NULL)))),
    CONSTRAINT natmapping_from_private_ipv4 CHECK (((kind)::text = 'private4'::text)),
    CONSTRAINT natmapping_on_public_ipv4 CHECK (((pool_kind)::text = 'public4'::text)),
    CONSTRAINT natmapping_sharing CHECK (((sharing)::text = ANY ((ARRAY['own'::character varying, 'shared'::character varying, 'blocks'::character varying])::text[]))),
    CONSTRAINT natmapping_valid_some_time CHECK ((NOT isempty(valid))),
    CONSTRAINT natmapping_while_held CHECK ((valid <@ held)),
    CONSTRAINT natmapping_within_pool CHECK ((public <<= (pool_prefix)::inet))
);

ALTER TABLE public.nat_natmapping ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_natmapping_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_natmappingevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    kind character varying(8) NOT NULL,
    held tstzrange NOT NULL,
    pool_kind character varying(8) NOT NULL,
    pool_prefix cidr NOT NULL,
    public inet NOT NULL,
    valid tstzrange NOT NULL,
    group_id bigint NOT NULL,
    holding_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    pool_id bigint NOT NULL,
    block int4range,
    sharing character varying(8) DEFAULT 'shared'::character varying NOT NULL,
    CONSTRAINT nat_natmappingevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.nat_natmappingevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_natmappingevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_pinhole (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    kind character varying(8) NOT NULL,
    held tstzrange NOT NULL,
    prefix cidr NOT NULL,
    address inet NOT NULL,
    protocol character varying(3) NOT NULL,
    port integer NOT NULL,
    ports integer NOT NULL,
    purpose character varying(80) NOT NULL,
    enabled boolean NOT NULL,
    valid tstzrange NOT NULL,
    group_id bigint NOT NULL,
    holding_id bigint NOT NULL,
    CONSTRAINT nat_pinhole_port_check CHECK ((port >= 0)),
    CONSTRAINT nat_pinhole_ports_check CHECK ((ports >= 0)),
    CONSTRAINT nat_pinhole_version_check CHECK ((version >= 0)),
    CONSTRAINT pinhole_of_ipv6_prefix CHECK (((kind)::text = 'prefix6'::text)),
    CONSTRAINT pinhole_ports CHECK ((((port = 0) AND (ports = 65536)) OR ((port >= 1) AND (port <= (65536 - ports)) AND ((ports >= 1) AND (ports <= 1000)) AND ((protocol)::text = ANY ((ARRAY['tcp'::character varying, 'udp'::character varying])::text[]))))),
    CONSTRAINT pinhole_protocol CHECK (((protocol)::text = ANY ((ARRAY['tcp'::character varying, 'udp'::character varying, 'all'::character varying])::text[]))),
    CONSTRAINT pinhole_valid_some_time CHECK ((NOT isempty(valid))),
    CONSTRAINT pinhole_while_held CHECK ((valid <@ held)),
    CONSTRAINT pinhole_within_prefix CHECK ((address <<= (prefix)::inet))
);

ALTER TABLE public.nat_pinhole ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_pinhole_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_pinholeevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    kind character varying(8) NOT NULL,
    held tstzrange NOT NULL,
    prefix cidr NOT NULL,
    address inet NOT NULL,
    protocol character varying(3) NOT NULL,
    port integer NOT NULL,
    ports integer NOT NULL,
    purpose character varying(80) NOT NULL,
    enabled boolean NOT NULL,
    valid tstzrange NOT NULL,
    group_id bigint NOT NULL,
    holding_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT nat_pinholeevent_port_check CHECK ((port >= 0)),
    CONSTRAINT nat_pinholeevent_ports_check CHECK ((ports >= 0)),
    CONSTRAINT nat_pinholeevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.nat_pinholeevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_pinholeevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_portclaim (
    id bigint NOT NULL,
    mapping_id bigint,
    forward_id bigint,
    member_id bigint NOT NULL,
    public inet NOT NULL,
    ports int4range NOT NULL,
    protocols int4range NOT NULL,
    valid tstzrange NOT NULL
);

ALTER TABLE public.nat_portclaim ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_portclaim_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_portforward (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    kind character varying(8) NOT NULL,
    held tstzrange NOT NULL,
    pool_kind character varying(8) NOT NULL,
    pool_prefix cidr NOT NULL,
    public inet NOT NULL,
    valid tstzrange NOT NULL,
    protocol character varying(3) NOT NULL,
    public_port integer NOT NULL,
    private_port integer NOT NULL,
    purpose character varying(80) NOT NULL,
    enabled boolean NOT NULL,
    group_id bigint NOT NULL,
    holding_id bigint NOT NULL,
    pool_id bigint NOT NULL,
    ports smallint DEFAULT 1 NOT NULL,
    CONSTRAINT nat_portforward_ports_check CHECK ((ports >= 0)),
    CONSTRAINT nat_portforward_private_port_check CHECK ((private_port >= 0)),
    CONSTRAINT nat_portforward_public_port_check CHECK ((public_port >= 0)),
    CONSTRAINT nat_portforward_version_check CHECK ((version >= 0)),
    CONSTRAINT portforward_from_private_ipv4 CHECK (((kind)::text = 'private4'::text)),
    CONSTRAINT portforward_on_public_ipv4 CHECK (((pool_kind)::text = 'public4'::text)),
    CONSTRAINT portforward_ports CHECK (((ports >= 1) AND (ports <= 1000))),
    CONSTRAINT portforward_private_port CHECK (((private_port >= 1) AND (private_port <= 65535))),
    CONSTRAINT portforward_protocol CHECK (((protocol)::text = ANY ((ARRAY['tcp'::character varying, 'udp'::character varying])::text[]))),
    CONSTRAINT portforward_public_port CHECK (((public_port >= 1) AND (public_port <= 65535))),
    CONSTRAINT portforward_range_of_ports CHECK (((private_port <= (65536 - ports)) AND (public_port <= (65536 - ports)))),
    CONSTRAINT portforward_valid_some_time CHECK ((NOT isempty(valid))),
    CONSTRAINT portforward_while_held CHECK ((valid <@ held)),
    CONSTRAINT portforward_within_pool CHECK ((public <<= (pool_prefix)::inet))
);

ALTER TABLE public.nat_portforward ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_portforward_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_portforwardevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    kind character varying(8) NOT NULL,
    held tstzrange NOT NULL,
    pool_kind character varying(8) NOT NULL,
    pool_prefix cidr NOT NULL,
    public inet NOT NULL,
    valid tstzrange NOT NULL,
    protocol character varying(3) NOT NULL,
    public_port integer NOT NULL,
    private_port integer NOT NULL,
    purpose character varying(80) NOT NULL,
    enabled boolean NOT NULL,
    group_id bigint NOT NULL,
    holding_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    pool_id bigint NOT NULL,
    ports smallint DEFAULT 1 NOT NULL,
    CONSTRAINT nat_portforwardevent_ports_check CHECK ((ports >= 0)),
    CONSTRAINT nat_portforwardevent_private_port_check CHECK ((private_port >= 0)),
    CONSTRAINT nat_portforwardevent_public_port_check CHECK ((public_port >= 0)),
    CONSTRAINT nat_portforwardevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.nat_portforwardevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_portforwardevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_portrules (
    id bigint NOT NULL,
    version integer NOT NULL,
    lowest integer NOT NULL,
    longest smallint NOT NULL,
    forbidden integer[] NOT NULL,
    group_id bigint NOT NULL,
    CONSTRAINT nat_portrules_longest_check CHECK ((longest >= 0)),
    CONSTRAINT nat_portrules_lowest_check CHECK ((lowest >= 0)),
    CONSTRAINT nat_portrules_version_check CHECK ((version >= 0)),
    CONSTRAINT portrules_few_forbidden CHECK ((
CASE
    WHEN (forbidden IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(forbidden, 1), 0)
END <= 2000)),
    CONSTRAINT portrules_longest CHECK (((longest >= 1) AND (longest <= 1000))),
    CONSTRAINT portrules_lowest CHECK (((lowest >= 1) AND (lowest <= 65535)))
);

ALTER TABLE public.nat_portrules ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_portrules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.nat_portrulesevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    lowest integer NOT NULL,
    longest smallint NOT NULL,
    forbidden integer[] NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT nat_portrulesevent_longest_check CHECK ((longest >= 0)),
    CONSTRAINT nat_portrulesevent_lowest_check CHECK ((lowest >= 0)),
    CONSTRAINT nat_portrulesevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.nat_portrulesevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.nat_portrulesevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_failover (
    id bigint NOT NULL,
    version integer NOT NULL,
    inside inet[] NOT NULL,
    outside inet[] NOT NULL,
    servers inet[] NOT NULL,
    virtual_router smallint NOT NULL,
    "interval" smallint NOT NULL,
    failback smallint,
    cache character varying(8) NOT NULL,
    group_id bigint NOT NULL,
    announce boolean DEFAULT false NOT NULL,
    CONSTRAINT failover_cache CHECK (((cache)::text = ANY ((ARRAY['direct'::character varying, 'external'::character varying])::text[]))),
    CONSTRAINT failover_failback CHECK (((failback IS NULL) OR ((failback >= 5) AND (failback <= 1000)))),
    CONSTRAINT failover_few_addresses CHECK (((
CASE
    WHEN (inside IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(inside, 1), 0)
END <= 64) AND (
CASE
    WHEN (outside IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(outside, 1), 0)
END <= 64) AND (
CASE
    WHEN (servers IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(servers, 1), 0)
END <= 64))),
    CONSTRAINT failover_has_inside CHECK ((
CASE
    WHEN (inside IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(inside, 1), 0)
END >= 1)),
    CONSTRAINT failover_interval CHECK ((("interval" >= 5) AND ("interval" <= 100))),
    CONSTRAINT failover_virtual_router CHECK (((virtual_router >= 1) AND (virtual_router <= 255))),
    CONSTRAINT network_failover_failback_check CHECK ((failback >= 0)),
    CONSTRAINT network_failover_interval_check CHECK (("interval" >= 0)),
    CONSTRAINT network_failover_version_check CHECK ((version >= 0)),
    CONSTRAINT network_failover_virtual_router_check CHECK ((virtual_router >= 0))
);

ALTER TABLE public.network_failover ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_failover_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_failoverevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    inside inet[] NOT NULL,
    outside inet[] NOT NULL,
    servers inet[] NOT NULL,
    virtual_router smallint NOT NULL,
    "interval" smallint NOT NULL,
    failback smallint,
    cache character varying(8) NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    announce boolean DEFAULT false NOT NULL,
    CONSTRAINT network_failoverevent_failback_check CHECK ((failback >= 0)),
    CONSTRAINT network_failoverevent_interval_check CHECK (("interval" >= 0)),
    CONSTRAINT network_failoverevent_version_check CHECK ((version >= 0)),
    CONSTRAINT network_failoverevent_virtual_router_check CHECK ((virtual_router >= 0))
);

ALTER TABLE public.network_failoverevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_failoverevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_gateway (
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(40) NOT NULL,
    link character varying(8) NOT NULL,
    lan character varying(15) NOT NULL,
    wan character varying(15) NOT NULL,
    management character varying(15) NOT NULL,
    sync character varying(15) NOT NULL,
    management_networks cidr[] NOT NULL,
    management_port integer NOT NULL,
    carries4 boolean NOT NULL,
    carries6 boolean NOT NULL,
    group_id bigint NOT NULL,
    address inet,
    host_key text NOT NULL,
    ssh_user character varying(32) NOT NULL,
    probe_interface character varying(15) NOT NULL,
    probe_public4 inet,
    probe_source4 inet,
    probe_source6 inet,
    machine_name character varying(40) DEFAULT ''::character varying NOT NULL,
    retired timestamp with time zone,
    sync_address inet,
    CONSTRAINT gateway_has_management_networks CHECK ((
CASE
    WHEN (management_networks IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(management_networks, 1), 0)
END > 0)),
    CONSTRAINT gateway_host_key CHECK (((host_key = ''::text) OR (host_key ~ '^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-Za-z0-9+/]{43}$'::text))),
    CONSTRAINT gateway_interfaces_differ CHECK (((NOT ((lan)::text = (wan)::text)) AND (NOT ((lan)::text = (management)::text)) AND (NOT ((wan)::text = (management)::text)))),
    CONSTRAINT gateway_management_port CHECK (((management_port >= 1) AND (management_port <= 65535))),
    CONSTRAINT gateway_probe_has_interface CHECK (((((probe_interface)::text = ''::text) AND (probe_source4 IS NULL) AND (probe_source6 IS NULL)) OR ((NOT ((probe_interface)::text = ''::text)) AND ((probe_source4 IS NOT NULL) OR (probe_source6 IS NOT NULL))))),
    CONSTRAINT gateway_probe_interface_differs CHECK ((NOT ((((probe_interface)::text = (lan)::text) OR ((probe_interface)::text = (wan)::text)) OR ((probe_interface)::text = (management)::text)))),
    CONSTRAINT gateway_probe_ipv4_is_whole CHECK ((((probe_public4 IS NULL) AND (probe_source4 IS NULL)) OR ((probe_public4 IS NOT NULL) AND (probe_source4 IS NOT NULL) AND (family(probe_source4) = 4) AND (family(probe_public4) = 4)))),
    CONSTRAINT gateway_probe_is_not_sync CHECK ((((probe_interface)::text = ''::text) OR (NOT ((probe_interface)::text = (sync)::text)))),
    CONSTRAINT gateway_probe_leaves_as_public CHECK ((((probe_public4 IS NULL) AND (probe_source4 IS NULL)) OR (((probe_source4 <<= '10.0.0.0/8'::inet) OR (probe_source4 <<= '100.64.0.0/10'::inet) OR (probe_source4 <<= '172.16.0.0/12'::inet) OR (probe_source4 <<= '192.168.0.0/16'::inet)) AND (NOT (((probe_public4 <<= '10.0.0.0/8'::inet) AND (probe_public4 IS NOT NULL)) OR ((probe_public4 <<= '100.64.0.0/10'::inet) AND (probe_public4 IS NOT NULL)) OR ((probe_public4 <<= '172.16.0.0/12'::inet) AND (probe_public4 IS NOT NULL)) OR ((probe_public4 <<= '192.168.0.0/16'::inet) AND (probe_public4 IS NOT NULL))))))),
    CONSTRAINT gateway_probe_source6_is_ipv6 CHECK ((family(probe_source6) = 6)),
    CONSTRAINT gateway_reached_by_ssh CHECK (((NOT ((link)::text = 'ssh'::text)) OR ((address IS NOT NULL) AND (NOT (host_key = ''::text))))),
    CONSTRAINT gateway_retired_is_no_primary CHECK (((retired IS NULL) OR ((NOT carries4) AND (NOT carries6)))),
    CONSTRAINT gateway_ssh_user CHECK (((ssh_user)::text ~ '^[a-z_][a-z0-9_-]{0,31}$'::text)),
    CONSTRAINT gateway_sync_address_is_ipv4 CHECK (((sync_address IS NULL) OR ((family(sync_address) = 4) AND (NOT ((sync)::text = ''::text))))),
    CONSTRAINT gateway_sync_differs CHECK ((((sync)::text = ''::text) OR (NOT ((((sync)::text = (lan)::text) OR ((sync)::text = (wan)::text)) OR ((sync)::text = (management)::text))))),
    CONSTRAINT network_gateway_management_port_check CHECK ((management_port >= 0)),
    CONSTRAINT network_gateway_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_gateway ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_gateway_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_gatewayevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(40) NOT NULL,
    link character varying(8) NOT NULL,
    lan character varying(15) NOT NULL,
    wan character varying(15) NOT NULL,
    management character varying(15) NOT NULL,
    sync character varying(15) NOT NULL,
    management_networks cidr[] NOT NULL,
    management_port integer NOT NULL,
    carries4 boolean NOT NULL,
    carries6 boolean NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    group_id bigint NOT NULL,
    address inet,
    host_key text NOT NULL,
    ssh_user character varying(32) NOT NULL,
    probe_interface character varying(15) NOT NULL,
    probe_public4 inet,
    probe_source4 inet,
    probe_source6 inet,
    machine_name character varying(40) DEFAULT ''::character varying NOT NULL,
    retired timestamp with time zone,
    sync_address inet,
    CONSTRAINT network_gatewayevent_management_port_check CHECK ((management_port >= 0)),
    CONSTRAINT network_gatewayevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_gatewayevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_gatewayevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_gatewaygroup (
    id bigint NOT NULL,
    name character varying(40) NOT NULL,
    confirm_within smallint NOT NULL,
    goes_on boolean NOT NULL,
    heals_drift boolean NOT NULL,
    removal_least integer NOT NULL,
    removal_share smallint NOT NULL,
    version integer NOT NULL,
    probe_port integer,
    probe_target4 inet,
    probe_target6 inet,
    clamp_mss boolean NOT NULL,
    flood_mode boolean NOT NULL,
    live_since timestamp with time zone,
    responder_port integer,
    CONSTRAINT gatewaygroup_confirm_within CHECK (((confirm_within >= 5) AND (confirm_within <= 600))),
    CONSTRAINT gatewaygroup_has_name CHECK (((name)::text ~ '\S'::text)),
    CONSTRAINT gatewaygroup_removal_least CHECK ((removal_least >= 1)),
    CONSTRAINT gatewaygroup_removal_share CHECK (((removal_share >= 0) AND (removal_share <= 100))),
    CONSTRAINT group_probe_target4_is_ipv4 CHECK ((family(probe_target4) = 4)),
    CONSTRAINT group_probe_target6_is_ipv6 CHECK ((family(probe_target6) = 6)),
    CONSTRAINT group_probe_target_has_port CHECK ((((probe_port IS NULL) AND (probe_target4 IS NULL) AND (probe_target6 IS NULL)) OR ((probe_port IS NOT NULL) AND ((probe_port >= 1) AND (probe_port <= 65535)) AND ((probe_target4 IS NOT NULL) OR (probe_target6 IS NOT NULL))))),
    CONSTRAINT group_responder_is_a_target CHECK (((responder_port IS NULL) OR ((probe_port IS NOT NULL) AND ((responder_port >= 1024) AND (responder_port <= 65535))))),
    CONSTRAINT network_gatewaygroup_confirm_within_check CHECK ((confirm_within >= 0)),
    CONSTRAINT network_gatewaygroup_probe_port_check CHECK ((probe_port >= 0)),
    CONSTRAINT network_gatewaygroup_removal_least_check CHECK ((removal_least >= 0)),
    CONSTRAINT network_gatewaygroup_removal_share_check CHECK ((removal_share >= 0)),
    CONSTRAINT network_gatewaygroup_responder_port_check CHECK ((responder_port >= 0)),
    CONSTRAINT network_gatewaygroup_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_gatewaygroup ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_gatewaygroup_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_gatewaygroupevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(40) NOT NULL,
    goes_on boolean NOT NULL,
    heals_drift boolean NOT NULL,
    confirm_within smallint NOT NULL,
    removal_share smallint NOT NULL,
    removal_least integer NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    probe_port integer,
    probe_target4 inet,
    probe_target6 inet,
    clamp_mss boolean NOT NULL,
    flood_mode boolean NOT NULL,
    live_since timestamp with time zone,
    responder_port integer,
    CONSTRAINT network_gatewaygroupevent_confirm_within_check CHECK ((confirm_within >= 0)),
    CONSTRAINT network_gatewaygroupevent_probe_port_check CHECK ((probe_port >= 0)),
    CONSTRAINT network_gatewaygroupevent_removal_least_check CHECK ((removal_least >= 0)),
    CONSTRAINT network_gatewaygroupevent_removal_share_check CHECK ((removal_share >= 0)),
    CONSTRAINT network_gatewaygroupevent_responder_port_check CHECK ((responder_port >= 0)),
    CONSTRAINT network_gatewaygroupevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_gatewaygroupevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_gatewaygroupevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_gauge (
    id bigint NOT NULL,
    name character varying(60) NOT NULL,
    used integer NOT NULL,
    size integer NOT NULL,
    at timestamp with time zone NOT NULL,
    gateway_id bigint NOT NULL,
    CONSTRAINT network_gauge_size_check CHECK ((size >= 0)),
    CONSTRAINT network_gauge_used_check CHECK ((used >= 0))
);

ALTER TABLE public.network_gauge ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_gauge_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_holding (
    id bigint NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    kind character varying(8) NOT NULL,
    pool_prefix cidr NOT NULL,
    prefix cidr NOT NULL,
    valid tstzrange NOT NULL,
    device_id bigint,
    group_id bigint NOT NULL,
    member_id bigint NOT NULL,
    pool_id bigint NOT NULL,
    CONSTRAINT holding_ipv4_is_one_address CHECK ((((family((prefix)::inet) = 4) AND (masklen((prefix)::inet) = 32)) OR (family((prefix)::inet) = 6))),
    CONSTRAINT holding_kind CHECK (((kind)::text = ANY ((ARRAY['private4'::character varying, 'prefix6'::character varying])::text[]))),
    CONSTRAINT holding_valid_some_time CHECK ((NOT isempty(valid))),
    CONSTRAINT holding_within_pool CHECK (((prefix)::inet <<= (pool_prefix)::inet))
);
ALTER TABLE ONLY public.network_holding ALTER COLUMN valid SET (n_distinct=100);

ALTER TABLE public.network_holding ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_holding_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_holdingevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    kind character varying(8) NOT NULL,
    pool_prefix cidr NOT NULL,
    prefix cidr NOT NULL,
    valid tstzrange NOT NULL,
    device_id bigint,
    group_id bigint NOT NULL,
    member_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    pool_id bigint NOT NULL
);

ALTER TABLE public.network_holdingevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_holdingevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_limits (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    member_rate integer NOT NULL,
    member_burst integer NOT NULL,
    member_open integer NOT NULL,
    source_rate integer NOT NULL,
    source_burst integer NOT NULL,
    source_open integer NOT NULL,
    mail_rate integer NOT NULL,
    refuses boolean NOT NULL,
    exempt cidr[] NOT NULL,
    group_id bigint NOT NULL,
    open_sampled boolean DEFAULT false NOT NULL,
    CONSTRAINT limits_bursts CHECK ((((member_burst >= 1) AND (member_burst <= 100000)) AND ((source_burst >= 1) AND (source_burst <= 100000)))),
    CONSTRAINT limits_open CHECK (((member_open <= 1000000) AND (source_open <= 1000000))),
    CONSTRAINT limits_rates CHECK (((mail_rate <= 100000) AND (member_rate <= 100000) AND (source_rate <= 100000))),
    CONSTRAINT network_limits_mail_rate_check CHECK ((mail_rate >= 0)),
    CONSTRAINT network_limits_member_burst_check CHECK ((member_burst >= 0)),
    CONSTRAINT network_limits_member_open_check CHECK ((member_open >= 0)),
    CONSTRAINT network_limits_member_rate_check CHECK ((member_rate >= 0)),
    CONSTRAINT network_limits_source_burst_check CHECK ((source_burst >= 0)),
    CONSTRAINT network_limits_source_open_check CHECK ((source_open >= 0)),
    CONSTRAINT network_limits_source_rate_check CHECK ((source_rate >= 0)),
    CONSTRAINT network_limits_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_limits ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_limits_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_limitsevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    member_rate integer NOT NULL,
    member_burst integer NOT NULL,
    member_open integer NOT NULL,
    source_rate integer NOT NULL,
    source_burst integer NOT NULL,
    source_open integer NOT NULL,
    mail_rate integer NOT NULL,
    refuses boolean NOT NULL,
    exempt cidr[] NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    open_sampled boolean DEFAULT false NOT NULL,
    CONSTRAINT network_limitsevent_mail_rate_check CHECK ((mail_rate >= 0)),
    CONSTRAINT network_limitsevent_member_burst_check CHECK ((member_burst >= 0)),
    CONSTRAINT network_limitsevent_member_open_check CHECK ((member_open >= 0)),
    CONSTRAINT network_limitsevent_member_rate_check CHECK ((member_rate >= 0)),
    CONSTRAINT network_limitsevent_source_burst_check CHECK ((source_burst >= 0)),
    CONSTRAINT network_limitsevent_source_open_check CHECK ((source_open >= 0)),
    CONSTRAINT network_limitsevent_source_rate_check CHECK ((source_rate >= 0)),
    CONSTRAINT network_limitsevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_limitsevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_limitsevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_pool (
    id bigint NOT NULL,
    version integer NOT NULL,
    kind character varying(8) NOT NULL,
    name character varying(60) NOT NULL,
    prefix cidr NOT NULL,
    member_length smallint NOT NULL,
    group_id bigint NOT NULL,
    block_size integer,
    sharing character varying(8) DEFAULT 'shared'::character varying NOT NULL,
    kept cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    kept_first integer DEFAULT 0 NOT NULL,
    retired timestamp with time zone,
    CONSTRAINT network_pool_block_size_check CHECK ((block_size >= 0)),
    CONSTRAINT network_pool_kept_first_check CHECK ((kept_first >= 0)),
    CONSTRAINT network_pool_member_length_check CHECK ((member_length >= 0)),
    CONSTRAINT network_pool_version_check CHECK ((version >= 0)),
    CONSTRAINT pool_block_size CHECK ((((block_size = ANY (ARRAY[64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384])) AND (block_size IS NOT NULL) AND ((sharing)::text = 'blocks'::text)) OR ((NOT ((sharing)::text = 'blocks'::text)) AND (block_size IS NULL)))),
    CONSTRAINT pool_family_fits_kind CHECK ((((family((prefix)::inet) = 6) AND ((kind)::text = 'prefix6'::text)) OR ((family((prefix)::inet) = 4) AND ((kind)::text = ANY ((ARRAY['private4'::character varying, 'public4'::character varying])::text[]))))),
    CONSTRAINT pool_kept_few CHECK (((
CASE
    WHEN (kept IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(kept, 1), 0)
END <= 64) AND (kept_first <= 1000000))),
    CONSTRAINT pool_kept_inside CHECK (((prefix)::inet >>= ALL ((kept)::inet[]))),
    CONSTRAINT pool_member_length CHECK (((((kind)::text = 'prefix6'::text) AND ((member_length >= 32) AND (member_length <= 64))) OR (((kind)::text = ANY ((ARRAY['private4'::character varying, 'public4'::character varying])::text[])) AND (member_length = 32)))),
    CONSTRAINT pool_public_keeps_none CHECK (((NOT ((kind)::text = 'public4'::text)) OR ((kept = '{}'::cidr[]) AND (kept_first = 0)))),
    CONSTRAINT pool_shared_where_public CHECK ((((kind)::text = 'public4'::text) OR ((sharing)::text = 'shared'::text))),
    CONSTRAINT pool_sharing CHECK (((sharing)::text = ANY ((ARRAY['own'::character varying, 'shared'::character varying, 'blocks'::character varying])::text[])))
);

ALTER TABLE public.network_pool ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_pool_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_poolevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    kind character varying(8) NOT NULL,
    name character varying(60) NOT NULL,
    prefix cidr NOT NULL,
    member_length smallint NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    block_size integer,
    sharing character varying(8) DEFAULT 'shared'::character varying NOT NULL,
    kept cidr[] DEFAULT '{}'::cidr[] NOT NULL,
    kept_first integer DEFAULT 0 NOT NULL,
    retired timestamp with time zone,
    CONSTRAINT network_poolevent_block_size_check CHECK ((block_size >= 0)),
    CONSTRAINT network_poolevent_kept_first_check CHECK ((kept_first >= 0)),
    CONSTRAINT network_poolevent_member_length_check CHECK ((member_length >= 0)),
    CONSTRAINT network_poolevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_poolevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_poolevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_profile (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    managed boolean NOT NULL,
    connections integer NOT NULL,
    buckets integer NOT NULL,
    tcp_established integer NOT NULL,
    tcp_syn_sent integer NOT NULL,
    tcp_fin_wait integer NOT NULL,
    tcp_close_wait integer NOT NULL,
    tcp_time_wait integer NOT NULL,
    udp integer NOT NULL,
    udp_stream integer NOT NULL,
    icmp integer NOT NULL,
    generic integer NOT NULL,
    tcp_loose boolean NOT NULL,
    first_port integer NOT NULL,
    last_port integer NOT NULL,
    group_id bigint NOT NULL,
    CONSTRAINT network_profile_buckets_check CHECK ((buckets >= 0)),
    CONSTRAINT network_profile_connections_check CHECK ((connections >= 0)),
    CONSTRAINT network_profile_first_port_check CHECK ((first_port >= 0)),
    CONSTRAINT network_profile_generic_check CHECK ((generic >= 0)),
    CONSTRAINT network_profile_icmp_check CHECK ((icmp >= 0)),
    CONSTRAINT network_profile_last_port_check CHECK ((last_port >= 0)),
    CONSTRAINT network_profile_tcp_close_wait_check CHECK ((tcp_close_wait >= 0)),
    CONSTRAINT network_profile_tcp_established_check CHECK ((tcp_established >= 0)),
    CONSTRAINT network_profile_tcp_fin_wait_check CHECK ((tcp_fin_wait >= 0)),
    CONSTRAINT network_profile_tcp_syn_sent_check CHECK ((tcp_syn_sent >= 0)),
    CONSTRAINT network_profile_tcp_time_wait_check CHECK ((tcp_time_wait >= 0)),
    CONSTRAINT network_profile_udp_check CHECK ((udp >= 0)),
    CONSTRAINT network_profile_udp_stream_check CHECK ((udp_stream >= 0)),
    CONSTRAINT network_profile_version_check CHECK ((version >= 0)),
    CONSTRAINT profile_buckets CHECK (((mod(buckets, 8192) = 0) AND (connections <= (buckets * 8)))),
    CONSTRAINT profile_limits CHECK ((((buckets >= 8192) AND (buckets <= 8388608)) AND ((connections >= 4096) AND (connections <= 16777216)) AND ((first_port >= 1024) AND (first_port <= 65535)) AND ((generic >= 30) AND (generic <= 86400)) AND ((icmp >= 1) AND (icmp <= 300)) AND ((last_port >= 1024) AND (last_port <= 65535)) AND ((tcp_close_wait >= 5) AND (tcp_close_wait <= 600)) AND ((tcp_established >= 300) AND (tcp_established <= 432000)) AND ((tcp_fin_wait >= 5) AND (tcp_fin_wait <= 600)) AND ((tcp_syn_sent >= 5) AND (tcp_syn_sent <= 600)) AND ((tcp_time_wait >= 1) AND (tcp_time_wait <= 600)) AND ((udp >= 10) AND (udp <= 600)) AND ((udp_stream >= 30) AND (udp_stream <= 3600)))),
    CONSTRAINT profile_ports CHECK ((last_port >= (first_port + 1023)))
);

ALTER TABLE public.network_profile ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_profile_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_profileevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    managed boolean NOT NULL,
    connections integer NOT NULL,
    buckets integer NOT NULL,
    tcp_established integer NOT NULL,
    tcp_syn_sent integer NOT NULL,
    tcp_fin_wait integer NOT NULL,
    tcp_close_wait integer NOT NULL,
    tcp_time_wait integer NOT NULL,
    udp integer NOT NULL,
    udp_stream integer NOT NULL,
    icmp integer NOT NULL,
    generic integer NOT NULL,
    tcp_loose boolean NOT NULL,
    first_port integer NOT NULL,
    last_port integer NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT network_profileevent_buckets_check CHECK ((buckets >= 0)),
    CONSTRAINT network_profileevent_connections_check CHECK ((connections >= 0)),
    CONSTRAINT network_profileevent_first_port_check CHECK ((first_port >= 0)),
    CONSTRAINT network_profileevent_generic_check CHECK ((generic >= 0)),
    CONSTRAINT network_profileevent_icmp_check CHECK ((icmp >= 0)),
    CONSTRAINT network_profileevent_last_port_check CHECK ((last_port >= 0)),
    CONSTRAINT network_profileevent_tcp_close_wait_check CHECK ((tcp_close_wait >= 0)),
    CONSTRAINT network_profileevent_tcp_established_check CHECK ((tcp_established >= 0)),
    CONSTRAINT network_profileevent_tcp_fin_wait_check CHECK ((tcp_fin_wait >= 0)),
    CONSTRAINT network_profileevent_tcp_syn_sent_check CHECK ((tcp_syn_sent >= 0)),
    CONSTRAINT network_profileevent_tcp_time_wait_check CHECK ((tcp_time_wait >= 0)),
    CONSTRAINT network_profileevent_udp_check CHECK ((udp >= 0)),
    CONSTRAINT network_profileevent_udp_stream_check CHECK ((udp_stream >= 0)),
    CONSTRAINT network_profileevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_profileevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_profileevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_protection (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    bogons boolean NOT NULL,
    own cidr[] NOT NULL,
    bgp_peers inet[] NOT NULL,
    ospf_peers inet[] NOT NULL,
    ftp_ports integer[] NOT NULL,
    sip_ports integer[] NOT NULL,
    group_id bigint NOT NULL,
    CONSTRAINT network_protection_version_check CHECK ((version >= 0)),
    CONSTRAINT protection_few_helper_ports CHECK (((
CASE
    WHEN (ftp_ports IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(ftp_ports, 1), 0)
END <= 16) AND (
CASE
    WHEN (sip_ports IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(sip_ports, 1), 0)
END <= 16)))
);

ALTER TABLE public.network_protection ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_protection_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_protectionevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    bogons boolean NOT NULL,
    own cidr[] NOT NULL,
    bgp_peers inet[] NOT NULL,
    ospf_peers inet[] NOT NULL,
    ftp_ports integer[] NOT NULL,
    sip_ports integer[] NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT network_protectionevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_protectionevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_protectionevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_uplink (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    up_kbit integer,
    down_kbit integer,
    limits_rates boolean NOT NULL,
    group_id bigint NOT NULL,
    framing character varying(12) DEFAULT 'raw'::character varying NOT NULL,
    queue_down_kbit integer,
    queue_up_kbit integer,
    CONSTRAINT network_uplink_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT network_uplink_queue_down_kbit_check CHECK ((queue_down_kbit >= 0)),
    CONSTRAINT network_uplink_queue_up_kbit_check CHECK ((queue_up_kbit >= 0)),
    CONSTRAINT network_uplink_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT network_uplink_version_check CHECK ((version >= 0)),
    CONSTRAINT uplink_down_kbit CHECK (((down_kbit IS NULL) OR (down_kbit >= 64))),
    CONSTRAINT uplink_framing CHECK (((framing)::text = ANY ((ARRAY['raw'::character varying, 'ethernet'::character varying, 'docsis'::character varying, 'ptm'::character varying, 'pppoe-ptm'::character varying, 'pppoe-atm'::character varying])::text[]))),
    CONSTRAINT uplink_queue_down_fits CHECK (((queue_down_kbit IS NULL) OR (down_kbit IS NULL) OR (queue_down_kbit <= down_kbit))),
    CONSTRAINT uplink_queue_down_kbit CHECK (((queue_down_kbit IS NULL) OR ((queue_down_kbit >= 1000) AND (queue_down_kbit <= 10000000)))),
    CONSTRAINT uplink_queue_up_fits CHECK (((queue_up_kbit IS NULL) OR (up_kbit IS NULL) OR (queue_up_kbit <= up_kbit))),
    CONSTRAINT uplink_queue_up_kbit CHECK (((queue_up_kbit IS NULL) OR ((queue_up_kbit >= 1000) AND (queue_up_kbit <= 10000000)))),
    CONSTRAINT uplink_up_kbit CHECK (((up_kbit IS NULL) OR (up_kbit >= 64)))
);

ALTER TABLE public.network_uplink ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_uplink_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.network_uplinkevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    up_kbit integer,
    down_kbit integer,
    limits_rates boolean NOT NULL,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    framing character varying(12) DEFAULT 'raw'::character varying NOT NULL,
    queue_down_kbit integer,
    queue_up_kbit integer,
    CONSTRAINT network_uplinkevent_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT network_uplinkevent_queue_down_kbit_check CHECK ((queue_down_kbit >= 0)),
    CONSTRAINT network_uplinkevent_queue_up_kbit_check CHECK ((queue_up_kbit >= 0)),
    CONSTRAINT network_uplinkevent_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT network_uplinkevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.network_uplinkevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.network_uplinkevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.operations_backupnote (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    octets bigint,
    place character varying(200) NOT NULL,
    CONSTRAINT operations_backupnote_octets_check CHECK ((octets >= 0))
);

ALTER TABLE public.operations_backupnote ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.operations_backupnote_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.operations_databaseday (
    day date NOT NULL,
    octets bigint NOT NULL,
    CONSTRAINT operations_databaseday_octets_check CHECK ((octets >= 0))
);

CREATE TABLE public.operations_hostheartbeat (
    id bigint NOT NULL,
    role character varying(16) NOT NULL,
    host character varying(64) NOT NULL,
    started timestamp with time zone NOT NULL,
    seen timestamp with time zone NOT NULL,
    broker_error character varying(300) NOT NULL,
    broker_failing timestamp with time zone,
    secret_mark character varying(16) NOT NULL,
    ssh_mark character varying(16) NOT NULL,
    CONSTRAINT hostheartbeat_failing_says_why CHECK (((((broker_error)::text = ''::text) AND (broker_failing IS NULL)) OR ((broker_failing IS NOT NULL) AND (NOT ((broker_error)::text = ''::text))))),
    CONSTRAINT hostheartbeat_of_a_role CHECK (((role)::text = ANY ((ARRAY['worker'::character varying, 'collector'::character varying, 'feeds'::character varying, 'mailer'::character varying, 'beat'::character varying, 'events'::character varying])::text[])))
);

ALTER TABLE public.operations_hostheartbeat ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.operations_hostheartbeat_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.operations_jobrecord (
    name character varying(100) NOT NULL,
    period double precision,
    expected timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    ran timestamp with time zone,
    succeeded timestamp with time zone,
    failing timestamp with time zone,
    error character varying(500) DEFAULT ''::character varying NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    CONSTRAINT jobrecord_failing_says_why CHECK (((((error)::text = ''::text) AND (failing IS NULL)) OR ((failing IS NOT NULL) AND (NOT ((error)::text = ''::text))))),
    CONSTRAINT operations_jobrecord_failures_check CHECK ((failures >= 0))
);

CREATE TABLE public.operations_portalfinding (
    rule character varying(40) NOT NULL,
    kind character varying(4) NOT NULL,
    evidence jsonb NOT NULL,
    since timestamp with time zone NOT NULL,
    CONSTRAINT portalfinding_kind CHECK (((kind)::text = ANY ((ARRAY['bad'::character varying, 'warn'::character varying])::text[])))
);

CREATE TABLE public.operations_portalreading (
    id smallint NOT NULL,
    at timestamp with time zone NOT NULL,
    figures jsonb NOT NULL,
    CONSTRAINT operations_portalreading_id_check CHECK ((id >= 0)),
    CONSTRAINT portalreading_one_row CHECK ((id = 1))
);

CREATE TABLE public.operations_roleheartbeat (
    role character varying(16) NOT NULL,
    expected timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    started timestamp with time zone,
    seen timestamp with time zone,
    served timestamp with time zone,
    broker_error character varying(300) DEFAULT ''::character varying NOT NULL,
    broker_failing timestamp with time zone,
    CONSTRAINT roleheartbeat_failing_says_why CHECK (((((broker_error)::text = ''::text) AND (broker_failing IS NULL)) OR ((broker_failing IS NOT NULL) AND (NOT ((broker_error)::text = ''::text))))),
    CONSTRAINT roleheartbeat_of_a_role CHECK (((role)::text = ANY ((ARRAY['worker'::character varying, 'collector'::character varying, 'feeds'::character varying, 'mailer'::character varying, 'beat'::character varying, 'events'::character varying])::text[])))
);

CREATE TABLE public.operations_tableday (
    id bigint NOT NULL,
    day date NOT NULL,
    "table" character varying(63) NOT NULL,
    octets bigint NOT NULL,
    CONSTRAINT operations_tableday_octets_check CHECK ((octets >= 0))
);

ALTER TABLE public.operations_tableday ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.operations_tableday_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.pghistory_context (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    metadata jsonb NOT NULL
);

CREATE TABLE public.preferences_networksettings (
    version integer NOT NULL,
    id smallint NOT NULL,
    network_name character varying(60),
    contact character varying(200),
    default_language character varying(2),
    lowest_port integer,
    longest_range integer,
    forbidden_ports integer[],
    invitation_days integer,
    hold_days integer,
    erase_days integer,
    messages_an_hour integer,
    keep_five_minutes_days integer,
    keep_hours_days integer,
    keep_days_days integer,
    keep_mail_days integer,
    keep_revisions_days integer,
    keep_webhook_days integer,
    keep_hits_days integer,
    duty_minutes integer,
    backup_hours integer,
    keep_ban_history_days integer,
    CONSTRAINT networksettings_backup_hours CHECK (((backup_hours IS NULL) OR ((backup_hours >= 1) AND (backup_hours <= 8760)))),
    CONSTRAINT networksettings_contact CHECK (((contact IS NULL) OR ((contact)::text ~ '^[^[:space:][:cntrl:]]([^[:cntrl:]]*[^[:space:][:cntrl:]])?$'::text) OR ((contact)::text = ''::text))),
    CONSTRAINT networksettings_default_language CHECK (((default_language IS NULL) OR ((default_language)::text = ANY ((ARRAY['en'::character varying, 'de'::character varying])::text[])))),
    CONSTRAINT networksettings_duty_minutes CHECK (((duty_minutes IS NULL) OR ((duty_minutes >= 1) AND (duty_minutes <= 1440)))),
    CONSTRAINT networksettings_erase_days CHECK (((erase_days IS NULL) OR ((erase_days >= 1) AND (erase_days <= 3650)))),
    CONSTRAINT networksettings_erased_after_hold CHECK (((hold_days IS NULL) OR (erase_days IS NULL) OR (erase_days >= hold_days))),
    CONSTRAINT networksettings_forbidden_ports CHECK (((forbidden_ports IS NULL) OR ((1 <= ALL (forbidden_ports)) AND (65535 >= ALL (forbidden_ports)) AND (cardinality(forbidden_ports) <= 2000)))),
    CONSTRAINT networksettings_hold_days CHECK (((hold_days IS NULL) OR ((hold_days >= 0) AND (hold_days <= 365)))),
    CONSTRAINT networksettings_invitation_days CHECK (((invitation_days IS NULL) OR ((invitation_days >= 1) AND (invitation_days <= 60)))),
    CONSTRAINT networksettings_keep_ban_history_days CHECK (((keep_ban_history_days IS NULL) OR ((keep_ban_history_days >= 7) AND (keep_ban_history_days <= 3650)))),
    CONSTRAINT networksettings_keep_days_days CHECK (((keep_days_days IS NULL) OR ((keep_days_days >= 31) AND (keep_days_days <= 3660)))),
    CONSTRAINT networksettings_keep_five_minutes_days CHECK (((keep_five_minutes_days IS NULL) OR ((keep_five_minutes_days >= 2) AND (keep_five_minutes_days <= 60)))),
    CONSTRAINT networksettings_keep_hits_days CHECK (((keep_hits_days IS NULL) OR ((keep_hits_days >= 1) AND (keep_hits_days <= 3650)))),
    CONSTRAINT networksettings_keep_hours_days CHECK (((keep_hours_days IS NULL) OR ((keep_hours_days >= 7) AND (keep_hours_days <= 400)))),
    CONSTRAINT networksettings_keep_mail_days CHECK (((keep_mail_days IS NULL) OR ((keep_mail_days >= 1) AND (keep_mail_days <= 3650)))),
    CONSTRAINT networksettings_keep_revisions_days CHECK (((keep_revisions_days IS NULL) OR ((keep_revisions_days >= 1) AND (keep_revisions_days <= 3650)))),
    CONSTRAINT networksettings_keep_webhook_days CHECK (((keep_webhook_days IS NULL) OR ((keep_webhook_days >= 1) AND (keep_webhook_days <= 3650)))),
    CONSTRAINT networksettings_longest_range CHECK (((longest_range IS NULL) OR ((longest_range >= 1) AND (longest_range <= 1000)))),
    CONSTRAINT networksettings_lowest_port CHECK (((lowest_port IS NULL) OR ((lowest_port >= 1) AND (lowest_port <= 65535)))),
    CONSTRAINT networksettings_messages_an_hour CHECK (((messages_an_hour IS NULL) OR ((messages_an_hour >= 1) AND (messages_an_hour <= 1000)))),
    CONSTRAINT networksettings_network_name CHECK (((network_name IS NULL) OR ((network_name)::text ~ '^[^[:space:][:cntrl:]]([^[:cntrl:]]*[^[:space:][:cntrl:]])?$'::text))),
    CONSTRAINT networksettings_one_row CHECK ((id = 1)),
    CONSTRAINT preferences_networksettings_backup_hours_check CHECK ((backup_hours >= 0)),
    CONSTRAINT preferences_networksettings_duty_minutes_check CHECK ((duty_minutes >= 0)),
    CONSTRAINT preferences_networksettings_erase_days_check CHECK ((erase_days >= 0)),
    CONSTRAINT preferences_networksettings_hold_days_check CHECK ((hold_days >= 0)),
    CONSTRAINT preferences_networksettings_id_check CHECK ((id >= 0)),
    CONSTRAINT preferences_networksettings_invitation_days_check CHECK ((invitation_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_ban_history_days_check CHECK ((keep_ban_history_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_days_days_check CHECK ((keep_days_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_five_minutes_days_check CHECK ((keep_five_minutes_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_hits_days_check CHECK ((keep_hits_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_hours_days_check CHECK ((keep_hours_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_mail_days_check CHECK ((keep_mail_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_revisions_days_check CHECK ((keep_revisions_days >= 0)),
    CONSTRAINT preferences_networksettings_keep_webhook_days_check CHECK ((keep_webhook_days >= 0)),
    CONSTRAINT preferences_networksettings_longest_range_check CHECK ((longest_range >= 0)),
    CONSTRAINT preferences_networksettings_lowest_port_check CHECK ((lowest_port >= 0)),
    CONSTRAINT preferences_networksettings_messages_an_hour_check CHECK ((messages_an_hour >= 0)),
    CONSTRAINT preferences_networksettings_version_check CHECK ((version >= 0))
);

CREATE TABLE public.preferences_networksettingsevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    version integer NOT NULL,
    id smallint NOT NULL,
    network_name character varying(60),
    contact character varying(200),
    default_language character varying(2),
    lowest_port integer,
    longest_range integer,
    forbidden_ports integer[],
    invitation_days integer,
    hold_days integer,
    erase_days integer,
    messages_an_hour integer,
    keep_five_minutes_days integer,
    keep_hours_days integer,
    keep_days_days integer,
    keep_mail_days integer,
    keep_revisions_days integer,
    keep_webhook_days integer,
    keep_hits_days integer,
    pgh_context_id uuid,
    pgh_obj_id smallint NOT NULL,
    duty_minutes integer,
    backup_hours integer,
    keep_ban_history_days integer,
    CONSTRAINT preferences_networksettingsevent_backup_hours_check CHECK ((backup_hours >= 0)),
    CONSTRAINT preferences_networksettingsevent_duty_minutes_check CHECK ((duty_minutes >= 0)),
    CONSTRAINT preferences_networksettingsevent_erase_days_check CHECK ((erase_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_hold_days_check CHECK ((hold_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_id_check CHECK ((id >= 0)),
    CONSTRAINT preferences_networksettingsevent_invitation_days_check CHECK ((invitation_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_ban_history_days_check CHECK ((keep_ban_history_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_days_days_check CHECK ((keep_days_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_five_minutes_days_check CHECK ((keep_five_minutes_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_hits_days_check CHECK ((keep_hits_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_hours_days_check CHECK ((keep_hours_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_mail_days_check CHECK ((keep_mail_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_revisions_days_check CHECK ((keep_revisions_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_keep_webhook_days_check CHECK ((keep_webhook_days >= 0)),
    CONSTRAINT preferences_networksettingsevent_longest_range_check CHECK ((longest_range >= 0)),
    CONSTRAINT preferences_networksettingsevent_lowest_port_check CHECK ((lowest_port >= 0)),
    CONSTRAINT preferences_networksettingsevent_messages_an_hour_check CHECK ((messages_an_hour >= 0)),
    CONSTRAINT preferences_networksettingsevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.preferences_networksettingsevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.preferences_networksettingsevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.socialaccount_socialaccount (
    id integer NOT NULL,
    provider character varying(200) NOT NULL,
    uid character varying(191) NOT NULL,
    last_login timestamp with time zone NOT NULL,
    date_joined timestamp with time zone NOT NULL,
    extra_data jsonb NOT NULL,
    user_id bigint NOT NULL
);

ALTER TABLE public.socialaccount_socialaccount ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialaccount_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.socialaccount_socialapp (
    id integer NOT NULL,
    provider character varying(30) NOT NULL,
    name character varying(40) NOT NULL,
    client_id character varying(191) NOT NULL,
    secret character varying(191) NOT NULL,
    key character varying(191) NOT NULL,
    provider_id character varying(200) NOT NULL,
    settings jsonb NOT NULL
);

ALTER TABLE public.socialaccount_socialapp ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialapp_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.socialaccount_socialtoken (
    id integer NOT NULL,
    token text NOT NULL,
    token_secret text NOT NULL,
    expires_at timestamp with time zone,
    account_id integer NOT NULL,
    app_id integer
);

ALTER TABLE public.socialaccount_socialtoken ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.socialaccount_socialtoken_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.status_incident (
    id bigint NOT NULL,
    version integer NOT NULL,
    kind character varying(11) NOT NULL,
    title_en character varying(120) NOT NULL,
    title_de character varying(120) NOT NULL,
    impact character varying(8) NOT NULL,
    services character varying(6)[] NOT NULL,
    began timestamp with time zone NOT NULL,
    planned_end timestamp with time zone,
    ended timestamp with time zone,
    next_update timestamp with time zone,
    public boolean NOT NULL,
    attach_tickets boolean NOT NULL,
    report text NOT NULL,
    opened timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    opened_by_id bigint,
    CONSTRAINT incident_affects_something CHECK (((
CASE
    WHEN (services IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(services, 1), 0)
END >= 1) AND (services <@ ARRAY['ipv4'::character varying(6), 'ipv6'::character varying(6), 'portal'::character varying(6)]))),
    CONSTRAINT incident_ends_after_it_began CHECK (((ended IS NULL) OR ((kind)::text = 'maintenance'::text) OR (ended >= began))),
    CONSTRAINT incident_has_a_title CHECK (((NOT ((title_en)::text = ''::text)) OR (NOT ((title_de)::text = ''::text)))),
    CONSTRAINT incident_impact CHECK (((impact)::text = ANY ((ARRAY['none'::character varying, 'degraded'::character varying, 'down'::character varying])::text[]))),
    CONSTRAINT incident_kind CHECK (((kind)::text = ANY ((ARRAY['fault'::character varying, 'maintenance'::character varying])::text[]))),
    CONSTRAINT incident_planned_end CHECK (((((kind)::text = 'fault'::text) AND (planned_end IS NULL)) OR (((kind)::text = 'maintenance'::text) AND (planned_end > began)))),
    CONSTRAINT status_incident_version_check CHECK ((version >= 0))
);

CREATE TABLE public.status_incident_gateways (
    id bigint NOT NULL,
    incident_id bigint NOT NULL,
    gateway_id bigint NOT NULL
);

ALTER TABLE public.status_incident_gateways ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_incident_gateways_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.status_incident ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_incident_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.status_incident_sites (
    id bigint NOT NULL,
    incident_id bigint NOT NULL,
    site_id bigint NOT NULL
);

ALTER TABLE public.status_incident_sites ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_incident_sites_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.status_incidentevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    kind character varying(11) NOT NULL,
    title_en character varying(120) NOT NULL,
    title_de character varying(120) NOT NULL,
    impact character varying(8) NOT NULL,
    services character varying(6)[] NOT NULL,
    began timestamp with time zone NOT NULL,
    planned_end timestamp with time zone,
    ended timestamp with time zone,
    next_update timestamp with time zone,
    public boolean NOT NULL,
    attach_tickets boolean NOT NULL,
    report text NOT NULL,
    opened timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    opened_by_id bigint,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT status_incidentevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.status_incidentevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_incidentevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.status_incidentticket (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    detached timestamp with time zone,
    by_id bigint,
    incident_id bigint NOT NULL,
    ticket_id bigint NOT NULL
);

ALTER TABLE public.status_incidentticket ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_incidentticket_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.status_incidentupdate (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    stage character varying(10) NOT NULL,
    text_en text NOT NULL,
    text_de text NOT NULL,
    public boolean NOT NULL,
    notify boolean NOT NULL,
    mailed_after bigint NOT NULL,
    mailed timestamp with time zone,
    by_id bigint,
    incident_id bigint NOT NULL,
    CONSTRAINT incident_update_mailed_is_public CHECK ((public OR (NOT notify))),
    CONSTRAINT incident_update_says_something CHECK (((NOT (text_en = ''::text)) OR (NOT (text_de = ''::text)))),
    CONSTRAINT incident_update_stage CHECK (((stage)::text = ANY ((ARRAY['looking'::character varying, 'found'::character varying, 'watching'::character varying, 'planned'::character varying, 'under_way'::character varying, 'over'::character varying, 'called_off'::character varying])::text[])))
);

ALTER TABLE public.status_incidentupdate ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_incidentupdate_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.status_serviceday (
    id bigint NOT NULL,
    service character varying(6) NOT NULL,
    day date NOT NULL,
    fine double precision NOT NULL,
    degraded double precision NOT NULL,
    down double precision NOT NULL,
    CONSTRAINT serviceday_seconds CHECK (((degraded >= (0.0)::double precision) AND (down >= (0.0)::double precision) AND (fine >= (0.0)::double precision))),
    CONSTRAINT serviceday_service CHECK (((service)::text = ANY ((ARRAY['ipv4'::character varying, 'ipv6'::character varying, 'portal'::character varying])::text[])))
);

ALTER TABLE public.status_serviceday ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_serviceday_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.status_servicestate (
    service character varying(6) NOT NULL,
    level character varying(8) NOT NULL,
    since timestamp with time zone NOT NULL,
    noted timestamp with time zone NOT NULL,
    CONSTRAINT servicestate_level CHECK (((level)::text = ANY ((ARRAY['fine'::character varying, 'degraded'::character varying, 'down'::character varying, 'unknown'::character varying])::text[]))),
    CONSTRAINT servicestate_noted_later CHECK ((noted >= since)),
    CONSTRAINT servicestate_service CHECK (((service)::text = ANY ((ARRAY['ipv4'::character varying, 'ipv6'::character varying, 'portal'::character varying])::text[])))
);

CREATE TABLE public.status_subscription (
    id bigint NOT NULL,
    address character varying(254) NOT NULL,
    language character varying(2) NOT NULL,
    asked timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    confirmed timestamp with time zone,
    CONSTRAINT subscription_has_an_address CHECK ((NOT ((address)::text = ''::text)))
);

ALTER TABLE public.status_subscription ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.status_subscription_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_attachment (
    id bigint NOT NULL,
    name character varying(200) NOT NULL,
    size integer NOT NULL,
    message_id bigint NOT NULL,
    CONSTRAINT ticket_attachment_name CHECK ((NOT ((name)::text = ''::text))),
    CONSTRAINT tickets_attachment_size_check CHECK ((size >= 0))
);

ALTER TABLE public.tickets_attachment ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_attachment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_bulk (
    id bigint NOT NULL,
    key uuid NOT NULL,
    text_de text NOT NULL,
    text_en text NOT NULL,
    state character varying(8) NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    by_id bigint NOT NULL,
    CONSTRAINT ticket_bulk_says_something CHECK (((NOT (text_de = ''::text)) OR (NOT (text_en = ''::text)))),
    CONSTRAINT ticket_bulk_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'solved'::character varying])::text[])))
);

ALTER TABLE public.tickets_bulk ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_bulk_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_bulkitem (
    id bigint NOT NULL,
    done_at timestamp with time zone,
    why character varying(300) NOT NULL,
    bulk_id bigint NOT NULL,
    message_id bigint,
    ticket_id bigint NOT NULL,
    CONSTRAINT ticket_bulk_done CHECK (((done_at IS NOT NULL) OR ((message_id IS NULL) AND ((why)::text = ''::text))))
);

ALTER TABLE public.tickets_bulkitem ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_bulkitem_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_canned (
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    text_de text NOT NULL,
    text_en text NOT NULL,
    CONSTRAINT canned_says_something CHECK (((NOT ((name)::text = ''::text)) AND (NOT (text_de = ''::text)) AND (NOT (text_en = ''::text)))),
    CONSTRAINT tickets_canned_version_check CHECK ((version >= 0))
);

ALTER TABLE public.tickets_canned ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_canned_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_cannedevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    text_de text NOT NULL,
    text_en text NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT tickets_cannedevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.tickets_cannedevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_cannedevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_content (
    attachment_id bigint NOT NULL,
    octets bytea NOT NULL
);

CREATE TABLE public.tickets_link (
    id bigint NOT NULL,
    kind character varying(40) NOT NULL,
    object_id bigint NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    by_id bigint NOT NULL,
    ticket_id bigint NOT NULL
);

ALTER TABLE public.tickets_link ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_link_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_message (
    id bigint NOT NULL,
    kind character varying(6) NOT NULL,
    sender character varying(320) NOT NULL,
    text text NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    via character varying(4) NOT NULL,
    verified boolean NOT NULL,
    message_id character varying(250),
    author_id bigint,
    ticket_id bigint NOT NULL,
    came_as character varying(250),
    CONSTRAINT ticket_message_author CHECK (((author_id IS NOT NULL) OR (((via)::text = 'mail'::text) AND (NOT ((kind)::text = 'answer'::text))))),
    CONSTRAINT ticket_message_id CHECK (((message_id IS NULL) OR (NOT (((message_id)::text = ''::text) AND (message_id IS NOT NULL))))),
    CONSTRAINT ticket_message_kind CHECK (((kind)::text = ANY ((ARRAY['member'::character varying, 'answer'::character varying, 'note'::character varying])::text[]))),
    CONSTRAINT ticket_message_via CHECK (((via)::text = ANY ((ARRAY['web'::character varying, 'mail'::character varying])::text[])))
);

ALTER TABLE public.tickets_message ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_message_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_move (
    id bigint NOT NULL,
    kind character varying(5) NOT NULL,
    messages bigint[] NOT NULL,
    links bigint[] NOT NULL,
    state character varying(8) NOT NULL,
    adopted boolean NOT NULL,
    at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    undone_at timestamp with time zone,
    by_id bigint NOT NULL,
    source_id bigint NOT NULL,
    target_id bigint NOT NULL,
    undone_by_id bigint,
    CONSTRAINT ticket_move_kind CHECK (((((kind)::text = 'merge'::text) AND (NOT ((state)::text = ''::text))) OR (((kind)::text = 'split'::text) AND ((state)::text = ''::text) AND (undone_at IS NULL)))),
    CONSTRAINT ticket_move_undone CHECK ((((undone_at IS NULL) AND (undone_by_id IS NULL)) OR (undone_at IS NOT NULL))),
    CONSTRAINT ticket_moves_elsewhere CHECK ((NOT (source_id = target_id)))
);

ALTER TABLE public.tickets_move ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_move_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_period (
    id bigint NOT NULL,
    unit character varying(4) NOT NULL,
    begins date NOT NULL,
    opened integer NOT NULL,
    solved integer NOT NULL,
    reopened integer NOT NULL,
    answered integer NOT NULL,
    median double precision,
    CONSTRAINT ticket_period_median CHECK ((((answered = 0) AND (median IS NULL)) OR ((answered > 0) AND (median >= (0.0)::double precision)))),
    CONSTRAINT ticket_period_unit CHECK ((((unit)::text = 'day'::text) OR ((EXTRACT(isodow FROM begins) = (1)::numeric) AND ((unit)::text = 'week'::text)))),
    CONSTRAINT tickets_period_answered_check CHECK ((answered >= 0)),
    CONSTRAINT tickets_period_opened_check CHECK ((opened >= 0)),
    CONSTRAINT tickets_period_reopened_check CHECK ((reopened >= 0)),
    CONSTRAINT tickets_period_solved_check CHECK ((solved >= 0))
);

ALTER TABLE public.tickets_period ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_period_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_ticket (
    id bigint NOT NULL,
    version integer NOT NULL,
    subject character varying(200) NOT NULL,
    address character varying(254) NOT NULL,
    language character varying(2) NOT NULL,
    state character varying(8) NOT NULL,
    priority smallint NOT NULL,
    tags character varying(30)[] NOT NULL,
    opened_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    touched_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    first_answered_at timestamp with time zone,
    assignee_id bigint,
    member_id bigint,
    merged_into_id bigint,
    split_from_id bigint,
    is_merged boolean GENERATED ALWAYS AS ((merged_into_id IS NOT NULL)) STORED,
    target_is_merged boolean GENERATED ALWAYS AS (
CASE
    WHEN (merged_into_id IS NOT NULL) THEN false
    ELSE NULL::boolean
END) STORED,
    CONSTRAINT ticket_answered_after_opening CHECK (((first_answered_at IS NULL) OR (first_answered_at >= opened_at))),
    CONSTRAINT ticket_has_a_subject CHECK ((NOT ((subject)::text = ''::text))),
    CONSTRAINT ticket_is_not_its_own CHECK (((NOT ((merged_into_id = id) AND (merged_into_id IS NOT NULL))) AND (NOT ((split_from_id = id) AND (split_from_id IS NOT NULL))))),
    CONSTRAINT ticket_merged_is_solved CHECK (((merged_into_id IS NULL) OR ((state)::text = 'solved'::text))),
    CONSTRAINT ticket_priority CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT ticket_state CHECK (((state)::text = ANY ((ARRAY['open'::character varying, 'waiting'::character varying, 'solved'::character varying, 'reopened'::character varying])::text[]))),
    CONSTRAINT ticket_tags_some CHECK (((
CASE
    WHEN (tags IS NULL) THEN NULL::integer
    ELSE COALESCE(array_length(tags, 1), 0)
END <= 10) AND (NOT (tags @> ARRAY[''::character varying(30)])))),
    CONSTRAINT tickets_ticket_priority_check CHECK ((priority >= 0)),
    CONSTRAINT tickets_ticket_version_check CHECK ((version >= 0))
);

ALTER TABLE public.tickets_ticket ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_ticket_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_ticketevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    subject character varying(200) NOT NULL,
    address character varying(254) NOT NULL,
    language character varying(2) NOT NULL,
    state character varying(8) NOT NULL,
    priority smallint NOT NULL,
    tags character varying(30)[] NOT NULL,
    opened_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    assignee_id bigint,
    member_id bigint,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    merged_into_id bigint,
    split_from_id bigint,
    CONSTRAINT tickets_ticketevent_priority_check CHECK ((priority >= 0)),
    CONSTRAINT tickets_ticketevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.tickets_ticketevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.tickets_ticketevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.tickets_words (
    ticket_id bigint NOT NULL,
    characters integer NOT NULL,
    search tsvector NOT NULL,
    CONSTRAINT tickets_words_characters_check CHECK ((characters >= 0))
);

CREATE TABLE public.traffic_collected (
    gateway_id bigint NOT NULL,
    asked bigint NOT NULL,
    told bigint NOT NULL,
    boot character varying(100) NOT NULL,
    "table" bigint NOT NULL,
    log character varying(100) NOT NULL,
    sequence bigint NOT NULL,
    gone bigint NOT NULL,
    at timestamp with time zone,
    refused text NOT NULL,
    refused_at timestamp with time zone,
    nobodys integer NOT NULL,
    skip boolean NOT NULL,
    nobodys_first character varying(60) NOT NULL,
    down_bits bigint,
    up_bits bigint,
    rated_at timestamp with time zone,
    up_octets bigint NOT NULL,
    down_octets bigint NOT NULL,
    former_logs character varying(100)[] DEFAULT '{}'::character varying(100)[] NOT NULL,
    CONSTRAINT traffic_collected_asked_check CHECK ((asked >= 0)),
    CONSTRAINT traffic_collected_down_bits_check CHECK ((down_bits >= 0)),
    CONSTRAINT traffic_collected_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_collected_gone_check CHECK ((gone >= 0)),
    CONSTRAINT traffic_collected_nobodys_check CHECK ((nobodys >= 0)),
    CONSTRAINT traffic_collected_sequence_check CHECK ((sequence >= 0)),
    CONSTRAINT traffic_collected_table_check CHECK (("table" >= 0)),
    CONSTRAINT traffic_collected_told_check CHECK ((told >= 0)),
    CONSTRAINT traffic_collected_up_bits_check CHECK ((up_bits >= 0)),
    CONSTRAINT traffic_collected_up_octets_check CHECK ((up_octets >= 0))
);

CREATE TABLE public.traffic_coverage (
    id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    carried boolean NOT NULL,
    gateway_id bigint NOT NULL,
    CONSTRAINT coverage_ends_after_it_begins CHECK ((until >= since))
);

ALTER TABLE public.traffic_coverage ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_coverage_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_day (
    holding_id bigint NOT NULL,
    bucket timestamp with time zone NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    CONSTRAINT traffic_day_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_day_down_packets_check CHECK ((down_packets >= 0)),
    CONSTRAINT traffic_day_up_octets_check CHECK ((up_octets >= 0)),
    CONSTRAINT traffic_day_up_packets_check CHECK ((up_packets >= 0))
)
PARTITION BY RANGE (bucket);

CREATE TABLE public.traffic_fairshare (
    id bigint NOT NULL,
    version integer NOT NULL,
    "on" boolean NOT NULL,
    start_percent smallint NOT NULL,
    end_percent smallint NOT NULL,
    calm_minutes smallint NOT NULL,
    minutes smallint NOT NULL,
    most smallint NOT NULL,
    limit_minutes smallint NOT NULL,
    up_kbit integer,
    down_kbit integer,
    since timestamp with time zone,
    calm_since timestamp with time zone,
    looked timestamp with time zone,
    group_id bigint NOT NULL,
    CONSTRAINT fairshare_calm_minutes CHECK ((calm_minutes <= 60)),
    CONSTRAINT fairshare_down_kbit CHECK (((down_kbit IS NULL) OR ((down_kbit >= 64) AND (down_kbit <= 10000000)))),
    CONSTRAINT fairshare_end_below_start CHECK (((end_percent >= 1) AND (end_percent < start_percent))),
    CONSTRAINT fairshare_limit_minutes CHECK (((limit_minutes >= 5) AND (limit_minutes <= 60))),
    CONSTRAINT fairshare_minutes CHECK (((minutes >= 5) AND (minutes <= 60))),
    CONSTRAINT fairshare_most CHECK (((most >= 1) AND (most <= 1000))),
    CONSTRAINT fairshare_some_way CHECK ((NOT ((down_kbit IS NULL) AND (up_kbit IS NULL)))),
    CONSTRAINT fairshare_start_percent CHECK ((start_percent <= 100)),
    CONSTRAINT fairshare_up_kbit CHECK (((up_kbit IS NULL) OR ((up_kbit >= 64) AND (up_kbit <= 10000000)))),
    CONSTRAINT traffic_fairshare_calm_minutes_check CHECK ((calm_minutes >= 0)),
    CONSTRAINT traffic_fairshare_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT traffic_fairshare_end_percent_check CHECK ((end_percent >= 0)),
    CONSTRAINT traffic_fairshare_limit_minutes_check CHECK ((limit_minutes >= 0)),
    CONSTRAINT traffic_fairshare_minutes_check CHECK ((minutes >= 0)),
    CONSTRAINT traffic_fairshare_most_check CHECK ((most >= 0)),
    CONSTRAINT traffic_fairshare_start_percent_check CHECK ((start_percent >= 0)),
    CONSTRAINT traffic_fairshare_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT traffic_fairshare_version_check CHECK ((version >= 0))
);

CREATE TABLE public.traffic_fairshare_exempt (
    id bigint NOT NULL,
    fairshare_id bigint NOT NULL,
    tariff_id bigint NOT NULL
);

ALTER TABLE public.traffic_fairshare_exempt ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_fairshare_exempt_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE public.traffic_fairshare ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_fairshare_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_fairshareevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    "on" boolean NOT NULL,
    start_percent smallint NOT NULL,
    end_percent smallint NOT NULL,
    calm_minutes smallint NOT NULL,
    minutes smallint NOT NULL,
    most smallint NOT NULL,
    limit_minutes smallint NOT NULL,
    up_kbit integer,
    down_kbit integer,
    group_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT traffic_fairshareevent_calm_minutes_check CHECK ((calm_minutes >= 0)),
    CONSTRAINT traffic_fairshareevent_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT traffic_fairshareevent_end_percent_check CHECK ((end_percent >= 0)),
    CONSTRAINT traffic_fairshareevent_limit_minutes_check CHECK ((limit_minutes >= 0)),
    CONSTRAINT traffic_fairshareevent_minutes_check CHECK ((minutes >= 0)),
    CONSTRAINT traffic_fairshareevent_most_check CHECK ((most >= 0)),
    CONSTRAINT traffic_fairshareevent_start_percent_check CHECK ((start_percent >= 0)),
    CONSTRAINT traffic_fairshareevent_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT traffic_fairshareevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.traffic_fairshareevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_fairshareevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_fiveminutes (
    holding_id bigint NOT NULL,
    bucket timestamp with time zone NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    CONSTRAINT traffic_fiveminutes_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_fiveminutes_down_packets_check CHECK ((down_packets >= 0)),
    CONSTRAINT traffic_fiveminutes_up_octets_check CHECK ((up_octets >= 0)),
    CONSTRAINT traffic_fiveminutes_up_packets_check CHECK ((up_packets >= 0))
)
PARTITION BY RANGE (bucket);

CREATE TABLE public.traffic_fourweeks (
    holding_id bigint NOT NULL,
    bucket timestamp with time zone NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    CONSTRAINT traffic_fourweeks_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_fourweeks_down_packets_check CHECK ((down_packets >= 0)),
    CONSTRAINT traffic_fourweeks_up_octets_check CHECK ((up_octets >= 0)),
    CONSTRAINT traffic_fourweeks_up_packets_check CHECK ((up_packets >= 0))
)
PARTITION BY RANGE (bucket);

CREATE TABLE public.traffic_hour (
    holding_id bigint NOT NULL,
    bucket timestamp with time zone NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    CONSTRAINT traffic_hour_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_hour_down_packets_check CHECK ((down_packets >= 0)),
    CONSTRAINT traffic_hour_up_octets_check CHECK ((up_octets >= 0)),
    CONSTRAINT traffic_hour_up_packets_check CHECK ((up_packets >= 0))
)
PARTITION BY RANGE (bucket);

CREATE TABLE public.traffic_lastcounts (
    id bigint NOT NULL,
    set character varying(60) NOT NULL,
    elements integer NOT NULL,
    keys bytea NOT NULL,
    packets bytea NOT NULL,
    octets bytea NOT NULL,
    owners bytea NOT NULL,
    gateway_id bigint NOT NULL,
    CONSTRAINT traffic_lastcounts_elements_check CHECK ((elements >= 0))
);
ALTER TABLE ONLY public.traffic_lastcounts ALTER COLUMN keys SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.traffic_lastcounts ALTER COLUMN packets SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.traffic_lastcounts ALTER COLUMN octets SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.traffic_lastcounts ALTER COLUMN owners SET STORAGE EXTERNAL;

ALTER TABLE public.traffic_lastcounts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_lastcounts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_level (
    name character varying(11) NOT NULL,
    complete_until timestamp with time zone NOT NULL,
    kept_since timestamp with time zone
);

CREATE TABLE public.traffic_quota (
    tariff_id bigint NOT NULL,
    octets bigint NOT NULL,
    CONSTRAINT quota_is_something CHECK ((octets > 0)),
    CONSTRAINT traffic_quota_octets_check CHECK ((octets >= 0))
);

CREATE TABLE public.traffic_quotaevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    octets bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    tariff_id bigint NOT NULL,
    CONSTRAINT traffic_quotaevent_octets_check CHECK ((octets >= 0))
);

ALTER TABLE public.traffic_quotaevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_quotaevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_ratelimit (
    id bigint NOT NULL,
    version integer NOT NULL,
    changed_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    changed_at timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    up_kbit integer,
    down_kbit integer,
    reason character varying(10) NOT NULL,
    note character varying(200) NOT NULL,
    valid tstzrange NOT NULL,
    author_id bigint,
    member_id bigint NOT NULL,
    released_by_id bigint,
    CONSTRAINT ratelimit_down_kbit CHECK (((down_kbit IS NULL) OR ((down_kbit >= 64) AND (down_kbit <= 10000000)))),
    CONSTRAINT ratelimit_reason CHECK (((reason)::text = ANY ((ARRAY['congestion'::character varying, 'quota'::character varying, 'other'::character varying])::text[]))),
    CONSTRAINT ratelimit_some_way CHECK ((NOT ((down_kbit IS NULL) AND (up_kbit IS NULL)))),
    CONSTRAINT ratelimit_up_kbit CHECK (((up_kbit IS NULL) OR ((up_kbit >= 64) AND (up_kbit <= 10000000)))),
    CONSTRAINT ratelimit_valid_some_time CHECK ((NOT isempty(valid))),
    CONSTRAINT traffic_ratelimit_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT traffic_ratelimit_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT traffic_ratelimit_version_check CHECK ((version >= 0))
);

ALTER TABLE public.traffic_ratelimit ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_ratelimit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_ratelimitevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    up_kbit integer,
    down_kbit integer,
    reason character varying(10) NOT NULL,
    note character varying(200) NOT NULL,
    valid tstzrange NOT NULL,
    author_id bigint,
    member_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    released_by_id bigint,
    CONSTRAINT traffic_ratelimitevent_down_kbit_check CHECK ((down_kbit >= 0)),
    CONSTRAINT traffic_ratelimitevent_up_kbit_check CHECK ((up_kbit >= 0)),
    CONSTRAINT traffic_ratelimitevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.traffic_ratelimitevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_ratelimitevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_span (
    id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT span_ends_after_it_begins CHECK ((until > since))
);

ALTER TABLE public.traffic_span ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_span_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_spanusage (
    member_id bigint NOT NULL,
    up_octets bigint NOT NULL,
    down_octets bigint NOT NULL,
    span_id bigint NOT NULL
);

CREATE TABLE public.traffic_tally (
    id bigint NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    last timestamp with time zone NOT NULL,
    gateway_id bigint NOT NULL,
    holding_id bigint NOT NULL,
    CONSTRAINT traffic_tally_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_tally_down_packets_check CHECK ((down_packets >= 0)),
    CONSTRAINT traffic_tally_up_octets_check CHECK ((up_octets >= 0)),
    CONSTRAINT traffic_tally_up_packets_check CHECK ((up_packets >= 0))
);

ALTER TABLE public.traffic_tally ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_tally_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_throughput (
    id bigint NOT NULL,
    family smallint NOT NULL,
    bucket timestamp with time zone NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    gateway_id bigint NOT NULL,
    CONSTRAINT throughput_family CHECK ((family = ANY (ARRAY[4, 6]))),
    CONSTRAINT traffic_throughput_family_check CHECK ((family >= 0))
);

ALTER TABLE public.traffic_throughput ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.traffic_throughput_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.traffic_today (
    holding_id bigint NOT NULL,
    bucket timestamp with time zone NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    CONSTRAINT traffic_today_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_today_down_packets_check CHECK ((down_packets >= 0)),
    CONSTRAINT traffic_today_up_octets_check CHECK ((up_octets >= 0)),
    CONSTRAINT traffic_today_up_packets_check CHECK ((up_packets >= 0))
)
PARTITION BY RANGE (bucket);

CREATE TABLE public.traffic_week (
    holding_id bigint NOT NULL,
    bucket timestamp with time zone NOT NULL,
    up_octets bigint NOT NULL,
    up_packets bigint NOT NULL,
    down_octets bigint NOT NULL,
    down_packets bigint NOT NULL,
    CONSTRAINT traffic_week_down_octets_check CHECK ((down_octets >= 0)),
    CONSTRAINT traffic_week_down_packets_check CHECK ((down_packets >= 0)),
    CONSTRAINT traffic_week_up_octets_check CHECK ((up_octets >= 0)),
    CONSTRAINT traffic_week_up_packets_check CHECK ((up_packets >= 0))
)
PARTITION BY RANGE (bucket);

CREATE TABLE public.usersessions_usersession (
    id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ip inet NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    session_key character varying(40) NOT NULL,
    user_agent character varying(200) NOT NULL,
    data jsonb NOT NULL,
    user_id bigint NOT NULL
);

ALTER TABLE public.usersessions_usersession ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.usersessions_usersession_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhooks_delivery (
    id bigint NOT NULL,
    uid uuid NOT NULL,
    event character varying(60) NOT NULL,
    source character varying(80) NOT NULL,
    "position" bigint,
    object_id bigint,
    body text NOT NULL,
    written timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    state character varying(7) NOT NULL,
    tries integer NOT NULL,
    due timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    claimed_until timestamp with time zone,
    status smallint,
    answer text NOT NULL,
    error character varying(320) NOT NULL,
    ended timestamp with time zone,
    endpoint_id bigint NOT NULL,
    CONSTRAINT delivery_ended CHECK ((((ended IS NULL) AND ((state)::text = 'waiting'::text)) OR ((NOT ((state)::text = 'waiting'::text)) AND (ended IS NOT NULL)))),
    CONSTRAINT delivery_state CHECK (((state)::text = ANY ((ARRAY['waiting'::character varying, 'sent'::character varying, 'failed'::character varying, 'dropped'::character varying])::text[]))),
    CONSTRAINT webhooks_delivery_status_check CHECK ((status >= 0)),
    CONSTRAINT webhooks_delivery_tries_check CHECK ((tries >= 0))
);

ALTER TABLE public.webhooks_delivery ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.webhooks_delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhooks_endpoint (
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    url character varying(1000) NOT NULL,
    kinds character varying(40)[] NOT NULL,
    "on" character varying(10)[] NOT NULL,
    active boolean NOT NULL,
    created timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    salt bytea NOT NULL,
    failures integer NOT NULL,
    rest_until timestamp with time zone,
    owner_id bigint NOT NULL,
    failing_since timestamp with time zone,
    CONSTRAINT webhook_goes_somewhere CHECK (((NOT ((name)::text = ''::text)) AND (NOT ((url)::text = ''::text)))),
    CONSTRAINT webhooks_endpoint_failures_check CHECK ((failures >= 0)),
    CONSTRAINT webhooks_endpoint_version_check CHECK ((version >= 0))
);

ALTER TABLE public.webhooks_endpoint ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.webhooks_endpoint_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhooks_endpointevent (
    pgh_id integer NOT NULL,
    pgh_created_at timestamp with time zone NOT NULL,
    pgh_label text NOT NULL,
    id bigint NOT NULL,
    version integer NOT NULL,
    name character varying(80) NOT NULL,
    url character varying(1000) NOT NULL,
    kinds character varying(40)[] NOT NULL,
    "on" character varying(10)[] NOT NULL,
    active boolean NOT NULL,
    created timestamp with time zone DEFAULT statement_timestamp() NOT NULL,
    owner_id bigint NOT NULL,
    pgh_context_id uuid,
    pgh_obj_id bigint NOT NULL,
    CONSTRAINT webhooks_endpointevent_version_check CHECK ((version >= 0))
);

ALTER TABLE public.webhooks_endpointevent ALTER COLUMN pgh_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.webhooks_endpointevent_pgh_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhooks_position (
    "table" character varying(80) NOT NULL,
    done bigint NOT NULL,
    settled bigint NOT NULL,
    candidate bigint,
    holders character varying(40)[] NOT NULL
);

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_email_987c8728_uniq UNIQUE (user_id, email);

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_key_key UNIQUE (key);

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirmation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts_apitoken
    ADD CONSTRAINT accounts_apitoken_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts_apitoken
    ADD CONSTRAINT accounts_apitoken_sha256_key UNIQUE (sha256);

ALTER TABLE ONLY public.accounts_apitokenevent
    ADD CONSTRAINT accounts_apitokenevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.accounts_invitation
    ADD CONSTRAINT accounts_invitation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts_invitationevent
    ADD CONSTRAINT accounts_invitationevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.accounts_rolechange
    ADD CONSTRAINT accounts_rolechange_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts_rolechangeevent
    ADD CONSTRAINT accounts_rolechangeevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.accounts_user
    ADD CONSTRAINT accounts_user_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts_user
    ADD CONSTRAINT accounts_user_username_key UNIQUE (username);

ALTER TABLE ONLY public.accounts_userevent
    ADD CONSTRAINT accounts_userevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.gateways_agentupgradestep
    ADD CONSTRAINT agentupgradestep_once_per_gateway UNIQUE (upgrade_id, gateway_id);

ALTER TABLE ONLY public.alarms_alarm
    ADD CONSTRAINT alarms_alarm_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alarms_alarmchannel
    ADD CONSTRAINT alarms_alarmchannel_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alarms_alarmchannelevent
    ADD CONSTRAINT alarms_alarmchannelevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.alarms_channelmessage
    ADD CONSTRAINT alarms_channelmessage_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alarms_dutycalendar
    ADD CONSTRAINT alarms_dutycalendar_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alarms_dutycalendarevent
    ADD CONSTRAINT alarms_dutycalendarevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.alarms_dutyfeed
    ADD CONSTRAINT alarms_dutyfeed_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY public.alarms_dutyshift
    ADD CONSTRAINT alarms_dutyshift_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.alarms_dutyshiftevent
    ADD CONSTRAINT alarms_dutyshiftevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.alarms_silence
    ADD CONSTRAINT alarms_silence_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements_announcementrecipient
    ADD CONSTRAINT announcement_reaches_once UNIQUE (announcement_id, member_id);

ALTER TABLE ONLY public.announcements_announcement_groups
    ADD CONSTRAINT announcements_announceme_announcement_id_gatewayg_e69a7ecc_uniq UNIQUE (announcement_id, gatewaygroup_id);

ALTER TABLE ONLY public.announcements_announcement_pools
    ADD CONSTRAINT announcements_announceme_announcement_id_pool_id_c7b04d73_uniq UNIQUE (announcement_id, pool_id);

ALTER TABLE ONLY public.announcements_announcement_sites
    ADD CONSTRAINT announcements_announceme_announcement_id_site_id_5e935782_uniq UNIQUE (announcement_id, site_id);

ALTER TABLE ONLY public.announcements_announcement_tariffs
    ADD CONSTRAINT announcements_announceme_announcement_id_tariff_i_eb3834dd_uniq UNIQUE (announcement_id, tariff_id);

ALTER TABLE ONLY public.announcements_announcement_groups
    ADD CONSTRAINT announcements_announcement_groups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements_announcement
    ADD CONSTRAINT announcements_announcement_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements_announcement_pools
    ADD CONSTRAINT announcements_announcement_pools_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements_announcement_sites
    ADD CONSTRAINT announcements_announcement_sites_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements_announcement_tariffs
    ADD CONSTRAINT announcements_announcement_tariffs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements_announcementevent
    ADD CONSTRAINT announcements_announcementevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.announcements_announcementrecipient
    ADD CONSTRAINT announcements_announcementrecipient_message_id_key UNIQUE (message_id);

ALTER TABLE ONLY public.announcements_announcementrecipient
    ADD CONSTRAINT announcements_announcementrecipient_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_enquiry
    ADD CONSTRAINT audit_enquiry_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_name_key UNIQUE (name);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_permission_id_0cd325b0_uniq UNIQUE (group_id, permission_id);

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_group
    ADD CONSTRAINT auth_group_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_codename_01ab375a_uniq UNIQUE (content_type_id, codename);

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_ban
    ADD CONSTRAINT ban_once_per_list UNIQUE (list_id, prefix);

ALTER TABLE ONLY public.bans_banhits
    ADD CONSTRAINT banhits_once_per_element UNIQUE (gateway_id, prefix, direction);

ALTER TABLE ONLY public.bans_allowentry
    ADD CONSTRAINT bans_allowentry_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_allowentry
    ADD CONSTRAINT bans_allowentry_prefix_key UNIQUE (prefix);

ALTER TABLE ONLY public.bans_allowentryevent
    ADD CONSTRAINT bans_allowentryevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_ban
    ADD CONSTRAINT bans_ban_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_bancount
    ADD CONSTRAINT bans_bancount_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_banevent
    ADD CONSTRAINT bans_banevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_banfeed
    ADD CONSTRAINT bans_banfeed_list_id_key UNIQUE (list_id);

ALTER TABLE ONLY public.bans_banfeed
    ADD CONSTRAINT bans_banfeed_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_banfeedevent
    ADD CONSTRAINT bans_banfeedevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_banhits
    ADD CONSTRAINT bans_banhits_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_banlist
    ADD CONSTRAINT bans_banlist_name_key UNIQUE (name);

ALTER TABLE ONLY public.bans_banlist
    ADD CONSTRAINT bans_banlist_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_banlistevent
    ADD CONSTRAINT bans_banlistevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_block
    ADD CONSTRAINT bans_block_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_blockevent
    ADD CONSTRAINT bans_blockevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_listener
    ADD CONSTRAINT bans_listener_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_listenerevent
    ADD CONSTRAINT bans_listenerevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_notice
    ADD CONSTRAINT bans_notice_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.bans_notice
    ADD CONSTRAINT bans_notice_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_noticeevent
    ADD CONSTRAINT bans_noticeevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_reachable
    ADD CONSTRAINT bans_reachable_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_reachableevent
    ADD CONSTRAINT bans_reachableevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_serverinterface
    ADD CONSTRAINT bans_serverinterface_gateway_id_key UNIQUE (gateway_id);

ALTER TABLE ONLY public.bans_serverinterface
    ADD CONSTRAINT bans_serverinterface_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_serverinterfaceevent
    ADD CONSTRAINT bans_serverinterfaceevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.bans_upload
    ADD CONSTRAINT bans_upload_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_block
    ADD CONSTRAINT block_one_at_a_time EXCLUDE USING gist (member_id WITH =, valid WITH &&);

ALTER TABLE ONLY public.alarms_alarmchannel
    ADD CONSTRAINT channel_name UNIQUE (name);

ALTER TABLE ONLY public.alarms_channelmessage
    ADD CONSTRAINT channelmessage_once UNIQUE (channel_id, alarm_id, event, severity, turn);

ALTER TABLE ONLY public.webhooks_delivery
    ADD CONSTRAINT delivery_once UNIQUE (endpoint_id, source, "position");

ALTER TABLE ONLY public.deployments_databaserestore
    ADD CONSTRAINT deployments_databaserestore_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_databaserestoreevent
    ADD CONSTRAINT deployments_databaserestoreevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.deployments_gatewaystate
    ADD CONSTRAINT deployments_gatewaystate_pkey PRIMARY KEY (gateway_id);

ALTER TABLE ONLY public.deployments_heldback_askers
    ADD CONSTRAINT deployments_heldback_askers_heldback_id_user_id_cbb87162_uniq UNIQUE (heldback_id, user_id);

ALTER TABLE ONLY public.deployments_heldback_askers
    ADD CONSTRAINT deployments_heldback_askers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_heldback
    ADD CONSTRAINT deployments_heldback_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_heldbackevent
    ADD CONSTRAINT deployments_heldbackevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.deployments_hold
    ADD CONSTRAINT deployments_hold_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_holdevent
    ADD CONSTRAINT deployments_holdevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.deployments_restoredifference
    ADD CONSTRAINT deployments_restoredifference_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_revision
    ADD CONSTRAINT deployments_revision_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_revisioncontent
    ADD CONSTRAINT deployments_revisioncontent_pkey PRIMARY KEY (revision_id);

ALTER TABLE ONLY public.deployments_rollout
    ADD CONSTRAINT deployments_rollout_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_rolloutstep
    ADD CONSTRAINT deployments_rolloutstep_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_touched
    ADD CONSTRAINT deployments_touched_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.deployments_unapprovedloss
    ADD CONSTRAINT deployments_unapprovedloss_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_app_label_model_76bd3d3b_uniq UNIQUE (app_label, model);

ALTER TABLE ONLY public.django_content_type
    ADD CONSTRAINT django_content_type_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_migrations
    ADD CONSTRAINT django_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.django_session
    ADD CONSTRAINT django_session_pkey PRIMARY KEY (session_key);

ALTER TABLE ONLY public.alarms_dutycalendar
    ADD CONSTRAINT dutycalendar_name UNIQUE (name);

ALTER TABLE ONLY public.alarms_dutyshift
    ADD CONSTRAINT dutyshift_once_in_a_calendar UNIQUE (calendar_id, uid);

ALTER TABLE ONLY public.events_event
    ADD CONSTRAINT events_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.events_presence
    ADD CONSTRAINT events_presence_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_gatewayrole
    ADD CONSTRAINT gatewayrole_one_per_family UNIQUE (status_id, family);

ALTER TABLE ONLY public.gateways_agentupgrade
    ADD CONSTRAINT gateways_agentupgrade_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_agentupgradestep
    ADD CONSTRAINT gateways_agentupgradestep_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_carrierchange
    ADD CONSTRAINT gateways_carrierchange_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_evidencearchive
    ADD CONSTRAINT gateways_evidencearchive_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_evidencedownload
    ADD CONSTRAINT gateways_evidencedownload_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_evidencefile
    ADD CONSTRAINT gateways_evidencefile_pkey PRIMARY KEY (archive_id);

ALTER TABLE ONLY public.gateways_failoverstatus
    ADD CONSTRAINT gateways_failoverstatus_pkey PRIMARY KEY (gateway_id);

ALTER TABLE ONLY public.gateways_gatewayrole
    ADD CONSTRAINT gateways_gatewayrole_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_healthfinding
    ADD CONSTRAINT gateways_healthfinding_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_healthreading
    ADD CONSTRAINT gateways_healthreading_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_healthsample
    ADD CONSTRAINT gateways_healthsample_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_healthstatus
    ADD CONSTRAINT gateways_healthstatus_gateway_id_key UNIQUE (gateway_id);

ALTER TABLE ONLY public.gateways_healthstatus
    ADD CONSTRAINT gateways_healthstatus_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_joiningmachine
    ADD CONSTRAINT gateways_joiningmachine_name_key UNIQUE (name);

ALTER TABLE ONLY public.gateways_joiningmachine
    ADD CONSTRAINT gateways_joiningmachine_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_probestatus
    ADD CONSTRAINT gateways_probestatus_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_roleswitch
    ADD CONSTRAINT gateways_roleswitch_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.gateways_timeoutreading
    ADD CONSTRAINT gateways_timeoutreading_gateway_id_key UNIQUE (gateway_id);

ALTER TABLE ONLY public.gateways_timeoutreading
    ADD CONSTRAINT gateways_timeoutreading_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_gauge
    ADD CONSTRAINT gauge_of_one_set UNIQUE (gateway_id, name);

ALTER TABLE ONLY public.gateways_healthfinding
    ADD CONSTRAINT healthfinding_once UNIQUE (gateway_id, rule);

ALTER TABLE ONLY public.gateways_healthreading
    ADD CONSTRAINT healthreading_once UNIQUE (gateway_id, at);

ALTER TABLE ONLY public.gateways_healthsample
    ADD CONSTRAINT healthsample_once UNIQUE (gateway_id, span, begin);

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT holding_address_held_twice EXCLUDE USING gist (prefix inet_ops WITH &&, valid WITH &&);

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT holding_identity UNIQUE (id, kind, group_id, valid);

ALTER TABLE ONLY public.operations_hostheartbeat
    ADD CONSTRAINT hostheartbeat_once UNIQUE (role, host);

ALTER TABLE ONLY public.inbound_arrival
    ADD CONSTRAINT inbound_arrival_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.inbound_arrival
    ADD CONSTRAINT inbound_arrival_place_key UNIQUE (place);

ALTER TABLE ONLY public.inbound_mailbox
    ADD CONSTRAINT inbound_mailbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.lib_keptanswer
    ADD CONSTRAINT keptanswer_one_for_a_key UNIQUE (user_id, key);

ALTER TABLE ONLY public.traffic_lastcounts
    ADD CONSTRAINT lastcounts_once_per_set UNIQUE (gateway_id, set);

ALTER TABLE ONLY public.lib_keptanswer
    ADD CONSTRAINT lib_keptanswer_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.bans_listener
    ADD CONSTRAINT listener_once UNIQUE (address, protocol, port);

ALTER TABLE ONLY public.mail_message
    ADD CONSTRAINT mail_message_key_key UNIQUE (key);

ALTER TABLE ONLY public.mail_message
    ADD CONSTRAINT mail_message_message_id_key UNIQUE (message_id);

ALTER TABLE ONLY public.mail_message
    ADD CONSTRAINT mail_message_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mail_messagecount
    ADD CONSTRAINT mail_messagecount_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mail_serveraway
    ADD CONSTRAINT mail_serveraway_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.mail_switchedoff
    ADD CONSTRAINT mail_switchedoff_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_departure
    ADD CONSTRAINT members_departure_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_departureevent
    ADD CONSTRAINT members_departureevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.members_device
    ADD CONSTRAINT members_device_mac_key UNIQUE (mac);

ALTER TABLE ONLY public.members_device
    ADD CONSTRAINT members_device_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_deviceevent
    ADD CONSTRAINT members_deviceevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.members_member
    ADD CONSTRAINT members_member_number_key UNIQUE (number);

ALTER TABLE ONLY public.members_member
    ADD CONSTRAINT members_member_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_member
    ADD CONSTRAINT members_member_user_id_key UNIQUE (user_id);

ALTER TABLE ONLY public.members_memberevent
    ADD CONSTRAINT members_memberevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.members_memberinvitation
    ADD CONSTRAINT members_memberinvitation_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_memberinvitationevent
    ADD CONSTRAINT members_memberinvitationevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.members_membership
    ADD CONSTRAINT members_membership_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_peopleupload
    ADD CONSTRAINT members_peopleupload_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_rememberedcolumns
    ADD CONSTRAINT members_rememberedcolumns_key_key UNIQUE (key);

ALTER TABLE ONLY public.members_rememberedcolumns
    ADD CONSTRAINT members_rememberedcolumns_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_room
    ADD CONSTRAINT members_room_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_roomevent
    ADD CONSTRAINT members_roomevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.members_site
    ADD CONSTRAINT members_site_name_key UNIQUE (name);

ALTER TABLE ONLY public.members_site
    ADD CONSTRAINT members_site_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_siteevent
    ADD CONSTRAINT members_siteevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.members_tariff
    ADD CONSTRAINT members_tariff_name_key UNIQUE (name);

ALTER TABLE ONLY public.members_tariff
    ADD CONSTRAINT members_tariff_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.members_tariffevent
    ADD CONSTRAINT members_tariffevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.members_membership
    ADD CONSTRAINT membership_once_at_a_time EXCLUDE USING gist (member_id WITH =, valid WITH &&);

ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_move
    ADD CONSTRAINT nat_move_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_moveevent
    ADD CONSTRAINT nat_moveevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.nat_natmapping
    ADD CONSTRAINT nat_natmapping_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_natmappingevent
    ADD CONSTRAINT nat_natmappingevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.nat_pinhole
    ADD CONSTRAINT nat_pinhole_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_pinholeevent
    ADD CONSTRAINT nat_pinholeevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.nat_portclaim
    ADD CONSTRAINT nat_portclaim_forward_id_key UNIQUE (forward_id);

ALTER TABLE ONLY public.nat_portclaim
    ADD CONSTRAINT nat_portclaim_mapping_id_key UNIQUE (mapping_id);

ALTER TABLE ONLY public.nat_portclaim
    ADD CONSTRAINT nat_portclaim_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_portforward
    ADD CONSTRAINT nat_portforward_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_portforwardevent
    ADD CONSTRAINT nat_portforwardevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.nat_portrules
    ADD CONSTRAINT nat_portrules_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.nat_portrules
    ADD CONSTRAINT nat_portrules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_portrulesevent
    ADD CONSTRAINT nat_portrulesevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.nat_natmapping
    ADD CONSTRAINT natmapping_one_at_a_time EXCLUDE USING gist (holding_id WITH =, valid WITH &&);

ALTER TABLE ONLY public.network_failover
    ADD CONSTRAINT network_failover_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.network_failover
    ADD CONSTRAINT network_failover_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_failoverevent
    ADD CONSTRAINT network_failoverevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_gateway
    ADD CONSTRAINT network_gateway_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_gatewayevent
    ADD CONSTRAINT network_gatewayevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_gatewaygroup
    ADD CONSTRAINT network_gatewaygroup_name_key UNIQUE (name);

ALTER TABLE ONLY public.network_gatewaygroup
    ADD CONSTRAINT network_gatewaygroup_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_gatewaygroupevent
    ADD CONSTRAINT network_gatewaygroupevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_gauge
    ADD CONSTRAINT network_gauge_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT network_holding_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_holdingevent
    ADD CONSTRAINT network_holdingevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_limits
    ADD CONSTRAINT network_limits_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.network_limits
    ADD CONSTRAINT network_limits_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_limitsevent
    ADD CONSTRAINT network_limitsevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_pool
    ADD CONSTRAINT network_pool_name_key UNIQUE (name);

ALTER TABLE ONLY public.network_pool
    ADD CONSTRAINT network_pool_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_poolevent
    ADD CONSTRAINT network_poolevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_profile
    ADD CONSTRAINT network_profile_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.network_profile
    ADD CONSTRAINT network_profile_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_profileevent
    ADD CONSTRAINT network_profileevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_protection
    ADD CONSTRAINT network_protection_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.network_protection
    ADD CONSTRAINT network_protection_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_protectionevent
    ADD CONSTRAINT network_protectionevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.network_uplink
    ADD CONSTRAINT network_uplink_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.network_uplink
    ADD CONSTRAINT network_uplink_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.network_uplinkevent
    ADD CONSTRAINT network_uplinkevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.operations_backupnote
    ADD CONSTRAINT operations_backupnote_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.operations_databaseday
    ADD CONSTRAINT operations_databaseday_pkey PRIMARY KEY (day);

ALTER TABLE ONLY public.operations_hostheartbeat
    ADD CONSTRAINT operations_hostheartbeat_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.operations_jobrecord
    ADD CONSTRAINT operations_jobrecord_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.operations_portalfinding
    ADD CONSTRAINT operations_portalfinding_pkey PRIMARY KEY (rule);

ALTER TABLE ONLY public.operations_portalreading
    ADD CONSTRAINT operations_portalreading_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.operations_roleheartbeat
    ADD CONSTRAINT operations_roleheartbeat_pkey PRIMARY KEY (role);

ALTER TABLE ONLY public.operations_tableday
    ADD CONSTRAINT operations_tableday_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.pghistory_context
    ADD CONSTRAINT pghistory_context_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.nat_pinhole
    ADD CONSTRAINT pinhole_open_already EXCLUDE USING gist (address inet_ops WITH =, (
CASE protocol
    WHEN 'tcp'::text THEN int4range(6, 7)
    WHEN 'udp'::text THEN int4range(17, 18)
    ELSE int4range(0, 256)
END) WITH &&, int4range(port, (port + ports)) WITH &&, valid WITH &&);

ALTER TABLE ONLY public.network_pool
    ADD CONSTRAINT pool_identity UNIQUE (id, kind, group_id, prefix);

ALTER TABLE ONLY public.network_pool
    ADD CONSTRAINT pool_overlaps EXCLUDE USING gist (prefix inet_ops WITH &&) DEFERRABLE;

ALTER TABLE ONLY public.nat_portclaim
    ADD CONSTRAINT portclaim_of_one_member EXCLUDE USING gist (public inet_ops WITH =, ports WITH &&, protocols WITH &&, valid WITH &&, member_id WITH <>);

ALTER TABLE ONLY public.nat_portforward
    ADD CONSTRAINT portforward_port_taken EXCLUDE USING gist (public inet_ops WITH =, protocol WITH =, int4range(public_port, (public_port + ports)) WITH &&, valid WITH &&);

ALTER TABLE ONLY public.preferences_networksettings
    ADD CONSTRAINT preferences_networksettings_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.preferences_networksettingsevent
    ADD CONSTRAINT preferences_networksettingsevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.events_presence
    ADD CONSTRAINT presence_once UNIQUE (ticket_id, user_id);

ALTER TABLE ONLY public.gateways_probestatus
    ADD CONSTRAINT probestatus_one_per_family UNIQUE (gateway_id, family);

ALTER TABLE ONLY public.traffic_ratelimit
    ADD CONSTRAINT ratelimit_one_at_a_time EXCLUDE USING gist (member_id WITH =, valid WITH &&);

ALTER TABLE ONLY public.bans_reachable
    ADD CONSTRAINT reachable_once UNIQUE (notice_id, address, protocol, port);

ALTER TABLE ONLY public.deployments_restoredifference
    ADD CONSTRAINT restoredifference_one_each UNIQUE (restore_id, gateway_id);

ALTER TABLE ONLY public.deployments_rolloutstep
    ADD CONSTRAINT rolloutstep_once_per_gateway UNIQUE (rollout_id, gateway_id);

ALTER TABLE ONLY public.status_serviceday
    ADD CONSTRAINT serviceday_once UNIQUE (service, day);

ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_socialaccount_provider_uid_fc810c6e_uniq UNIQUE (provider, uid);

ALTER TABLE ONLY public.socialaccount_socialapp
    ADD CONSTRAINT socialaccount_socialapp_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_app_id_account_id_fca4e0ac_uniq UNIQUE (app_id, account_id);

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_socialtoken_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_span
    ADD CONSTRAINT span_once UNIQUE (since, until);

ALTER TABLE ONLY public.status_incident_gateways
    ADD CONSTRAINT status_incident_gateways_incident_id_gateway_id_9d19b4a2_uniq UNIQUE (incident_id, gateway_id);

ALTER TABLE ONLY public.status_incident_gateways
    ADD CONSTRAINT status_incident_gateways_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.status_incident
    ADD CONSTRAINT status_incident_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.status_incident_sites
    ADD CONSTRAINT status_incident_sites_incident_id_site_id_11098dcc_uniq UNIQUE (incident_id, site_id);

ALTER TABLE ONLY public.status_incident_sites
    ADD CONSTRAINT status_incident_sites_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.status_incidentevent
    ADD CONSTRAINT status_incidentevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.status_incidentticket
    ADD CONSTRAINT status_incidentticket_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.status_incidentticket
    ADD CONSTRAINT status_incidentticket_ticket_id_key UNIQUE (ticket_id);

ALTER TABLE ONLY public.status_incidentupdate
    ADD CONSTRAINT status_incidentupdate_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.status_serviceday
    ADD CONSTRAINT status_serviceday_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.status_servicestate
    ADD CONSTRAINT status_servicestate_pkey PRIMARY KEY (service);

ALTER TABLE ONLY public.status_subscription
    ADD CONSTRAINT status_subscription_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.operations_tableday
    ADD CONSTRAINT tableday_once UNIQUE (day, "table");

ALTER TABLE ONLY public.traffic_tally
    ADD CONSTRAINT tally_once_per_gateway UNIQUE (gateway_id, holding_id);

ALTER TABLE ONLY public.traffic_throughput
    ADD CONSTRAINT throughput_once_per_bucket UNIQUE (gateway_id, family, bucket);

ALTER TABLE ONLY public.tickets_bulkitem
    ADD CONSTRAINT ticket_bulk_once UNIQUE (bulk_id, ticket_id);

ALTER TABLE ONLY public.tickets_ticket
    ADD CONSTRAINT ticket_is_merged_or_not UNIQUE (id, is_merged);

ALTER TABLE ONLY public.tickets_link
    ADD CONSTRAINT ticket_link_once UNIQUE (ticket_id, kind, object_id);

ALTER TABLE ONLY public.tickets_period
    ADD CONSTRAINT ticket_period_once UNIQUE (unit, begins);

ALTER TABLE ONLY public.tickets_attachment
    ADD CONSTRAINT tickets_attachment_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_bulk
    ADD CONSTRAINT tickets_bulk_key_key UNIQUE (key);

ALTER TABLE ONLY public.tickets_bulk
    ADD CONSTRAINT tickets_bulk_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_bulkitem
    ADD CONSTRAINT tickets_bulkitem_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_canned
    ADD CONSTRAINT tickets_canned_name_key UNIQUE (name);

ALTER TABLE ONLY public.tickets_canned
    ADD CONSTRAINT tickets_canned_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_cannedevent
    ADD CONSTRAINT tickets_cannedevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.tickets_content
    ADD CONSTRAINT tickets_content_pkey PRIMARY KEY (attachment_id);

ALTER TABLE ONLY public.tickets_link
    ADD CONSTRAINT tickets_link_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_message
    ADD CONSTRAINT tickets_message_came_as_key UNIQUE (came_as);

ALTER TABLE ONLY public.tickets_message
    ADD CONSTRAINT tickets_message_message_id_key UNIQUE (message_id);

ALTER TABLE ONLY public.tickets_message
    ADD CONSTRAINT tickets_message_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_move
    ADD CONSTRAINT tickets_move_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_period
    ADD CONSTRAINT tickets_period_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_ticket
    ADD CONSTRAINT tickets_ticket_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tickets_ticketevent
    ADD CONSTRAINT tickets_ticketevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.tickets_words
    ADD CONSTRAINT tickets_words_pkey PRIMARY KEY (ticket_id);

ALTER TABLE ONLY public.traffic_collected
    ADD CONSTRAINT traffic_collected_pkey PRIMARY KEY (gateway_id);

ALTER TABLE ONLY public.traffic_coverage
    ADD CONSTRAINT traffic_coverage_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_day
    ADD CONSTRAINT traffic_day_pkey PRIMARY KEY (holding_id, bucket);

ALTER TABLE ONLY public.traffic_fairshare_exempt
    ADD CONSTRAINT traffic_fairshare_exempt_fairshare_id_tariff_id_94d2aac5_uniq UNIQUE (fairshare_id, tariff_id);

ALTER TABLE ONLY public.traffic_fairshare_exempt
    ADD CONSTRAINT traffic_fairshare_exempt_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_fairshare
    ADD CONSTRAINT traffic_fairshare_group_id_key UNIQUE (group_id);

ALTER TABLE ONLY public.traffic_fairshare
    ADD CONSTRAINT traffic_fairshare_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_fairshareevent
    ADD CONSTRAINT traffic_fairshareevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.traffic_fiveminutes
    ADD CONSTRAINT traffic_fiveminutes_pkey PRIMARY KEY (holding_id, bucket);

ALTER TABLE ONLY public.traffic_fourweeks
    ADD CONSTRAINT traffic_fourweeks_pkey PRIMARY KEY (holding_id, bucket);

ALTER TABLE ONLY public.traffic_hour
    ADD CONSTRAINT traffic_hour_pkey PRIMARY KEY (holding_id, bucket);

ALTER TABLE ONLY public.traffic_lastcounts
    ADD CONSTRAINT traffic_lastcounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_level
    ADD CONSTRAINT traffic_level_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.traffic_quota
    ADD CONSTRAINT traffic_quota_pkey PRIMARY KEY (tariff_id);

ALTER TABLE ONLY public.traffic_quotaevent
    ADD CONSTRAINT traffic_quotaevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.traffic_ratelimit
    ADD CONSTRAINT traffic_ratelimit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_ratelimitevent
    ADD CONSTRAINT traffic_ratelimitevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.traffic_span
    ADD CONSTRAINT traffic_span_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_spanusage
    ADD CONSTRAINT traffic_spanusage_pkey PRIMARY KEY (span_id, member_id);

ALTER TABLE ONLY public.traffic_tally
    ADD CONSTRAINT traffic_tally_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_throughput
    ADD CONSTRAINT traffic_throughput_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.traffic_today
    ADD CONSTRAINT traffic_today_pkey PRIMARY KEY (holding_id, bucket);

ALTER TABLE ONLY public.traffic_week
    ADD CONSTRAINT traffic_week_pkey PRIMARY KEY (holding_id, bucket);

ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_session_key_key UNIQUE (session_key);

ALTER TABLE ONLY public.webhooks_endpoint
    ADD CONSTRAINT webhook_name UNIQUE (name);

ALTER TABLE ONLY public.webhooks_delivery
    ADD CONSTRAINT webhooks_delivery_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks_delivery
    ADD CONSTRAINT webhooks_delivery_uid_key UNIQUE (uid);

ALTER TABLE ONLY public.webhooks_endpoint
    ADD CONSTRAINT webhooks_endpoint_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks_endpointevent
    ADD CONSTRAINT webhooks_endpointevent_pkey PRIMARY KEY (pgh_id);

ALTER TABLE ONLY public.webhooks_position
    ADD CONSTRAINT webhooks_position_pkey PRIMARY KEY ("table");

CREATE INDEX account_emailaddress_email_03be32b2 ON public.account_emailaddress USING btree (email);

CREATE INDEX account_emailaddress_email_03be32b2_like ON public.account_emailaddress USING btree (email varchar_pattern_ops);

CREATE INDEX account_emailaddress_user_id_2c513194 ON public.account_emailaddress USING btree (user_id);

CREATE INDEX account_emailconfirmation_email_address_id_5b7f8c58 ON public.account_emailconfirmation USING btree (email_address_id);

CREATE INDEX account_emailconfirmation_key_f43612bd_like ON public.account_emailconfirmation USING btree (key varchar_pattern_ops);

CREATE INDEX accounts_apitoken_sha256_1cd70028_like ON public.accounts_apitoken USING btree (sha256 varchar_pattern_ops);

CREATE INDEX accounts_apitoken_user_id_bbee13e0 ON public.accounts_apitoken USING btree (user_id);

CREATE INDEX accounts_apitokenevent_pgh_context_id_841e566d ON public.accounts_apitokenevent USING btree (pgh_context_id);

CREATE INDEX accounts_apitokenevent_pgh_obj_id_5380c876 ON public.accounts_apitokenevent USING btree (pgh_obj_id);

CREATE INDEX accounts_apitokenevent_user_id_73c97b00 ON public.accounts_apitokenevent USING btree (user_id);

CREATE INDEX accounts_invitation_by_id_b953f771 ON public.accounts_invitation USING btree (by_id);

CREATE INDEX accounts_invitationevent_by_id_25b8b8b5 ON public.accounts_invitationevent USING btree (by_id);

CREATE INDEX accounts_invitationevent_pgh_context_id_d4d1b5b5 ON public.accounts_invitationevent USING btree (pgh_context_id);

CREATE INDEX accounts_invitationevent_pgh_obj_id_2b7a102b ON public.accounts_invitationevent USING btree (pgh_obj_id);

CREATE INDEX accounts_rolechange_by_id_aa66d4c8 ON public.accounts_rolechange USING btree (by_id);

CREATE INDEX accounts_rolechange_decided_by_id_29481cc8 ON public.accounts_rolechange USING btree (decided_by_id);

CREATE INDEX accounts_rolechange_user_id_fe34707d ON public.accounts_rolechange USING btree (user_id);

CREATE INDEX accounts_rolechangeevent_by_id_1264de2a ON public.accounts_rolechangeevent USING btree (by_id);

CREATE INDEX accounts_rolechangeevent_decided_by_id_49aa765c ON public.accounts_rolechangeevent USING btree (decided_by_id);

CREATE INDEX accounts_rolechangeevent_pgh_context_id_8f8de438 ON public.accounts_rolechangeevent USING btree (pgh_context_id);

CREATE INDEX accounts_rolechangeevent_pgh_obj_id_5ee475ce ON public.accounts_rolechangeevent USING btree (pgh_obj_id);

CREATE INDEX accounts_rolechangeevent_user_id_008ff71b ON public.accounts_rolechangeevent USING btree (user_id);

CREATE INDEX accounts_user_username_6088629e_like ON public.accounts_user USING btree (username varchar_pattern_ops);

CREATE INDEX accounts_userevent_pgh_context_id_9043cf9a ON public.accounts_userevent USING btree (pgh_context_id);

CREATE INDEX accounts_userevent_pgh_obj_id_aa99e6a3 ON public.accounts_userevent USING btree (pgh_obj_id);

CREATE UNIQUE INDEX agentupgrade_one_at_a_time ON public.gateways_agentupgrade USING btree (group_id) WHERE ((state)::text = 'running'::text);

CREATE INDEX alarm_by_key ON public.alarms_alarm USING btree (key, began DESC);

CREATE INDEX alarm_ended ON public.alarms_alarm USING btree (ended DESC) WHERE (ended IS NOT NULL);

CREATE UNIQUE INDEX alarm_open_once ON public.alarms_alarm USING btree (key) WHERE (ended IS NULL);

CREATE INDEX alarm_owes_end ON public.alarms_alarm USING btree (id) WHERE owes_end;

CREATE INDEX alarms_alarm_seen_by_id_968ef790 ON public.alarms_alarm USING btree (seen_by_id);

CREATE INDEX alarms_alarmchannel_person_id_71f37f98 ON public.alarms_alarmchannel USING btree (person_id);

CREATE INDEX alarms_alarmchannelevent_person_id_7b436ae7 ON public.alarms_alarmchannelevent USING btree (person_id);

CREATE INDEX alarms_alarmchannelevent_pgh_context_id_aa393552 ON public.alarms_alarmchannelevent USING btree (pgh_context_id);

CREATE INDEX alarms_alarmchannelevent_pgh_obj_id_d1799012 ON public.alarms_alarmchannelevent USING btree (pgh_obj_id);

CREATE INDEX alarms_channelmessage_alarm_id_d6a00d31 ON public.alarms_channelmessage USING btree (alarm_id);

CREATE INDEX alarms_channelmessage_channel_id_550e1d76 ON public.alarms_channelmessage USING btree (channel_id);

CREATE INDEX alarms_dutycalendarevent_pgh_context_id_abdd7112 ON public.alarms_dutycalendarevent USING btree (pgh_context_id);

CREATE INDEX alarms_dutycalendarevent_pgh_obj_id_e8eb8f7c ON public.alarms_dutycalendarevent USING btree (pgh_obj_id);

CREATE INDEX alarms_dutyshift_by_id_46fc558a ON public.alarms_dutyshift USING btree (by_id);

CREATE INDEX alarms_dutyshift_calendar_id_baeeca65 ON public.alarms_dutyshift USING btree (calendar_id);

CREATE INDEX alarms_dutyshift_person_id_18c184fb ON public.alarms_dutyshift USING btree (person_id);

CREATE INDEX alarms_dutyshiftevent_by_id_f4a76878 ON public.alarms_dutyshiftevent USING btree (by_id);

CREATE INDEX alarms_dutyshiftevent_calendar_id_01eb94a7 ON public.alarms_dutyshiftevent USING btree (calendar_id);

CREATE INDEX alarms_dutyshiftevent_person_id_073ead0c ON public.alarms_dutyshiftevent USING btree (person_id);

CREATE INDEX alarms_dutyshiftevent_pgh_context_id_86b67717 ON public.alarms_dutyshiftevent USING btree (pgh_context_id);

CREATE INDEX alarms_dutyshiftevent_pgh_obj_id_87f5a72c ON public.alarms_dutyshiftevent USING btree (pgh_obj_id);

CREATE INDEX alarms_silence_by_id_669d9764 ON public.alarms_silence USING btree (by_id);

CREATE INDEX alarms_silence_ended_by_id_a6aee30d ON public.alarms_silence USING btree (ended_by_id);

CREATE INDEX allowentry_by_end ON public.bans_allowentry USING btree (expires);

CREATE INDEX announcement_mail_waits ON public.announcements_announcementrecipient USING btree (announcement_id, id) WHERE ((delivery)::text = 'waiting'::text);

CREATE INDEX announcements_announcement_author_id_47b59c69 ON public.announcements_announcement USING btree (author_id);

CREATE INDEX announcements_announcement_groups_announcement_id_92d9ccab ON public.announcements_announcement_groups USING btree (announcement_id);

CREATE INDEX announcements_announcement_groups_gatewaygroup_id_27a9c33f ON public.announcements_announcement_groups USING btree (gatewaygroup_id);

CREATE INDEX announcements_announcement_pools_announcement_id_8c280d0c ON public.announcements_announcement_pools USING btree (announcement_id);

CREATE INDEX announcements_announcement_pools_pool_id_0fbabde7 ON public.announcements_announcement_pools USING btree (pool_id);

CREATE INDEX announcements_announcement_published_by_id_6be92e10 ON public.announcements_announcement USING btree (published_by_id);

CREATE INDEX announcements_announcement_sites_announcement_id_c7feee10 ON public.announcements_announcement_sites USING btree (announcement_id);

CREATE INDEX announcements_announcement_sites_site_id_d50365bf ON public.announcements_announcement_sites USING btree (site_id);

CREATE INDEX announcements_announcement_tariffs_announcement_id_de7a6a8a ON public.announcements_announcement_tariffs USING btree (announcement_id);

CREATE INDEX announcements_announcement_tariffs_tariff_id_511b581d ON public.announcements_announcement_tariffs USING btree (tariff_id);

CREATE INDEX announcements_announcement_withdrawn_by_id_29782a1f ON public.announcements_announcement USING btree (withdrawn_by_id);

CREATE INDEX announcements_announcementevent_author_id_be7af61a ON public.announcements_announcementevent USING btree (author_id);

CREATE INDEX announcements_announcementevent_pgh_context_id_c8d248a1 ON public.announcements_announcementevent USING btree (pgh_context_id);

CREATE INDEX announcements_announcementevent_pgh_obj_id_42d05ded ON public.announcements_announcementevent USING btree (pgh_obj_id);

CREATE INDEX announcements_announcementevent_published_by_id_2f03cb4f ON public.announcements_announcementevent USING btree (published_by_id);

CREATE INDEX announcements_announcementevent_withdrawn_by_id_f686b13f ON public.announcements_announcementevent USING btree (withdrawn_by_id);

CREATE INDEX announcements_announcementrecipient_announcement_id_b59de583 ON public.announcements_announcementrecipient USING btree (announcement_id);

CREATE INDEX announcements_announcementrecipient_member_id_ae8efb66 ON public.announcements_announcementrecipient USING btree (member_id);

CREATE INDEX audit_context_by_user ON public.pghistory_context USING btree (((metadata -> 'user'::text)));

CREATE INDEX audit_enquiry_by_id_3bed1b65 ON public.audit_enquiry USING btree (by_id);

CREATE INDEX auth_group_name_a6ea08ec_like ON public.auth_group USING btree (name varchar_pattern_ops);

CREATE INDEX auth_group_permissions_group_id_b120cbf9 ON public.auth_group_permissions USING btree (group_id);

CREATE INDEX auth_group_permissions_permission_id_84c5c92e ON public.auth_group_permissions USING btree (permission_id);

CREATE INDEX auth_permission_content_type_id_2f476e4b ON public.auth_permission USING btree (content_type_id);

CREATE INDEX backupnote_at ON public.operations_backupnote USING btree (at DESC);

CREATE INDEX ban_by_end ON public.bans_ban USING btree (expires);

CREATE INDEX ban_by_prefix ON public.bans_ban USING btree (prefix);

CREATE INDEX ban_comment_search ON public.bans_ban USING gin (upper((comment)::text) public.gin_trgm_ops);

CREATE INDEX ban_event_of_a_feed_by_time ON public.bans_banevent USING btree (pgh_created_at) WHERE ((author_id IS NULL) AND (pgh_label <> 'insert'::text));

CREATE INDEX banhits_by_prefix ON public.bans_banhits USING btree (prefix);

CREATE INDEX bans_allowentry_author_id_17b4d623 ON public.bans_allowentry USING btree (author_id);

CREATE INDEX bans_allowentryevent_author_id_eed7ac3a ON public.bans_allowentryevent USING btree (author_id);

CREATE INDEX bans_allowentryevent_pgh_context_id_22047de4 ON public.bans_allowentryevent USING btree (pgh_context_id);

CREATE INDEX bans_allowentryevent_pgh_obj_id_8d04e5d0 ON public.bans_allowentryevent USING btree (pgh_obj_id);

CREATE INDEX bans_ban_author_id_2f9edf73 ON public.bans_ban USING btree (author_id);

CREATE INDEX bans_ban_list_id_31d1193c ON public.bans_ban USING btree (list_id);

CREATE INDEX bans_bancount_list_id_13c0dca5 ON public.bans_bancount USING btree (list_id);

CREATE INDEX bans_banevent_author_id_42891a22 ON public.bans_banevent USING btree (author_id);

CREATE INDEX bans_banevent_list_id_d99bbfe2 ON public.bans_banevent USING btree (list_id);

CREATE INDEX bans_banevent_pgh_context_id_f6634cb4 ON public.bans_banevent USING btree (pgh_context_id);

CREATE INDEX bans_banevent_pgh_obj_id_6dd71c78 ON public.bans_banevent USING btree (pgh_obj_id);

CREATE INDEX bans_banfeedevent_list_id_883f0ccd ON public.bans_banfeedevent USING btree (list_id);

CREATE INDEX bans_banfeedevent_pgh_context_id_79ae5874 ON public.bans_banfeedevent USING btree (pgh_context_id);

CREATE INDEX bans_banfeedevent_pgh_obj_id_143817ba ON public.bans_banfeedevent USING btree (pgh_obj_id);

CREATE INDEX bans_banhits_gateway_id_8ca537dd ON public.bans_banhits USING btree (gateway_id);

CREATE INDEX bans_banlist_name_f8a704d3_like ON public.bans_banlist USING btree (name varchar_pattern_ops);

CREATE INDEX bans_banlistevent_pgh_context_id_d24b844f ON public.bans_banlistevent USING btree (pgh_context_id);

CREATE INDEX bans_banlistevent_pgh_obj_id_670a42dd ON public.bans_banlistevent USING btree (pgh_obj_id);

CREATE INDEX bans_block_author_id_82bd189d ON public.bans_block USING btree (author_id);

CREATE INDEX bans_block_lifted_by_id_4b5fe9c2 ON public.bans_block USING btree (lifted_by_id);

CREATE INDEX bans_block_member_id_b7240f5e ON public.bans_block USING btree (member_id);

CREATE INDEX bans_blockevent_author_id_e0b8287f ON public.bans_blockevent USING btree (author_id);

CREATE INDEX bans_blockevent_lifted_by_id_477deb45 ON public.bans_blockevent USING btree (lifted_by_id);

CREATE INDEX bans_blockevent_member_id_4bd6f977 ON public.bans_blockevent USING btree (member_id);

CREATE INDEX bans_blockevent_pgh_context_id_2fcb524c ON public.bans_blockevent USING btree (pgh_context_id);

CREATE INDEX bans_blockevent_pgh_obj_id_a64da41f ON public.bans_blockevent USING btree (pgh_obj_id);

CREATE INDEX bans_listener_group_id_c8fdc6b4 ON public.bans_listener USING btree (group_id);

CREATE INDEX bans_listenerevent_group_id_a011e111 ON public.bans_listenerevent USING btree (group_id);

CREATE INDEX bans_listenerevent_pgh_context_id_53c1baaa ON public.bans_listenerevent USING btree (pgh_context_id);

CREATE INDEX bans_listenerevent_pgh_obj_id_7c623557 ON public.bans_listenerevent USING btree (pgh_obj_id);

CREATE INDEX bans_noticeevent_group_id_a13e46fb ON public.bans_noticeevent USING btree (group_id);

CREATE INDEX bans_noticeevent_pgh_context_id_5560aee8 ON public.bans_noticeevent USING btree (pgh_context_id);

CREATE INDEX bans_noticeevent_pgh_obj_id_565ab29b ON public.bans_noticeevent USING btree (pgh_obj_id);

CREATE INDEX bans_reachable_notice_id_2a4ab6a4 ON public.bans_reachable USING btree (notice_id);

CREATE INDEX bans_reachableevent_notice_id_043b131b ON public.bans_reachableevent USING btree (notice_id);

CREATE INDEX bans_reachableevent_pgh_context_id_c008a576 ON public.bans_reachableevent USING btree (pgh_context_id);

CREATE INDEX bans_reachableevent_pgh_obj_id_183003d0 ON public.bans_reachableevent USING btree (pgh_obj_id);

CREATE INDEX bans_serverinterfaceevent_gateway_id_472c7f84 ON public.bans_serverinterfaceevent USING btree (gateway_id);

CREATE INDEX bans_serverinterfaceevent_pgh_context_id_08f8bf35 ON public.bans_serverinterfaceevent USING btree (pgh_context_id);

CREATE INDEX bans_serverinterfaceevent_pgh_obj_id_56401d70 ON public.bans_serverinterfaceevent USING btree (pgh_obj_id);

CREATE INDEX bans_upload_by_id_219cfc45 ON public.bans_upload USING btree (by_id);

CREATE INDEX bans_upload_list_id_3acf22ab ON public.bans_upload USING btree (list_id);

CREATE INDEX block_begins ON public.bans_block USING btree (lower(valid));

CREATE INDEX block_ends ON public.bans_block USING btree (upper(valid)) WHERE (upper(valid) IS NOT NULL);

CREATE INDEX block_valid_by_id ON public.bans_block USING btree (id) INCLUDE (valid);

CREATE INDEX carrierchange_newest ON public.gateways_carrierchange USING btree (group_id, family, id DESC);

CREATE INDEX channelmessage_ended ON public.alarms_channelmessage USING btree (ended) WHERE (ended IS NOT NULL);

CREATE INDEX channelmessage_of_channel ON public.alarms_channelmessage USING btree (channel_id, id DESC);

CREATE INDEX channelmessage_waiting ON public.alarms_channelmessage USING btree (due) WHERE ((state)::text = 'waiting'::text);

CREATE INDEX coverage_by_gateway ON public.traffic_coverage USING btree (gateway_id, until);

CREATE UNIQUE INDEX databaserestore_one_open ON public.deployments_databaserestore USING btree (agreed) NULLS NOT DISTINCT WHERE (agreed IS NULL);

CREATE INDEX delivery_by_endpoint ON public.webhooks_delivery USING btree (endpoint_id, id DESC);

CREATE INDEX delivery_to_be_erased ON public.webhooks_delivery USING btree (ended) WHERE (ended IS NOT NULL);

CREATE INDEX delivery_waiting ON public.webhooks_delivery USING btree (due, id) WHERE ((state)::text = 'waiting'::text);

CREATE UNIQUE INDEX departure_one_planned ON public.members_departure USING btree (member_id) WHERE ((state)::text = 'planned'::text);

CREATE INDEX deployments_databaserestore_agreed_by_id_5f186c29 ON public.deployments_databaserestore USING btree (agreed_by_id);

CREATE INDEX deployments_databaserestoreevent_agreed_by_id_13d6ac73 ON public.deployments_databaserestoreevent USING btree (agreed_by_id);

CREATE INDEX deployments_databaserestoreevent_pgh_context_id_39aa9a74 ON public.deployments_databaserestoreevent USING btree (pgh_context_id);

CREATE INDEX deployments_databaserestoreevent_pgh_obj_id_8aea45ae ON public.deployments_databaserestoreevent USING btree (pgh_obj_id);

CREATE INDEX deployments_gatewaystate_revision_id_f2f96213 ON public.deployments_gatewaystate USING btree (revision_id);

CREATE INDEX deployments_heldback_askers_heldback_id_74f198e3 ON public.deployments_heldback_askers USING btree (heldback_id);

CREATE INDEX deployments_heldback_askers_user_id_ead40c45 ON public.deployments_heldback_askers USING btree (user_id);

CREATE INDEX deployments_heldback_decided_by_id_4a9c379c ON public.deployments_heldback USING btree (decided_by_id);

CREATE INDEX deployments_heldback_group_id_0ff43fdd ON public.deployments_heldback USING btree (group_id);

CREATE INDEX deployments_heldbackevent_decided_by_id_05691bc9 ON public.deployments_heldbackevent USING btree (decided_by_id);

CREATE INDEX deployments_heldbackevent_group_id_6728e254 ON public.deployments_heldbackevent USING btree (group_id);

CREATE INDEX deployments_heldbackevent_pgh_context_id_1d52f335 ON public.deployments_heldbackevent USING btree (pgh_context_id);

CREATE INDEX deployments_heldbackevent_pgh_obj_id_cd9ab942 ON public.deployments_heldbackevent USING btree (pgh_obj_id);

CREATE INDEX deployments_hold_by_id_a057632b ON public.deployments_hold USING btree (by_id);

CREATE INDEX deployments_hold_group_id_c047b464 ON public.deployments_hold USING btree (group_id);

CREATE INDEX deployments_hold_released_by_id_a08046bf ON public.deployments_hold USING btree (released_by_id);

CREATE INDEX deployments_hold_revision_id_bdcfaabd ON public.deployments_hold USING btree (revision_id);

CREATE INDEX deployments_holdevent_by_id_41bf5fc7 ON public.deployments_holdevent USING btree (by_id);

CREATE INDEX deployments_holdevent_group_id_fa106d07 ON public.deployments_holdevent USING btree (group_id);

CREATE INDEX deployments_holdevent_pgh_context_id_38428b4c ON public.deployments_holdevent USING btree (pgh_context_id);

CREATE INDEX deployments_holdevent_pgh_obj_id_3e8874fe ON public.deployments_holdevent USING btree (pgh_obj_id);

CREATE INDEX deployments_holdevent_released_by_id_c23497f4 ON public.deployments_holdevent USING btree (released_by_id);

CREATE INDEX deployments_holdevent_revision_id_29a0a44e ON public.deployments_holdevent USING btree (revision_id);

CREATE INDEX deployments_restoredifference_gateway_id_80bc0c88 ON public.deployments_restoredifference USING btree (gateway_id);

CREATE INDEX deployments_restoredifference_restore_id_17db25e0 ON public.deployments_restoredifference USING btree (restore_id);

CREATE INDEX deployments_revision_again_id_e5d980a7 ON public.deployments_revision USING btree (again_id);

CREATE INDEX deployments_revision_by_id_b7571c43 ON public.deployments_revision USING btree (by_id);

CREATE INDEX deployments_revision_group_id_172d3166 ON public.deployments_revision USING btree (group_id);

CREATE INDEX deployments_revisioncontent_base_id_e7357928 ON public.deployments_revisioncontent USING btree (base_id);

CREATE INDEX deployments_rollout_group_id_d47f658b ON public.deployments_rollout USING btree (group_id);

CREATE INDEX deployments_rollout_revision_id_0c8aa782 ON public.deployments_rollout USING btree (revision_id);

CREATE INDEX deployments_rollout_stopped_by_id_1b9c1ca2 ON public.deployments_rollout USING btree (stopped_by_id);

CREATE INDEX deployments_rolloutstep_gateway_id_d78dbf49 ON public.deployments_rolloutstep USING btree (gateway_id);

CREATE INDEX deployments_rolloutstep_rollout_id_999623ac ON public.deployments_rolloutstep USING btree (rollout_id);

CREATE INDEX deployments_unapprovedloss_group_id_3091b3d5 ON public.deployments_unapprovedloss USING btree (group_id);

CREATE INDEX device_mac_search ON public.members_device USING gin (replace((mac)::text, ':'::text, ''::text) public.gin_trgm_ops);

CREATE INDEX device_name_search ON public.members_device USING gin (upper((name)::text) public.gin_trgm_ops);

CREATE INDEX django_session_expire_date_a5c62663 ON public.django_session USING btree (expire_date);

CREATE INDEX django_session_session_key_c0390e0f_like ON public.django_session USING btree (session_key varchar_pattern_ops);

CREATE INDEX dutyshift_by_end ON public.alarms_dutyshift USING btree (ends);

CREATE INDEX event_by_time ON public.events_event USING btree (at);

CREATE INDEX event_by_transaction ON public.events_event USING btree (transaction);

CREATE INDEX events_presence_user_id_8df7fdd3 ON public.events_presence USING btree (user_id);

CREATE INDEX evidence_by_age ON public.gateways_evidencearchive USING btree (asked);

CREATE INDEX evidence_newest ON public.gateways_evidencearchive USING btree (gateway_id, id DESC);

CREATE UNIQUE INDEX gateway_name_of_one ON public.network_gateway USING btree (name) WHERE (retired IS NULL);

CREATE UNIQUE INDEX gateway_one_ipv4_primary_per_group ON public.network_gateway USING btree (group_id) WHERE carries4;

CREATE UNIQUE INDEX gateway_one_ipv6_primary_per_group ON public.network_gateway USING btree (group_id) WHERE carries6;

CREATE UNIQUE INDEX gateway_probe_public4_of_one ON public.network_gateway USING btree (probe_public4) WHERE (retired IS NULL);

CREATE UNIQUE INDEX gateway_probe_source4_of_one ON public.network_gateway USING btree (probe_source4) WHERE (retired IS NULL);

CREATE UNIQUE INDEX gateway_probe_source6_of_one ON public.network_gateway USING btree (probe_source6) WHERE (retired IS NULL);

CREATE UNIQUE INDEX gateway_sync_address_of_one ON public.network_gateway USING btree (group_id, sync_address) WHERE (retired IS NULL);

CREATE INDEX gateways_agentupgrade_by_id_ed2c7012 ON public.gateways_agentupgrade USING btree (by_id);

CREATE INDEX gateways_agentupgrade_group_id_475ed302 ON public.gateways_agentupgrade USING btree (group_id);

CREATE INDEX gateways_agentupgradestep_gateway_id_1c77564b ON public.gateways_agentupgradestep USING btree (gateway_id);

CREATE INDEX gateways_agentupgradestep_upgrade_id_a2dd574e ON public.gateways_agentupgradestep USING btree (upgrade_id);

CREATE INDEX gateways_carrierchange_group_id_dbd75f20 ON public.gateways_carrierchange USING btree (group_id);

CREATE INDEX gateways_carrierchange_switch_id_433a9cf8 ON public.gateways_carrierchange USING btree (switch_id);

CREATE INDEX gateways_evidencearchive_by_id_ac14b14c ON public.gateways_evidencearchive USING btree (by_id);

CREATE INDEX gateways_evidencearchive_gateway_id_32041ed9 ON public.gateways_evidencearchive USING btree (gateway_id);

CREATE INDEX gateways_evidencedownload_archive_id_cf72d884 ON public.gateways_evidencedownload USING btree (archive_id);

CREATE INDEX gateways_evidencedownload_by_id_182cf1b8 ON public.gateways_evidencedownload USING btree (by_id);

CREATE INDEX gateways_gatewayrole_status_id_116f36b0 ON public.gateways_gatewayrole USING btree (status_id);

CREATE INDEX gateways_healthfinding_gateway_id_e97daedd ON public.gateways_healthfinding USING btree (gateway_id);

CREATE INDEX gateways_healthreading_gateway_id_c29094dc ON public.gateways_healthreading USING btree (gateway_id);

CREATE INDEX gateways_healthsample_gateway_id_06476cf6 ON public.gateways_healthsample USING btree (gateway_id);

CREATE INDEX gateways_joiningmachine_by_id_6d80f17f ON public.gateways_joiningmachine USING btree (by_id);

CREATE INDEX gateways_joiningmachine_group_id_40ce07b3 ON public.gateways_joiningmachine USING btree (group_id);

CREATE INDEX gateways_joiningmachine_name_2af5549c_like ON public.gateways_joiningmachine USING btree (name varchar_pattern_ops);

CREATE INDEX gateways_probestatus_gateway_id_267ac35e ON public.gateways_probestatus USING btree (gateway_id);

CREATE INDEX gateways_roleswitch_by_id_1e01c489 ON public.gateways_roleswitch USING btree (by_id);

CREATE INDEX gateways_roleswitch_gateway_id_3b1dd535 ON public.gateways_roleswitch USING btree (gateway_id);

CREATE INDEX gateways_roleswitch_group_id_8e9b8b00 ON public.gateways_roleswitch USING btree (group_id);

CREATE INDEX gateways_timeoutreading_by_id_611a49b0 ON public.gateways_timeoutreading USING btree (by_id);

CREATE INDEX healthreading_at ON public.gateways_healthreading USING btree (at);

CREATE INDEX healthsample_by_age ON public.gateways_healthsample USING btree (span, begin);

CREATE UNIQUE INDEX heldback_once ON public.deployments_heldback USING btree (group_id, digest) WHERE ((state)::text = ANY ((ARRAY['waiting'::character varying, 'approved'::character varying])::text[]));

CREATE UNIQUE INDEX hold_one_per_group ON public.deployments_hold USING btree (group_id) WHERE (released IS NULL);

CREATE INDEX holding_begins ON public.network_holding USING btree (lower(valid));

CREATE INDEX holding_by_prefix ON public.network_holding USING btree (kind, prefix);

CREATE INDEX holding_ends ON public.network_holding USING btree (upper(valid)) WHERE (upper(valid) IS NOT NULL);

CREATE INDEX holding_valid_by_id ON public.network_holding USING btree (id) INCLUDE (valid);

CREATE UNIQUE INDEX holding_with_prefix ON public.network_holding USING btree (id, kind, group_id, valid, prefix);

CREATE INDEX inbound_arrival_ended_by_id_2d7bf2dc ON public.inbound_arrival USING btree (ended_by_id);

CREATE INDEX inbound_arrival_place_f39068d2_like ON public.inbound_arrival USING btree (place varchar_pattern_ops);

CREATE INDEX inbound_by_state ON public.inbound_arrival USING btree (state, id DESC);

CREATE UNIQUE INDEX inbound_once ON public.inbound_arrival USING btree (message_id, sha256) WHERE (NOT ((message_id)::text = ''::text));

CREATE INDEX inbound_to_be_erased ON public.inbound_arrival USING btree (ended) WHERE (octets IS NOT NULL);

CREATE INDEX inbound_waiting ON public.inbound_arrival USING btree (id) WHERE ((state)::text = 'waiting'::text);

CREATE INDEX incident_by_beginning ON public.status_incident USING btree (began DESC);

CREATE INDEX incident_open ON public.status_incident USING btree (began) WHERE (ended IS NULL);

CREATE INDEX incident_update_to_mail ON public.status_incidentupdate USING btree (id) WHERE ((mailed IS NULL) AND notify);

CREATE UNIQUE INDEX invitation_one_open_for_an_address ON public.accounts_invitation USING btree (email) WHERE ((taken IS NULL) AND (withdrawn IS NULL));

CREATE INDEX keptanswer_by_time ON public.lib_keptanswer USING btree (at);

CREATE INDEX keptanswer_by_user ON public.lib_keptanswer USING btree (user_id, id);

CREATE INDEX lib_keptanswer_user_id_3099e975 ON public.lib_keptanswer USING btree (user_id);

CREATE INDEX mail_by_address ON public.mail_message USING btree (lower((("to")::text COLLATE "C")));

CREATE INDEX mail_by_state ON public.mail_message USING btree (state, id DESC);

CREATE INDEX mail_by_what_it_tells ON public.mail_message USING btree (about_type, about_id) WHERE (NOT ((about_type)::text = ''::text));

CREATE INDEX mail_message_ended_by_id_4163dd92 ON public.mail_message USING btree (ended_by_id);

CREATE INDEX mail_message_key_f07a533d_like ON public.mail_message USING btree (key varchar_pattern_ops);

CREATE INDEX mail_message_message_id_fd6a0095_like ON public.mail_message USING btree (message_id varchar_pattern_ops);

CREATE UNIQUE INDEX mail_switched_off_once ON public.mail_switchedoff USING btree (lower(((address)::text COLLATE "C")), notice);

CREATE INDEX mail_to_be_erased ON public.mail_message USING btree (ended) WHERE (erased IS NULL);

CREATE INDEX mail_waiting ON public.mail_message USING btree (urgent DESC, bulk, due, id) WHERE ((state)::text = 'waiting'::text);

CREATE INDEX member_by_end_of_payment ON public.members_member USING btree (paid_until, name, id);

CREATE INDEX member_by_name ON public.members_member USING btree (name, id);

CREATE INDEX member_by_state_and_name ON public.members_member USING btree (state, name, id);

CREATE INDEX member_counted ON public.members_member USING btree (state, tariff_id);

CREATE INDEX member_left_and_not_erased ON public.members_member USING btree (left_at) WHERE (erased_at IS NULL);

CREATE INDEX member_name_search ON public.members_member USING gin (public.without_accents((name)::text) public.gin_trgm_ops);

CREATE UNIQUE INDEX memberinvitation_one_open ON public.members_memberinvitation USING btree (member_id) WHERE ((taken IS NULL) AND (withdrawn IS NULL));

CREATE INDEX members_departure_by_id_ccad23cb ON public.members_departure USING btree (by_id);

CREATE INDEX members_departure_member_id_9b124fff ON public.members_departure USING btree (member_id);

CREATE INDEX members_departureevent_by_id_c7971a0b ON public.members_departureevent USING btree (by_id);

CREATE INDEX members_departureevent_member_id_6c74efc1 ON public.members_departureevent USING btree (member_id);

CREATE INDEX members_departureevent_pgh_context_id_b0b17ce8 ON public.members_departureevent USING btree (pgh_context_id);

CREATE INDEX members_departureevent_pgh_obj_id_c86f1b41 ON public.members_departureevent USING btree (pgh_obj_id);

CREATE INDEX members_device_member_id_a349db6f ON public.members_device USING btree (member_id);

CREATE INDEX members_deviceevent_member_id_f56cc36d ON public.members_deviceevent USING btree (member_id);

CREATE INDEX members_deviceevent_pgh_context_id_00d0c8b8 ON public.members_deviceevent USING btree (pgh_context_id);

CREATE INDEX members_deviceevent_pgh_obj_id_533f2454 ON public.members_deviceevent USING btree (pgh_obj_id);

CREATE INDEX members_member_room_id_142f7822 ON public.members_member USING btree (room_id);

CREATE INDEX members_member_tariff_id_7c42ee91 ON public.members_member USING btree (tariff_id);

CREATE INDEX members_memberevent_pgh_context_id_a572276f ON public.members_memberevent USING btree (pgh_context_id);

CREATE INDEX members_memberevent_pgh_obj_id_225d733e ON public.members_memberevent USING btree (pgh_obj_id);

CREATE INDEX members_memberevent_room_id_c72cf092 ON public.members_memberevent USING btree (room_id);

CREATE INDEX members_memberevent_tariff_id_93327496 ON public.members_memberevent USING btree (tariff_id);

CREATE INDEX members_memberevent_user_id_95c96633 ON public.members_memberevent USING btree (user_id);

CREATE INDEX members_memberinvitation_by_id_c4e7f744 ON public.members_memberinvitation USING btree (by_id);

CREATE INDEX members_memberinvitation_member_id_7624130b ON public.members_memberinvitation USING btree (member_id);

CREATE INDEX members_memberinvitationevent_by_id_8e715014 ON public.members_memberinvitationevent USING btree (by_id);

CREATE INDEX members_memberinvitationevent_member_id_1ef63e99 ON public.members_memberinvitationevent USING btree (member_id);

CREATE INDEX members_memberinvitationevent_pgh_context_id_733e6638 ON public.members_memberinvitationevent USING btree (pgh_context_id);

CREATE INDEX members_memberinvitationevent_pgh_obj_id_6ed451e9 ON public.members_memberinvitationevent USING btree (pgh_obj_id);

CREATE INDEX members_membership_member_id_a8e689cf ON public.members_membership USING btree (member_id);

CREATE INDEX members_peopleupload_by_id_b91130a5 ON public.members_peopleupload USING btree (by_id);

CREATE INDEX members_rememberedcolumns_key_901d1b69_like ON public.members_rememberedcolumns USING btree (key varchar_pattern_ops);

CREATE INDEX members_room_site_id_1f827f34 ON public.members_room USING btree (site_id);

CREATE INDEX members_roomevent_pgh_context_id_13154059 ON public.members_roomevent USING btree (pgh_context_id);

CREATE INDEX members_roomevent_pgh_obj_id_5ca079a7 ON public.members_roomevent USING btree (pgh_obj_id);

CREATE INDEX members_roomevent_site_id_290d0335 ON public.members_roomevent USING btree (site_id);

CREATE INDEX members_site_name_5becc6d3_like ON public.members_site USING btree (name varchar_pattern_ops);

CREATE INDEX members_siteevent_pgh_context_id_c798c72f ON public.members_siteevent USING btree (pgh_context_id);

CREATE INDEX members_siteevent_pgh_obj_id_ae601256 ON public.members_siteevent USING btree (pgh_obj_id);

CREATE INDEX members_tariff_name_3a4bf9ae_like ON public.members_tariff USING btree (name varchar_pattern_ops);

CREATE INDEX members_tariffevent_pgh_context_id_c8543ec7 ON public.members_tariffevent USING btree (pgh_context_id);

CREATE INDEX members_tariffevent_pgh_obj_id_d53d6950 ON public.members_tariffevent USING btree (pgh_obj_id);

CREATE INDEX mfa_authenticator_user_id_0c3a50c0 ON public.mfa_authenticator USING btree (user_id);

CREATE UNIQUE INDEX move_one_planned ON public.nat_move USING btree (member_id) WHERE ((state)::text = 'planned'::text);

CREATE INDEX nat_move_by_id_6445ca14 ON public.nat_move USING btree (by_id);

CREATE INDEX nat_move_member_id_5f466bbe ON public.nat_move USING btree (member_id);

CREATE INDEX nat_move_pool_id_0c101f53 ON public.nat_move USING btree (pool_id);

CREATE INDEX nat_move_room_id_114d5d74 ON public.nat_move USING btree (room_id);

CREATE INDEX nat_moveevent_by_id_de0ee227 ON public.nat_moveevent USING btree (by_id);

CREATE INDEX nat_moveevent_member_id_060292b7 ON public.nat_moveevent USING btree (member_id);

CREATE INDEX nat_moveevent_pgh_context_id_2561f09b ON public.nat_moveevent USING btree (pgh_context_id);

CREATE INDEX nat_moveevent_pgh_obj_id_779d7e8a ON public.nat_moveevent USING btree (pgh_obj_id);

CREATE INDEX nat_moveevent_pool_id_e8857f0b ON public.nat_moveevent USING btree (pool_id);

CREATE INDEX nat_moveevent_room_id_b0d1311a ON public.nat_moveevent USING btree (room_id);

CREATE INDEX nat_natmapping_group_id_596474bd ON public.nat_natmapping USING btree (group_id);

CREATE INDEX nat_natmapping_holding_id_8c8e904d ON public.nat_natmapping USING btree (holding_id);

CREATE INDEX nat_natmapping_pool_id_f214d785 ON public.nat_natmapping USING btree (pool_id);

CREATE INDEX nat_natmappingevent_group_id_752d3c5d ON public.nat_natmappingevent USING btree (group_id);

CREATE INDEX nat_natmappingevent_holding_id_2ee8bf53 ON public.nat_natmappingevent USING btree (holding_id);

CREATE INDEX nat_natmappingevent_pgh_context_id_424f2609 ON public.nat_natmappingevent USING btree (pgh_context_id);

CREATE INDEX nat_natmappingevent_pgh_obj_id_dafdad02 ON public.nat_natmappingevent USING btree (pgh_obj_id);

CREATE INDEX nat_natmappingevent_pool_id_21f173bd ON public.nat_natmappingevent USING btree (pool_id);

CREATE INDEX nat_pinhole_group_id_88d0493b ON public.nat_pinhole USING btree (group_id);

CREATE INDEX nat_pinhole_holding_id_07d5c029 ON public.nat_pinhole USING btree (holding_id);

CREATE INDEX nat_pinholeevent_group_id_94b27582 ON public.nat_pinholeevent USING btree (group_id);

CREATE INDEX nat_pinholeevent_holding_id_67f3e15e ON public.nat_pinholeevent USING btree (holding_id);

CREATE INDEX nat_pinholeevent_pgh_context_id_0fa0730f ON public.nat_pinholeevent USING btree (pgh_context_id);

CREATE INDEX nat_pinholeevent_pgh_obj_id_de4a9101 ON public.nat_pinholeevent USING btree (pgh_obj_id);

CREATE INDEX nat_portforward_group_id_c9245c41 ON public.nat_portforward USING btree (group_id);

CREATE INDEX nat_portforward_holding_id_30234c03 ON public.nat_portforward USING btree (holding_id);

CREATE INDEX nat_portforward_pool_id_6744dd8c ON public.nat_portforward USING btree (pool_id);

CREATE INDEX nat_portforwardevent_group_id_e1207ef2 ON public.nat_portforwardevent USING btree (group_id);

CREATE INDEX nat_portforwardevent_holding_id_ec4d74fc ON public.nat_portforwardevent USING btree (holding_id);

CREATE INDEX nat_portforwardevent_pgh_context_id_38353c69 ON public.nat_portforwardevent USING btree (pgh_context_id);

CREATE INDEX nat_portforwardevent_pgh_obj_id_b7040ddc ON public.nat_portforwardevent USING btree (pgh_obj_id);

CREATE INDEX nat_portforwardevent_pool_id_93981cfc ON public.nat_portforwardevent USING btree (pool_id);

CREATE INDEX nat_portrulesevent_group_id_949ca2ef ON public.nat_portrulesevent USING btree (group_id);

CREATE INDEX nat_portrulesevent_pgh_context_id_8e8666b7 ON public.nat_portrulesevent USING btree (pgh_context_id);

CREATE INDEX nat_portrulesevent_pgh_obj_id_68873ad0 ON public.nat_portrulesevent USING btree (pgh_obj_id);

CREATE INDEX natmapping_begins ON public.nat_natmapping USING btree (lower(valid));

CREATE INDEX natmapping_by_public ON public.nat_natmapping USING btree (public, id);

CREATE INDEX natmapping_ends ON public.nat_natmapping USING btree (upper(valid)) WHERE (upper(valid) IS NOT NULL);

CREATE INDEX natmapping_valid_by_id ON public.nat_natmapping USING btree (id) INCLUDE (valid);

CREATE INDEX network_failoverevent_group_id_a21d4e7b ON public.network_failoverevent USING btree (group_id);

CREATE INDEX network_failoverevent_pgh_context_id_40a44c9b ON public.network_failoverevent USING btree (pgh_context_id);

CREATE INDEX network_failoverevent_pgh_obj_id_6b7fdf23 ON public.network_failoverevent USING btree (pgh_obj_id);

CREATE INDEX network_gateway_group_id_bb780c99 ON public.network_gateway USING btree (group_id);

CREATE INDEX network_gatewayevent_group_id_45c90573 ON public.network_gatewayevent USING btree (group_id);

CREATE INDEX network_gatewayevent_pgh_context_id_b7441de8 ON public.network_gatewayevent USING btree (pgh_context_id);

CREATE INDEX network_gatewayevent_pgh_obj_id_060bc814 ON public.network_gatewayevent USING btree (pgh_obj_id);

CREATE INDEX network_gatewaygroup_name_d6b5d706_like ON public.network_gatewaygroup USING btree (name varchar_pattern_ops);

CREATE INDEX network_gatewaygroupevent_pgh_context_id_1fd5ac92 ON public.network_gatewaygroupevent USING btree (pgh_context_id);

CREATE INDEX network_gatewaygroupevent_pgh_obj_id_054870f1 ON public.network_gatewaygroupevent USING btree (pgh_obj_id);

CREATE INDEX network_gauge_gateway_id_73ff21ca ON public.network_gauge USING btree (gateway_id);

CREATE INDEX network_holding_device_id_06d40bf3 ON public.network_holding USING btree (device_id);

CREATE INDEX network_holding_group_id_16f66e81 ON public.network_holding USING btree (group_id);

CREATE INDEX network_holding_member_id_883ea07d ON public.network_holding USING btree (member_id);

CREATE INDEX network_holding_pool_id_2ec36d94 ON public.network_holding USING btree (pool_id);

CREATE INDEX network_holdingevent_device_id_99a35b71 ON public.network_holdingevent USING btree (device_id);

CREATE INDEX network_holdingevent_group_id_207cde4f ON public.network_holdingevent USING btree (group_id);

CREATE INDEX network_holdingevent_member_id_8ab4d9d6 ON public.network_holdingevent USING btree (member_id);

CREATE INDEX network_holdingevent_pgh_context_id_ed1d83c8 ON public.network_holdingevent USING btree (pgh_context_id);

CREATE INDEX network_holdingevent_pgh_obj_id_516482c6 ON public.network_holdingevent USING btree (pgh_obj_id);

CREATE INDEX network_holdingevent_pool_id_a30122d3 ON public.network_holdingevent USING btree (pool_id);

CREATE INDEX network_limitsevent_group_id_4e3e59e9 ON public.network_limitsevent USING btree (group_id);

CREATE INDEX network_limitsevent_pgh_context_id_31720533 ON public.network_limitsevent USING btree (pgh_context_id);

CREATE INDEX network_limitsevent_pgh_obj_id_0cf5c982 ON public.network_limitsevent USING btree (pgh_obj_id);

CREATE INDEX network_pool_group_id_686f9896 ON public.network_pool USING btree (group_id);

CREATE INDEX network_pool_name_d702d499_like ON public.network_pool USING btree (name varchar_pattern_ops);

CREATE INDEX network_poolevent_group_id_da34509f ON public.network_poolevent USING btree (group_id);

CREATE INDEX network_poolevent_pgh_context_id_64a5f3d5 ON public.network_poolevent USING btree (pgh_context_id);

CREATE INDEX network_poolevent_pgh_obj_id_5803951b ON public.network_poolevent USING btree (pgh_obj_id);

CREATE INDEX network_profileevent_group_id_8c1d884a ON public.network_profileevent USING btree (group_id);

CREATE INDEX network_profileevent_pgh_context_id_a879a8c2 ON public.network_profileevent USING btree (pgh_context_id);

CREATE INDEX network_profileevent_pgh_obj_id_a5217233 ON public.network_profileevent USING btree (pgh_obj_id);

CREATE INDEX network_protectionevent_group_id_26c68dce ON public.network_protectionevent USING btree (group_id);

CREATE INDEX network_protectionevent_pgh_context_id_1fe983dc ON public.network_protectionevent USING btree (pgh_context_id);

CREATE INDEX network_protectionevent_pgh_obj_id_01b5e88e ON public.network_protectionevent USING btree (pgh_obj_id);

CREATE INDEX network_uplinkevent_group_id_bff9339f ON public.network_uplinkevent USING btree (group_id);

CREATE INDEX network_uplinkevent_pgh_context_id_acfb1a45 ON public.network_uplinkevent USING btree (pgh_context_id);

CREATE INDEX network_uplinkevent_pgh_obj_id_6e050cd9 ON public.network_uplinkevent USING btree (pgh_obj_id);

CREATE INDEX operations_jobrecord_name_f7d4ab26_like ON public.operations_jobrecord USING btree (name varchar_pattern_ops);

CREATE INDEX operations_portalfinding_rule_f7a86363_like ON public.operations_portalfinding USING btree (rule varchar_pattern_ops);

CREATE INDEX operations_roleheartbeat_role_be13ce5f_like ON public.operations_roleheartbeat USING btree (role varchar_pattern_ops);

CREATE INDEX pinhole_begins ON public.nat_pinhole USING btree (lower(valid));

CREATE INDEX pinhole_ends ON public.nat_pinhole USING btree (upper(valid)) WHERE (upper(valid) IS NOT NULL);

CREATE INDEX pinhole_purpose_search ON public.nat_pinhole USING gin (upper((purpose)::text) public.gin_trgm_ops);

CREATE INDEX pinhole_valid_by_id ON public.nat_pinhole USING btree (id) INCLUDE (valid);

CREATE INDEX portforward_begins ON public.nat_portforward USING btree (lower(valid));

CREATE INDEX portforward_by_port ON public.nat_portforward USING btree (public_port, protocol);

CREATE INDEX portforward_ends ON public.nat_portforward USING btree (upper(valid)) WHERE (upper(valid) IS NOT NULL);

CREATE INDEX portforward_in_order ON public.nat_portforward USING btree (public, protocol, public_port, id);

CREATE INDEX portforward_purpose_search ON public.nat_portforward USING gin (upper((purpose)::text) public.gin_trgm_ops);

CREATE INDEX portforward_valid_by_id ON public.nat_portforward USING btree (id) INCLUDE (valid);

CREATE INDEX preferences_networksettingsevent_pgh_context_id_b42293b7 ON public.preferences_networksettingsevent USING btree (pgh_context_id);

CREATE INDEX preferences_networksettingsevent_pgh_obj_id_7f1f9beb ON public.preferences_networksettingsevent USING btree (pgh_obj_id);

CREATE INDEX presence_by_time ON public.events_presence USING btree (seen);

CREATE INDEX ratelimit_begins ON public.traffic_ratelimit USING btree (lower(valid));

CREATE INDEX ratelimit_ends ON public.traffic_ratelimit USING btree (upper(valid)) WHERE (upper(valid) IS NOT NULL);

CREATE INDEX ratelimit_valid_by_id ON public.traffic_ratelimit USING btree (id) INCLUDE (valid);

CREATE INDEX revision_by_time ON public.deployments_revision USING btree (group_id, created);

CREATE UNIQUE INDEX rolechange_one_waits ON public.accounts_rolechange USING btree (user_id) WHERE ((state)::text = 'waiting'::text);

CREATE UNIQUE INDEX roleswitch_one_at_a_time ON public.gateways_roleswitch USING btree (group_id) WHERE ((state)::text = ANY ((ARRAY['waiting'::character varying, 'running'::character varying])::text[]));

CREATE INDEX rollout_by_group ON public.deployments_rollout USING btree (group_id, id DESC);

CREATE INDEX rollout_by_state ON public.deployments_rollout USING btree (state, id DESC);

CREATE UNIQUE INDEX rollout_one_open_per_group ON public.deployments_rollout USING btree (group_id) WHERE ((state)::text = ANY ((ARRAY['queued'::character varying, 'applying'::character varying, 'paused'::character varying])::text[]));

CREATE INDEX rolloutstep_by_gateway ON public.deployments_rolloutstep USING btree (gateway_id, confirmed DESC);

CREATE UNIQUE INDEX room_name_once_per_site ON public.members_room USING btree (site_id, lower((name)::text));

CREATE INDEX silence_until ON public.alarms_silence USING btree (until);

CREATE UNIQUE INDEX site_code_once ON public.members_site USING btree (lower((code)::text));

CREATE INDEX socialaccount_socialaccount_user_id_8146e70c ON public.socialaccount_socialaccount USING btree (user_id);

CREATE INDEX socialaccount_socialtoken_account_id_951f210e ON public.socialaccount_socialtoken USING btree (account_id);

CREATE INDEX socialaccount_socialtoken_app_id_636a42d7 ON public.socialaccount_socialtoken USING btree (app_id);

CREATE INDEX status_incident_gateways_gateway_id_d5193907 ON public.status_incident_gateways USING btree (gateway_id);

CREATE INDEX status_incident_gateways_incident_id_1a65ddb4 ON public.status_incident_gateways USING btree (incident_id);

CREATE INDEX status_incident_opened_by_id_e7bc9b4b ON public.status_incident USING btree (opened_by_id);

CREATE INDEX status_incident_sites_incident_id_9e764d2b ON public.status_incident_sites USING btree (incident_id);

CREATE INDEX status_incident_sites_site_id_fb737644 ON public.status_incident_sites USING btree (site_id);

CREATE INDEX status_incidentevent_opened_by_id_8c7b1ceb ON public.status_incidentevent USING btree (opened_by_id);

CREATE INDEX status_incidentevent_pgh_context_id_90b85ebc ON public.status_incidentevent USING btree (pgh_context_id);

CREATE INDEX status_incidentevent_pgh_obj_id_68af6a8e ON public.status_incidentevent USING btree (pgh_obj_id);

CREATE INDEX status_incidentticket_by_id_52ecb85c ON public.status_incidentticket USING btree (by_id);

CREATE INDEX status_incidentticket_incident_id_e7296306 ON public.status_incidentticket USING btree (incident_id);

CREATE INDEX status_incidentupdate_by_id_29760010 ON public.status_incidentupdate USING btree (by_id);

CREATE INDEX status_incidentupdate_incident_id_11c0bb21 ON public.status_incidentupdate USING btree (incident_id);

CREATE INDEX status_servicestate_service_ad78f22b_like ON public.status_servicestate USING btree (service varchar_pattern_ops);

CREATE UNIQUE INDEX subscription_once ON public.status_subscription USING btree (lower(((address)::text COLLATE "C")));

CREATE INDEX subscription_unconfirmed ON public.status_subscription USING btree (asked) WHERE (confirmed IS NULL);

CREATE INDEX throughput_by_time ON public.traffic_throughput USING btree (bucket);

CREATE INDEX ticket_bulk_left ON public.tickets_bulkitem USING btree (id) WHERE (done_at IS NULL);

CREATE INDEX ticket_by_assignee ON public.tickets_ticket USING btree (assignee_id, touched_at DESC, id DESC);

CREATE INDEX ticket_by_first_answer ON public.tickets_ticket USING btree (first_answered_at) WHERE (first_answered_at IS NOT NULL);

CREATE INDEX ticket_by_member ON public.tickets_ticket USING btree (member_id, touched_at DESC, id DESC);

CREATE INDEX ticket_by_state ON public.tickets_ticket USING btree (state, touched_at DESC, id DESC);

CREATE INDEX ticket_by_time ON public.tickets_ticket USING btree (touched_at DESC, id DESC);

CREATE INDEX ticket_event_by_time ON public.tickets_ticketevent USING btree (pgh_created_at);

CREATE INDEX ticket_link_by_object ON public.tickets_link USING btree (kind, object_id);

CREATE UNIQUE INDEX ticket_merged_once ON public.tickets_move USING btree (source_id) WHERE (((kind)::text = 'merge'::text) AND (undone_at IS NULL));

CREATE INDEX ticket_message_by_sender ON public.tickets_message USING btree (sender, at) WHERE ((via)::text = 'mail'::text);

CREATE INDEX ticket_opened_and_answered ON public.tickets_ticket USING btree (opened_at) INCLUDE (first_answered_at, state);

CREATE INDEX ticket_ours ON public.tickets_ticket USING btree (priority DESC, touched_at, id) WHERE ((state)::text = ANY ((ARRAY['open'::character varying, 'reopened'::character varying])::text[]));

CREATE INDEX ticket_tags ON public.tickets_ticket USING gin (tags);

CREATE INDEX ticket_unsolved ON public.tickets_ticket USING btree (state, assignee_id) WHERE (NOT ((state)::text = 'solved'::text));

CREATE INDEX ticket_words ON public.tickets_words USING gin (search);

CREATE INDEX tickets_attachment_message_id_19591853 ON public.tickets_attachment USING btree (message_id);

CREATE INDEX tickets_bulk_by_id_50b52e63 ON public.tickets_bulk USING btree (by_id);

CREATE INDEX tickets_bulkitem_bulk_id_495b933d ON public.tickets_bulkitem USING btree (bulk_id);

CREATE INDEX tickets_bulkitem_message_id_78a8bf11 ON public.tickets_bulkitem USING btree (message_id);

CREATE INDEX tickets_bulkitem_ticket_id_1ea0d51b ON public.tickets_bulkitem USING btree (ticket_id);

CREATE INDEX tickets_canned_name_fec4368e_like ON public.tickets_canned USING btree (name varchar_pattern_ops);

CREATE INDEX tickets_cannedevent_pgh_context_id_3e1de493 ON public.tickets_cannedevent USING btree (pgh_context_id);

CREATE INDEX tickets_cannedevent_pgh_obj_id_6e9f7170 ON public.tickets_cannedevent USING btree (pgh_obj_id);

CREATE INDEX tickets_link_by_id_9ac46064 ON public.tickets_link USING btree (by_id);

CREATE INDEX tickets_link_ticket_id_e077d920 ON public.tickets_link USING btree (ticket_id);

CREATE INDEX tickets_message_author_id_e13a9dd8 ON public.tickets_message USING btree (author_id);

CREATE INDEX tickets_message_came_as_73f3519d_like ON public.tickets_message USING btree (came_as varchar_pattern_ops);

CREATE INDEX tickets_message_message_id_634e2958_like ON public.tickets_message USING btree (message_id varchar_pattern_ops);

CREATE INDEX tickets_message_ticket_id_a1134910 ON public.tickets_message USING btree (ticket_id);

CREATE INDEX tickets_move_by_id_9c6d1514 ON public.tickets_move USING btree (by_id);

CREATE INDEX tickets_move_source_id_0c6e8fd2 ON public.tickets_move USING btree (source_id);

CREATE INDEX tickets_move_target_id_dab650c9 ON public.tickets_move USING btree (target_id);

CREATE INDEX tickets_move_undone_by_id_b93b4d4b ON public.tickets_move USING btree (undone_by_id);

CREATE INDEX tickets_ticket_assignee_id_3a5aa407 ON public.tickets_ticket USING btree (assignee_id);

CREATE INDEX tickets_ticket_member_id_a63adcf4 ON public.tickets_ticket USING btree (member_id);

CREATE INDEX tickets_ticket_merged_into_id_3a36ad40 ON public.tickets_ticket USING btree (merged_into_id);

CREATE INDEX tickets_ticket_split_from_id_7158832a ON public.tickets_ticket USING btree (split_from_id);

CREATE INDEX tickets_ticketevent_assignee_id_5b6836f3 ON public.tickets_ticketevent USING btree (assignee_id);

CREATE INDEX tickets_ticketevent_member_id_164af539 ON public.tickets_ticketevent USING btree (member_id);

CREATE INDEX tickets_ticketevent_merged_into_id_69e0cf72 ON public.tickets_ticketevent USING btree (merged_into_id);

CREATE INDEX tickets_ticketevent_pgh_context_id_66272961 ON public.tickets_ticketevent USING btree (pgh_context_id);

CREATE INDEX tickets_ticketevent_pgh_obj_id_cdad4fae ON public.tickets_ticketevent USING btree (pgh_obj_id);

CREATE INDEX tickets_ticketevent_split_from_id_70afddaf ON public.tickets_ticketevent USING btree (split_from_id);

CREATE INDEX touched_by_transaction ON public.deployments_touched USING btree (xid);

CREATE INDEX traffic_coverage_gateway_id_0cde1016 ON public.traffic_coverage USING btree (gateway_id);

CREATE INDEX traffic_day_by_time ON ONLY public.traffic_day USING brin (bucket) WITH (pages_per_range='32');

CREATE INDEX traffic_fairshare_exempt_fairshare_id_0c853305 ON public.traffic_fairshare_exempt USING btree (fairshare_id);

CREATE INDEX traffic_fairshare_exempt_tariff_id_40313494 ON public.traffic_fairshare_exempt USING btree (tariff_id);

CREATE INDEX traffic_fairshareevent_group_id_150b6cd3 ON public.traffic_fairshareevent USING btree (group_id);

CREATE INDEX traffic_fairshareevent_pgh_context_id_70d5b918 ON public.traffic_fairshareevent USING btree (pgh_context_id);

CREATE INDEX traffic_fairshareevent_pgh_obj_id_0cc42496 ON public.traffic_fairshareevent USING btree (pgh_obj_id);

CREATE INDEX traffic_fiveminutes_by_time ON ONLY public.traffic_fiveminutes USING brin (bucket) WITH (pages_per_range='32');

CREATE INDEX traffic_fourweeks_by_time ON ONLY public.traffic_fourweeks USING brin (bucket) WITH (pages_per_range='32');

CREATE INDEX traffic_hour_by_time ON ONLY public.traffic_hour USING brin (bucket) WITH (pages_per_range='32');

CREATE INDEX traffic_lastcounts_gateway_id_6b50845e ON public.traffic_lastcounts USING btree (gateway_id);

CREATE INDEX traffic_level_name_97e6f170_like ON public.traffic_level USING btree (name varchar_pattern_ops);

CREATE INDEX traffic_quotaevent_pgh_context_id_dfa2ab11 ON public.traffic_quotaevent USING btree (pgh_context_id);

CREATE INDEX traffic_quotaevent_pgh_obj_id_24424dfc ON public.traffic_quotaevent USING btree (pgh_obj_id);

CREATE INDEX traffic_quotaevent_tariff_id_38d8021f ON public.traffic_quotaevent USING btree (tariff_id);

CREATE INDEX traffic_ratelimit_author_id_8a1df2b2 ON public.traffic_ratelimit USING btree (author_id);

CREATE INDEX traffic_ratelimit_member_id_b34a0160 ON public.traffic_ratelimit USING btree (member_id);

CREATE INDEX traffic_ratelimit_released_by_id_9baea4d1 ON public.traffic_ratelimit USING btree (released_by_id);

CREATE INDEX traffic_ratelimitevent_author_id_9d611b18 ON public.traffic_ratelimitevent USING btree (author_id);

CREATE INDEX traffic_ratelimitevent_member_id_2b3baf34 ON public.traffic_ratelimitevent USING btree (member_id);

CREATE INDEX traffic_ratelimitevent_pgh_context_id_820654dc ON public.traffic_ratelimitevent USING btree (pgh_context_id);

CREATE INDEX traffic_ratelimitevent_pgh_obj_id_c9e7b81f ON public.traffic_ratelimitevent USING btree (pgh_obj_id);

CREATE INDEX traffic_ratelimitevent_released_by_id_6a325d11 ON public.traffic_ratelimitevent USING btree (released_by_id);

CREATE INDEX traffic_spanusage_span_id_1da3d384 ON public.traffic_spanusage USING btree (span_id);

CREATE INDEX traffic_tally_gateway_id_2610a9e5 ON public.traffic_tally USING btree (gateway_id);

CREATE INDEX traffic_tally_holding_id_f0b471f4 ON public.traffic_tally USING btree (holding_id);

CREATE INDEX traffic_throughput_gateway_id_b679a2fe ON public.traffic_throughput USING btree (gateway_id);

CREATE INDEX traffic_today_by_time ON ONLY public.traffic_today USING brin (bucket) WITH (pages_per_range='32');

CREATE INDEX traffic_week_by_time ON ONLY public.traffic_week USING brin (bucket) WITH (pages_per_range='32');

CREATE INDEX unapprovedloss_by_group ON public.deployments_unapprovedloss USING btree (group_id, at);

CREATE UNIQUE INDEX unique_authenticator_type ON public.mfa_authenticator USING btree (user_id, type) WHERE ((type)::text = ANY ((ARRAY['totp'::character varying, 'recovery_codes'::character varying])::text[]));

CREATE UNIQUE INDEX unique_primary_email ON public.account_emailaddress USING btree (user_id, "primary") WHERE "primary";

CREATE UNIQUE INDEX unique_verified_email ON public.account_emailaddress USING btree (email) WHERE verified;

CREATE INDEX user_by_address ON public.accounts_user USING btree (lower(((email)::text COLLATE "C")));

CREATE UNIQUE INDEX user_username_unique_without_case ON public.accounts_user USING btree (lower((username)::text));

CREATE INDEX usersessions_usersession_session_key_fd35de43_like ON public.usersessions_usersession USING btree (session_key varchar_pattern_ops);

CREATE INDEX usersessions_usersession_user_id_af5e0a6d ON public.usersessions_usersession USING btree (user_id);

CREATE INDEX webhooks_delivery_endpoint_id_6cbee67d ON public.webhooks_delivery USING btree (endpoint_id);

CREATE INDEX webhooks_endpoint_owner_id_8529ff96 ON public.webhooks_endpoint USING btree (owner_id);

CREATE INDEX webhooks_endpointevent_owner_id_cb6d915f ON public.webhooks_endpointevent USING btree (owner_id);

CREATE INDEX webhooks_endpointevent_pgh_context_id_542ffc79 ON public.webhooks_endpointevent USING btree (pgh_context_id);

CREATE INDEX webhooks_endpointevent_pgh_obj_id_07c756e7 ON public.webhooks_endpointevent USING btree (pgh_obj_id);

CREATE INDEX webhooks_position_table_719051f0_like ON public.webhooks_position USING btree ("table" varchar_pattern_ops);

CREATE TRIGGER claim_changed AFTER UPDATE ON public.nat_portforward FOR EACH ROW WHEN ((((((((old.id IS DISTINCT FROM new.id) OR (old.holding_id IS DISTINCT FROM new.holding_id)) OR (old.public IS DISTINCT FROM new.public)) OR (old.public_port IS DISTINCT FROM new.public_port)) OR (old.ports IS DISTINCT FROM new.ports)) OR ((old.protocol)::text IS DISTINCT FROM (new.protocol)::text)) OR (old.valid IS DISTINCT FROM new.valid))) EXECUTE FUNCTION public.nat_claim_of_forward();

CREATE TRIGGER claim_delete AFTER DELETE ON public.nat_natmapping FOR EACH ROW WHEN (((old.sharing)::text <> 'shared'::text)) EXECUTE FUNCTION public.nat_claim_of_mapping();

CREATE TRIGGER claim_delete AFTER DELETE ON public.nat_portforward FOR EACH ROW EXECUTE FUNCTION public.nat_claim_of_forward();

CREATE TRIGGER claim_insert AFTER INSERT ON public.nat_natmapping REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_claim_of_new_mappings();

CREATE TRIGGER claim_insert AFTER INSERT ON public.nat_portforward REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_claim_of_new_forwards();

CREATE TRIGGER claim_truncate AFTER TRUNCATE ON public.nat_natmapping FOR EACH STATEMENT EXECUTE FUNCTION public.nat_claim_of_mapping();

CREATE TRIGGER claim_truncate AFTER TRUNCATE ON public.nat_portforward FOR EACH STATEMENT EXECUTE FUNCTION public.nat_claim_of_forward();

CREATE TRIGGER claim_update AFTER UPDATE ON public.nat_natmapping FOR EACH ROW WHEN ((((new.sharing)::text <> 'shared'::text) OR ((old.sharing)::text <> 'shared'::text))) EXECUTE FUNCTION public.nat_claim_of_mapping();

CREATE TRIGGER claims AFTER UPDATE OF member_id ON public.network_holding FOR EACH ROW WHEN ((old.member_id <> new.member_id)) EXECUTE FUNCTION public.nat_claims_change_hands();

CREATE TRIGGER listener_apart BEFORE INSERT OR UPDATE ON public.bans_listener FOR EACH ROW EXECUTE FUNCTION public.bans_listener_apart();

CREATE TRIGGER listener_apart BEFORE INSERT OR UPDATE ON public.nat_portforward FOR EACH ROW EXECUTE FUNCTION public.bans_listener_beside_forward();

CREATE TRIGGER listener_apart BEFORE INSERT OR UPDATE ON public.network_pool FOR EACH ROW EXECUTE FUNCTION public.bans_listener_outside_pool();

CREATE TRIGGER pgtrigger_count_added_39599 AFTER INSERT ON public.bans_ban REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_count_added_39599();

COMMENT ON TRIGGER pgtrigger_count_added_39599 ON public.bans_ban IS '4a95183acb76e5ad12aff91361a963c31fc25716';

CREATE TRIGGER pgtrigger_count_added_ea44d AFTER INSERT ON public.mail_message REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_count_added_ea44d();

COMMENT ON TRIGGER pgtrigger_count_added_ea44d ON public.mail_message IS '49fa0ef990991fba9f5675743af424e967813632';

CREATE TRIGGER pgtrigger_count_moved_7f18c AFTER UPDATE OF state ON public.mail_message FOR EACH ROW WHEN (((old.state)::text IS DISTINCT FROM (new.state)::text)) EXECUTE FUNCTION public.pgtrigger_count_moved_7f18c();

COMMENT ON TRIGGER pgtrigger_count_moved_7f18c ON public.mail_message IS 'b360069def539f49602031315f8b7b9c13f86fd8';

CREATE TRIGGER pgtrigger_count_moved_f8c4e AFTER UPDATE OF list_id ON public.bans_ban FOR EACH ROW WHEN ((old.list_id IS DISTINCT FROM new.list_id)) EXECUTE FUNCTION public.pgtrigger_count_moved_f8c4e();

COMMENT ON TRIGGER pgtrigger_count_moved_f8c4e ON public.bans_ban IS '012e8d111f6b1f8f713e42cb95b211bb000fdbe3';

CREATE TRIGGER pgtrigger_count_removed_8554e AFTER DELETE ON public.bans_ban REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_count_removed_8554e();

COMMENT ON TRIGGER pgtrigger_count_removed_8554e ON public.bans_ban IS '58d40206a51935bd62c70cd11fca2a64f8a876ba';

CREATE TRIGGER pgtrigger_count_removed_9b7b3 AFTER DELETE ON public.mail_message REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_count_removed_9b7b3();

COMMENT ON TRIGGER pgtrigger_count_removed_9b7b3 ON public.mail_message IS '8b63613a31a6a4d89b29b1014da8f1b069d739bc';

CREATE TRIGGER pgtrigger_delete_delete_19f14 AFTER DELETE ON public.accounts_user REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_19f14();

COMMENT ON TRIGGER pgtrigger_delete_delete_19f14 ON public.accounts_user IS '513a029dbf99a7527e39e8ec46a946f633563975';

CREATE TRIGGER pgtrigger_delete_delete_1ce5e AFTER DELETE ON public.bans_serverinterface REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_1ce5e();

COMMENT ON TRIGGER pgtrigger_delete_delete_1ce5e ON public.bans_serverinterface IS '48053087824f2ed1bc2a617a72fd8a837340921d';

CREATE TRIGGER pgtrigger_delete_delete_1fc4a AFTER DELETE ON public.bans_notice REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_1fc4a();

COMMENT ON TRIGGER pgtrigger_delete_delete_1fc4a ON public.bans_notice IS '3669acf043ea6fbe673551f3ac73e2409dabaf4e';

CREATE TRIGGER pgtrigger_delete_delete_1ffb6 AFTER DELETE ON public.members_departure REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_1ffb6();

COMMENT ON TRIGGER pgtrigger_delete_delete_1ffb6 ON public.members_departure IS '63fcdab5e6be9dc55cd6072e83e6009892714076';

CREATE TRIGGER pgtrigger_delete_delete_209ed AFTER DELETE ON public.announcements_announcement REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_209ed();

COMMENT ON TRIGGER pgtrigger_delete_delete_209ed ON public.announcements_announcement IS 'eb15cf508018d962fc34deea0a1657a3205677e2';

CREATE TRIGGER pgtrigger_delete_delete_2161e AFTER DELETE ON public.network_gatewaygroup REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_2161e();

COMMENT ON TRIGGER pgtrigger_delete_delete_2161e ON public.network_gatewaygroup IS 'c006038ee8401c79f5b172857717fed2342963cd';

CREATE TRIGGER pgtrigger_delete_delete_249a1 AFTER DELETE ON public.bans_block REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_249a1();

COMMENT ON TRIGGER pgtrigger_delete_delete_249a1 ON public.bans_block IS '72c803e57b527719636f748e2dbcebaeba15f720';

CREATE TRIGGER pgtrigger_delete_delete_2b343 AFTER DELETE ON public.network_profile REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_2b343();

COMMENT ON TRIGGER pgtrigger_delete_delete_2b343 ON public.network_profile IS 'a650dd8b56dd5f53bbc176b31eb65fa7f995e415';

CREATE TRIGGER pgtrigger_delete_delete_34779 AFTER DELETE ON public.members_memberinvitation REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_34779();

COMMENT ON TRIGGER pgtrigger_delete_delete_34779 ON public.members_memberinvitation IS '0d4fa4d6e69b2568589512494bc82d2a52b67d9b';

CREATE TRIGGER pgtrigger_delete_delete_4588f AFTER DELETE ON public.nat_natmapping REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_4588f();

COMMENT ON TRIGGER pgtrigger_delete_delete_4588f ON public.nat_natmapping IS '543cc1eb239c432367bd5c9a49f40689dda64276';

CREATE TRIGGER pgtrigger_delete_delete_45dc7 AFTER DELETE ON public.traffic_ratelimit REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_45dc7();

COMMENT ON TRIGGER pgtrigger_delete_delete_45dc7 ON public.traffic_ratelimit IS '49fe5b2365dbe0688be95459c4e0de97b4f8b080';

CREATE TRIGGER pgtrigger_delete_delete_4681e AFTER DELETE ON public.alarms_dutyshift REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_4681e();

COMMENT ON TRIGGER pgtrigger_delete_delete_4681e ON public.alarms_dutyshift IS '8163457f05420664d60b2ad20d4cda711a3e96a4';

CREATE TRIGGER pgtrigger_delete_delete_4b6ee AFTER DELETE ON public.nat_portforward REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_4b6ee();

COMMENT ON TRIGGER pgtrigger_delete_delete_4b6ee ON public.nat_portforward IS '7767f97ca404b4c6b516cc50417f1c8c6edec8ec';

CREATE TRIGGER pgtrigger_delete_delete_50bfe AFTER DELETE ON public.bans_ban REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_50bfe();

COMMENT ON TRIGGER pgtrigger_delete_delete_50bfe ON public.bans_ban IS '8fac787eba769932db6562f326072b25863b464e';

CREATE TRIGGER pgtrigger_delete_delete_54dfe AFTER DELETE ON public.status_incident REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_54dfe();

COMMENT ON TRIGGER pgtrigger_delete_delete_54dfe ON public.status_incident IS '3f3a1342d923526c304e7ac5a0a7a8494091d270';

CREATE TRIGGER pgtrigger_delete_delete_64e13 AFTER DELETE ON public.bans_banfeed REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_64e13();

COMMENT ON TRIGGER pgtrigger_delete_delete_64e13 ON public.bans_banfeed IS '5197e9a643ee14a062fcb107f1e021bf720bac3e';

CREATE TRIGGER pgtrigger_delete_delete_67775 AFTER DELETE ON public.nat_move REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_67775();

COMMENT ON TRIGGER pgtrigger_delete_delete_67775 ON public.nat_move IS '4d211da594b60397506b4e92b2cbe15349aeb9b6';

CREATE TRIGGER pgtrigger_delete_delete_69483 AFTER DELETE ON public.members_tariff REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_69483();

COMMENT ON TRIGGER pgtrigger_delete_delete_69483 ON public.members_tariff IS '166cb7d6f449d5917d27b89f1a1a6db830043df0';

CREATE TRIGGER pgtrigger_delete_delete_6e065 AFTER DELETE ON public.accounts_apitoken REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_6e065();

COMMENT ON TRIGGER pgtrigger_delete_delete_6e065 ON public.accounts_apitoken IS 'f68230da7749039dbb88778400a0b8afd944b98c';

CREATE TRIGGER pgtrigger_delete_delete_6fa03 AFTER DELETE ON public.bans_reachable REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_6fa03();

COMMENT ON TRIGGER pgtrigger_delete_delete_6fa03 ON public.bans_reachable IS '1d52fd890423dcda1ded10704ddf60d0a9065c42';

CREATE TRIGGER pgtrigger_delete_delete_7182d AFTER DELETE ON public.network_gateway REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_7182d();

COMMENT ON TRIGGER pgtrigger_delete_delete_7182d ON public.network_gateway IS 'de9a96226d70235f35212ee5cb4067499a3a8f42';

CREATE TRIGGER pgtrigger_delete_delete_7e399 AFTER DELETE ON public.webhooks_endpoint REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_7e399();

COMMENT ON TRIGGER pgtrigger_delete_delete_7e399 ON public.webhooks_endpoint IS '19c9e2de27520bf34f63956671033a19ce370ce8';

CREATE TRIGGER pgtrigger_delete_delete_84422 AFTER DELETE ON public.tickets_ticket REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_84422();

COMMENT ON TRIGGER pgtrigger_delete_delete_84422 ON public.tickets_ticket IS '67209cdf0358908f3f16ad20a457e1839700b5f4';

CREATE TRIGGER pgtrigger_delete_delete_925fb AFTER DELETE ON public.members_member REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_925fb();

COMMENT ON TRIGGER pgtrigger_delete_delete_925fb ON public.members_member IS 'ffaa58a2648a7cc3e8684ff4b7ece6b9e30cf17b';

CREATE TRIGGER pgtrigger_delete_delete_938f8 AFTER DELETE ON public.network_failover REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_938f8();

COMMENT ON TRIGGER pgtrigger_delete_delete_938f8 ON public.network_failover IS 'dfb5a0bc23238e6442c60821e1be49b200b1b753';

CREATE TRIGGER pgtrigger_delete_delete_9537a AFTER DELETE ON public.bans_listener REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_9537a();

COMMENT ON TRIGGER pgtrigger_delete_delete_9537a ON public.bans_listener IS '57a5117feb6edb29a1e4f9f40a16c374ba021887';

CREATE TRIGGER pgtrigger_delete_delete_98271 AFTER DELETE ON public.members_site REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_98271();

COMMENT ON TRIGGER pgtrigger_delete_delete_98271 ON public.members_site IS 'dd56eaffaf9f5c27828889f62bfaf0048881fe49';

CREATE TRIGGER pgtrigger_delete_delete_a310d AFTER DELETE ON public.traffic_quota REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_a310d();

COMMENT ON TRIGGER pgtrigger_delete_delete_a310d ON public.traffic_quota IS '8d5db0bee68ff353170254a5efb52ec1a7ee712b';

CREATE TRIGGER pgtrigger_delete_delete_a3f74 AFTER DELETE ON public.network_holding REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_a3f74();

COMMENT ON TRIGGER pgtrigger_delete_delete_a3f74 ON public.network_holding IS '1074ac8a6297c2dc41fddf7fa0c9752800430df4';

CREATE TRIGGER pgtrigger_delete_delete_ae5ed AFTER DELETE ON public.deployments_databaserestore REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_ae5ed();

COMMENT ON TRIGGER pgtrigger_delete_delete_ae5ed ON public.deployments_databaserestore IS '217b1f79d8f57902fd5d954e69a998252a249e2c';

CREATE TRIGGER pgtrigger_delete_delete_aeba1 AFTER DELETE ON public.preferences_networksettings REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_aeba1();

COMMENT ON TRIGGER pgtrigger_delete_delete_aeba1 ON public.preferences_networksettings IS '17adfa456ac162ab3bf5d3f02b6ae9386d9a3f8b';

CREATE TRIGGER pgtrigger_delete_delete_b0139 AFTER DELETE ON public.network_limits REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_b0139();

COMMENT ON TRIGGER pgtrigger_delete_delete_b0139 ON public.network_limits IS 'f2be1dd686701b1121802df27b7bd0b689861134';

CREATE TRIGGER pgtrigger_delete_delete_bb881 AFTER DELETE ON public.network_protection REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_bb881();

COMMENT ON TRIGGER pgtrigger_delete_delete_bb881 ON public.network_protection IS '9bca9b261ed9f5116a2b76d9c64bccba81f06679';

CREATE TRIGGER pgtrigger_delete_delete_be28b AFTER DELETE ON public.tickets_canned REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_be28b();

COMMENT ON TRIGGER pgtrigger_delete_delete_be28b ON public.tickets_canned IS 'd0615f1a35e01bf74701e366aa15197f77853efe';

CREATE TRIGGER pgtrigger_delete_delete_beb41 AFTER DELETE ON public.alarms_dutycalendar REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_beb41();

COMMENT ON TRIGGER pgtrigger_delete_delete_beb41 ON public.alarms_dutycalendar IS '0be12f452dec1250d3dbfd38a609e68f8830a0eb';

CREATE TRIGGER pgtrigger_delete_delete_c2eea AFTER DELETE ON public.network_pool REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_c2eea();

COMMENT ON TRIGGER pgtrigger_delete_delete_c2eea ON public.network_pool IS '0792a31fb8abc7ff462e35a09b96234fce93d93d';

CREATE TRIGGER pgtrigger_delete_delete_c338b AFTER DELETE ON public.bans_banlist REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_c338b();

COMMENT ON TRIGGER pgtrigger_delete_delete_c338b ON public.bans_banlist IS 'a6d7fd005ab486485a35ed00151af1fe64172b8a';

CREATE TRIGGER pgtrigger_delete_delete_c6fdf AFTER DELETE ON public.bans_allowentry REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_c6fdf();

COMMENT ON TRIGGER pgtrigger_delete_delete_c6fdf ON public.bans_allowentry IS 'a398a30c797f967ac6672399103080b3009a1d5f';

CREATE TRIGGER pgtrigger_delete_delete_cdaf3 AFTER DELETE ON public.alarms_alarmchannel REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_cdaf3();

COMMENT ON TRIGGER pgtrigger_delete_delete_cdaf3 ON public.alarms_alarmchannel IS '6213160969afeddb05779db3832eae9433af198f';

CREATE TRIGGER pgtrigger_delete_delete_d16fe AFTER DELETE ON public.nat_pinhole REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_d16fe();

COMMENT ON TRIGGER pgtrigger_delete_delete_d16fe ON public.nat_pinhole IS '368c8bcbc201d68046c5752f12c82a057c65f6e2';

CREATE TRIGGER pgtrigger_delete_delete_de061 AFTER DELETE ON public.nat_portrules REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_de061();

COMMENT ON TRIGGER pgtrigger_delete_delete_de061 ON public.nat_portrules IS '2dd8769b40ff1b24a7de4afefe8d180525cbe6d6';

CREATE TRIGGER pgtrigger_delete_delete_e34ca AFTER DELETE ON public.members_room REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_e34ca();

COMMENT ON TRIGGER pgtrigger_delete_delete_e34ca ON public.members_room IS '11a1bba9f0ecb894911a5230d459852d0a450d37';

CREATE TRIGGER pgtrigger_delete_delete_e90d9 AFTER DELETE ON public.traffic_fairshare REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_e90d9();

COMMENT ON TRIGGER pgtrigger_delete_delete_e90d9 ON public.traffic_fairshare IS '081581964deea61d582d8a6c255ebaffb8686012';

CREATE TRIGGER pgtrigger_delete_delete_ea490 AFTER DELETE ON public.deployments_heldback REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_ea490();

COMMENT ON TRIGGER pgtrigger_delete_delete_ea490 ON public.deployments_heldback IS 'bf199acecde761bc55829eed585f499123bd1904';

CREATE TRIGGER pgtrigger_delete_delete_ed214 AFTER DELETE ON public.accounts_rolechange REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_ed214();

COMMENT ON TRIGGER pgtrigger_delete_delete_ed214 ON public.accounts_rolechange IS '434e29100479e3b73192d40bbf1e85fc47560bca';

CREATE TRIGGER pgtrigger_delete_delete_f2c14 AFTER DELETE ON public.accounts_invitation REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_f2c14();

COMMENT ON TRIGGER pgtrigger_delete_delete_f2c14 ON public.accounts_invitation IS '097317fc89938afa0e345227fbafc2557c3860a5';

CREATE TRIGGER pgtrigger_delete_delete_f3d20 AFTER DELETE ON public.network_uplink REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_f3d20();

COMMENT ON TRIGGER pgtrigger_delete_delete_f3d20 ON public.network_uplink IS '4ddeb1887b84da711913e75904d24cc68099312c';

CREATE TRIGGER pgtrigger_delete_delete_f481e AFTER DELETE ON public.members_device REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_f481e();

COMMENT ON TRIGGER pgtrigger_delete_delete_f481e ON public.members_device IS '1fcbea7ade6b386663a5e5e779a59426350641a9';

CREATE TRIGGER pgtrigger_delete_delete_faebd AFTER DELETE ON public.deployments_hold REFERENCING OLD TABLE AS old_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_delete_delete_faebd();

COMMENT ON TRIGGER pgtrigger_delete_delete_faebd ON public.deployments_hold IS 'b672c725dc98018405a296e0205b602e498e8c87';

CREATE TRIGGER pgtrigger_enquiry_stays_8bcca BEFORE DELETE OR UPDATE ON public.audit_enquiry FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_enquiry_stays_8bcca();

COMMENT ON TRIGGER pgtrigger_enquiry_stays_8bcca ON public.audit_enquiry IS 'b82eb72f7009dcec74b5a8e91ac27b61525470dd';

CREATE TRIGGER pgtrigger_insert_insert_00c56 AFTER INSERT ON public.network_limits REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_00c56();

COMMENT ON TRIGGER pgtrigger_insert_insert_00c56 ON public.network_limits IS '994d8e2c72a02be4e28cfa89acb9c4e4a0d484c1';

CREATE TRIGGER pgtrigger_insert_insert_01b7d AFTER INSERT ON public.accounts_apitoken REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_01b7d();

COMMENT ON TRIGGER pgtrigger_insert_insert_01b7d ON public.accounts_apitoken IS '2f765428d0567b1d33787c1c0420384a005ce7aa';

CREATE TRIGGER pgtrigger_insert_insert_04853 AFTER INSERT ON public.members_room REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_04853();

COMMENT ON TRIGGER pgtrigger_insert_insert_04853 ON public.members_room IS '5a94cb1f8d1cc8044e654a878e76a91a38779245';

CREATE TRIGGER pgtrigger_insert_insert_0b10e AFTER INSERT ON public.deployments_heldback REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_0b10e();

COMMENT ON TRIGGER pgtrigger_insert_insert_0b10e ON public.deployments_heldback IS '563e940bf4a5312e02531979be0ef0f6b6b51302';

CREATE TRIGGER pgtrigger_insert_insert_0b1d2 AFTER INSERT ON public.traffic_ratelimit REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_0b1d2();

COMMENT ON TRIGGER pgtrigger_insert_insert_0b1d2 ON public.traffic_ratelimit IS 'a772072e7fcc0864a66068a65cc85b967e311eb5';

CREATE TRIGGER pgtrigger_insert_insert_16aa3 AFTER INSERT ON public.nat_pinhole REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_16aa3();

COMMENT ON TRIGGER pgtrigger_insert_insert_16aa3 ON public.nat_pinhole IS 'f0c2214902ed3f7bf8a297d3e840c0f3fbcc7114';

CREATE TRIGGER pgtrigger_insert_insert_170ba AFTER INSERT ON public.bans_allowentry REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_170ba();

COMMENT ON TRIGGER pgtrigger_insert_insert_170ba ON public.bans_allowentry IS '973c2b6f8c5dec33435cbd740baede411b4805ca';

CREATE TRIGGER pgtrigger_insert_insert_1a281 AFTER INSERT ON public.members_tariff REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_1a281();

COMMENT ON TRIGGER pgtrigger_insert_insert_1a281 ON public.members_tariff IS '35d476b7619ab4e0c11e3af5e8b673c4ae18d45a';

CREATE TRIGGER pgtrigger_insert_insert_1e618 AFTER INSERT ON public.network_profile REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_1e618();

COMMENT ON TRIGGER pgtrigger_insert_insert_1e618 ON public.network_profile IS 'f9fc44b08caf93937305c8e86ab1645a9f847663';

CREATE TRIGGER pgtrigger_insert_insert_232fc AFTER INSERT ON public.announcements_announcement REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_232fc();

COMMENT ON TRIGGER pgtrigger_insert_insert_232fc ON public.announcements_announcement IS 'ae505bc4f03e9895da5a17a9cb1af9217effc8d9';

CREATE TRIGGER pgtrigger_insert_insert_25775 AFTER INSERT ON public.nat_portrules REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_25775();

COMMENT ON TRIGGER pgtrigger_insert_insert_25775 ON public.nat_portrules IS '07f4ee20bf46e8611493ed85cd1a11203736a52f';

CREATE TRIGGER pgtrigger_insert_insert_26312 AFTER INSERT ON public.bans_notice REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_26312();

COMMENT ON TRIGGER pgtrigger_insert_insert_26312 ON public.bans_notice IS '08b3cf02671c399f608d6e874e0fb8eba8a684d2';

CREATE TRIGGER pgtrigger_insert_insert_29e4a AFTER INSERT ON public.preferences_networksettings REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_29e4a();

COMMENT ON TRIGGER pgtrigger_insert_insert_29e4a ON public.preferences_networksettings IS 'c9744e6273e3c1e0b2f6a5631324a27d95608d6b';

CREATE TRIGGER pgtrigger_insert_insert_2d01a AFTER INSERT ON public.tickets_ticket REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_2d01a();

COMMENT ON TRIGGER pgtrigger_insert_insert_2d01a ON public.tickets_ticket IS '2e7828f72f728c9d2b8a47559ed2373aaa9fb468';

CREATE TRIGGER pgtrigger_insert_insert_2df50 AFTER INSERT ON public.members_member REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_2df50();

COMMENT ON TRIGGER pgtrigger_insert_insert_2df50 ON public.members_member IS '8f26db52f768cda4f16f67515ce3c2bce17a3eb5';

CREATE TRIGGER pgtrigger_insert_insert_2fa13 AFTER INSERT ON public.status_incident REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_2fa13();

COMMENT ON TRIGGER pgtrigger_insert_insert_2fa13 ON public.status_incident IS '60740cdcdaa5f586d0d927786ea2740785a8a1f2';

CREATE TRIGGER pgtrigger_insert_insert_37197 AFTER INSERT ON public.nat_portforward REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_37197();

COMMENT ON TRIGGER pgtrigger_insert_insert_37197 ON public.nat_portforward IS '5b232c61663ec14ad570491dd11612aa9f17402d';

CREATE TRIGGER pgtrigger_insert_insert_3867c AFTER INSERT ON public.accounts_user REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_3867c();

COMMENT ON TRIGGER pgtrigger_insert_insert_3867c ON public.accounts_user IS 'a5973d37b62e9b915e1810faed2a463c35314bc2';

CREATE TRIGGER pgtrigger_insert_insert_39804 AFTER INSERT ON public.members_site REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_39804();

COMMENT ON TRIGGER pgtrigger_insert_insert_39804 ON public.members_site IS 'af9d00b855e56d8da5a2823d41bdec2e1db156cd';

CREATE TRIGGER pgtrigger_insert_insert_3f6ca AFTER INSERT ON public.accounts_rolechange REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_3f6ca();

COMMENT ON TRIGGER pgtrigger_insert_insert_3f6ca ON public.accounts_rolechange IS '18cbe63aa86a3eaed6e07acea6e64aadd7358e12';

CREATE TRIGGER pgtrigger_insert_insert_5bba2 AFTER INSERT ON public.traffic_fairshare REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_5bba2();

COMMENT ON TRIGGER pgtrigger_insert_insert_5bba2 ON public.traffic_fairshare IS '2bf59aebdd3cf0d3c1cc425ac69f202c5476477f';

CREATE TRIGGER pgtrigger_insert_insert_68072 AFTER INSERT ON public.members_device REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_68072();

COMMENT ON TRIGGER pgtrigger_insert_insert_68072 ON public.members_device IS '9bdab519264fa9b8fd9414846a8ff621a75405cd';

CREATE TRIGGER pgtrigger_insert_insert_6adf4 AFTER INSERT ON public.bans_serverinterface REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_6adf4();

COMMENT ON TRIGGER pgtrigger_insert_insert_6adf4 ON public.bans_serverinterface IS 'c9d85277301bb7b5297e9a78ca9ae81bd6ee899f';

CREATE TRIGGER pgtrigger_insert_insert_6b74f AFTER INSERT ON public.members_departure REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_6b74f();

COMMENT ON TRIGGER pgtrigger_insert_insert_6b74f ON public.members_departure IS '789951c19d6cfb1c32b9196ed32aa850a72aef5c';

CREATE TRIGGER pgtrigger_insert_insert_6dc99 AFTER INSERT ON public.nat_natmapping REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_6dc99();

COMMENT ON TRIGGER pgtrigger_insert_insert_6dc99 ON public.nat_natmapping IS 'c37b0859a6f657e8bea2b16f9175e0bc7d88855c';

CREATE TRIGGER pgtrigger_insert_insert_6f328 AFTER INSERT ON public.members_memberinvitation REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_6f328();

COMMENT ON TRIGGER pgtrigger_insert_insert_6f328 ON public.members_memberinvitation IS 'e8c0d22d1e441f2b1333043b420fee1c255ec699';

CREATE TRIGGER pgtrigger_insert_insert_781dd AFTER INSERT ON public.network_uplink REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_781dd();

COMMENT ON TRIGGER pgtrigger_insert_insert_781dd ON public.network_uplink IS '070518f9dee7642282aa530bdd3ae3e6f018790d';

CREATE TRIGGER pgtrigger_insert_insert_7e331 AFTER INSERT ON public.bans_block REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_7e331();

COMMENT ON TRIGGER pgtrigger_insert_insert_7e331 ON public.bans_block IS '00cb6d31cd7a6aa605a084271bf83e030219445b';

CREATE TRIGGER pgtrigger_insert_insert_7fbc5 AFTER INSERT ON public.nat_move REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_7fbc5();

COMMENT ON TRIGGER pgtrigger_insert_insert_7fbc5 ON public.nat_move IS '2f933db8f6a2570e33cc6e903e498c81c1128df6';

CREATE TRIGGER pgtrigger_insert_insert_8c354 AFTER INSERT ON public.accounts_invitation REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_8c354();

COMMENT ON TRIGGER pgtrigger_insert_insert_8c354 ON public.accounts_invitation IS 'a599c8518ede9a9d8e0a2e0687643b530ecf48d1';

CREATE TRIGGER pgtrigger_insert_insert_925e2 AFTER INSERT ON public.alarms_dutyshift REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_925e2();

COMMENT ON TRIGGER pgtrigger_insert_insert_925e2 ON public.alarms_dutyshift IS '6e24ae824f1081f52aa3197209dbd36bc44607db';

CREATE TRIGGER pgtrigger_insert_insert_92d85 AFTER INSERT ON public.network_protection REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_92d85();

COMMENT ON TRIGGER pgtrigger_insert_insert_92d85 ON public.network_protection IS '2d4e081f7d0117f7d723db95391cd4befb9f762a';

CREATE TRIGGER pgtrigger_insert_insert_942ba AFTER INSERT ON public.bans_ban REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_942ba();

COMMENT ON TRIGGER pgtrigger_insert_insert_942ba ON public.bans_ban IS '482c258403cb8cdb210f6968e65e494303ad0c03';

CREATE TRIGGER pgtrigger_insert_insert_9dc6a AFTER INSERT ON public.bans_banlist REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_9dc6a();

COMMENT ON TRIGGER pgtrigger_insert_insert_9dc6a ON public.bans_banlist IS '19d48f2e22094d2462d4c0b4ea9b7629c61f9b2d';

CREATE TRIGGER pgtrigger_insert_insert_a4941 AFTER INSERT ON public.network_failover REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_a4941();

COMMENT ON TRIGGER pgtrigger_insert_insert_a4941 ON public.network_failover IS '43f7d69ede57fd782a6e4ed8b7a9787fb63b62c6';

CREATE TRIGGER pgtrigger_insert_insert_a70c2 AFTER INSERT ON public.network_holding REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_a70c2();

COMMENT ON TRIGGER pgtrigger_insert_insert_a70c2 ON public.network_holding IS '9333e5478cb216d851037fb2e52637d47c713d4c';

CREATE TRIGGER pgtrigger_insert_insert_a97a3 AFTER INSERT ON public.tickets_canned REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_a97a3();

COMMENT ON TRIGGER pgtrigger_insert_insert_a97a3 ON public.tickets_canned IS 'e52315b07e4e551416f1e7cf0b2f960aeb4ca4c1';

CREATE TRIGGER pgtrigger_insert_insert_acf6b AFTER INSERT ON public.alarms_dutycalendar REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_acf6b();

COMMENT ON TRIGGER pgtrigger_insert_insert_acf6b ON public.alarms_dutycalendar IS '717df79fddf7aa1c597f287fdef2dc6710aa7fc0';

CREATE TRIGGER pgtrigger_insert_insert_b6625 AFTER INSERT ON public.deployments_hold REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_b6625();

COMMENT ON TRIGGER pgtrigger_insert_insert_b6625 ON public.deployments_hold IS 'b9b50b43dc13483ff135f7f5fbb46adcb1858973';

CREATE TRIGGER pgtrigger_insert_insert_b7d76 AFTER INSERT ON public.deployments_databaserestore REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_b7d76();

COMMENT ON TRIGGER pgtrigger_insert_insert_b7d76 ON public.deployments_databaserestore IS '44d739f23ef8e2f69e5eb5a97691085c21cce525';

CREATE TRIGGER pgtrigger_insert_insert_be2a6 AFTER INSERT ON public.bans_listener REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_be2a6();

COMMENT ON TRIGGER pgtrigger_insert_insert_be2a6 ON public.bans_listener IS 'b110a11519c90d53b56f9079e57b077f17d1eb95';

CREATE TRIGGER pgtrigger_insert_insert_c1e88 AFTER INSERT ON public.network_gateway REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_c1e88();

COMMENT ON TRIGGER pgtrigger_insert_insert_c1e88 ON public.network_gateway IS '6ad3b0fcb423f5f069eedb22c56a17889a325eb9';

CREATE TRIGGER pgtrigger_insert_insert_d1c7c AFTER INSERT ON public.traffic_quota REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_d1c7c();

COMMENT ON TRIGGER pgtrigger_insert_insert_d1c7c ON public.traffic_quota IS '4ba750b0a0064b90106b88ce35bbab3fc0a1142c';

CREATE TRIGGER pgtrigger_insert_insert_e0322 AFTER INSERT ON public.webhooks_endpoint REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_e0322();

COMMENT ON TRIGGER pgtrigger_insert_insert_e0322 ON public.webhooks_endpoint IS 'df379f1d848811895278567f50fea6e12d4c8f3c';

CREATE TRIGGER pgtrigger_insert_insert_e584a AFTER INSERT ON public.bans_reachable REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_e584a();

COMMENT ON TRIGGER pgtrigger_insert_insert_e584a ON public.bans_reachable IS 'e2e9b7413ccc84d742f34ed6c21f22c6a331bba6';

CREATE TRIGGER pgtrigger_insert_insert_e8f4d AFTER INSERT ON public.network_pool REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_e8f4d();

COMMENT ON TRIGGER pgtrigger_insert_insert_e8f4d ON public.network_pool IS '12009e32f0b9bd73ab45d973e54e71b2d5b98a3c';

CREATE TRIGGER pgtrigger_insert_insert_eff18 AFTER INSERT ON public.alarms_alarmchannel REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_eff18();

COMMENT ON TRIGGER pgtrigger_insert_insert_eff18 ON public.alarms_alarmchannel IS '30e825ae1562d53273b9913169dc7a5f8983c66a';

CREATE TRIGGER pgtrigger_insert_insert_f93d1 AFTER INSERT ON public.bans_banfeed REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_f93d1();

COMMENT ON TRIGGER pgtrigger_insert_insert_f93d1 ON public.bans_banfeed IS '0f79a46218fc5dd7e2588d4b35fe5a77be41ddd4';

CREATE TRIGGER pgtrigger_insert_insert_fe8f6 AFTER INSERT ON public.network_gatewaygroup REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_insert_insert_fe8f6();

COMMENT ON TRIGGER pgtrigger_insert_insert_fe8f6 ON public.network_gatewaygroup IS '45cf0b5988b03a030c7304196369d22bcc3562f0';

CREATE TRIGGER pgtrigger_last_network_admin_b0978 BEFORE DELETE OR UPDATE ON public.accounts_user FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_last_network_admin_b0978();

COMMENT ON TRIGGER pgtrigger_last_network_admin_b0978 ON public.accounts_user IS '3212d0a5b3d4036c0b2cbff148701579d5c52541';

CREATE TRIGGER pgtrigger_notes_when_left_98df4 BEFORE INSERT OR UPDATE ON public.members_member FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_notes_when_left_98df4();

COMMENT ON TRIGGER pgtrigger_notes_when_left_98df4 ON public.members_member IS '115e5af8ddd638b1945398b471d6bd94648d9839';

CREATE TRIGGER pgtrigger_periods_of_changed_d44df AFTER UPDATE ON public.members_member REFERENCING OLD TABLE AS old_values NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_periods_of_changed_d44df();

COMMENT ON TRIGGER pgtrigger_periods_of_changed_d44df ON public.members_member IS '780ef6ac77866e295d2a02c8b9e1335191374423';

CREATE TRIGGER pgtrigger_periods_of_new_db609 AFTER INSERT ON public.members_member REFERENCING NEW TABLE AS new_values FOR EACH STATEMENT EXECUTE FUNCTION public.pgtrigger_periods_of_new_db609();

COMMENT ON TRIGGER pgtrigger_periods_of_new_db609 ON public.members_member IS '348fb4f00c5ca5f3606380d0f7cf8dbb0c7d8c4b';

CREATE TRIGGER pgtrigger_stamp_transaction_1032f BEFORE UPDATE ON public.network_holding FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_1032f();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_1032f ON public.network_holding IS '5faa33e9b318bff69016151bc98e670de0dc5599';

CREATE TRIGGER pgtrigger_stamp_transaction_93ef2 BEFORE UPDATE ON public.bans_banlist FOR EACH ROW WHEN ((old.enabled IS DISTINCT FROM new.enabled)) EXECUTE FUNCTION public.pgtrigger_stamp_transaction_93ef2();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_93ef2 ON public.bans_banlist IS '056a17cd3dbe9071c0a12ae5fd8631d1c5b69dce';

CREATE TRIGGER pgtrigger_stamp_transaction_9b50c BEFORE UPDATE ON public.bans_listener FOR EACH ROW WHEN (((old.address IS DISTINCT FROM new.address) OR (old.enabled IS DISTINCT FROM new.enabled) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.guarded IS DISTINCT FROM new.guarded) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.port IS DISTINCT FROM new.port) OR ((old.protocol)::text IS DISTINCT FROM (new.protocol)::text) OR (old.window_scale IS DISTINCT FROM new.window_scale))) EXECUTE FUNCTION public.pgtrigger_stamp_transaction_9b50c();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_9b50c ON public.bans_listener IS '8544933643724b46339452fdc07fdfb146a4c0f4';

CREATE TRIGGER pgtrigger_stamp_transaction_a082c BEFORE UPDATE ON public.bans_block FOR EACH ROW WHEN (((old.member_id IS DISTINCT FROM new.member_id) OR (old.valid IS DISTINCT FROM new.valid))) EXECUTE FUNCTION public.pgtrigger_stamp_transaction_a082c();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_a082c ON public.bans_block IS '737f111bfcf4adcda6f764682e5fdc8b2d100c03';

CREATE TRIGGER pgtrigger_stamp_transaction_a4b8e BEFORE UPDATE ON public.network_limits FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_a4b8e();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_a4b8e ON public.network_limits IS '43d47838f7bd05e7e451a45b10f03b5dabd97a7f';

CREATE TRIGGER pgtrigger_stamp_transaction_b3db6 BEFORE UPDATE ON public.network_profile FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_b3db6();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_b3db6 ON public.network_profile IS '4889a0c9bce6952e4bffb85b3a4bd74713f13361';

CREATE TRIGGER pgtrigger_stamp_transaction_b595e BEFORE UPDATE ON public.nat_pinhole FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_b595e();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_b595e ON public.nat_pinhole IS '926f22d4054307133b2a160e7c7d563b552ff07e';

CREATE TRIGGER pgtrigger_stamp_transaction_b8458 BEFORE UPDATE ON public.traffic_ratelimit FOR EACH ROW WHEN (((old.down_kbit IS DISTINCT FROM new.down_kbit) OR (old.member_id IS DISTINCT FROM new.member_id) OR (old.up_kbit IS DISTINCT FROM new.up_kbit) OR (old.valid IS DISTINCT FROM new.valid))) EXECUTE FUNCTION public.pgtrigger_stamp_transaction_b8458();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_b8458 ON public.traffic_ratelimit IS 'bd9bc5e02bc46c6e95826f6a91a6eaf1fbf14040';

CREATE TRIGGER pgtrigger_stamp_transaction_be5d6 BEFORE UPDATE ON public.network_uplink FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_be5d6();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_be5d6 ON public.network_uplink IS 'b64a09b28fd836ee7f78bde48a885057a696e580';

CREATE TRIGGER pgtrigger_stamp_transaction_c34a3 BEFORE UPDATE ON public.nat_natmapping FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_c34a3();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_c34a3 ON public.nat_natmapping IS 'f979f84124f1fd847353814f16f9759ae63717a5';

CREATE TRIGGER pgtrigger_stamp_transaction_ce10e BEFORE UPDATE ON public.bans_ban FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_ce10e();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_ce10e ON public.bans_ban IS '56219aa54c9ca612e529e2ab0cd1d8139b178f7c';

CREATE TRIGGER pgtrigger_stamp_transaction_e24e5 BEFORE UPDATE ON public.network_protection FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_e24e5();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_e24e5 ON public.network_protection IS '9dd50f924971d3d4602b1b591337c8b49f04761e';

CREATE TRIGGER pgtrigger_stamp_transaction_f812e BEFORE UPDATE ON public.nat_portforward FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_f812e();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_f812e ON public.nat_portforward IS '04c0f67e9172492c0039a799eb4366567fcd1550';

CREATE TRIGGER pgtrigger_stamp_transaction_fd686 BEFORE UPDATE ON public.bans_allowentry FOR EACH ROW EXECUTE FUNCTION public.pgtrigger_stamp_transaction_fd686();

COMMENT ON TRIGGER pgtrigger_stamp_transaction_fd686 ON public.bans_allowentry IS '02955821c76cd5942406f2d4596dd1904c4648bb';

CREATE TRIGGER pgtrigger_update_update_004cb AFTER UPDATE ON public.members_room FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_004cb();

COMMENT ON TRIGGER pgtrigger_update_update_004cb ON public.members_room IS '194bbe67efbc33adc3757ffd1f88bd0ad12ca9aa';

CREATE TRIGGER pgtrigger_update_update_02c7e AFTER UPDATE ON public.members_tariff FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_02c7e();

COMMENT ON TRIGGER pgtrigger_update_update_02c7e ON public.members_tariff IS '5999a5fffbb2a430c93448d42ec603701d47f993';

CREATE TRIGGER pgtrigger_update_update_0e890 AFTER UPDATE ON public.accounts_user FOR EACH ROW WHEN (((old.date_joined IS DISTINCT FROM new.date_joined) OR ((old.email)::text IS DISTINCT FROM (new.email)::text) OR ((old.first_name)::text IS DISTINCT FROM (new.first_name)::text) OR (old.id IS DISTINCT FROM new.id) OR (old.is_active IS DISTINCT FROM new.is_active) OR (old.keys IS DISTINCT FROM new.keys) OR ((old.language)::text IS DISTINCT FROM (new.language)::text) OR ((old.last_name)::text IS DISTINCT FROM (new.last_name)::text) OR (old.roles IS DISTINCT FROM new.roles) OR ((old.username)::text IS DISTINCT FROM (new.username)::text))) EXECUTE FUNCTION public.pgtrigger_update_update_0e890();

COMMENT ON TRIGGER pgtrigger_update_update_0e890 ON public.accounts_user IS 'f29ea551ac4a74ee92c523525c82ceb0f9aa87f3';

CREATE TRIGGER pgtrigger_update_update_0fc7d AFTER UPDATE ON public.nat_pinhole FOR EACH ROW WHEN (((old.address IS DISTINCT FROM new.address) OR (old.enabled IS DISTINCT FROM new.enabled) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.held IS DISTINCT FROM new.held) OR (old.holding_id IS DISTINCT FROM new.holding_id) OR (old.id IS DISTINCT FROM new.id) OR ((old.kind)::text IS DISTINCT FROM (new.kind)::text) OR (old.port IS DISTINCT FROM new.port) OR (old.ports IS DISTINCT FROM new.ports) OR ((old.prefix)::inet IS DISTINCT FROM (new.prefix)::inet) OR ((old.protocol)::text IS DISTINCT FROM (new.protocol)::text) OR ((old.purpose)::text IS DISTINCT FROM (new.purpose)::text) OR (old.valid IS DISTINCT FROM new.valid) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_0fc7d();

COMMENT ON TRIGGER pgtrigger_update_update_0fc7d ON public.nat_pinhole IS 'b8f35aaf362af8f9e95efea19012db01f1d8b1e9';

CREATE TRIGGER pgtrigger_update_update_12ba2 AFTER UPDATE ON public.nat_portrules FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_12ba2();

COMMENT ON TRIGGER pgtrigger_update_update_12ba2 ON public.nat_portrules IS '69885280529d0677888b5303446d6a9624153b82';

CREATE TRIGGER pgtrigger_update_update_1a582 AFTER UPDATE ON public.traffic_quota FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_1a582();

COMMENT ON TRIGGER pgtrigger_update_update_1a582 ON public.traffic_quota IS '6a997aaf97d724f01bd4abc44c4e6930adc939dc';

CREATE TRIGGER pgtrigger_update_update_1b05d AFTER UPDATE ON public.network_failover FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_1b05d();

COMMENT ON TRIGGER pgtrigger_update_update_1b05d ON public.network_failover IS '9a7560d903a2bedc93a012515eb545331523aec0';

CREATE TRIGGER pgtrigger_update_update_25f99 AFTER UPDATE ON public.network_protection FOR EACH ROW WHEN (((old.bgp_peers IS DISTINCT FROM new.bgp_peers) OR (old.bogons IS DISTINCT FROM new.bogons) OR (old.ftp_ports IS DISTINCT FROM new.ftp_ports) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.id IS DISTINCT FROM new.id) OR (old.ospf_peers IS DISTINCT FROM new.ospf_peers) OR (old.own IS DISTINCT FROM new.own) OR (old.sip_ports IS DISTINCT FROM new.sip_ports) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_25f99();

COMMENT ON TRIGGER pgtrigger_update_update_25f99 ON public.network_protection IS '175c5472631a43269fb1bb1f0613180f9c2f5b3e';

CREATE TRIGGER pgtrigger_update_update_28497 AFTER UPDATE ON public.bans_block FOR EACH ROW WHEN (((old.author_id IS DISTINCT FROM new.author_id) OR (old.id IS DISTINCT FROM new.id) OR (old.lifted_by_id IS DISTINCT FROM new.lifted_by_id) OR (old.member_id IS DISTINCT FROM new.member_id) OR ((old.message)::text IS DISTINCT FROM (new.message)::text) OR (old.note IS DISTINCT FROM new.note) OR ((old.reason)::text IS DISTINCT FROM (new.reason)::text) OR (old.valid IS DISTINCT FROM new.valid) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_28497();

COMMENT ON TRIGGER pgtrigger_update_update_28497 ON public.bans_block IS 'c57fd335e4494afbbe099acdaa98b4dc3309f2e2';

CREATE TRIGGER pgtrigger_update_update_30f33 AFTER UPDATE ON public.alarms_dutyshift FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_30f33();

COMMENT ON TRIGGER pgtrigger_update_update_30f33 ON public.alarms_dutyshift IS 'cb3c559725bd573d1f061d68003756bf57002fa1';

CREATE TRIGGER pgtrigger_update_update_31984 AFTER UPDATE ON public.bans_ban FOR EACH ROW WHEN (((old.author_id IS DISTINCT FROM new.author_id) OR ((old.comment)::text IS DISTINCT FROM (new.comment)::text) OR (old.created IS DISTINCT FROM new.created) OR ((old.direction)::text IS DISTINCT FROM (new.direction)::text) OR (old.expires IS DISTINCT FROM new.expires) OR (old.id IS DISTINCT FROM new.id) OR (old.list_id IS DISTINCT FROM new.list_id) OR ((old.prefix)::inet IS DISTINCT FROM (new.prefix)::inet) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_31984();

COMMENT ON TRIGGER pgtrigger_update_update_31984 ON public.bans_ban IS 'f23fe1cecfd69c803313ce1e839a2b11e5ad0d41';

CREATE TRIGGER pgtrigger_update_update_3bc25 AFTER UPDATE ON public.bans_serverinterface FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_3bc25();

COMMENT ON TRIGGER pgtrigger_update_update_3bc25 ON public.bans_serverinterface IS 'b12051bbe61b0f761aec7c7d148cb6362bfb774b';

CREATE TRIGGER pgtrigger_update_update_426fa AFTER UPDATE ON public.network_limits FOR EACH ROW WHEN (((old.exempt IS DISTINCT FROM new.exempt) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.id IS DISTINCT FROM new.id) OR (old.mail_rate IS DISTINCT FROM new.mail_rate) OR (old.member_burst IS DISTINCT FROM new.member_burst) OR (old.member_open IS DISTINCT FROM new.member_open) OR (old.member_rate IS DISTINCT FROM new.member_rate) OR (old.open_sampled IS DISTINCT FROM new.open_sampled) OR (old.refuses IS DISTINCT FROM new.refuses) OR (old.source_burst IS DISTINCT FROM new.source_burst) OR (old.source_open IS DISTINCT FROM new.source_open) OR (old.source_rate IS DISTINCT FROM new.source_rate) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_426fa();

COMMENT ON TRIGGER pgtrigger_update_update_426fa ON public.network_limits IS '667854c8f738015c0e07c87ac94c32061cd0a6e1';

CREATE TRIGGER pgtrigger_update_update_44fbd AFTER UPDATE ON public.accounts_rolechange FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_44fbd();

COMMENT ON TRIGGER pgtrigger_update_update_44fbd ON public.accounts_rolechange IS '4418d1fe9a57fe66ae13f26132072a745fb739aa';

CREATE TRIGGER pgtrigger_update_update_46f09 AFTER UPDATE ON public.network_uplink FOR EACH ROW WHEN (((old.down_kbit IS DISTINCT FROM new.down_kbit) OR ((old.framing)::text IS DISTINCT FROM (new.framing)::text) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.id IS DISTINCT FROM new.id) OR (old.limits_rates IS DISTINCT FROM new.limits_rates) OR (old.queue_down_kbit IS DISTINCT FROM new.queue_down_kbit) OR (old.queue_up_kbit IS DISTINCT FROM new.queue_up_kbit) OR (old.up_kbit IS DISTINCT FROM new.up_kbit) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_46f09();

COMMENT ON TRIGGER pgtrigger_update_update_46f09 ON public.network_uplink IS '111b338f472f6e2d18a2bb44ac3fd7cf436310d1';

CREATE TRIGGER pgtrigger_update_update_4e12d AFTER UPDATE ON public.accounts_invitation FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_4e12d();

COMMENT ON TRIGGER pgtrigger_update_update_4e12d ON public.accounts_invitation IS '30bbc887095d29f8816d29f6ca09574755a387cc';

CREATE TRIGGER pgtrigger_update_update_5d09d AFTER UPDATE ON public.members_device FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_5d09d();

COMMENT ON TRIGGER pgtrigger_update_update_5d09d ON public.members_device IS '426f730490daac5ed746279d97cc983434a0b753';

CREATE TRIGGER pgtrigger_update_update_62340 AFTER UPDATE ON public.network_gateway FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_62340();

COMMENT ON TRIGGER pgtrigger_update_update_62340 ON public.network_gateway IS '1caad68eebbcb30fdab9d20fa06756c33dbf12c7';

CREATE TRIGGER pgtrigger_update_update_6342c AFTER UPDATE ON public.webhooks_endpoint FOR EACH ROW WHEN (((old.active IS DISTINCT FROM new.active) OR (old.created IS DISTINCT FROM new.created) OR (old.id IS DISTINCT FROM new.id) OR (old.kinds IS DISTINCT FROM new.kinds) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old."on" IS DISTINCT FROM new."on") OR (old.owner_id IS DISTINCT FROM new.owner_id) OR ((old.url)::text IS DISTINCT FROM (new.url)::text) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_6342c();

COMMENT ON TRIGGER pgtrigger_update_update_6342c ON public.webhooks_endpoint IS 'ee4ef0442d74bf93c558d83b94bb5c8b0658c8f9';

CREATE TRIGGER pgtrigger_update_update_6f165 AFTER UPDATE ON public.bans_banfeed FOR EACH ROW WHEN ((((old.comment)::text IS DISTINCT FROM (new.comment)::text) OR ((old.direction)::text IS DISTINCT FROM (new.direction)::text) OR (old.enabled IS DISTINCT FROM new.enabled) OR (old.id IS DISTINCT FROM new.id) OR (old."interval" IS DISTINCT FROM new."interval") OR (old.list_id IS DISTINCT FROM new.list_id) OR (old.minimum_count IS DISTINCT FROM new.minimum_count) OR (old.shrink_limit IS DISTINCT FROM new.shrink_limit) OR ((old.source)::text IS DISTINCT FROM (new.source)::text) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_6f165();

COMMENT ON TRIGGER pgtrigger_update_update_6f165 ON public.bans_banfeed IS '7a45aa11f440acb3654ae7462198b38ba2e0b8c1';

CREATE TRIGGER pgtrigger_update_update_735d1 AFTER UPDATE ON public.deployments_hold FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_735d1();

COMMENT ON TRIGGER pgtrigger_update_update_735d1 ON public.deployments_hold IS '2848753c9b20f46ab905c3353b04835a229fd3e5';

CREATE TRIGGER pgtrigger_update_update_7edf5 AFTER UPDATE ON public.traffic_ratelimit FOR EACH ROW WHEN (((old.author_id IS DISTINCT FROM new.author_id) OR (old.down_kbit IS DISTINCT FROM new.down_kbit) OR (old.id IS DISTINCT FROM new.id) OR (old.member_id IS DISTINCT FROM new.member_id) OR ((old.note)::text IS DISTINCT FROM (new.note)::text) OR ((old.reason)::text IS DISTINCT FROM (new.reason)::text) OR (old.released_by_id IS DISTINCT FROM new.released_by_id) OR (old.up_kbit IS DISTINCT FROM new.up_kbit) OR (old.valid IS DISTINCT FROM new.valid) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_7edf5();

COMMENT ON TRIGGER pgtrigger_update_update_7edf5 ON public.traffic_ratelimit IS 'e41aca489e108c590e806b8895dc8435f38f443f';

CREATE TRIGGER pgtrigger_update_update_8186a AFTER UPDATE ON public.network_gatewaygroup FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_8186a();

COMMENT ON TRIGGER pgtrigger_update_update_8186a ON public.network_gatewaygroup IS '8c4acc8ed84ea835532fa594f90d4ec8980dbb79';

CREATE TRIGGER pgtrigger_update_update_8fc0c AFTER UPDATE ON public.alarms_alarmchannel FOR EACH ROW WHEN (((old.active IS DISTINCT FROM new.active) OR (old.after_minutes IS DISTINCT FROM new.after_minutes) OR (old.id IS DISTINCT FROM new.id) OR ((old.language)::text IS DISTINCT FROM (new.language)::text) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.only_critical IS DISTINCT FROM new.only_critical) OR (old.person_id IS DISTINCT FROM new.person_id) OR (old.quiet_from IS DISTINCT FROM new.quiet_from) OR (old.quiet_until IS DISTINCT FROM new.quiet_until) OR ((old.shown)::text IS DISTINCT FROM (new.shown)::text) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_8fc0c();

COMMENT ON TRIGGER pgtrigger_update_update_8fc0c ON public.alarms_alarmchannel IS '48ec39cf1665fc660387e1a4d49e0dfada7b97f8';

CREATE TRIGGER pgtrigger_update_update_9416e AFTER UPDATE ON public.deployments_databaserestore FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_9416e();

COMMENT ON TRIGGER pgtrigger_update_update_9416e ON public.deployments_databaserestore IS '212e794d8ce1c2251742ddcaedb08f5e4fcab5b2';

CREATE TRIGGER pgtrigger_update_update_9e133 AFTER UPDATE ON public.nat_move FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_9e133();

COMMENT ON TRIGGER pgtrigger_update_update_9e133 ON public.nat_move IS '75ac4fb56f34e91deec040d8c35673d9d67f7712';

CREATE TRIGGER pgtrigger_update_update_a503a AFTER UPDATE ON public.network_profile FOR EACH ROW WHEN (((old.buckets IS DISTINCT FROM new.buckets) OR (old.connections IS DISTINCT FROM new.connections) OR (old.first_port IS DISTINCT FROM new.first_port) OR (old.generic IS DISTINCT FROM new.generic) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.icmp IS DISTINCT FROM new.icmp) OR (old.id IS DISTINCT FROM new.id) OR (old.last_port IS DISTINCT FROM new.last_port) OR (old.managed IS DISTINCT FROM new.managed) OR (old.tcp_close_wait IS DISTINCT FROM new.tcp_close_wait) OR (old.tcp_established IS DISTINCT FROM new.tcp_established) OR (old.tcp_fin_wait IS DISTINCT FROM new.tcp_fin_wait) OR (old.tcp_loose IS DISTINCT FROM new.tcp_loose) OR (old.tcp_syn_sent IS DISTINCT FROM new.tcp_syn_sent) OR (old.tcp_time_wait IS DISTINCT FROM new.tcp_time_wait) OR (old.udp IS DISTINCT FROM new.udp) OR (old.udp_stream IS DISTINCT FROM new.udp_stream) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_a503a();

COMMENT ON TRIGGER pgtrigger_update_update_a503a ON public.network_profile IS 'd9e40d411205016b0a0badce18dae4adc08849d3';

CREATE TRIGGER pgtrigger_update_update_a77cc AFTER UPDATE ON public.status_incident FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_a77cc();

COMMENT ON TRIGGER pgtrigger_update_update_a77cc ON public.status_incident IS 'f979eb4a5eb33c12c6a863efea0f1c5f05001bfa';

CREATE TRIGGER pgtrigger_update_update_aa425 AFTER UPDATE ON public.bans_allowentry FOR EACH ROW WHEN (((old.author_id IS DISTINCT FROM new.author_id) OR ((old.comment)::text IS DISTINCT FROM (new.comment)::text) OR (old.created IS DISTINCT FROM new.created) OR (old.expires IS DISTINCT FROM new.expires) OR (old.id IS DISTINCT FROM new.id) OR ((old.prefix)::inet IS DISTINCT FROM (new.prefix)::inet) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_aa425();

COMMENT ON TRIGGER pgtrigger_update_update_aa425 ON public.bans_allowentry IS '090ba559938353addabfbf1f3ced4c536cebb356';

CREATE TRIGGER pgtrigger_update_update_b1727 AFTER UPDATE ON public.alarms_dutycalendar FOR EACH ROW WHEN (((old.active IS DISTINCT FROM new.active) OR (old.id IS DISTINCT FROM new.id) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR ((old.shown)::text IS DISTINCT FROM (new.shown)::text) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_b1727();

COMMENT ON TRIGGER pgtrigger_update_update_b1727 ON public.alarms_dutycalendar IS '8f5d5be562461ad590616ee204d2b568e30dd358';

CREATE TRIGGER pgtrigger_update_update_b1bc1 AFTER UPDATE ON public.members_member FOR EACH ROW WHEN ((((old.email)::text IS DISTINCT FROM (new.email)::text) OR (old.id IS DISTINCT FROM new.id) OR ((old.language)::text IS DISTINCT FROM (new.language)::text) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.note IS DISTINCT FROM new.note) OR (old.number IS DISTINCT FROM new.number) OR (old.paid_until IS DISTINCT FROM new.paid_until) OR (old.room_id IS DISTINCT FROM new.room_id) OR (old.since IS DISTINCT FROM new.since) OR ((old.state)::text IS DISTINCT FROM (new.state)::text) OR (old.tariff_id IS DISTINCT FROM new.tariff_id) OR (old.user_id IS DISTINCT FROM new.user_id) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_b1bc1();

COMMENT ON TRIGGER pgtrigger_update_update_b1bc1 ON public.members_member IS '18486ee18581b251c81ecee1d1d97557417bda6f';

CREATE TRIGGER pgtrigger_update_update_b4cf0 AFTER UPDATE ON public.tickets_canned FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_b4cf0();

COMMENT ON TRIGGER pgtrigger_update_update_b4cf0 ON public.tickets_canned IS 'c11100a88b80458d7a8e412d17b81547284d6044';

CREATE TRIGGER pgtrigger_update_update_b6194 AFTER UPDATE ON public.members_departure FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_b6194();

COMMENT ON TRIGGER pgtrigger_update_update_b6194 ON public.members_departure IS '0dc3ced70ebb735b8fb3048a366814c92488ff2f';

CREATE TRIGGER pgtrigger_update_update_b7240 AFTER UPDATE ON public.deployments_heldback FOR EACH ROW WHEN (((old.alone IS DISTINCT FROM new.alone) OR (old.asker_unknown IS DISTINCT FROM new.asker_unknown) OR (old.decided IS DISTINCT FROM new.decided) OR (old.decided_by_id IS DISTINCT FROM new.decided_by_id) OR ((old.digest)::text IS DISTINCT FROM (new.digest)::text) OR (old.earlier IS DISTINCT FROM new.earlier) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.id IS DISTINCT FROM new.id) OR ((old.kind)::text IS DISTINCT FROM (new.kind)::text) OR (old.of IS DISTINCT FROM new.of) OR ((old.reason)::text IS DISTINCT FROM (new.reason)::text) OR (old.removed IS DISTINCT FROM new.removed) OR (old.since IS DISTINCT FROM new.since) OR ((old.state)::text IS DISTINCT FROM (new.state)::text))) EXECUTE FUNCTION public.pgtrigger_update_update_b7240();

COMMENT ON TRIGGER pgtrigger_update_update_b7240 ON public.deployments_heldback IS 'c0c17b91a523fd56b22e56a5916f9c1b67019ea2';

CREATE TRIGGER pgtrigger_update_update_b90b7 AFTER UPDATE ON public.members_memberinvitation FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_b90b7();

COMMENT ON TRIGGER pgtrigger_update_update_b90b7 ON public.members_memberinvitation IS '3da5d0a963b6960d54a46ded9573ae1972d37214';

CREATE TRIGGER pgtrigger_update_update_bed81 AFTER UPDATE ON public.traffic_fairshare FOR EACH ROW WHEN (((old.calm_minutes IS DISTINCT FROM new.calm_minutes) OR (old.down_kbit IS DISTINCT FROM new.down_kbit) OR (old.end_percent IS DISTINCT FROM new.end_percent) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.id IS DISTINCT FROM new.id) OR (old.limit_minutes IS DISTINCT FROM new.limit_minutes) OR (old.minutes IS DISTINCT FROM new.minutes) OR (old.most IS DISTINCT FROM new.most) OR (old."on" IS DISTINCT FROM new."on") OR (old.start_percent IS DISTINCT FROM new.start_percent) OR (old.up_kbit IS DISTINCT FROM new.up_kbit) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_bed81();

COMMENT ON TRIGGER pgtrigger_update_update_bed81 ON public.traffic_fairshare IS 'add7db4579cd703349424ab5bd4ec4d6ab24cbb8';

CREATE TRIGGER pgtrigger_update_update_c33b6 AFTER UPDATE ON public.bans_notice FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_c33b6();

COMMENT ON TRIGGER pgtrigger_update_update_c33b6 ON public.bans_notice IS 'ed6faf13dd6a165b3b82d3e5ac52f87e7f0e07d0';

CREATE TRIGGER pgtrigger_update_update_c471b AFTER UPDATE ON public.members_site FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_c471b();

COMMENT ON TRIGGER pgtrigger_update_update_c471b ON public.members_site IS 'dc224e3554ded0a29c60da5f51319fdedc8b33ea';

CREATE TRIGGER pgtrigger_update_update_c6bd0 AFTER UPDATE ON public.tickets_ticket FOR EACH ROW WHEN ((((old.address)::text IS DISTINCT FROM (new.address)::text) OR (old.assignee_id IS DISTINCT FROM new.assignee_id) OR (old.id IS DISTINCT FROM new.id) OR ((old.language)::text IS DISTINCT FROM (new.language)::text) OR (old.member_id IS DISTINCT FROM new.member_id) OR (old.merged_into_id IS DISTINCT FROM new.merged_into_id) OR (old.opened_at IS DISTINCT FROM new.opened_at) OR (old.priority IS DISTINCT FROM new.priority) OR (old.split_from_id IS DISTINCT FROM new.split_from_id) OR ((old.state)::text IS DISTINCT FROM (new.state)::text) OR ((old.subject)::text IS DISTINCT FROM (new.subject)::text) OR (old.tags IS DISTINCT FROM new.tags) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_c6bd0();

COMMENT ON TRIGGER pgtrigger_update_update_c6bd0 ON public.tickets_ticket IS 'f8d155a1d5642a519a29114aed168f588589d943';

CREATE TRIGGER pgtrigger_update_update_c8e08 AFTER UPDATE ON public.network_pool FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_c8e08();

COMMENT ON TRIGGER pgtrigger_update_update_c8e08 ON public.network_pool IS 'e13f32ba8914a7a7c042a565e6b035279b273ca0';

CREATE TRIGGER pgtrigger_update_update_c956b AFTER UPDATE ON public.bans_banlist FOR EACH ROW WHEN ((((old.description)::text IS DISTINCT FROM (new.description)::text) OR (old.enabled IS DISTINCT FROM new.enabled) OR (old.id IS DISTINCT FROM new.id) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_c956b();

COMMENT ON TRIGGER pgtrigger_update_update_c956b ON public.bans_banlist IS 'fa39155422c887637c802317bfb0caaf91215470';

CREATE TRIGGER pgtrigger_update_update_cdf08 AFTER UPDATE ON public.nat_portforward FOR EACH ROW WHEN (((old.enabled IS DISTINCT FROM new.enabled) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.held IS DISTINCT FROM new.held) OR (old.holding_id IS DISTINCT FROM new.holding_id) OR (old.id IS DISTINCT FROM new.id) OR ((old.kind)::text IS DISTINCT FROM (new.kind)::text) OR (old.pool_id IS DISTINCT FROM new.pool_id) OR ((old.pool_kind)::text IS DISTINCT FROM (new.pool_kind)::text) OR ((old.pool_prefix)::inet IS DISTINCT FROM (new.pool_prefix)::inet) OR (old.ports IS DISTINCT FROM new.ports) OR (old.private_port IS DISTINCT FROM new.private_port) OR ((old.protocol)::text IS DISTINCT FROM (new.protocol)::text) OR (old.public IS DISTINCT FROM new.public) OR (old.public_port IS DISTINCT FROM new.public_port) OR ((old.purpose)::text IS DISTINCT FROM (new.purpose)::text) OR (old.valid IS DISTINCT FROM new.valid) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_cdf08();

COMMENT ON TRIGGER pgtrigger_update_update_cdf08 ON public.nat_portforward IS 'b798ad48769849158d653970f89f4df0804beab1';

CREATE TRIGGER pgtrigger_update_update_de3f1 AFTER UPDATE ON public.bans_reachable FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_de3f1();

COMMENT ON TRIGGER pgtrigger_update_update_de3f1 ON public.bans_reachable IS 'c68313b1b506924f886dd4bc7131a8396f1a2fd2';

CREATE TRIGGER pgtrigger_update_update_df53b AFTER UPDATE ON public.accounts_apitoken FOR EACH ROW WHEN (((old.created IS DISTINCT FROM new.created) OR (old.expires IS DISTINCT FROM new.expires) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.id IS DISTINCT FROM new.id) OR (old.member_id IS DISTINCT FROM new.member_id) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR (old.networks IS DISTINCT FROM new.networks) OR (old.scopes IS DISTINCT FROM new.scopes) OR ((old.sha256)::text IS DISTINCT FROM (new.sha256)::text) OR (old.site_id IS DISTINCT FROM new.site_id) OR ((old.start)::text IS DISTINCT FROM (new.start)::text) OR (old.user_id IS DISTINCT FROM new.user_id))) EXECUTE FUNCTION public.pgtrigger_update_update_df53b();

COMMENT ON TRIGGER pgtrigger_update_update_df53b ON public.accounts_apitoken IS '85e4f3cac367433b8c6631e8b3e481e7d2493dee';

CREATE TRIGGER pgtrigger_update_update_e1577 AFTER UPDATE ON public.network_holding FOR EACH ROW WHEN (((old.device_id IS DISTINCT FROM new.device_id) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.id IS DISTINCT FROM new.id) OR ((old.kind)::text IS DISTINCT FROM (new.kind)::text) OR (old.member_id IS DISTINCT FROM new.member_id) OR (old.pool_id IS DISTINCT FROM new.pool_id) OR ((old.pool_prefix)::inet IS DISTINCT FROM (new.pool_prefix)::inet) OR ((old.prefix)::inet IS DISTINCT FROM (new.prefix)::inet) OR (old.valid IS DISTINCT FROM new.valid))) EXECUTE FUNCTION public.pgtrigger_update_update_e1577();

COMMENT ON TRIGGER pgtrigger_update_update_e1577 ON public.network_holding IS '2b280ed5f970f82df556cff923b0d7b473a17a40';

CREATE TRIGGER pgtrigger_update_update_e6ac9 AFTER UPDATE ON public.announcements_announcement FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_e6ac9();

COMMENT ON TRIGGER pgtrigger_update_update_e6ac9 ON public.announcements_announcement IS '03afdfda1cedf29cdcac41773feee5d1f81f8346';

CREATE TRIGGER pgtrigger_update_update_f534c AFTER UPDATE ON public.preferences_networksettings FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION public.pgtrigger_update_update_f534c();

COMMENT ON TRIGGER pgtrigger_update_update_f534c ON public.preferences_networksettings IS '0243975a24ca64a8b11ff8c9039b7286d71fcdc7';

CREATE TRIGGER pgtrigger_update_update_f5910 AFTER UPDATE ON public.bans_listener FOR EACH ROW WHEN (((old.address IS DISTINCT FROM new.address) OR (old.enabled IS DISTINCT FROM new.enabled) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.guarded IS DISTINCT FROM new.guarded) OR (old.id IS DISTINCT FROM new.id) OR ((old.name)::text IS DISTINCT FROM (new.name)::text) OR ((old.note)::text IS DISTINCT FROM (new.note)::text) OR (old.port IS DISTINCT FROM new.port) OR ((old.protocol)::text IS DISTINCT FROM (new.protocol)::text) OR (old.version IS DISTINCT FROM new.version) OR (old.window_scale IS DISTINCT FROM new.window_scale))) EXECUTE FUNCTION public.pgtrigger_update_update_f5910();

COMMENT ON TRIGGER pgtrigger_update_update_f5910 ON public.bans_listener IS '32fb558e216cae41776fa2b75caeb3b8084cd5ee';

CREATE TRIGGER pgtrigger_update_update_ff591 AFTER UPDATE ON public.nat_natmapping FOR EACH ROW WHEN (((old.block IS DISTINCT FROM new.block) OR (old.group_id IS DISTINCT FROM new.group_id) OR (old.held IS DISTINCT FROM new.held) OR (old.holding_id IS DISTINCT FROM new.holding_id) OR (old.id IS DISTINCT FROM new.id) OR ((old.kind)::text IS DISTINCT FROM (new.kind)::text) OR (old.pool_id IS DISTINCT FROM new.pool_id) OR ((old.pool_kind)::text IS DISTINCT FROM (new.pool_kind)::text) OR ((old.pool_prefix)::inet IS DISTINCT FROM (new.pool_prefix)::inet) OR (old.public IS DISTINCT FROM new.public) OR ((old.sharing)::text IS DISTINCT FROM (new.sharing)::text) OR (old.valid IS DISTINCT FROM new.valid) OR (old.version IS DISTINCT FROM new.version))) EXECUTE FUNCTION public.pgtrigger_update_update_ff591();

COMMENT ON TRIGGER pgtrigger_update_update_ff591 ON public.nat_natmapping IS 'fc8bc9a452d40ce255d123cc06cac07e12fc0cfb';

CREATE TRIGGER pool_in_service AFTER INSERT ON public.network_holding REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.network_holding_of_retired_pool();

CREATE TRIGGER tells_delete AFTER DELETE ON public.events_presence FOR EACH ROW EXECUTE FUNCTION public.events_presence_gone();

CREATE TRIGGER tells_insert AFTER INSERT ON public.deployments_gatewaystate FOR EACH ROW EXECUTE FUNCTION public.deployments_gatewaystate_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.deployments_heldback FOR EACH ROW EXECUTE FUNCTION public.deployments_heldback_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.deployments_hold FOR EACH ROW EXECUTE FUNCTION public.deployments_hold_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.deployments_rollout FOR EACH ROW EXECUTE FUNCTION public.deployments_rollout_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.deployments_rolloutstep FOR EACH ROW EXECUTE FUNCTION public.deployments_rolloutstep_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.events_presence FOR EACH ROW EXECUTE FUNCTION public.events_presence_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.gateways_carrierchange FOR EACH ROW EXECUTE FUNCTION public.gateways_carrierchange_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.gateways_roleswitch FOR EACH ROW EXECUTE FUNCTION public.gateways_roleswitch_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.tickets_message FOR EACH ROW EXECUTE FUNCTION public.tickets_message_tells();

CREATE TRIGGER tells_insert AFTER INSERT ON public.tickets_ticket FOR EACH ROW EXECUTE FUNCTION public.tickets_ticket_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.deployments_gatewaystate FOR EACH ROW WHEN (((old.drift_since IS DISTINCT FROM new.drift_since) OR (old.revision_id IS DISTINCT FROM new.revision_id) OR ((old.unreachable_since IS NULL) <> (new.unreachable_since IS NULL)) OR (((old.snapshot)::text IS DISTINCT FROM (new.snapshot)::text) AND public.events_touched(old.snapshot, new.snapshot)))) EXECUTE FUNCTION public.deployments_gatewaystate_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.deployments_heldback FOR EACH ROW WHEN (((old.state)::text <> (new.state)::text)) EXECUTE FUNCTION public.deployments_heldback_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.deployments_hold FOR EACH ROW WHEN ((old.released IS DISTINCT FROM new.released)) EXECUTE FUNCTION public.deployments_hold_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.deployments_rollout FOR EACH ROW WHEN ((((old.state)::text <> (new.state)::text) OR ((old.wish)::text <> (new.wish)::text))) EXECUTE FUNCTION public.deployments_rollout_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.deployments_rolloutstep FOR EACH ROW WHEN ((((old.state)::text <> (new.state)::text) OR (old.evidence <> new.evidence))) EXECUTE FUNCTION public.deployments_rolloutstep_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.events_presence FOR EACH ROW WHEN ((old.writing <> new.writing)) EXECUTE FUNCTION public.events_presence_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.gateways_roleswitch FOR EACH ROW WHEN (((new.state)::text <> (old.state)::text)) EXECUTE FUNCTION public.gateways_roleswitch_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.tickets_message FOR EACH ROW WHEN (false) EXECUTE FUNCTION public.tickets_message_tells();

CREATE TRIGGER tells_update AFTER UPDATE ON public.tickets_ticket FOR EACH ROW WHEN ((((old.state)::text <> (new.state)::text) OR (old.assignee_id IS DISTINCT FROM new.assignee_id) OR (old.priority <> new.priority) OR (old.tags <> new.tags))) EXECUTE FUNCTION public.tickets_ticket_tells();

CREATE TRIGGER touched_delete AFTER DELETE ON public.bans_allowentry REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.bans_allowentry_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.bans_ban REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.bans_ban_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.bans_banlist REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.bans_banlist_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.bans_block REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.bans_block_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.bans_listener REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.bans_listener_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.members_member REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.members_member_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.members_tariff REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.members_tariff_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.nat_natmapping REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.nat_natmapping_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.nat_pinhole REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.nat_pinhole_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.nat_portforward REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.nat_portforward_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.network_gateway REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.network_gateway_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.network_holding REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.network_holding_touched();

CREATE TRIGGER touched_delete AFTER DELETE ON public.traffic_ratelimit REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.traffic_ratelimit_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.bans_allowentry REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_allowentry_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.bans_ban REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_ban_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.bans_banlist REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_banlist_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.bans_block REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_block_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.bans_listener REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_listener_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.members_member REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.members_member_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.members_tariff REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.members_tariff_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.nat_natmapping REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_natmapping_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.nat_pinhole REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_pinhole_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.nat_portforward REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_portforward_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.network_gateway REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.network_gateway_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.network_holding REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.network_holding_touched();

CREATE TRIGGER touched_insert AFTER INSERT ON public.traffic_ratelimit REFERENCING NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.traffic_ratelimit_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.bans_allowentry FOR EACH STATEMENT EXECUTE FUNCTION public.bans_allowentry_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.bans_ban FOR EACH STATEMENT EXECUTE FUNCTION public.bans_ban_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.bans_banlist FOR EACH STATEMENT EXECUTE FUNCTION public.bans_banlist_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.bans_block FOR EACH STATEMENT EXECUTE FUNCTION public.bans_block_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.bans_listener FOR EACH STATEMENT EXECUTE FUNCTION public.bans_listener_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.members_member FOR EACH STATEMENT EXECUTE FUNCTION public.members_member_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.members_tariff FOR EACH STATEMENT EXECUTE FUNCTION public.members_tariff_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.nat_natmapping FOR EACH STATEMENT EXECUTE FUNCTION public.nat_natmapping_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.nat_pinhole FOR EACH STATEMENT EXECUTE FUNCTION public.nat_pinhole_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.nat_portforward FOR EACH STATEMENT EXECUTE FUNCTION public.nat_portforward_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.network_gateway FOR EACH STATEMENT EXECUTE FUNCTION public.network_gateway_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.network_holding FOR EACH STATEMENT EXECUTE FUNCTION public.network_holding_touched();

CREATE TRIGGER touched_truncate AFTER TRUNCATE ON public.traffic_ratelimit FOR EACH STATEMENT EXECUTE FUNCTION public.traffic_ratelimit_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.bans_allowentry REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_allowentry_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.bans_ban REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_ban_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.bans_banlist REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_banlist_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.bans_block REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_block_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.bans_listener REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.bans_listener_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.members_member REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.members_member_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.members_tariff REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.members_tariff_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.nat_natmapping REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_natmapping_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.nat_pinhole REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_pinhole_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.nat_portforward REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.nat_portforward_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.network_gateway REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.network_gateway_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.network_holding REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.network_holding_touched();

CREATE TRIGGER touched_update AFTER UPDATE ON public.traffic_ratelimit REFERENCING OLD TABLE AS gone NEW TABLE AS come FOR EACH STATEMENT EXECUTE FUNCTION public.traffic_ratelimit_touched();

CREATE TRIGGER wake AFTER INSERT ON public.events_event FOR EACH STATEMENT EXECUTE FUNCTION public.events_wake();

CREATE TRIGGER words_delete AFTER DELETE ON public.tickets_message REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION public.tickets_words_of_messages();

CREATE TRIGGER words_insert AFTER INSERT ON public.tickets_message REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.tickets_words_of_messages();

CREATE TRIGGER words_insert AFTER INSERT ON public.tickets_ticket REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.tickets_words_of_tickets();

CREATE TRIGGER words_update AFTER UPDATE ON public.tickets_message REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.tickets_words_of_messages();

CREATE TRIGGER words_update AFTER UPDATE OF subject ON public.tickets_ticket FOR EACH ROW WHEN (((old.subject)::text IS DISTINCT FROM (new.subject)::text)) EXECUTE FUNCTION public.tickets_words_of_subject();

ALTER TABLE ONLY public.account_emailaddress
    ADD CONSTRAINT account_emailaddress_user_id_2c513194_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.account_emailconfirmation
    ADD CONSTRAINT account_emailconfirm_email_address_id_5b7f8c58_fk_account_e FOREIGN KEY (email_address_id) REFERENCES public.account_emailaddress(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.accounts_apitoken
    ADD CONSTRAINT accounts_apitoken_user_id_bbee13e0_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.accounts_invitation
    ADD CONSTRAINT accounts_invitation_by_id_b953f771_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.accounts_rolechange
    ADD CONSTRAINT accounts_rolechange_by_id_aa66d4c8_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.accounts_rolechange
    ADD CONSTRAINT accounts_rolechange_decided_by_id_29481cc8_fk_accounts_user_id FOREIGN KEY (decided_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.accounts_rolechange
    ADD CONSTRAINT accounts_rolechange_user_id_fe34707d_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_alarm
    ADD CONSTRAINT alarms_alarm_seen_by_id_968ef790_fk_accounts_user_id FOREIGN KEY (seen_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_alarmchannel
    ADD CONSTRAINT alarms_alarmchannel_person_id_71f37f98_fk_accounts_user_id FOREIGN KEY (person_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_channelmessage
    ADD CONSTRAINT alarms_channelmessag_channel_id_550e1d76_fk_alarms_al FOREIGN KEY (channel_id) REFERENCES public.alarms_alarmchannel(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_channelmessage
    ADD CONSTRAINT alarms_channelmessage_alarm_id_d6a00d31_fk_alarms_alarm_id FOREIGN KEY (alarm_id) REFERENCES public.alarms_alarm(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_dutyfeed
    ADD CONSTRAINT alarms_dutyfeed_user_id_6d90f7c3_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_dutyshift
    ADD CONSTRAINT alarms_dutyshift_by_id_46fc558a_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_dutyshift
    ADD CONSTRAINT alarms_dutyshift_calendar_id_baeeca65_fk_alarms_dutycalendar_id FOREIGN KEY (calendar_id) REFERENCES public.alarms_dutycalendar(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_dutyshift
    ADD CONSTRAINT alarms_dutyshift_person_id_18c184fb_fk_accounts_user_id FOREIGN KEY (person_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_silence
    ADD CONSTRAINT alarms_silence_by_id_669d9764_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.alarms_silence
    ADD CONSTRAINT alarms_silence_ended_by_id_a6aee30d_fk_accounts_user_id FOREIGN KEY (ended_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_pools
    ADD CONSTRAINT announcements_announ_announcement_id_8c280d0c_fk_announcem FOREIGN KEY (announcement_id) REFERENCES public.announcements_announcement(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_groups
    ADD CONSTRAINT announcements_announ_announcement_id_92d9ccab_fk_announcem FOREIGN KEY (announcement_id) REFERENCES public.announcements_announcement(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcementrecipient
    ADD CONSTRAINT announcements_announ_announcement_id_b59de583_fk_announcem FOREIGN KEY (announcement_id) REFERENCES public.announcements_announcement(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_sites
    ADD CONSTRAINT announcements_announ_announcement_id_c7feee10_fk_announcem FOREIGN KEY (announcement_id) REFERENCES public.announcements_announcement(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_tariffs
    ADD CONSTRAINT announcements_announ_announcement_id_de7a6a8a_fk_announcem FOREIGN KEY (announcement_id) REFERENCES public.announcements_announcement(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement
    ADD CONSTRAINT announcements_announ_author_id_47b59c69_fk_accounts_ FOREIGN KEY (author_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_groups
    ADD CONSTRAINT announcements_announ_gatewaygroup_id_27a9c33f_fk_network_g FOREIGN KEY (gatewaygroup_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcementrecipient
    ADD CONSTRAINT announcements_announ_member_id_ae8efb66_fk_members_m FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcementrecipient
    ADD CONSTRAINT announcements_announ_message_id_7536deeb_fk_mail_mess FOREIGN KEY (message_id) REFERENCES public.mail_message(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_pools
    ADD CONSTRAINT announcements_announ_pool_id_0fbabde7_fk_network_p FOREIGN KEY (pool_id) REFERENCES public.network_pool(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement
    ADD CONSTRAINT announcements_announ_published_by_id_6be92e10_fk_accounts_ FOREIGN KEY (published_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_sites
    ADD CONSTRAINT announcements_announ_site_id_d50365bf_fk_members_s FOREIGN KEY (site_id) REFERENCES public.members_site(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement_tariffs
    ADD CONSTRAINT announcements_announ_tariff_id_511b581d_fk_members_t FOREIGN KEY (tariff_id) REFERENCES public.members_tariff(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.announcements_announcement
    ADD CONSTRAINT announcements_announ_withdrawn_by_id_29782a1f_fk_accounts_ FOREIGN KEY (withdrawn_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.audit_enquiry
    ADD CONSTRAINT audit_enquiry_by_id_3bed1b65_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissio_permission_id_84c5c92e_fk_auth_perm FOREIGN KEY (permission_id) REFERENCES public.auth_permission(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_group_permissions
    ADD CONSTRAINT auth_group_permissions_group_id_b120cbf9_fk_auth_group_id FOREIGN KEY (group_id) REFERENCES public.auth_group(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.auth_permission
    ADD CONSTRAINT auth_permission_content_type_id_2f476e4b_fk_django_co FOREIGN KEY (content_type_id) REFERENCES public.django_content_type(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_allowentry
    ADD CONSTRAINT bans_allowentry_author_id_17b4d623_fk_accounts_user_id FOREIGN KEY (author_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_ban
    ADD CONSTRAINT bans_ban_author_id_2f9edf73_fk_accounts_user_id FOREIGN KEY (author_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_ban
    ADD CONSTRAINT bans_ban_list_id_31d1193c_fk_bans_banlist_id FOREIGN KEY (list_id) REFERENCES public.bans_banlist(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_banfeed
    ADD CONSTRAINT bans_banfeed_list_id_a784e3f1_fk_bans_banlist_id FOREIGN KEY (list_id) REFERENCES public.bans_banlist(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_banhits
    ADD CONSTRAINT bans_banhits_gateway_id_8ca537dd_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_block
    ADD CONSTRAINT bans_block_author_id_82bd189d_fk_accounts_user_id FOREIGN KEY (author_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_block
    ADD CONSTRAINT bans_block_lifted_by_id_4b5fe9c2_fk_accounts_user_id FOREIGN KEY (lifted_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_block
    ADD CONSTRAINT bans_block_member_id_b7240f5e_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_listener
    ADD CONSTRAINT bans_listener_group_id_c8fdc6b4_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_notice
    ADD CONSTRAINT bans_notice_group_id_b751a234_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_reachable
    ADD CONSTRAINT bans_reachable_notice_id_2a4ab6a4_fk_bans_notice_id FOREIGN KEY (notice_id) REFERENCES public.bans_notice(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_serverinterface
    ADD CONSTRAINT bans_serverinterface_gateway_id_c8f8c474_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_upload
    ADD CONSTRAINT bans_upload_by_id_219cfc45_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.bans_upload
    ADD CONSTRAINT bans_upload_list_id_3acf22ab_fk_bans_banlist_id FOREIGN KEY (list_id) REFERENCES public.bans_banlist(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_databaserestore
    ADD CONSTRAINT deployments_database_agreed_by_id_5f186c29_fk_accounts_ FOREIGN KEY (agreed_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_gatewaystate
    ADD CONSTRAINT deployments_gateways_gateway_id_f28a1c1b_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_gatewaystate
    ADD CONSTRAINT deployments_gateways_revision_id_f2f96213_fk_deploymen FOREIGN KEY (revision_id) REFERENCES public.deployments_revision(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_heldback
    ADD CONSTRAINT deployments_heldback_decided_by_id_4a9c379c_fk_accounts_user_id FOREIGN KEY (decided_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_heldback
    ADD CONSTRAINT deployments_heldback_group_id_0ff43fdd_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_heldback_askers
    ADD CONSTRAINT deployments_heldback_heldback_id_74f198e3_fk_deploymen FOREIGN KEY (heldback_id) REFERENCES public.deployments_heldback(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_heldback_askers
    ADD CONSTRAINT deployments_heldback_user_id_ead40c45_fk_accounts_ FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_hold
    ADD CONSTRAINT deployments_hold_by_id_a057632b_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_hold
    ADD CONSTRAINT deployments_hold_group_id_c047b464_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_hold
    ADD CONSTRAINT deployments_hold_released_by_id_a08046bf_fk_accounts_user_id FOREIGN KEY (released_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_hold
    ADD CONSTRAINT deployments_hold_revision_id_bdcfaabd_fk_deploymen FOREIGN KEY (revision_id) REFERENCES public.deployments_revision(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_restoredifference
    ADD CONSTRAINT deployments_restored_gateway_id_80bc0c88_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_restoredifference
    ADD CONSTRAINT deployments_restored_restore_id_17db25e0_fk_deploymen FOREIGN KEY (restore_id) REFERENCES public.deployments_databaserestore(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_revision
    ADD CONSTRAINT deployments_revision_again_id_e5d980a7_fk_deploymen FOREIGN KEY (again_id) REFERENCES public.deployments_revision(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_revisioncontent
    ADD CONSTRAINT deployments_revision_base_id_e7357928_fk_deploymen FOREIGN KEY (base_id) REFERENCES public.deployments_revision(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_revision
    ADD CONSTRAINT deployments_revision_by_id_b7571c43_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_revision
    ADD CONSTRAINT deployments_revision_group_id_172d3166_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_revisioncontent
    ADD CONSTRAINT deployments_revision_revision_id_fbc4c0a6_fk_deploymen FOREIGN KEY (revision_id) REFERENCES public.deployments_revision(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_rollout
    ADD CONSTRAINT deployments_rollout_group_id_d47f658b_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_rollout
    ADD CONSTRAINT deployments_rollout_revision_id_0c8aa782_fk_deploymen FOREIGN KEY (revision_id) REFERENCES public.deployments_revision(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_rollout
    ADD CONSTRAINT deployments_rollout_stopped_by_id_1b9c1ca2_fk_accounts_user_id FOREIGN KEY (stopped_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_rolloutstep
    ADD CONSTRAINT deployments_rollouts_gateway_id_d78dbf49_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_rolloutstep
    ADD CONSTRAINT deployments_rollouts_rollout_id_999623ac_fk_deploymen FOREIGN KEY (rollout_id) REFERENCES public.deployments_rollout(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.deployments_unapprovedloss
    ADD CONSTRAINT deployments_unapprov_group_id_3091b3d5_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.events_presence
    ADD CONSTRAINT events_presence_user_id_8df7fdd3_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_agentupgradestep
    ADD CONSTRAINT gateways_agentupgrad_gateway_id_1c77564b_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_agentupgrade
    ADD CONSTRAINT gateways_agentupgrad_group_id_475ed302_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_agentupgradestep
    ADD CONSTRAINT gateways_agentupgrad_upgrade_id_a2dd574e_fk_gateways_ FOREIGN KEY (upgrade_id) REFERENCES public.gateways_agentupgrade(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_agentupgrade
    ADD CONSTRAINT gateways_agentupgrade_by_id_ed2c7012_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_carrierchange
    ADD CONSTRAINT gateways_carrierchan_group_id_dbd75f20_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_carrierchange
    ADD CONSTRAINT gateways_carrierchan_switch_id_433a9cf8_fk_gateways_ FOREIGN KEY (switch_id) REFERENCES public.gateways_roleswitch(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_evidencearchive
    ADD CONSTRAINT gateways_evidencearc_gateway_id_32041ed9_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_evidencearchive
    ADD CONSTRAINT gateways_evidencearchive_by_id_ac14b14c_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_evidencedownload
    ADD CONSTRAINT gateways_evidencedow_archive_id_cf72d884_fk_gateways_ FOREIGN KEY (archive_id) REFERENCES public.gateways_evidencearchive(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_evidencedownload
    ADD CONSTRAINT gateways_evidencedownload_by_id_182cf1b8_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_evidencefile
    ADD CONSTRAINT gateways_evidencefil_archive_id_0ce22c30_fk_gateways_ FOREIGN KEY (archive_id) REFERENCES public.gateways_evidencearchive(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_failoverstatus
    ADD CONSTRAINT gateways_failoversta_gateway_id_1976b47f_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_gatewayrole
    ADD CONSTRAINT gateways_gatewayrole_status_id_116f36b0_fk_gateways_ FOREIGN KEY (status_id) REFERENCES public.gateways_failoverstatus(gateway_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_healthfinding
    ADD CONSTRAINT gateways_healthfindi_gateway_id_e97daedd_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_healthreading
    ADD CONSTRAINT gateways_healthreadi_gateway_id_c29094dc_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_healthsample
    ADD CONSTRAINT gateways_healthsample_gateway_id_06476cf6_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_healthstatus
    ADD CONSTRAINT gateways_healthstatus_gateway_id_627fe1d2_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_joiningmachine
    ADD CONSTRAINT gateways_joiningmach_group_id_40ce07b3_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_joiningmachine
    ADD CONSTRAINT gateways_joiningmachine_by_id_6d80f17f_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_probestatus
    ADD CONSTRAINT gateways_probestatus_gateway_id_267ac35e_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_roleswitch
    ADD CONSTRAINT gateways_roleswitch_by_id_1e01c489_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_roleswitch
    ADD CONSTRAINT gateways_roleswitch_gateway_id_3b1dd535_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_roleswitch
    ADD CONSTRAINT gateways_roleswitch_group_id_8e9b8b00_fk_network_g FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_timeoutreading
    ADD CONSTRAINT gateways_timeoutread_gateway_id_b7720a6c_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.gateways_timeoutreading
    ADD CONSTRAINT gateways_timeoutreading_by_id_611a49b0_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT holding_of_pool FOREIGN KEY (pool_id, kind, group_id, pool_prefix) REFERENCES public.network_pool(id, kind, group_id, prefix) ON UPDATE CASCADE;

ALTER TABLE ONLY public.inbound_arrival
    ADD CONSTRAINT inbound_arrival_ended_by_id_2d7bf2dc_fk_accounts_user_id FOREIGN KEY (ended_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.lib_keptanswer
    ADD CONSTRAINT lib_keptanswer_user_id_3099e975_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.mail_message
    ADD CONSTRAINT mail_message_ended_by_id_4163dd92_fk_accounts_user_id FOREIGN KEY (ended_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_departure
    ADD CONSTRAINT members_departure_by_id_ccad23cb_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_departure
    ADD CONSTRAINT members_departure_member_id_9b124fff_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_device
    ADD CONSTRAINT members_device_member_id_a349db6f_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_member
    ADD CONSTRAINT members_member_room_id_142f7822_fk_members_room_id FOREIGN KEY (room_id) REFERENCES public.members_room(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_member
    ADD CONSTRAINT members_member_tariff_id_7c42ee91_fk_members_tariff_id FOREIGN KEY (tariff_id) REFERENCES public.members_tariff(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_member
    ADD CONSTRAINT members_member_user_id_5b73e2f8_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_memberinvitation
    ADD CONSTRAINT members_memberinvita_member_id_7624130b_fk_members_m FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_memberinvitation
    ADD CONSTRAINT members_memberinvitation_by_id_c4e7f744_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_membership
    ADD CONSTRAINT members_membership_member_id_a8e689cf_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_peopleupload
    ADD CONSTRAINT members_peopleupload_by_id_b91130a5_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.members_room
    ADD CONSTRAINT members_room_site_id_1f827f34_fk_members_site_id FOREIGN KEY (site_id) REFERENCES public.members_site(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.mfa_authenticator
    ADD CONSTRAINT mfa_authenticator_user_id_0c3a50c0_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_move
    ADD CONSTRAINT nat_move_by_id_6445ca14_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_move
    ADD CONSTRAINT nat_move_member_id_5f466bbe_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_move
    ADD CONSTRAINT nat_move_pool_id_0c101f53_fk_network_pool_id FOREIGN KEY (pool_id) REFERENCES public.network_pool(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_move
    ADD CONSTRAINT nat_move_room_id_114d5d74_fk_members_room_id FOREIGN KEY (room_id) REFERENCES public.members_room(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_natmapping
    ADD CONSTRAINT nat_natmapping_group_id_596474bd_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_natmapping
    ADD CONSTRAINT nat_natmapping_holding_id_8c8e904d_fk_network_holding_id FOREIGN KEY (holding_id) REFERENCES public.network_holding(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_natmapping
    ADD CONSTRAINT nat_natmapping_pool_id_f214d785_fk_network_pool_id FOREIGN KEY (pool_id) REFERENCES public.network_pool(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_pinhole
    ADD CONSTRAINT nat_pinhole_group_id_88d0493b_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_pinhole
    ADD CONSTRAINT nat_pinhole_holding_id_07d5c029_fk_network_holding_id FOREIGN KEY (holding_id) REFERENCES public.network_holding(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_portforward
    ADD CONSTRAINT nat_portforward_group_id_c9245c41_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_portforward
    ADD CONSTRAINT nat_portforward_holding_id_30234c03_fk_network_holding_id FOREIGN KEY (holding_id) REFERENCES public.network_holding(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_portforward
    ADD CONSTRAINT nat_portforward_pool_id_6744dd8c_fk_network_pool_id FOREIGN KEY (pool_id) REFERENCES public.network_pool(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_portrules
    ADD CONSTRAINT nat_portrules_group_id_c5be4507_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_natmapping
    ADD CONSTRAINT natmapping_of_holding FOREIGN KEY (holding_id, kind, group_id, held) REFERENCES public.network_holding(id, kind, group_id, valid) ON UPDATE CASCADE;

ALTER TABLE ONLY public.nat_natmapping
    ADD CONSTRAINT natmapping_of_pool FOREIGN KEY (pool_id, pool_kind, group_id, pool_prefix) REFERENCES public.network_pool(id, kind, group_id, prefix) ON UPDATE CASCADE;

ALTER TABLE ONLY public.network_failover
    ADD CONSTRAINT network_failover_group_id_28e26b64_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_gateway
    ADD CONSTRAINT network_gateway_group_id_bb780c99_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_gauge
    ADD CONSTRAINT network_gauge_gateway_id_73ff21ca_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT network_holding_device_id_06d40bf3_fk_members_device_id FOREIGN KEY (device_id) REFERENCES public.members_device(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT network_holding_group_id_16f66e81_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT network_holding_member_id_883ea07d_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_holding
    ADD CONSTRAINT network_holding_pool_id_2ec36d94_fk_network_pool_id FOREIGN KEY (pool_id) REFERENCES public.network_pool(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_limits
    ADD CONSTRAINT network_limits_group_id_1a1d78ca_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_pool
    ADD CONSTRAINT network_pool_group_id_686f9896_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_profile
    ADD CONSTRAINT network_profile_group_id_1849a5ba_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_protection
    ADD CONSTRAINT network_protection_group_id_cd2e74a4_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.network_uplink
    ADD CONSTRAINT network_uplink_group_id_fb47989e_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.nat_pinhole
    ADD CONSTRAINT pinhole_of_holding FOREIGN KEY (holding_id, kind, group_id, held, prefix) REFERENCES public.network_holding(id, kind, group_id, valid, prefix) ON UPDATE CASCADE;

ALTER TABLE ONLY public.nat_portforward
    ADD CONSTRAINT portforward_of_holding FOREIGN KEY (holding_id, kind, group_id, held) REFERENCES public.network_holding(id, kind, group_id, valid) ON UPDATE CASCADE;

ALTER TABLE ONLY public.nat_portforward
    ADD CONSTRAINT portforward_of_pool FOREIGN KEY (pool_id, pool_kind, group_id, pool_prefix) REFERENCES public.network_pool(id, kind, group_id, prefix) ON UPDATE CASCADE;

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_account_id_951f210e_fk_socialacc FOREIGN KEY (account_id) REFERENCES public.socialaccount_socialaccount(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.socialaccount_socialtoken
    ADD CONSTRAINT socialaccount_social_app_id_636a42d7_fk_socialacc FOREIGN KEY (app_id) REFERENCES public.socialaccount_socialapp(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.socialaccount_socialaccount
    ADD CONSTRAINT socialaccount_social_user_id_8146e70c_fk_accounts_ FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incident_gateways
    ADD CONSTRAINT status_incident_gate_gateway_id_d5193907_fk_network_g FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incident_gateways
    ADD CONSTRAINT status_incident_gate_incident_id_1a65ddb4_fk_status_in FOREIGN KEY (incident_id) REFERENCES public.status_incident(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incident
    ADD CONSTRAINT status_incident_opened_by_id_e7bc9b4b_fk_accounts_user_id FOREIGN KEY (opened_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incident_sites
    ADD CONSTRAINT status_incident_site_incident_id_9e764d2b_fk_status_in FOREIGN KEY (incident_id) REFERENCES public.status_incident(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incident_sites
    ADD CONSTRAINT status_incident_sites_site_id_fb737644_fk_members_site_id FOREIGN KEY (site_id) REFERENCES public.members_site(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incidentticket
    ADD CONSTRAINT status_incidentticke_incident_id_e7296306_fk_status_in FOREIGN KEY (incident_id) REFERENCES public.status_incident(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incidentticket
    ADD CONSTRAINT status_incidentticket_by_id_52ecb85c_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incidentticket
    ADD CONSTRAINT status_incidentticket_ticket_id_832493e0_fk_tickets_ticket_id FOREIGN KEY (ticket_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incidentupdate
    ADD CONSTRAINT status_incidentupdat_incident_id_11c0bb21_fk_status_in FOREIGN KEY (incident_id) REFERENCES public.status_incident(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.status_incidentupdate
    ADD CONSTRAINT status_incidentupdate_by_id_29760010_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_ticket
    ADD CONSTRAINT ticket_merged_into_one_that_is_not FOREIGN KEY (merged_into_id, target_is_merged) REFERENCES public.tickets_ticket(id, is_merged);

ALTER TABLE ONLY public.tickets_attachment
    ADD CONSTRAINT tickets_attachment_message_id_19591853_fk_tickets_message_id FOREIGN KEY (message_id) REFERENCES public.tickets_message(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_bulk
    ADD CONSTRAINT tickets_bulk_by_id_50b52e63_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_bulkitem
    ADD CONSTRAINT tickets_bulkitem_bulk_id_495b933d_fk_tickets_bulk_id FOREIGN KEY (bulk_id) REFERENCES public.tickets_bulk(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_bulkitem
    ADD CONSTRAINT tickets_bulkitem_message_id_78a8bf11_fk_tickets_message_id FOREIGN KEY (message_id) REFERENCES public.tickets_message(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_bulkitem
    ADD CONSTRAINT tickets_bulkitem_ticket_id_1ea0d51b_fk_tickets_ticket_id FOREIGN KEY (ticket_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_content
    ADD CONSTRAINT tickets_content_attachment_id_da95c16f_fk_tickets_attachment_id FOREIGN KEY (attachment_id) REFERENCES public.tickets_attachment(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_link
    ADD CONSTRAINT tickets_link_by_id_9ac46064_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_link
    ADD CONSTRAINT tickets_link_ticket_id_e077d920_fk_tickets_ticket_id FOREIGN KEY (ticket_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_message
    ADD CONSTRAINT tickets_message_author_id_e13a9dd8_fk_accounts_user_id FOREIGN KEY (author_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_message
    ADD CONSTRAINT tickets_message_ticket_id_a1134910_fk_tickets_ticket_id FOREIGN KEY (ticket_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_move
    ADD CONSTRAINT tickets_move_by_id_9c6d1514_fk_accounts_user_id FOREIGN KEY (by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_move
    ADD CONSTRAINT tickets_move_source_id_0c6e8fd2_fk_tickets_ticket_id FOREIGN KEY (source_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_move
    ADD CONSTRAINT tickets_move_target_id_dab650c9_fk_tickets_ticket_id FOREIGN KEY (target_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_move
    ADD CONSTRAINT tickets_move_undone_by_id_b93b4d4b_fk_accounts_user_id FOREIGN KEY (undone_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_ticket
    ADD CONSTRAINT tickets_ticket_assignee_id_3a5aa407_fk_accounts_user_id FOREIGN KEY (assignee_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_ticket
    ADD CONSTRAINT tickets_ticket_member_id_a63adcf4_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_ticket
    ADD CONSTRAINT tickets_ticket_merged_into_id_3a36ad40_fk_tickets_ticket_id FOREIGN KEY (merged_into_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_ticket
    ADD CONSTRAINT tickets_ticket_split_from_id_7158832a_fk_tickets_ticket_id FOREIGN KEY (split_from_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.tickets_words
    ADD CONSTRAINT tickets_words_ticket_id_847349d2_fk_tickets_ticket_id FOREIGN KEY (ticket_id) REFERENCES public.tickets_ticket(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_collected
    ADD CONSTRAINT traffic_collected_gateway_id_b6b42ae1_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_coverage
    ADD CONSTRAINT traffic_coverage_gateway_id_0cde1016_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_fairshare_exempt
    ADD CONSTRAINT traffic_fairshare_ex_fairshare_id_0c853305_fk_traffic_f FOREIGN KEY (fairshare_id) REFERENCES public.traffic_fairshare(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_fairshare_exempt
    ADD CONSTRAINT traffic_fairshare_ex_tariff_id_40313494_fk_members_t FOREIGN KEY (tariff_id) REFERENCES public.members_tariff(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_fairshare
    ADD CONSTRAINT traffic_fairshare_group_id_86cd017a_fk_network_gatewaygroup_id FOREIGN KEY (group_id) REFERENCES public.network_gatewaygroup(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_lastcounts
    ADD CONSTRAINT traffic_lastcounts_gateway_id_6b50845e_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_quota
    ADD CONSTRAINT traffic_quota_tariff_id_de2b6fee_fk_members_tariff_id FOREIGN KEY (tariff_id) REFERENCES public.members_tariff(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_ratelimit
    ADD CONSTRAINT traffic_ratelimit_author_id_8a1df2b2_fk_accounts_user_id FOREIGN KEY (author_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_ratelimit
    ADD CONSTRAINT traffic_ratelimit_member_id_b34a0160_fk_members_member_id FOREIGN KEY (member_id) REFERENCES public.members_member(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_ratelimit
    ADD CONSTRAINT traffic_ratelimit_released_by_id_9baea4d1_fk_accounts_user_id FOREIGN KEY (released_by_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_spanusage
    ADD CONSTRAINT traffic_spanusage_span_id_1da3d384_fk_traffic_span_id FOREIGN KEY (span_id) REFERENCES public.traffic_span(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_tally
    ADD CONSTRAINT traffic_tally_gateway_id_2610a9e5_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_tally
    ADD CONSTRAINT traffic_tally_holding_id_f0b471f4_fk_network_holding_id FOREIGN KEY (holding_id) REFERENCES public.network_holding(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.traffic_throughput
    ADD CONSTRAINT traffic_throughput_gateway_id_b679a2fe_fk_network_gateway_id FOREIGN KEY (gateway_id) REFERENCES public.network_gateway(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.usersessions_usersession
    ADD CONSTRAINT usersessions_usersession_user_id_af5e0a6d_fk_accounts_user_id FOREIGN KEY (user_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.webhooks_delivery
    ADD CONSTRAINT webhooks_delivery_endpoint_id_6cbee67d_fk_webhooks_endpoint_id FOREIGN KEY (endpoint_id) REFERENCES public.webhooks_endpoint(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.webhooks_endpoint
    ADD CONSTRAINT webhooks_endpoint_owner_id_8529ff96_fk_accounts_user_id FOREIGN KEY (owner_id) REFERENCES public.accounts_user(id) DEFERRABLE INITIALLY DEFERRED;


INSERT INTO public.django_migrations (app, name, applied) SELECT app, name, now() FROM (VALUES
    ('account', '0001_initial'),
    ('account', '0002_email_max_length'),
    ('account', '0003_alter_emailaddress_create_unique_verified_email'),
    ('account', '0004_alter_emailaddress_drop_unique_email'),
    ('account', '0005_emailaddress_idx_upper_email'),
    ('account', '0006_emailaddress_lower'),
    ('account', '0007_emailaddress_idx_email'),
    ('account', '0008_emailaddress_unique_primary_email_fixup'),
    ('account', '0009_emailaddress_unique_primary_email'),
    ('accounts', '0001_initial'),
    ('accounts', '0002_addresses_in_small_letters'),
    ('alarms', '0001_initial'),
    ('alarms', '0002_channels'),
    ('alarms', '0003_gateways_of_alarms'),
    ('alarms', '0004_duty_rota'),
    ('alarms', '0005_announced_to_webhooks'),
    ('alarms', '0006_turns_of_alarms'),
    ('announcements', '0001_initial'),
    ('audit', '0001_initial'),
    ('auth', '0001_initial'),
    ('auth', '0002_alter_permission_name_max_length'),
    ('auth', '0003_alter_user_email_max_length'),
    ('auth', '0004_alter_user_username_opts'),
    ('auth', '0005_alter_user_last_login_null'),
    ('auth', '0006_require_contenttypes_0002'),
    ('auth', '0007_alter_validators_add_error_messages'),
    ('auth', '0008_alter_user_username_max_length'),
    ('auth', '0009_alter_user_last_name_max_length'),
    ('auth', '0010_alter_group_name_max_length'),
    ('auth', '0011_update_proxy_permissions'),
    ('auth', '0012_alter_user_first_name_max_length'),
    ('bans', '0001_initial'),
    ('bans', '0002_history_of_feeds_by_time'),
    ('bans', '0003_counted_bans'),
    ('bans', '0004_validity_by_id'),
    ('contenttypes', '0001_initial'),
    ('contenttypes', '0002_remove_content_type_name'),
    ('deployments', '0001_initial'),
    ('deployments', '0002_gateways_of_revisions'),
    ('deployments', '0003_protocol_of_agents'),
    ('deployments', '0004_restored_database'),
    ('deployments', '0005_rollouts_by_group_and_state'),
    ('deployments', '0006_objects_of_restored_gateways'),
    ('deployments', '0007_gateway_standings'),
    ('deployments', '0008_gateways_without_queues'),
    ('events', '0001_initial'),
    ('gateways', '0001_joining_machines'),
    ('gateways', '0002_roles'),
    ('gateways', '0003_role_events'),
    ('gateways', '0004_installing_files'),
    ('gateways', '0005_packet_probes'),
    ('gateways', '0006_health'),
    ('gateways', '0007_evidence'),
    ('gateways', '0008_standing_probes'),
    ('gateways', '0009_timeout_reading'),
    ('gateways', '0010_inward_probes'),
    ('gateways', '0011_agent_upgrades'),
    ('inbound', '0001_initial'),
    ('lib', '0001_initial'),
    ('lib', '0002_where_an_answer_leads'),
    ('mail', '0001_initial'),
    ('mail', '0002_bulk_mail'),
    ('mail', '0003_counted_mails'),
    ('members', '0001_initial'),
    ('members', '0002_history_of_places_and_tariffs'),
    ('members', '0003_people_upload'),
    ('members', '0004_uploads_in_workers'),
    ('members', '0005_remembered_columns'),
    ('mfa', '0001_initial'),
    ('mfa', '0002_authenticator_timestamps'),
    ('mfa', '0003_authenticator_type_uniq'),
    ('nat', '0001_initial'),
    ('nat', '0002_room_of_a_done_move'),
    ('nat', '0003_claims_of_many_mappings'),
    ('nat', '0004_claims_of_many_forwards'),
    ('nat', '0005_validity_by_id'),
    ('network', '0001_initial'),
    ('network', '0002_shares_kept_free'),
    ('network', '0003_named_groups'),
    ('network', '0004_gateways_and_probes'),
    ('network', '0005_retired_gateways'),
    ('network', '0006_retired_pools'),
    ('network', '0007_live_groups'),
    ('network', '0008_failover'),
    ('network', '0009_announced_pools'),
    ('network', '0010_responder_port'),
    ('network', '0011_sampled_open_limits'),
    ('network', '0012_uplink_fair_queues'),
    ('network', '0013_validity_by_id'),
    ('operations', '0001_initial'),
    ('operations', '0002_portal_health'),
    ('operations', '0003_sizes_of_tables'),
    ('operations', '0004_hosts'),
    ('pghistory', '0001_initial'),
    ('pghistory', '0002_aggregateevent'),
    ('pghistory', '0003_auto_20201023_1636'),
    ('pghistory', '0004_auto_20220906_1625'),
    ('pghistory', '0005_events_middlewareevents'),
    ('pghistory', '0006_delete_aggregateevent'),
    ('pghistory', '0007_auto_20250421_0444'),
    ('preferences', '0001_settings_of_the_network'),
    ('preferences', '0002_minutes_until_others_are_told'),
    ('preferences', '0003_age_of_backups'),
    ('preferences', '0004_history_of_feeds'),
    ('sessions', '0001_initial'),
    ('socialaccount', '0001_initial'),
    ('socialaccount', '0002_token_max_lengths'),
    ('socialaccount', '0003_extra_data_default_dict'),
    ('socialaccount', '0004_app_provider_id_settings'),
    ('socialaccount', '0005_socialtoken_nullable_app'),
    ('socialaccount', '0006_alter_socialaccount_extra_data'),
    ('status', '0001_initial'),
    ('tickets', '0001_initial'),
    ('traffic', '0001_initial'),
    ('traffic', '0002_retention_in_settings'),
    ('traffic', '0003_validity_by_id'),
    ('traffic', '0004_logs_of_former_machines'),
    ('traffic', '0005_levels_kept_since'),
    ('usersessions', '0001_initial'),
    ('webhooks', '0001_initial'),
    ('webhooks', '0002_failing_since')
) AS these (app, name);
