-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Events and attempts are partitioned by the event's time, with the same bounds, so that old ones
-- are dropped and not deleted. Partitions have no identity columns, so seq has a sequence of its own,
-- which goes on where the column's was.
CREATE SEQUENCE webhook_event_seq;
LOCK TABLE webhook_events IN ACCESS EXCLUSIVE MODE;
SELECT setval('webhook_event_seq', nextval(pg_get_serial_sequence('webhook_events', 'seq')));
ALTER TABLE webhook_events ALTER COLUMN seq DROP IDENTITY;
ALTER TABLE webhook_events ALTER COLUMN seq SET DEFAULT nextval('webhook_event_seq');
SELECT partition_by_time('webhook_events', 'id', 'webhook_event_in_first_partition');
SELECT partition_by_time('webhook_attempts', 'event_id', 'webhook_attempt_in_first_partition');
ALTER SEQUENCE webhook_event_seq OWNED BY webhook_events.seq;
GRANT USAGE ON SEQUENCE webhook_event_seq TO causeway_service;
GRANT SELECT, INSERT, UPDATE (body) ON webhook_events TO causeway_service;
GRANT SELECT, INSERT ON webhook_attempts TO causeway_service;

-- +goose StatementBegin
CREATE FUNCTION create_webhook_partitions(days int) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['webhook_attempts', 'webhook_events'], least(greatest(days, 1), 366));
END
$$;
-- +goose StatementEnd

-- Drops the oldest partition of events, and that of their attempts, whose events were all created
-- before the time, of which none is to be sent, and none was attempted since. It returns its name and
-- about how many events it had, or NULL if there is none. Payments wait for at most the lock timeout
-- while the lock on the tables is awaited; if it is not available, the error is lock_not_available.
-- +goose StatementBegin
CREATE FUNCTION drop_webhook_partition(before timestamptz, OUT dropped text, OUT events bigint) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    lowest   uuid := '00000000-0000-0000-0000-000000000000';
    old      record;
    attempts regclass;
    needed   boolean;
BEGIN
    before := least(before, clock_timestamp() - interval '8 days');
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_webhook_partition', 0)) THEN
        RETURN;
    END IF;
    FOR old IN SELECT p.partition, p.ends_before FROM time_partitions('webhook_events') p LOOP
        -- Some minutes, because an id may begin with a slightly later time than that of its event.
        EXIT WHEN old.ends_before > first_uuid_v7(before - interval '10 minutes');
        SELECT p.partition INTO STRICT attempts FROM time_partitions('webhook_attempts') p WHERE p.ends_before = old.ends_before;
        -- An event that is not in the queue when it is this old never enters it. If its redelivery
        -- begins now, it is as if it began a moment later.
        needed := EXISTS (SELECT FROM webhook_queue q WHERE q.event_id >= lowest AND q.event_id < old.ends_before)
            OR EXISTS (SELECT FROM webhook_backlog b WHERE b.event_id >= lowest AND b.event_id < old.ends_before);
        IF NOT needed THEN
            -- Includes the rows since the last vacuum, which otherwise would be read one by one.
            PERFORM brin_summarize_new_values(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
            WHERE i.indrelid = attempts AND m.amname = 'brin';
            EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE attempted_at >= $1)', attempts) INTO needed USING before;
        END IF;
        IF NOT needed THEN
            LOCK TABLE ONLY webhook_attempts, ONLY webhook_events IN ACCESS EXCLUSIVE MODE; -- the order of the service
            SELECT greatest(c.reltuples, 0)::bigint INTO events FROM pg_class c WHERE c.oid = old.partition;
            dropped := old.partition::text;
            EXECUTE format('DROP TABLE %s, %s', attempts, old.partition);
            RETURN;
        END IF;
        lowest := old.ends_before;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- Removes redeliveries of events that were dropped when they began.
-- +goose StatementBegin
CREATE FUNCTION forget_dropped_webhooks() RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM webhook_backlog b
    WHERE b.event_id < first_uuid_v7(clock_timestamp() - interval '8 days') -- none is dropped that is younger
      AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.platform_id = b.platform_id AND e.id = b.event_id);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
-- +goose StatementEnd

-- The previous release still calls it. Partitions do its work.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION delete_webhook_events(platform uuid, before timestamptz, after uuid, max_rows int, OUT checked int, OUT deleted int, OUT last uuid)
LANGUAGE sql AS 'SELECT 0, 0, after';
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION create_webhook_partitions, drop_webhook_partition, forget_dropped_webhooks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_webhook_partitions, drop_webhook_partition, forget_dropped_webhooks TO causeway_service;
