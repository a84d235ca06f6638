-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The person that a request named, beside its token; empty if it named none. A change without a token was
-- made by an operator, who is always named. ledger_period_changes has the column already.
ALTER TABLE ledger_authorisations
    ADD COLUMN actor text NOT NULL DEFAULT '',
    ALTER COLUMN token_id DROP NOT NULL,
    ADD CONSTRAINT ledger_authorisation_has_author CHECK (token_id IS NOT NULL OR actor <> '');
ALTER TABLE unmatched_assignments ADD COLUMN actor text NOT NULL DEFAULT '';
ALTER TABLE reconciliation_resolutions ADD COLUMN actor text NOT NULL DEFAULT '';
