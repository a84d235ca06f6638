-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Requests to the API with what was answered, and no value that may identify a person. They are in partitions by the time at which
-- they were written, which the id begins with. A foreign key to the platform would lock it for each request.
CREATE TABLE request_log (
    platform_id     uuid        NOT NULL,
    id              uuid        NOT NULL,
    token_id        uuid, -- NULL for an agent
    agent_id        uuid, -- NULL for a token
    arrived_at      timestamptz NOT NULL, -- by the clock of the database
    duration_us     bigint      NOT NULL,
    method          text        NOT NULL,
    operation       text        NOT NULL, -- '' if there is none
    route           text        NOT NULL, -- '' if there is none
    path            text        NOT NULL,
    query           text        NOT NULL,
    status          smallint    NOT NULL,
    code            text        NOT NULL, -- of an error
    message         text        NOT NULL, -- of an error
    request_id      uuid        NOT NULL,
    idempotency_key text        NOT NULL,
    replayed        boolean     NOT NULL,
    request_type    text        NOT NULL,
    request_size    bigint      NOT NULL,
    request_body    text        NOT NULL, -- masked JSON, '' if it is not kept
    request_cut     boolean     NOT NULL,
    response_type   text        NOT NULL,
    response_size   bigint      NOT NULL,
    response_body   text        NOT NULL, -- masked JSON, '' if it is not kept
    response_cut    boolean     NOT NULL,
    lost_before     bigint      NOT NULL, -- requests of the platform before this one that are not in the log
    CONSTRAINT request_log_pkey PRIMARY KEY (platform_id, id),
    CONSTRAINT request_log_has_one_caller CHECK ((token_id IS NULL) <> (agent_id IS NULL))
) PARTITION BY RANGE (id);
-- Long bodies are compressed with lz4 where the server supports it.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE request_log ALTER COLUMN request_body SET COMPRESSION lz4, ALTER COLUMN response_body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    NULL;
END
$$;
-- +goose StatementEnd
CREATE INDEX request_log_by_request ON request_log (platform_id, request_id);
CREATE INDEX request_log_by_key ON request_log (platform_id, idempotency_key, id) WHERE idempotency_key <> '';
CREATE INDEX request_log_failed ON request_log (platform_id, id) WHERE status >= 400;
GRANT SELECT, INSERT ON request_log TO causeway_service;
SELECT isolate_platforms('request_log');
-- The first partition lasts for some days, so that the service can begin before it creates any.
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE format('CREATE TABLE request_log_first PARTITION OF request_log FOR VALUES FROM (MINVALUE) TO (%L)',
        first_uuid_v7(date_trunc('day', now(), 'UTC') + interval '3 days'));
END
$$;
-- +goose StatementEnd
CREATE TABLE request_log_default PARTITION OF request_log DEFAULT;
ALTER TABLE request_log_first ENABLE ROW LEVEL SECURITY;
ALTER TABLE request_log_default ENABLE ROW LEVEL SECURITY;

-- +goose StatementBegin
CREATE FUNCTION create_request_log_partitions() RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['request_log'], 1);
END
$$;
-- +goose StatementEnd

-- Drops the oldest partition whose entries were all written before the time. It returns its name and about how many it had, or NULL
-- if there is none; if the lock is not available in a moment, the error is lock_not_available.
-- +goose StatementBegin
CREATE FUNCTION drop_request_log_partition(before timestamptz, OUT dropped text, OUT entries bigint) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    old record;
BEGIN
    before := least(before, clock_timestamp());
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_request_log_partition', 0)) THEN
        RETURN;
    END IF;
    SELECT p.partition, p.ends_before INTO old FROM time_partitions('request_log') p ORDER BY p.ends_before LIMIT 1;
    IF old.ends_before <= first_uuid_v7(before) THEN
        SELECT greatest(c.reltuples, 0)::bigint INTO entries FROM pg_class c WHERE c.oid = old.partition;
        dropped := old.partition::text;
        EXECUTE format('DROP TABLE %s', old.partition);
    END IF;
END
$$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION create_request_log_partitions, drop_request_log_partition FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_request_log_partitions, drop_request_log_partition TO causeway_service;
