-- +goose Up

-- What the other files build on: the role of the service, append-only tables, the isolation of platforms, and tables in
-- partitions by time.

-- The service runs its statements as this role, which has only the privileges it needs.
-- Roles belong to the whole cluster: another database may have created it already.
-- +goose StatementBegin
DO $$
BEGIN
    CREATE ROLE causeway_service NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;
-- +goose StatementEnd
GRANT causeway_service TO CURRENT_USER;
GRANT USAGE ON SCHEMA public TO causeway_service;
GRANT SELECT ON schema_migrations TO causeway_service; -- the service checks the version when it starts
-- Rows are copied into a tenant table through a temporary table.
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO causeway_service', current_database());
END
$$;
-- +goose StatementEnd

-- Rejects a change of an append-only table. The trigger's argument, if any, is the hint.
-- +goose StatementBegin
CREATE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is not allowed: the table is append-only', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = coalesce(TG_ARGV[0], '');
END
$$;
-- +goose StatementEnd

-- Row-level security: a session sees and writes only rows of the platform that the setting
-- causeway.platform names. It is '*' for all platforms; if it is empty or was never set, no rows
-- are visible. The owner of the tables, who migrates, is exempt; the service never is the owner.

CREATE FUNCTION visible_platform() RETURNS uuid STABLE PARALLEL SAFE LANGUAGE sql
RETURN nullif(nullif(current_setting('causeway.platform', true), ''), '*')::uuid;

CREATE FUNCTION all_platforms_visible() RETURNS boolean STABLE PARALLEL SAFE LANGUAGE sql
RETURN coalesce(current_setting('causeway.platform', true) = '*', false);

-- Adds row-level security to a tenant table, unless it has it. Partitions are protected by the
-- policy of their parent; read directly, they show nothing. The subqueries are evaluated once for
-- each statement, not for each row.
-- +goose StatementBegin
CREATE FUNCTION isolate_platforms(tenant_table regclass, condition text DEFAULT 'platform_id = (SELECT visible_platform())') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT (SELECT c.relrowsecurity FROM pg_class c WHERE c.oid = tenant_table) THEN
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = tenant_table)
       AND NOT (SELECT c.relispartition FROM pg_class c WHERE c.oid = tenant_table) THEN
        EXECUTE format('CREATE POLICY platform_isolation ON %s USING (%s OR (SELECT all_platforms_visible()))', tenant_table, condition);
    END IF;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION isolate_platforms FROM PUBLIC;

-- Ids are UUIDv7: they begin with the time of creation.

-- The lowest UUIDv7 of a time.
CREATE FUNCTION first_uuid_v7(at_time timestamptz) RETURNS uuid STABLE STRICT PARALLEL SAFE LANGUAGE sql
RETURN (lpad(to_hex(floor(extract(epoch FROM at_time) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- The time that an id begins with. Immutable, because an index has it; so everybody who inserts into that table executes it.
CREATE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql
RETURN to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);

-- Functions for tables that are partitioned by ranges of ids, and whose old partitions are dropped. The functions that the
-- service may call are in the files of the tables. The bounds of partitions are midnights in UTC. Rows of a time without a
-- partition are in the default partition.

-- The id that a partition ends before; NULL for the default partition.
CREATE FUNCTION partition_end(partition regclass) RETURNS uuid STABLE STRICT LANGUAGE sql
RETURN (SELECT (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([0-9a-f-]{36})''\)'))[1]::uuid FROM pg_class c WHERE c.oid = partition);

-- The partitions of a table that end, the oldest first.
-- +goose StatementBegin
CREATE FUNCTION time_partitions(parent regclass) RETURNS TABLE (partition regclass, ends_before uuid) STABLE LANGUAGE sql
BEGIN ATOMIC
    SELECT i.inhrelid::regclass, partition_end(i.inhrelid) FROM pg_inherits i
    WHERE i.inhparent = parent AND partition_end(i.inhrelid) IS NOT NULL ORDER BY 2;
END;
-- +goose StatementEnd

-- Creates partitions of some days each, with the same bounds in each of the tables, until they last
-- for so long and a day more. Rows of a new partition that are in the default partition are moved. A time that has passed
-- without partitions, for example while the service was stopped for months, gets one partition: many would take long, with
-- all of the tables locked. A table without any partition that ends, because the old ones were dropped after a long pause,
-- gets one of all the time until today.
-- +goose StatementBegin
CREATE FUNCTION create_time_partitions(parents text[], days int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    beginning CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    bounded   uuid;
    starts_at timestamptz;
    first_id  uuid;
    parent    text;
    partition text;
    key       text;
    last_id   uuid;
BEGIN
    LOOP
        SELECT coalesce(max(p.ends_before::text)::uuid, beginning) INTO bounded FROM time_partitions(parents[1]::regclass) p;
        starts_at := uuid_v7_time(bounded);
        EXIT WHEN starts_at > clock_timestamp() + make_interval(days => days + 1);
        -- Rows can be written and read meanwhile, unless the partition is of rows that are written now:
        -- they were in the default partition.
        FOREACH parent IN ARRAY parents LOOP
            EXECUTE format('LOCK TABLE ONLY %I IN %s MODE', parent, CASE WHEN starts_at <= clock_timestamp() THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE UPDATE EXCLUSIVE' END);
        END LOOP;
        CONTINUE WHEN (SELECT coalesce(max(p.ends_before::text)::uuid, beginning) FROM time_partitions(parents[1]::regclass) p) <> bounded;
        first_id := bounded;
        last_id := first_uuid_v7(greatest(starts_at + make_interval(hours => 24 * days), date_trunc('day', clock_timestamp(), 'UTC')));
        FOREACH parent IN ARRAY parents LOOP
            partition := parent || '_' || to_char(starts_at AT TIME ZONE 'UTC', 'YYYYMMDD');
            key := (SELECT a.attname FROM pg_partitioned_table t JOIN pg_attribute a ON a.attrelid = t.partrelid AND a.attnum = t.partattrs[0] WHERE t.partrelid = parent::regclass);
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION)', partition, parent);
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition);
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
            EXECUTE format('WITH moved AS (DELETE FROM %1$I WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *) INSERT INTO %5$I SELECT * FROM moved',
                parent || '_default', key, first_id, last_id, partition);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, first_id, last_id);
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION partition_end, time_partitions, create_time_partitions FROM PUBLIC;
