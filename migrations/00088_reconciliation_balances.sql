-- +goose Up
SET LOCAL lock_timeout = '1s';

-- How the partner's closing balance compared with the ledger when a statement was imported, in minor
-- units. All are null if the statement has no closing balance, and of statements imported before.
ALTER TABLE reconciliations
    ADD COLUMN ledger_balance bigint,      -- at the end of the last day, by effective time
    ADD COLUMN open_breaks_amount bigint,  -- what explains the difference: open breaks,
    ADD COLUMN other_day_amount bigint,    -- what is matched with something after the last day,
    ADD COLUMN resolved_amount bigint;     -- and breaks resolved without a posting until then
