-- +goose Up

-- As before, and a time that has passed without partitions, for example while the service was stopped
-- for months, gets one partition: many would take long, with all of the tables locked.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION create_time_partitions(parents text[], days int) RETURNS void LANGUAGE plpgsql AS $$
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
