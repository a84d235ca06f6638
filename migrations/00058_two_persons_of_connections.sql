-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- A change of a connection, or a balance of one that is set by hand, may need a second person. The previous version changes it alone:
-- list CONNECTION in fourEyes when none of its processes runs.
CREATE TABLE rail_proposals (
    id                 uuid        PRIMARY KEY,
    operation          text        NOT NULL, -- the command
    request            text        NOT NULL, -- JSON
    status             text        NOT NULL CONSTRAINT rail_proposal_status_known CHECK (status IN ('PENDING', 'EXECUTED', 'REJECTED')),
    proposer           text        NOT NULL CONSTRAINT rail_proposal_has_proposer CHECK (proposer <> ''),
    decider            text        NOT NULL DEFAULT '',
    note               text        NOT NULL DEFAULT '' CONSTRAINT rail_proposal_note_length CHECK (length(note) <= 500),
    error_code         text        NOT NULL DEFAULT '', -- of the last approval that could not be carried out
    error_message      text        NOT NULL DEFAULT '',
    error_at           timestamptz,
    created_at         timestamptz NOT NULL,
    expires_at         timestamptz NOT NULL,
    decided_at         timestamptz,
    proposer_person_id uuid,
    decider_person_id  uuid,
    CONSTRAINT rail_proposal_has_decider CHECK ((status <> 'PENDING') = (decided_at IS NOT NULL) AND (status <> 'PENDING') = (decider <> '')),
    CONSTRAINT rail_proposal_two_people CHECK (status <> 'EXECUTED' OR lower(decider) <> lower(proposer)),
    CONSTRAINT rail_proposal_two_persons CHECK (status <> 'EXECUTED' OR decider_person_id IS DISTINCT FROM proposer_person_id)
);

-- A decided proposal never changes, and what was proposed never does.
-- +goose StatementBegin
CREATE FUNCTION rail_check_proposal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'rail_proposal_decided_once', TABLE = 'rail_proposals';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON rail_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER rail_proposal_check_change BEFORE UPDATE ON rail_proposals FOR EACH ROW EXECUTE FUNCTION rail_check_proposal_change();
CREATE TRIGGER rail_proposal_fixed BEFORE UPDATE OF id, operation, request, proposer, proposer_person_id, created_at, expires_at ON rail_proposals
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON rail_proposals TO causeway_service;

ALTER TABLE rail_connections ADD COLUMN proposal_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '';
ALTER TABLE rail_connections ADD CONSTRAINT rail_connection_has_approver CHECK ((proposal_id IS NOT NULL) = (approver <> '')) NOT VALID;
ALTER TABLE rail_opening_balances ADD COLUMN proposal_id uuid, ADD COLUMN approver text NOT NULL DEFAULT '';
ALTER TABLE rail_opening_balances ADD CONSTRAINT rail_opening_balance_has_approver CHECK ((proposal_id IS NOT NULL) = (approver <> '')) NOT VALID;
-- They are set as the owner too.
REVOKE INSERT ON rail_opening_balances FROM causeway_service;
