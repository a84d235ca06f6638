-- +goose Up
-- A payment that an adapter has (HANDED_OVER) can be stopped until it leaves (SENT). Payments that an earlier program has
-- handed over are SENT, as if they had left.
SET LOCAL lock_timeout = '1s';

ALTER TABLE rail_payments ADD COLUMN handed_over_at timestamptz;
ALTER TABLE rail_payments DROP CONSTRAINT rail_payment_state_known;
ALTER TABLE rail_payments ADD CONSTRAINT rail_payment_state_known
    CHECK (state IN ('REVIEW', 'QUEUED', 'HANDED_OVER', 'SENT', 'DONE', 'REFUSED', 'RETURNED', 'CANCELLED')) NOT VALID;
ALTER TABLE rail_payments ADD CONSTRAINT rail_payment_handed_over_to_connection CHECK (handed_over_at IS NULL OR connection <> '') NOT VALID;
GRANT UPDATE (handed_over_at) ON rail_payments TO causeway_service;

-- What operators decide about payments that have not left, and about those that never did.
ALTER TABLE rail_decisions DROP CONSTRAINT rail_decision_known;
ALTER TABLE rail_decisions ADD CONSTRAINT rail_decision_known
    CHECK (decision IN ('RELEASE', 'CANCEL', 'WITHDRAW', 'MOVE', 'REPORT_NOT_SENT', 'CONFIRM_NOT_SENT')) NOT VALID;
