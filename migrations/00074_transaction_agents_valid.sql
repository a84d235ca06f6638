-- +goose Up
SET LOCAL lock_timeout = '1s';

ALTER TABLE transactions VALIDATE CONSTRAINT transaction_usage_of_agent;
