-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The fields that an action has changed, with their values before and after; NULL for an action that changes none. What is secret or
-- personal has no values: the rows stay when personal data is erased.
ALTER TABLE operator_actions ADD COLUMN changes jsonb;

-- Actions that were recorded and then refused, with the reason.
CREATE TABLE operator_refusals (
    platform_id uuid        NOT NULL,
    action_id   uuid        NOT NULL,
    reason      text        NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (platform_id, action_id),
    CONSTRAINT operator_refusal_action_fkey FOREIGN KEY (platform_id, action_id) REFERENCES operator_actions
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON operator_refusals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON operator_refusals TO causeway_service;
SELECT isolate_platforms('operator_refusals');
