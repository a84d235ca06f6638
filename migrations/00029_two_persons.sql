-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- A token belongs to a person, who may approve with it; without one, to a service, which approves nothing. creator_id is the
-- person who has made the token of a service, and so knows its secret.
ALTER TABLE tokens ADD COLUMN person_id uuid, ADD COLUMN creator_id uuid;
ALTER TABLE tokens ADD CONSTRAINT token_person_fkey FOREIGN KEY (person_id) REFERENCES people NOT VALID;
ALTER TABLE tokens ADD CONSTRAINT token_creator_fkey FOREIGN KEY (creator_id) REFERENCES people NOT VALID;

-- The person who has proposed a change, or stands behind the service or operator that has, if it is known; and the person who
-- has approved or rejected it.
ALTER TABLE ledger_proposals ADD COLUMN proposer_person_id uuid, ADD COLUMN decider_person_id uuid;
ALTER TABLE ledger_proposals ADD CONSTRAINT ledger_proposal_two_persons CHECK (
    status <> 'EXECUTED' OR decider_person_id IS NULL OR decider_person_id IS DISTINCT FROM proposer_person_id) NOT VALID;
GRANT UPDATE (decider_person_id) ON ledger_proposals TO causeway_service;

ALTER TABLE corridor_proposals ADD COLUMN proposer_person_id uuid, ADD COLUMN decider_person_id uuid;
ALTER TABLE corridor_proposals ADD CONSTRAINT corridor_proposal_two_persons CHECK (
    status <> 'EXECUTED' OR decider_person_id IS NULL OR decider_person_id IS DISTINCT FROM proposer_person_id) NOT VALID;
