-- +goose NO TRANSACTION
-- +goose Up
-- Finds the files of a bank with a content, also those that could not be read.
DROP INDEX CONCURRENTLY IF EXISTS bank_received_files_by_digest;
CREATE INDEX CONCURRENTLY bank_received_files_by_digest ON bank_received_files (connection, sha256);
