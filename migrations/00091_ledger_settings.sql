-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The accounting policies of a platform: a row for each change. A platform without a row has the defaults
-- of core/books.
CREATE TABLE ledger_settings (
    platform_id         uuid        NOT NULL,
    version             integer     NOT NULL CONSTRAINT ledger_setting_version_positive CHECK (version > 0),
    changed_at          timestamptz NOT NULL,
    token_id            uuid, -- NULL: an operator on the command line
    actor               text        NOT NULL,
    note                text        NOT NULL CONSTRAINT ledger_setting_note_length CHECK (length(note) <= 500),
    functional_currency text        NOT NULL, -- empty: none is chosen
    unrealised_result   text        NOT NULL CONSTRAINT ledger_setting_unrealised_result_known CHECK (unrealised_result IN ('REVERSE', 'KEEP')),
    fee_recognition     text        NOT NULL CONSTRAINT ledger_setting_fee_recognition_known CHECK (fee_recognition IN ('CONVERSION', 'DELIVERY')),
    year_end_month      smallint    NOT NULL CONSTRAINT ledger_setting_year_end_month_exists CHECK (year_end_month BETWEEN 1 AND 12),
    four_eyes           text[]      NOT NULL,
    PRIMARY KEY (platform_id, version),
    CONSTRAINT ledger_setting_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_settings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_settings TO causeway_service;
SELECT isolate_platforms('ledger_settings');
