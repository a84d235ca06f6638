-- +goose Up
-- Money that was received and that the partner or chain took back, once for each receipt. Rows never change.
SET LOCAL lock_timeout = '1s';

CREATE TABLE receipt_reversals (
    platform_id uuid        NOT NULL,
    receipt_id  uuid        NOT NULL,
    partner_id  text        NOT NULL CONSTRAINT receipt_reversal_partner_id_length CHECK (length(partner_id) <= 300),
    code        text        NOT NULL CONSTRAINT receipt_reversal_code_length CHECK (length(code) <= 40),
    note        text        NOT NULL CONSTRAINT receipt_reversal_note_length CHECK (length(note) <= 500),
    reversed_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, receipt_id),
    CONSTRAINT receipt_reversal_receipt_fkey FOREIGN KEY (platform_id, receipt_id) REFERENCES receipts (platform_id, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON receipt_reversals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

GRANT SELECT, INSERT ON receipt_reversals TO causeway_service;
SELECT isolate_platforms('receipt_reversals');
