-- +goose Up
-- The constraint keeps its name, by which the program knows a repeated request.
SET LOCAL lock_timeout = '1s';
ALTER TABLE idempotency_keys
    DROP CONSTRAINT idempotency_keys_pkey,
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY USING INDEX idempotency_keys_by_platform;
