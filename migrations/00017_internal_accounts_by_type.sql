-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS internal_account_owner_currency_type_unique; -- left by a failed attempt

-- A customer with an embedded wallet can have a crypto account in its currency too, for refunds.
CREATE UNIQUE INDEX CONCURRENTLY internal_account_owner_currency_type_unique ON internal_accounts
    (platform_id, coalesce(customer_id, '00000000-0000-0000-0000-000000000000'), currency, account_type);
