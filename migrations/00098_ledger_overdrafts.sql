-- +goose Up
-- What was announced about assets below zero: one row for each account that ever was.
SET LOCAL lock_timeout = '1s';

CREATE TABLE ledger_overdrafts (
    platform_id uuid        NOT NULL,
    account     text        NOT NULL,
    currency    text        NOT NULL,
    overdrawn   boolean     NOT NULL, -- as announced last
    since       timestamptz NOT NULL, -- when it was first seen below zero, the last time
    balance     numeric     NOT NULL, -- as announced last
    notified_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, account, currency)
);

GRANT SELECT, INSERT, UPDATE ON ledger_overdrafts TO causeway_service;

SELECT isolate_platforms('ledger_overdrafts');
