-- +goose Up

-- What was told about a receiver: the currencies that reach them, and the facts that
-- the payer's side asks for.
ALTER TABLE lookups
    ADD COLUMN currencies text[] NOT NULL DEFAULT '{}',
    ADD COLUMN facts      text   NOT NULL DEFAULT '';

-- Transactions of a platform itself are few among those of its customers.
CREATE INDEX transactions_of_platform ON transactions (platform_id, id) WHERE customer_id IS NULL;

-- +goose Down
DROP INDEX transactions_of_platform;
ALTER TABLE lookups DROP COLUMN currencies, DROP COLUMN facts;
