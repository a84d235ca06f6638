-- +goose NO TRANSACTION
-- +goose Up

-- As before, and in an index.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION uuid_v7_time(id uuid) RETURNS timestamptz IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql
RETURN to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
-- +goose StatementEnd
GRANT EXECUTE ON FUNCTION uuid_v7_time TO PUBLIC; -- for each insert into the table

-- Transactions that were created long after the time in their id, which is that of a payment or a
-- receipt. A list that begins at a time finds the others by their ids.
DROP INDEX CONCURRENTLY IF EXISTS transactions_created_late; -- left by a failed attempt
CREATE INDEX CONCURRENTLY transactions_created_late ON transactions (platform_id, created_at)
    WHERE created_at - uuid_v7_time(id) > interval '2 hours';
