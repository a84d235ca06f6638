-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The minutes at which the queues were counted. Between them nothing is known.
CREATE TABLE sample_times (
    sampled_at timestamptz PRIMARY KEY
);
GRANT SELECT, INSERT, DELETE ON sample_times TO causeway_service;

-- What was counted of a platform at these times, without what was zero; and its calls to rails in each minute, to which every process adds
-- its own.
CREATE TABLE samples (
    platform_id uuid        NOT NULL,
    sampled_at  timestamptz NOT NULL,
    kind        text        NOT NULL CONSTRAINT sample_kind_known CHECK (kind IN ('JOBS', 'WEBHOOKS', 'WEBHOOK_AGE', 'RAIL_PAYMENTS', 'RAIL_CALLS')),
    name        text        NOT NULL, -- of the connection, if the kind is of connections
    counts      bigint[]    NOT NULL,
    PRIMARY KEY (platform_id, sampled_at, kind, name)
);
GRANT SELECT, INSERT, DELETE ON samples TO causeway_service;
GRANT UPDATE (counts) ON samples TO causeway_service;
SELECT isolate_platforms('samples');
