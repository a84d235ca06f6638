-- +goose Up
SET LOCAL lock_timeout = '1s';

ALTER TABLE rail_payments VALIDATE CONSTRAINT rail_payment_state_known;
ALTER TABLE rail_payments VALIDATE CONSTRAINT rail_payment_handed_over_to_connection;
ALTER TABLE rail_decisions VALIDATE CONSTRAINT rail_decision_known;
