-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Changes of the books that need four eyes: proposed with one token, and approved with another. They are
-- records for ever.
CREATE TABLE ledger_proposals (
    platform_id       uuid        NOT NULL REFERENCES platforms,
    id                uuid        NOT NULL,
    action            text        NOT NULL,
    operation         text        NOT NULL, -- its id in the API
    request           text        NOT NULL, -- JSON, as it was proposed
    status            text        NOT NULL CONSTRAINT ledger_proposal_status_known CHECK (status IN ('PENDING', 'EXECUTED', 'REJECTED')),
    proposer_token_id uuid, -- NULL: an operator
    proposer          text        NOT NULL, -- the name of the person; may be empty
    decider_token_id  uuid, -- NULL: an operator, or pending
    decider           text        NOT NULL DEFAULT '',
    note              text        NOT NULL DEFAULT '' CONSTRAINT ledger_proposal_note_length CHECK (length(note) <= 500),
    result            text        NOT NULL DEFAULT '', -- the id of what was made
    error_code        text        NOT NULL DEFAULT '', -- of the last approval that could not be carried out
    error_message     text        NOT NULL DEFAULT '',
    error_at          timestamptz,
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL,
    decided_at        timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_proposal_has_proposer CHECK (proposer_token_id IS NOT NULL OR proposer <> ''),
    CONSTRAINT ledger_proposal_has_decider CHECK ((status <> 'PENDING') = (decided_at IS NOT NULL)
        AND (status <> 'PENDING') = (decider_token_id IS NOT NULL OR decider <> '')),
    CONSTRAINT ledger_proposal_two_people CHECK (status <> 'EXECUTED'
        OR CASE WHEN num_nonnulls(decider_token_id, proposer_token_id) = 2 THEN decider_token_id <> proposer_token_id ELSE decider <> proposer END)
);
CREATE INDEX ledger_proposals_pending ON ledger_proposals (platform_id, expires_at) WHERE status = 'PENDING';

-- A decided proposal never changes.
-- +goose StatementBegin
CREATE FUNCTION ledger_check_proposal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_proposal_decided_once', TABLE = 'ledger_proposals';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_proposal_check_change BEFORE UPDATE ON ledger_proposals FOR EACH ROW EXECUTE FUNCTION ledger_check_proposal_change();
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON ledger_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_proposals TO causeway_service;
GRANT UPDATE (status, decider_token_id, decider, note, result, error_code, error_message, error_at, decided_at) ON ledger_proposals TO causeway_service;
SELECT isolate_platforms('ledger_proposals');

-- The proposal that a change was made by, and who approved it.
ALTER TABLE ledger_authorisations
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_authorisation_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE unmatched_assignments
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT unmatched_assignment_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE ledger_period_changes
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_period_change_two_tokens CHECK (approver_token_id <> token_id);
ALTER TABLE ledger_settings
    ADD COLUMN proposal_id uuid, ADD COLUMN approver_token_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '',
    ADD CONSTRAINT ledger_setting_two_tokens CHECK (approver_token_id <> token_id);
