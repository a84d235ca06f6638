-- +goose Up

-- Work to be done later about a group of subjects, usually transactions. A queue: the
-- table is small and vacuumed often.
CREATE TABLE jobs (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    step        text        NOT NULL,
    due_at      timestamptz NOT NULL,
    attempts    int         NOT NULL DEFAULT 0,
    subjects    uuid[]      NOT NULL,
    PRIMARY KEY (platform_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
CREATE INDEX jobs_due ON jobs (step, due_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO causeway_service;
