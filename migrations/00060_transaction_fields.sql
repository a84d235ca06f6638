-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Who has chosen the rail of a payout: the service (AUTO) or the request (MANUAL). NULL if there was nothing to choose, and of payments
-- that were made before. In_review: an operator reviews the payment before its rail gets it; NULL is false.
ALTER TABLE transactions ADD COLUMN rail_selection text, ADD COLUMN in_review boolean;
ALTER TABLE transactions ADD CONSTRAINT transaction_rail_selection_known CHECK (rail_selection IN ('AUTO', 'MANUAL')) NOT VALID;

-- What a transfer that waits for approval is for, and what its beneficiary is to read, which is encrypted.
ALTER TABLE agent_actions ADD COLUMN purpose text NOT NULL DEFAULT '', ADD COLUMN remittance text NOT NULL DEFAULT '';
GRANT UPDATE (remittance) ON agent_actions TO causeway_service;
