-- +goose Up

-- What a platform is told, with the exact bytes that are sent. Rows never change.
-- There is no foreign key to platforms: it would lock the platform's row once per
-- event, on the path of every payment.
CREATE TABLE webhook_events (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    subject     uuid        NOT NULL,
    seq         bigint      GENERATED ALWAYS AS IDENTITY, -- the order within a subject: whoever tells of one holds its lock
    created_at  timestamptz NOT NULL,
    type        text        NOT NULL,
    name        text        NOT NULL,
    body        bytea       NOT NULL,
    PRIMARY KEY (platform_id, id)
);
-- Partial, so that a look-up by id cannot fall for it while the table is young.
CREATE INDEX webhook_events_of_subject ON webhook_events (platform_id, subject) WHERE subject <> id;
-- A long body is compressed cheaply where the server can.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE webhook_events ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    NULL;
END
$$;
-- +goose StatementEnd

-- Events nobody has tried to send yet. A row is only ever inserted and deleted; it
-- is read from the right edge of its index, and vacuumed often and without pause.
CREATE TABLE webhook_queue (
    platform_id uuid   NOT NULL,
    seq         bigint NOT NULL,
    subject     uuid   NOT NULL,
    event_id    uuid   NOT NULL,
    PRIMARY KEY (platform_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000);

-- Events that were tried and failed, those that stand behind one of the same
-- subject, and those that somebody asked for again.
CREATE TABLE webhook_backlog (
    platform_id     uuid        NOT NULL,
    subject         uuid        NOT NULL,
    seq             bigint      NOT NULL,
    event_id        uuid        NOT NULL,
    next_attempt_at timestamptz, -- none: waits for the one before it
    since           timestamptz NOT NULL, -- when this round of tries began
    attempts        int         NOT NULL, -- in all
    tries           int         NOT NULL, -- in this round
    PRIMARY KEY (platform_id, seq)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
-- Partial, so that a look-up by number cannot fall for it.
CREATE INDEX webhook_backlog_of_subject ON webhook_backlog (platform_id, subject, seq) WHERE subject IS NOT NULL;
CREATE INDEX webhook_backlog_due ON webhook_backlog (platform_id, next_attempt_at, seq) WHERE next_attempt_at IS NOT NULL;

-- Every attempt, for good. How a delivery stands follows from it: waiting in the
-- queue or the backlog, else as its last attempt says.
CREATE TABLE webhook_attempts (
    platform_id uuid        NOT NULL,
    event_id    uuid        NOT NULL,
    at          timestamptz NOT NULL,
    n           int         NOT NULL CONSTRAINT webhook_attempt_counts_from_one CHECK (n > 0),
    duration_ms int         NOT NULL,
    status_code smallint    NOT NULL,
    parked      boolean     NOT NULL, -- given up after this one
    outcome     text        NOT NULL,
    error       text        NOT NULL,
    response    text        NOT NULL,
    PRIMARY KEY (platform_id, event_id, n)
);
CREATE INDEX webhook_attempts_parked ON webhook_attempts (platform_id, event_id) WHERE parked;

-- Keys that sign deliveries; the private halves are sealed.
CREATE TABLE webhook_keys (
    id          uuid        PRIMARY KEY,
    environment text        NOT NULL CONSTRAINT webhook_key_environment_known CHECK (environment IN ('SANDBOX', 'PRODUCTION')),
    algorithm   text        NOT NULL CONSTRAINT webhook_key_algorithm_known CHECK (algorithm IN ('ECDSA_P256_SHA256', 'ED25519')),
    public_key  bytea       NOT NULL,
    sealed_key  bytea       NOT NULL,
    valid_from  timestamptz NOT NULL,
    valid_until timestamptz CONSTRAINT webhook_key_does_not_end_before_it_begins CHECK (valid_until >= valid_from)
);
CREATE UNIQUE INDEX webhook_key_one_signs ON webhook_keys (environment, algorithm) WHERE valid_until IS NULL;

GRANT SELECT, INSERT ON webhook_events, webhook_attempts TO causeway_service;
GRANT SELECT, INSERT, DELETE ON webhook_queue TO causeway_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_backlog TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON webhook_keys TO causeway_service;

-- +goose Down
SELECT 1;
