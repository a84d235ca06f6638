-- +goose Up

-- Functions for tables that are partitioned by ranges of ids, which begin with the time of creation,
-- and whose old partitions are dropped. The functions that the service may call are in the files of
-- the tables. The bounds of partitions are midnights in UTC.

-- The id that a partition ends before; NULL for the default partition.
-- +goose StatementBegin
CREATE FUNCTION partition_end(partition regclass) RETURNS uuid STABLE STRICT LANGUAGE sql
RETURN (SELECT (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([0-9a-f-]{36})''\)'))[1]::uuid FROM pg_class c WHERE c.oid = partition);
-- +goose StatementEnd

-- The time that an id begins with.
-- +goose StatementBegin
CREATE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz STABLE STRICT PARALLEL SAFE LANGUAGE sql
RETURN to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
-- +goose StatementEnd

-- The partitions of a table that end, the oldest first.
-- +goose StatementBegin
CREATE FUNCTION time_partitions(parent regclass) RETURNS TABLE (partition regclass, ends_before uuid) STABLE LANGUAGE sql
BEGIN ATOMIC
    SELECT i.inhrelid::regclass, partition_end(i.inhrelid) FROM pg_inherits i
    WHERE i.inhparent = parent AND partition_end(i.inhrelid) IS NOT NULL ORDER BY 2;
END;
-- +goose StatementEnd

-- Turns a table into the first partition of a new table of the same name, in a moment: a constraint,
-- whose name is given, bounds its ids already. Its indexes become those of all partitions. Rows of a
-- time without a partition are in the default partition.
-- +goose StatementBegin
CREATE FUNCTION partition_by_time(parent text, key text, bound_constraint text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first   text := parent || '_first';
    bound   text := substring(pg_get_constraintdef((SELECT oid FROM pg_constraint WHERE conname = bound_constraint)) FROM '''([0-9a-f-]{36})''');
    indexes text[];
    entry   record;
    command text;
BEGIN
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent);
    indexes := ARRAY(SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = parent::regclass AND NOT indisprimary);
    FOR entry IN SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = parent::regclass LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I', entry.relname, entry.relname || '_first');
    END LOOP;
    EXECUTE format('ALTER TABLE %I RENAME TO %I', parent, first);
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION) PARTITION BY RANGE (%I)', parent, first, key);
    FOR entry IN SELECT conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
                 WHERE conrelid = first::regclass AND contype IN ('c', 'f', 'p') AND conname <> bound_constraint LOOP
        -- The constraint of the primary key was renamed with its index.
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', parent, regexp_replace(entry.conname, '_pkey_first$', '_pkey'), entry.definition);
    END LOOP;
    FOREACH command IN ARRAY indexes LOOP
        EXECUTE command;
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', parent, first, bound);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', first, bound_constraint);
    EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', parent || '_default', parent);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', parent || '_default');
    -- The partition is protected by the policy and the privileges of the new table.
    PERFORM isolate_platforms(parent::regclass);
    EXECUTE format('DROP POLICY platform_isolation ON %I', first);
    EXECUTE format('REVOKE ALL ON %I FROM causeway_service', first);
END
$$;
-- +goose StatementEnd

-- Creates partitions of some days each, with the same bounds in each of the tables, until they last
-- for so long and a day more. Rows of a new partition that are in the default partition are moved.
-- +goose StatementBegin
CREATE FUNCTION create_time_partitions(parents text[], days int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    bounded   uuid;
    starts_at timestamptz;
    first_id  uuid;
    parent    text;
    partition text;
    key       text;
    last_id   uuid;
BEGIN
    LOOP
        SELECT max(p.ends_before::text)::uuid INTO bounded FROM time_partitions(parents[1]::regclass) p;
        starts_at := uuid_v7_time(bounded);
        EXIT WHEN starts_at > clock_timestamp() + make_interval(days => days + 1);
        -- Rows can be written and read meanwhile, unless the partition is of rows that are written now:
        -- they were in the default partition.
        FOREACH parent IN ARRAY parents LOOP
            EXECUTE format('LOCK TABLE ONLY %I IN %s MODE', parent, CASE WHEN starts_at <= clock_timestamp() THEN 'ACCESS EXCLUSIVE' ELSE 'SHARE UPDATE EXCLUSIVE' END);
        END LOOP;
        CONTINUE WHEN (SELECT max(p.ends_before::text)::uuid FROM time_partitions(parents[1]::regclass) p) <> bounded;
        first_id := bounded;
        last_id := first_uuid_v7(starts_at + make_interval(hours => 24 * days));
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

REVOKE EXECUTE ON FUNCTION partition_end, uuid_v7_time, time_partitions, partition_by_time, create_time_partitions FROM PUBLIC;
