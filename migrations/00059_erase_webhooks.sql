-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What an endpoint responded may name the customer, for example in the approval of a payment. It is
-- removed when the personal data of the customer is erased.
GRANT UPDATE (response) ON webhook_attempts TO causeway_service;
