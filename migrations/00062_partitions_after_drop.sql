-- +goose Up

-- As before, and a table without any partition that ends gets one of all the time until today: after a
-- long pause the old ones may be dropped before new ones are created.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION create_time_partitions(parents text[], days int) RETURNS void LANGUAGE plpgsql AS $$
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
