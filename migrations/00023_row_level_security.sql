-- +goose NO TRANSACTION
-- +goose Up

-- Row-level security: a session sees and writes only rows of the platform that the setting
-- causeway.platform names. It is '*' for all platforms; if it is empty or was never set, no rows
-- are visible. The owner of the tables, who migrates, is exempt; the service never is the owner.

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION visible_platform() RETURNS uuid STABLE PARALLEL SAFE LANGUAGE sql
RETURN nullif(nullif(current_setting('causeway.platform', true), ''), '*')::uuid;
-- +goose StatementEnd

-- The previous version of the program never sets the setting, and runs beside this one during an
-- upgrade. Its sessions are recognised by their name. The next release removes the condition.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION all_platforms_visible() RETURNS boolean STABLE PARALLEL SAFE LANGUAGE sql
RETURN coalesce(current_setting('causeway.platform', true) = '*', current_setting('application_name') = 'causeway');
-- +goose StatementEnd

-- Adds row-level security to a tenant table, unless it has it. Partitions are protected by the
-- policy of their parent; read directly, they show nothing. The subqueries are evaluated once for
-- each statement, not for each row.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION isolate_platforms(tenant_table regclass, condition text DEFAULT 'platform_id = (SELECT visible_platform())') RETURNS void LANGUAGE plpgsql AS $$
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

-- Each table is locked for a moment and in a transaction of its own. If a lock is not available
-- within a second, the migration fails and can be repeated.
-- +goose StatementBegin
DO $$
DECLARE
    tenant_table regclass;
BEGIN
    FOR tenant_table IN
        SELECT c.oid::regclass FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'platform_id' AND NOT a.attisdropped
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname NOT IN ('corridor_overrides', 'corridor_changes')
        ORDER BY c.oid
    LOOP
        PERFORM set_config('lock_timeout', '1s', true);
        PERFORM isolate_platforms(tenant_table);
        COMMIT;
    END LOOP;
    -- A platform is a tenant by its id; rows without a platform apply to all of them.
    PERFORM set_config('lock_timeout', '1s', true);
    PERFORM isolate_platforms('platforms', 'id = (SELECT visible_platform())');
    PERFORM isolate_platforms('corridor_overrides', 'platform_id IS NULL OR platform_id = (SELECT visible_platform())');
    PERFORM isolate_platforms('corridor_changes', 'platform_id IS NULL OR platform_id = (SELECT visible_platform())');
END
$$;
-- +goose StatementEnd

-- Rows are copied into a tenant table through a temporary table.
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO causeway_service', current_database());
END
$$;
-- +goose StatementEnd

-- As before, and new partitions show nothing when they are read directly.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_create_month_partitions(at_time timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    month_start timestamptz := date_trunc('month', at_time, 'UTC');
    suffix      text := to_char(month_start AT TIME ZONE 'UTC', 'YYYYMM');
    parent      text;
    partition   text;
BEGIN
    IF to_regclass('ledger_entries_' || suffix) IS NOT NULL THEN
        RETURN;
    END IF;
    LOCK TABLE ONLY ledger_postings IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('ledger_entries_' || suffix) IS NOT NULL THEN
        RETURN; -- another session created them while this one waited
    END IF;
    FOREACH parent IN ARRAY ARRAY['ledger_postings', 'ledger_entries'] LOOP
        partition := parent || '_' || suffix;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE, PRIMARY KEY (platform_id, seq%s))',
            partition, parent, CASE parent WHEN 'ledger_entries' THEN ', entry_no' END);
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION reject_change(%L)',
            partition, 'Post a reversal instead.');
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, month_start, ledger_month_end(month_start));
    END LOOP;
END
$$;
-- +goose StatementEnd
