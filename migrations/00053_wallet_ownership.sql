-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Who owns a wallet, which custodian holds it, and the challenge and the proof of its owner, which are personal data. The name of the
-- custodian is also in the fields, and here to count the accounts that name it.
ALTER TABLE external_accounts
    ADD COLUMN ownership_type text NOT NULL DEFAULT '',
    ADD COLUMN vasp_name      text NOT NULL DEFAULT '',
    ADD COLUMN ownership      jsonb,
    ADD CONSTRAINT external_accounts_ownership_type CHECK (ownership_type IN ('', 'FIRST_PARTY', 'THIRD_PARTY')) NOT VALID;

-- The directories of custodians that operators have imported. The last one is the present one; none is deleted, because accounts were
-- registered with its names.
CREATE TABLE vasp_directories (
    imported_at timestamptz PRIMARY KEY,
    actor       text        NOT NULL,
    person_id   uuid,
    providers   jsonb       NOT NULL
);
GRANT SELECT, INSERT ON vasp_directories TO causeway_service;
