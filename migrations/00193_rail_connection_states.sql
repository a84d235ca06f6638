-- +goose Up
-- A version can retire a connection, which then takes no new payments, or delete it. A later version with settings opens it again.
SET LOCAL lock_timeout = '1s';

ALTER TABLE rail_connections
    ADD COLUMN state text NOT NULL DEFAULT 'OPEN' CONSTRAINT rail_connection_state_known CHECK (state IN ('OPEN', 'RETIRED', 'DELETED'));
