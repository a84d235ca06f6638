-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Accounts that finance teams add to the chart of their platform: a row for each change of an account, the
-- last of which counts. ledger_accounts has an account for each currency that was posted to.
CREATE TABLE ledger_added_accounts (
    platform_id uuid        NOT NULL,
    path        text        NOT NULL,
    version     integer     NOT NULL CONSTRAINT ledger_added_account_version_positive CHECK (version > 0),
    name        text        NOT NULL CONSTRAINT ledger_added_account_name_length CHECK (length(name) BETWEEN 1 AND 100),
    description text        NOT NULL CONSTRAINT ledger_added_account_description_length CHECK (length(description) <= 500),
    retired     boolean     NOT NULL,
    changed_at  timestamptz NOT NULL,
    token_id    uuid, -- NULL: an operator on the command line
    actor       text        NOT NULL,
    note        text        NOT NULL CONSTRAINT ledger_added_account_note_length CHECK (length(note) <= 500),
    PRIMARY KEY (platform_id, path, version),
    CONSTRAINT ledger_added_account_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_added_accounts FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_added_accounts TO causeway_service;
SELECT isolate_platforms('ledger_added_accounts');
