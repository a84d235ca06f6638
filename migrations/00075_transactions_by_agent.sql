-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS transactions_by_agent; -- left by a failed attempt

-- Partial, as the others of the table.
CREATE INDEX CONCURRENTLY transactions_by_agent ON transactions (platform_id, agent_id, id) WHERE agent_id IS NOT NULL;
