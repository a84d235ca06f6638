-- +goose Up
-- The accounts from which money was received, as partners named them, so that it can be sent back. In a table of its own,
-- because receipts never change and these are personal data: they are erased with the customer for whom the money was, and
-- those of nobody are deleted after some years, in adapters/postgres/receipt_payers.go.
SET LOCAL lock_timeout = '1s';

CREATE TABLE receipt_payers (
    platform_id uuid NOT NULL,
    id          uuid NOT NULL, -- of the receipt
    customer_id uuid,          -- for whom the money was; NULL: nobody that is known
    account     text NOT NULL, -- encrypted
    PRIMARY KEY (platform_id, id),
    CONSTRAINT receipt_payer_receipt_fkey FOREIGN KEY (platform_id, id) REFERENCES receipts (platform_id, id)
);
CREATE INDEX receipt_payers_by_customer ON receipt_payers (platform_id, customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX receipt_payers_of_nobody ON receipt_payers (platform_id, id) WHERE customer_id IS NULL;

GRANT SELECT, INSERT, DELETE ON receipt_payers TO causeway_service;
GRANT UPDATE (customer_id, account) ON receipt_payers TO causeway_service;
SELECT isolate_platforms('receipt_payers');
