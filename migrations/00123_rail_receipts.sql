-- +goose Up
-- Over which connection money was received, so that what it holds is known between two balances, and a refund goes back the
-- same way.
SET LOCAL lock_timeout = '1s';

CREATE TABLE rail_receipts (
    platform_id uuid        NOT NULL,
    rail        text        NOT NULL,
    partner_id  text        NOT NULL,
    connection  text        NOT NULL,
    currency    text        NOT NULL,
    amount      bigint      NOT NULL CONSTRAINT rail_receipt_not_negative CHECK (amount >= 0),
    received_at timestamptz NOT NULL,
    reversed_at timestamptz,
    PRIMARY KEY (platform_id, rail, partner_id)
);
-- What moved since a balance.
CREATE INDEX rail_receipts_received ON rail_receipts (connection, currency, received_at) INCLUDE (amount);
CREATE INDEX rail_receipts_reversed ON rail_receipts (connection, currency, reversed_at) INCLUDE (amount) WHERE reversed_at IS NOT NULL;
-- What retention deletes.
CREATE INDEX rail_receipts_by_time ON rail_receipts (received_at);

GRANT SELECT, INSERT, DELETE ON rail_receipts TO causeway_service;
GRANT UPDATE (reversed_at) ON rail_receipts TO causeway_service;
SELECT isolate_platforms('rail_receipts');
