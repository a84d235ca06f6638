-- +goose Up
SET LOCAL lock_timeout = '1s';

-- When a test has ended the quote of a sandbox platform before its time; it counts in place of expires_at. All else of a quote
-- never changes.
ALTER TABLE quotes ADD COLUMN expired_early_at timestamptz
    CONSTRAINT quote_expired_early CHECK (expired_early_at < expires_at);
GRANT UPDATE (expired_early_at) ON quotes TO causeway_service;
