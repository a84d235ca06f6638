-- +goose Up

-- Events and attempts are partitioned by the event's time, with the same bounds, so that old ones
-- are dropped and not deleted. Partitions have no identity columns, so seq has a sequence of its own.
CREATE SEQUENCE webhook_event_seq;
GRANT USAGE ON SEQUENCE webhook_event_seq TO causeway_service;

-- Webhook events with the exact bytes that are sent. Rows never change, except that a new data key encrypts the body again.
-- There is no foreign key to platforms: it would lock the platform's row for each event, and every payment creates events.
CREATE TABLE webhook_events (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    subject_id  uuid        NOT NULL,
    seq         bigint      NOT NULL DEFAULT nextval('webhook_event_seq'), -- the order within a subject, whose row the writer has locked
    created_at  timestamptz NOT NULL,
    type        text        NOT NULL,
    name        text        NOT NULL,
    body        bytea       NOT NULL,
    PRIMARY KEY (platform_id, id)
) PARTITION BY RANGE (id);
ALTER SEQUENCE webhook_event_seq OWNED BY webhook_events.seq;
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
GRANT SELECT, INSERT, UPDATE (body) ON webhook_events TO causeway_service;
SELECT isolate_platforms('webhook_events');

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
    response     text        NOT NULL, -- removed when the data of a customer, whom it may name, is erased
    PRIMARY KEY (platform_id, event_id, attempt_no)
) PARTITION BY RANGE (event_id);
CREATE INDEX webhook_attempts_given_up ON webhook_attempts (platform_id, event_id) WHERE given_up;
-- Shows whether a partition has attempts since a time. Attempts are stored in the order of time, so a
-- BRIN index is enough.
CREATE INDEX webhook_attempts_by_attempted_at ON webhook_attempts USING brin (attempted_at);
GRANT SELECT, INSERT, UPDATE (response) ON webhook_attempts TO causeway_service;
SELECT isolate_platforms('webhook_attempts');

-- The first partitions last for two weeks, so that the service can begin before it creates any.
-- +goose StatementBegin
DO $$
DECLARE
    bound uuid := first_uuid_v7(date_trunc('day', now(), 'UTC') + interval '14 days');
BEGIN
    EXECUTE format('CREATE TABLE webhook_events_first PARTITION OF webhook_events FOR VALUES FROM (MINVALUE) TO (%L)', bound);
    EXECUTE format('CREATE TABLE webhook_attempts_first PARTITION OF webhook_attempts FOR VALUES FROM (MINVALUE) TO (%L)', bound);
END
$$;
-- +goose StatementEnd
CREATE TABLE webhook_events_default PARTITION OF webhook_events DEFAULT;
CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT;
ALTER TABLE webhook_events_first ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_events_default ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_attempts_first ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_attempts_default ENABLE ROW LEVEL SECURITY;

-- +goose StatementBegin
CREATE FUNCTION create_webhook_partitions(days int) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['webhook_attempts', 'webhook_events'], least(greatest(days, 1), 366));
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
GRANT SELECT, INSERT, DELETE ON webhook_queue TO causeway_service;
SELECT isolate_platforms('webhook_queue');

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
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_backlog TO causeway_service;
SELECT isolate_platforms('webhook_backlog');

-- Drops the oldest partition of events, and that of their attempts, whose events were all created
-- before the time, of which none is to be sent, and none was attempted since. It returns its name and
-- about how many events it had, or NULL if there is none. Payments wait for at most the lock timeout
-- while the lock on the tables is awaited; if it is not available, the error is lock_not_available.
-- +goose StatementBegin
CREATE FUNCTION drop_webhook_partition(before timestamptz, OUT dropped text, OUT events bigint) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    lowest   uuid := '00000000-0000-0000-0000-000000000000';
    old      record;
    attempts regclass;
    needed   boolean;
BEGIN
    before := least(before, clock_timestamp() - interval '8 days');
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_webhook_partition', 0)) THEN
        RETURN;
    END IF;
    FOR old IN SELECT p.partition, p.ends_before FROM time_partitions('webhook_events') p LOOP
        -- Some minutes, because an id may begin with a slightly later time than that of its event.
        EXIT WHEN old.ends_before > first_uuid_v7(before - interval '10 minutes');
        SELECT p.partition INTO STRICT attempts FROM time_partitions('webhook_attempts') p WHERE p.ends_before = old.ends_before;
        -- An event that is not in the queue when it is this old never enters it. If its redelivery
        -- begins now, it is as if it began a moment later.
        needed := EXISTS (SELECT FROM webhook_queue q WHERE q.event_id >= lowest AND q.event_id < old.ends_before)
            OR EXISTS (SELECT FROM webhook_backlog b WHERE b.event_id >= lowest AND b.event_id < old.ends_before);
        IF NOT needed THEN
            -- Includes the rows since the last vacuum, which otherwise would be read one by one.
            PERFORM brin_summarize_new_values(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
            WHERE i.indrelid = attempts AND m.amname = 'brin';
            EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE attempted_at >= $1)', attempts) INTO needed USING before;
        END IF;
        IF NOT needed THEN
            LOCK TABLE ONLY webhook_attempts, ONLY webhook_events IN ACCESS EXCLUSIVE MODE; -- the order of the service
            SELECT greatest(c.reltuples, 0)::bigint INTO events FROM pg_class c WHERE c.oid = old.partition;
            dropped := old.partition::text;
            EXECUTE format('DROP TABLE %s, %s', attempts, old.partition);
            RETURN;
        END IF;
        lowest := old.ends_before;
    END LOOP;
END
$$;
-- +goose StatementEnd

-- Removes redeliveries of events that were dropped when they began.
-- +goose StatementBegin
CREATE FUNCTION forget_dropped_webhooks() RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    removed bigint;
BEGIN
    DELETE FROM webhook_backlog b
    WHERE b.event_id < first_uuid_v7(clock_timestamp() - interval '8 days') -- none is dropped that is younger
      AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.platform_id = b.platform_id AND e.id = b.event_id);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END
$$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION create_webhook_partitions, drop_webhook_partition, forget_dropped_webhooks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_webhook_partitions, drop_webhook_partition, forget_dropped_webhooks TO causeway_service;

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
-- Keys that ended are deleted.
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_keys TO causeway_service;

-- The secrets with which platforms verify webhooks, encrypted.
CREATE TABLE webhook_secrets (
    platform_id      uuid        NOT NULL REFERENCES platforms,
    id               uuid        NOT NULL,
    encrypted_secret bytea       NOT NULL,
    valid_from       timestamptz NOT NULL,
    valid_until      timestamptz CONSTRAINT webhook_secret_validity_ordered CHECK (valid_until >= valid_from),
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX webhook_secret_one_current ON webhook_secrets (platform_id) WHERE valid_until IS NULL;
-- A new master key encrypts the secrets again.
GRANT SELECT, INSERT, UPDATE (encrypted_secret), DELETE ON webhook_secrets TO causeway_service;
SELECT isolate_platforms('webhook_secrets');
