-- +goose Up
SET LOCAL lock_timeout = '1s';

SELECT partition_by_time('lookups', 'id', 'lookup_in_first_partition');
-- The previous release deletes old rows itself. The next one revokes it.
GRANT SELECT, INSERT, DELETE, UPDATE (receiver_info) ON lookups TO causeway_service;

-- +goose StatementBegin
CREATE FUNCTION create_lookup_partitions() RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['lookups'], 1);
END
$$;
-- +goose StatementEnd

-- Drops the oldest partition whose lookups were all created before the time. It returns its name and
-- about how many it had, or NULL if there is none; if the lock is not available in a moment, the
-- error is lock_not_available.
-- +goose StatementBegin
CREATE FUNCTION drop_lookup_partition(before timestamptz, OUT dropped text, OUT lookups bigint) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    old record;
BEGIN
    before := least(before, clock_timestamp() - interval '1 hour'); -- they are valid for ten minutes
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_lookup_partition', 0)) THEN
        RETURN;
    END IF;
    SELECT p.partition, p.ends_before INTO old FROM time_partitions('lookups') p ORDER BY p.ends_before LIMIT 1;
    IF old.ends_before <= first_uuid_v7(before - interval '10 minutes') THEN
        SELECT greatest(c.reltuples, 0)::bigint INTO lookups FROM pg_class c WHERE c.oid = old.partition;
        dropped := old.partition::text;
        EXECUTE format('DROP TABLE %s', old.partition);
    END IF;
END
$$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION create_lookup_partitions, drop_lookup_partition FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_lookup_partitions, drop_lookup_partition TO causeway_service;
