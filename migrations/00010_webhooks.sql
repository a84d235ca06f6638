-- +goose Up

-- Webhook events with the exact bytes that are sent. Rows never change. There is no
-- foreign key to platforms: it would lock the platform's row for each event, and every
-- payment creates events.
CREATE TABLE webhook_events (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    subject_id  uuid        NOT NULL,
    seq         bigint      GENERATED ALWAYS AS IDENTITY, -- the order within a subject, whose row the writer has locked
    created_at  timestamptz NOT NULL,
    type        text        NOT NULL,
    name        text        NOT NULL,
    body        bytea       NOT NULL,
    PRIMARY KEY (platform_id, id)
);
-- Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE INDEX webhook_events_by_subject ON webhook_events (platform_id, subject_id) WHERE subject_id <> id;
-- Long bodies are compressed with lz4 where the server supports it.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE webhook_events ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    NULL;
END
$$;
-- +goose StatementEnd

-- Events that have not been attempted yet. Rows are only inserted and deleted; the table
-- is read from the right end of its index and vacuumed often.
CREATE TABLE webhook_queue (
    platform_id uuid   NOT NULL,
    seq         bigint NOT NULL,
    subject_id  uuid   NOT NULL,
    event_id    uuid   NOT NULL,
    PRIMARY KEY (platform_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
        autovacuum_analyze_threshold = 50000);

-- Events whose delivery failed and will be retried, later events of the same subject, and
-- events whose redelivery was requested.
CREATE TABLE webhook_backlog (
    platform_id        uuid        NOT NULL,
    subject_id         uuid        NOT NULL,
    seq                bigint      NOT NULL,
    event_id           uuid        NOT NULL,
    next_attempt_at    timestamptz, -- NULL: waits for an earlier event of the subject
    due_since          timestamptz NOT NULL, -- the start of the current series of attempts
    attempts           int         NOT NULL, -- in all
    attempts_since_due int         NOT NULL, -- in the current series
    PRIMARY KEY (platform_id, seq)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
-- Partial, so that the planner never prefers it to the primary key for a lookup by number.
CREATE INDEX webhook_backlog_by_subject ON webhook_backlog (platform_id, subject_id, seq) WHERE subject_id IS NOT NULL;
CREATE INDEX webhook_backlog_due ON webhook_backlog (platform_id, next_attempt_at, seq) WHERE next_attempt_at IS NOT NULL;

-- All delivery attempts. The state of a delivery follows from them: pending while the
-- event is in the queue or the backlog, else the result of the last attempt.
CREATE TABLE webhook_attempts (
    platform_id  uuid        NOT NULL,
    event_id     uuid        NOT NULL,
    attempted_at timestamptz NOT NULL,
    attempt_no   int         NOT NULL CONSTRAINT webhook_attempt_no_positive CHECK (attempt_no > 0),
    duration_ms  int         NOT NULL,
    status_code  smallint    NOT NULL,
    given_up     boolean     NOT NULL, -- no further attempt follows
    outcome      text        NOT NULL,
    error        text        NOT NULL,
    response     text        NOT NULL,
    PRIMARY KEY (platform_id, event_id, attempt_no)
);
CREATE INDEX webhook_attempts_given_up ON webhook_attempts (platform_id, event_id) WHERE given_up;

-- Keys that sign deliveries; the private keys are encrypted.
CREATE TABLE webhook_keys (
    id            uuid        PRIMARY KEY,
    environment   text        NOT NULL CONSTRAINT webhook_key_environment_known CHECK (environment IN ('SANDBOX', 'PRODUCTION')),
    algorithm     text        NOT NULL CONSTRAINT webhook_key_algorithm_known CHECK (algorithm IN ('ECDSA_P256_SHA256', 'ED25519')),
    public_key    bytea       NOT NULL,
    encrypted_key bytea       NOT NULL,
    valid_from    timestamptz NOT NULL,
    valid_until   timestamptz CONSTRAINT webhook_key_validity_ordered CHECK (valid_until >= valid_from)
);
CREATE UNIQUE INDEX webhook_key_one_active ON webhook_keys (environment, algorithm) WHERE valid_until IS NULL;

GRANT SELECT, INSERT ON webhook_events, webhook_attempts TO causeway_service;
GRANT SELECT, INSERT, DELETE ON webhook_queue TO causeway_service;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_backlog TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON webhook_keys TO causeway_service;
