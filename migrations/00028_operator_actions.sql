-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What operators did to platforms and their tokens on the command line. Few rows; kept for ever.
CREATE TABLE operator_actions (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    action      text        NOT NULL CONSTRAINT operator_action_known CHECK (action IN ('CREATE_PLATFORM', 'CREATE_TOKEN', 'DELETE_TOKEN')),
    subject_id  uuid        NOT NULL, -- the platform or token
    actor       text        NOT NULL CONSTRAINT operator_action_actor_length CHECK (length(actor) BETWEEN 1 AND 200),
    at          timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_actions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON operator_actions TO causeway_service;
SELECT isolate_platforms('operator_actions');

-- The operator who changed a month on the command line.
ALTER TABLE ledger_period_changes ADD COLUMN actor text NOT NULL DEFAULT '';
