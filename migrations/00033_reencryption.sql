-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The number of the version of what is encrypted, with which a key was created. Keys of the previous
-- version have 1.
ALTER TABLE data_keys ADD COLUMN generation smallint NOT NULL DEFAULT 1;

-- A new data key encrypts these columns again. The other columns of the rows still never change.
GRANT UPDATE (body) ON webhook_events TO causeway_service;
GRANT UPDATE (receiver_info) ON lookups TO causeway_service;
GRANT UPDATE (reference_list, description) ON reconciliation_lines TO causeway_service;
CREATE OR REPLACE TRIGGER append_only
    BEFORE UPDATE OF platform_id, id, reconciliation_id, account, currency, fingerprint, ordinal, booking_date, value_date, amount, servicer_reference, returned
        OR DELETE OR TRUNCATE ON reconciliation_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Nobody without the data key replaces the texts of a statement line: what is written is encrypted.
CREATE TRIGGER texts_stay_encrypted BEFORE UPDATE OF reference_list, description ON reconciliation_lines FOR EACH ROW
    WHEN (NEW.reference_list <> OLD.reference_list AND left(NEW.reference_list, 1) <> E'\x01'
        OR NEW.description <> OLD.description AND left(NEW.description, 1) <> E'\x01')
    EXECUTE FUNCTION reject_change();
