-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Wrong codes since the last right one, over all codes of a credential, and until when none is sent or tried because of them.
ALTER TABLE wallet_codes
    ADD COLUMN failures      integer NOT NULL DEFAULT 0 CONSTRAINT wallet_code_failures_not_negative CHECK (failures >= 0),
    ADD COLUMN blocked_until timestamptz;
