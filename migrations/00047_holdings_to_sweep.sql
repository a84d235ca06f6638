-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.
DROP INDEX CONCURRENTLY IF EXISTS evm_holdings_to_sweep;
CREATE INDEX CONCURRENTLY evm_holdings_to_sweep ON evm_holdings (connection, currency, (received - sent)) WHERE received <> sent AND NOT wallet;
