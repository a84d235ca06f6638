-- +goose Up
-- How money received was named, by which the bank names it when it takes it back. It has no column of a platform: a bank that
-- takes money back does not know whose it was.
SET LOCAL lock_timeout = '1s';

CREATE TABLE bank_receipt_names (
    connection  text        NOT NULL REFERENCES bank_connections,
    name        text        NOT NULL, -- a hash of an id that a bank has given, with the amount
    partner_id  text        NOT NULL, -- of the receipt
    received_at timestamptz NOT NULL,
    PRIMARY KEY (connection, name, partner_id)
);
CREATE INDEX bank_receipt_names_by_time ON bank_receipt_names (received_at);

-- Two more kinds. The table is small.
ALTER TABLE bank_notices DROP CONSTRAINT bank_notice_kind_known;
ALTER TABLE bank_notices ADD CONSTRAINT bank_notice_kind_known CHECK (kind IN
    ('UNKNOWN_PAYMENT', 'CONTRADICTION', 'DUPLICATE_FILE', 'UNREADABLE_FILE', 'CORRECTION', 'OTHER_ACCOUNT', 'OTHER_CURRENCY'));

GRANT SELECT, INSERT, DELETE ON bank_receipt_names TO causeway_service;
