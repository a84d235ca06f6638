-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- A payment may need a second person who approves that it is released. The previous version releases it alone: list RELEASE in fourEyes
-- when none of its processes runs.
ALTER TABLE rail_decisions ADD COLUMN token_id uuid, ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid,
    ADD COLUMN approver text NOT NULL DEFAULT '';
ALTER TABLE rail_decisions ADD CONSTRAINT rail_decision_two_tokens CHECK (approver_token_id <> token_id) NOT VALID,
    ADD CONSTRAINT rail_decision_has_approver CHECK ((proposal_id IS NOT NULL) = (approver <> '')) NOT VALID;
