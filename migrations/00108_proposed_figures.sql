-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What a proposed change comes to, as JSON, beside its request: what the approver approves. Empty for most.
ALTER TABLE ledger_proposals ADD COLUMN figures text NOT NULL DEFAULT '';

-- The proposal that a change was made by, and who approved it: of the ends of years, and of corrections of breaks.
ALTER TABLE ledger_year_closings
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_year_closing_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE ledger_year_reversals
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_year_reversal_two_tokens CHECK (approver_token_id <> token_id);
-- This table may be large. Its older rows have no approver, so they need no check. The former program copies rows that
-- lack these columns, so none of them has NOT NULL.
ALTER TABLE reconciliation_resolutions
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text,
    ADD CONSTRAINT reconciliation_resolution_two_tokens CHECK (resolved_by <> 'Token:' || approver_token_id::text) NOT VALID;
