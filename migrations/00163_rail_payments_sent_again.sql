-- +goose Up
-- A payment that has left, and that an adapter was to send again: that the partner did not take one of the two says nothing
-- about the other, so it cannot be stopped.
SET LOCAL lock_timeout = '1s';

ALTER TABLE rail_payments ADD COLUMN sent_again boolean NOT NULL DEFAULT false;
GRANT UPDATE (sent_again) ON rail_payments TO causeway_service;
