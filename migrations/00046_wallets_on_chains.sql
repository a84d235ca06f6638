-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The embedded wallet that has an address; NULL for addresses of which the service has the key.
ALTER TABLE evm_addresses ADD COLUMN account_id uuid;

-- What addresses of embedded wallets hold is theirs: it is never swept.
ALTER TABLE evm_holdings ADD COLUMN wallet boolean NOT NULL DEFAULT false;
