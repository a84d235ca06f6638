-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- What the other UMA provider of a payment has reported of the channels that it used. It is kept with the payment.
CREATE TABLE uma_channels (
    platform_id    uuid        NOT NULL REFERENCES platforms,
    transaction_id uuid        NOT NULL,
    channels       jsonb       NOT NULL,
    received_at    timestamptz NOT NULL,
    PRIMARY KEY (platform_id, transaction_id)
);
GRANT SELECT, INSERT ON uma_channels TO causeway_service;
SELECT isolate_platforms('uma_channels');
