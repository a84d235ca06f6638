-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS internal_accounts_by_owner; -- left by a failed attempt

-- For lookups by owner, which is the platform if customer_id is NULL. With row-level security, Postgres
-- uses no index for coalesce(): it does not regard it as leakproof.
CREATE INDEX CONCURRENTLY internal_accounts_by_owner ON internal_accounts
    (platform_id, (CASE WHEN customer_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE customer_id END), currency, account_type);
