-- +goose Up
-- The proposal that a change was made by, and who approved it: of money at partners, of the chart, and of month ends.
SET LOCAL lock_timeout = '1s';

ALTER TABLE treasury_movements
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT treasury_movement_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE treasury_arrivals
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT treasury_arrival_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE safeguarding_purposes
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT safeguarding_purpose_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE ledger_added_accounts
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_added_account_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE ledger_gl_mappings
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_gl_mapping_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE ledger_month_end_runs
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_month_end_run_two_tokens CHECK (approver_token_id <> token_id);
