-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.

-- While a table is empty, Postgres takes the newest of all indexes that have the columns of a key, at the same cost. Plans that were made
-- then, with transactions_by_received, read all payments of a platform for each until the table was analyzed. A partial index is not
-- considered for a key.
DROP INDEX CONCURRENTLY IF EXISTS transactions_by_received_amount;
CREATE INDEX CONCURRENTLY transactions_by_received_amount ON transactions (platform_id, received_minor, received_currency, id)
    WHERE received_minor IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS transactions_by_received;
