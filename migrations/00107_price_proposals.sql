-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Changes of prices that need four eyes: proposed by one operator and approved by another. They are not in
-- ledger_proposals, because a change for all platforms belongs to no platform. They are records for ever.
CREATE TABLE corridor_proposals (
    id            uuid        PRIMARY KEY,
    platform_id   uuid        REFERENCES platforms, -- NULL: all platforms
    operation     text        NOT NULL, -- the command
    request       text        NOT NULL, -- JSON, with the terms before and after
    status        text        NOT NULL CONSTRAINT corridor_proposal_status_known CHECK (status IN ('PENDING', 'EXECUTED', 'REJECTED')),
    proposer      text        NOT NULL CONSTRAINT corridor_proposal_has_proposer CHECK (proposer <> ''),
    decider       text        NOT NULL DEFAULT '',
    note          text        NOT NULL DEFAULT '' CONSTRAINT corridor_proposal_note_length CHECK (length(note) <= 500),
    error_code    text        NOT NULL DEFAULT '', -- of the last approval that could not be carried out
    error_message text        NOT NULL DEFAULT '',
    error_at      timestamptz,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    decided_at    timestamptz,
    CONSTRAINT corridor_proposal_has_decider CHECK ((status <> 'PENDING') = (decided_at IS NOT NULL) AND (status <> 'PENDING') = (decider <> '')),
    CONSTRAINT corridor_proposal_two_people CHECK (status <> 'EXECUTED' OR lower(decider) <> lower(proposer))
);

-- A decided proposal never changes, and what was proposed never does.
-- +goose StatementBegin
CREATE FUNCTION corridor_check_proposal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'corridor_proposal_decided_once', TABLE = 'corridor_proposals';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER corridor_proposal_check_change BEFORE UPDATE ON corridor_proposals FOR EACH ROW EXECUTE FUNCTION corridor_check_proposal_change();
CREATE TRIGGER corridor_proposal_fixed BEFORE UPDATE OF id, platform_id, operation, request, proposer, created_at, expires_at ON corridor_proposals
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON corridor_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- Only the owner of the database, as whom the commands of operators work, writes proposals.
GRANT SELECT ON corridor_proposals TO causeway_service;
SELECT isolate_platforms('corridor_proposals');

-- The proposal that a change was made by, and who approved it; the trigger that records changes reads both from
-- the settings of the transaction. At most one change is made by a proposal.
ALTER TABLE corridor_changes
    ADD COLUMN proposal_id uuid,
    ADD COLUMN approver    text NOT NULL DEFAULT '',
    ADD CONSTRAINT corridor_change_proposal_id_fkey FOREIGN KEY (proposal_id) REFERENCES corridor_proposals,
    ADD CONSTRAINT corridor_change_once_by_proposal UNIQUE (proposal_id),
    ADD CONSTRAINT corridor_change_has_approver CHECK ((proposal_id IS NOT NULL) = (approver <> '')),
    ADD CONSTRAINT corridor_change_two_people CHECK (approver = '' OR lower(approver) <> lower(changed_by));
ALTER TABLE corridor_changes
    ALTER COLUMN proposal_id SET DEFAULT nullif(current_setting('causeway.proposal', true), '')::uuid,
    ALTER COLUMN approver SET DEFAULT coalesce(current_setting('causeway.approver', true), '');
