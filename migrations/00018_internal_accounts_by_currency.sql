-- +goose NO TRANSACTION
-- +goose Up
-- internal_account_owner_currency_type_unique takes its place.
DROP INDEX CONCURRENTLY IF EXISTS internal_account_owner_currency_unique;
