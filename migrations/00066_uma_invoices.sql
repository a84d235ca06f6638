-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- UMA invoices: those that a platform has issued, and those that its customers are asked to pay or pay. The id that the provider of the
-- receiver has chosen is the key of the payment. Deleted some time after they have expired: an expired one is not paid.
CREATE TABLE uma_invoices (
    platform_id    uuid        NOT NULL REFERENCES platforms,
    id             uuid        NOT NULL, -- of an issued one: invoice_id
    issuer         text        NOT NULL, -- the domain of the provider of the receiver
    invoice_id     uuid        NOT NULL,
    content        text        NOT NULL, -- the signed invoice, encrypted: addresses can name people
    receiver_id    uuid,                 -- if a customer of the platform receives
    sender_id      uuid,                 -- if a customer of the platform is asked to pay, or pays
    amount         bigint      NOT NULL CONSTRAINT uma_invoice_positive CHECK (amount > 0),
    currency       text        NOT NULL,
    transaction_id uuid,                 -- the last payment of it
    expires_at     timestamptz NOT NULL,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT uma_invoice_once UNIQUE (platform_id, issuer, invoice_id)
);
CREATE INDEX uma_invoices_by_expires_at ON uma_invoices (platform_id, expires_at);
CREATE INDEX uma_invoices_by_sender ON uma_invoices (platform_id, sender_id, expires_at) WHERE sender_id IS NOT NULL;
CREATE INDEX uma_invoices_by_receiver ON uma_invoices (platform_id, receiver_id) WHERE receiver_id IS NOT NULL;
GRANT SELECT, INSERT, UPDATE (content, sender_id, transaction_id), DELETE ON uma_invoices TO causeway_service;
SELECT isolate_platforms('uma_invoices');

-- The invoice that was looked up, and its amount; NULL if the receiver was looked up by address.
ALTER TABLE lookups ADD COLUMN uma_invoice_id uuid, ADD COLUMN uma_invoice_minor bigint;
