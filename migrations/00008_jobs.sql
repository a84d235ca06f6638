-- +goose Up

-- Work to be done later about a group of subjects, usually transactions. A queue: the table is small and vacuumed
-- often. A job that failed too often is dead: its due_at is infinity until an operator acts, so that no process takes
-- it.
CREATE TABLE jobs (
    platform_id      uuid        NOT NULL,
    id               uuid        NOT NULL,
    step             text        NOT NULL,
    due_at           timestamptz NOT NULL,
    attempts         int         NOT NULL DEFAULT 0,
    subjects         uuid[]      NOT NULL,
    -- attempts also identifies the lease: it grows whenever a process takes the job. earlier_attempts are those before
    -- an operator's last retry.
    earlier_attempts int         NOT NULL DEFAULT 0,
    failed_at        timestamptz,
    last_error       text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
CREATE INDEX jobs_due ON jobs (step, due_at);
-- Finds the due jobs of each platform, so that the backlog of one does not delay the others.
CREATE INDEX jobs_by_step_platform_due ON jobs (step, platform_id, due_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON jobs TO causeway_service;
SELECT isolate_platforms('jobs');

-- Deletes jobs, or none and the unit of work fails if the lease of one was lost.
-- +goose StatementBegin
CREATE FUNCTION jobs_finish(platform_ids uuid[], ids uuid[], leases int[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    finished int;
BEGIN
    DELETE FROM jobs USING unnest(platform_ids, ids, leases) AS held(platform_id, id, lease)
    WHERE jobs.platform_id = held.platform_id AND jobs.id = held.id AND jobs.attempts = held.lease;
    GET DIAGNOSTICS finished = ROW_COUNT;
    IF finished <> cardinality(ids) THEN
        RAISE EXCEPTION 'the lease of % of % jobs was lost', cardinality(ids) - finished, cardinality(ids)
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'job_lease_held', TABLE = 'jobs';
    END IF;
END $$;
-- +goose StatementEnd

-- What operators did with dead jobs.
CREATE TABLE job_actions (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    job_id      uuid        NOT NULL,
    action      text        NOT NULL CONSTRAINT job_action_known CHECK (action IN ('RETRY', 'DISCARD')),
    actor       text        NOT NULL,
    reason      text        NOT NULL,
    at          timestamptz NOT NULL,
    step        text        NOT NULL,
    subjects    uuid[]      NOT NULL,
    attempts    int         NOT NULL,
    last_error  text        NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON job_actions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON job_actions TO causeway_service;
SELECT isolate_platforms('job_actions');
