-- +goose Up
-- What the partners and chains of connections hold, as they say it, and their statements until they are reconciled.
SET LOCAL lock_timeout = '1s';

-- The last balance of each day (UTC); the last of all is the present one.
CREATE TABLE rail_balances (
    connection text        NOT NULL,
    currency   text        NOT NULL,
    day        date        NOT NULL,
    amount     bigint      NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (connection, currency, day)
);
CREATE INDEX rail_balances_by_day ON rail_balances (day);

-- The content of a statement is deleted when it is reconciled.
CREATE TABLE rail_statements (
    platform_id   uuid        NOT NULL,
    id            uuid        NOT NULL,
    connection    text        NOT NULL,
    name          text        NOT NULL CONSTRAINT rail_statement_name_length CHECK (length(name) <= 300),
    format        text        NOT NULL CONSTRAINT rail_statement_format_length CHECK (length(format) BETWEEN 1 AND 40),
    account       text        NOT NULL, -- the ledger account, or empty: then as accounts or an earlier statement say
    currency      text        NOT NULL,
    accounts      text        NOT NULL,
    digest        bytea       NOT NULL,
    content       bytea       NOT NULL,
    received_at   timestamptz NOT NULL,
    attempts      integer     NOT NULL DEFAULT 0,
    retry_at      timestamptz NOT NULL,
    problem       text        NOT NULL DEFAULT '' CONSTRAINT rail_statement_problem_length CHECK (length(problem) <= 2000),
    reconciled_at timestamptz,
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX rail_statements_once ON rail_statements (platform_id, connection, digest);
CREATE INDEX rail_statements_open ON rail_statements (retry_at) WHERE reconciled_at IS NULL;
CREATE INDEX rail_statements_reconciled ON rail_statements (reconciled_at) WHERE reconciled_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON rail_balances, rail_statements TO causeway_service;
SELECT isolate_platforms('rail_statements');
