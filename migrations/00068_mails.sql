-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Mails to customers. A mail is written with what it is about, and sent by a job. Its content is deleted
-- when it was sent or cannot be.
CREATE TABLE mails (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          uuid        NOT NULL,
    kind        text        NOT NULL,
    status      text        NOT NULL CONSTRAINT mail_status_known CHECK (status IN ('WAITING', 'SENT', 'REFUSED', 'EXPIRED')),
    content     text        NOT NULL, -- encrypted: the addresses, the subject, the texts
    reason      text        NOT NULL DEFAULT '', -- why it was not sent
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    ended_at    timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT mail_waits_until_end CHECK ((status = 'WAITING') = (ended_at IS NULL)),
    CONSTRAINT mail_content_until_end CHECK ((status = 'WAITING') = (content <> ''))
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX mails_waiting ON mails (platform_id, created_at) WHERE status = 'WAITING';
CREATE INDEX mails_refused ON mails (platform_id, id) WHERE status = 'REFUSED';
GRANT SELECT, INSERT, UPDATE, DELETE ON mails TO causeway_service;
SELECT isolate_platforms('mails');

-- The number of mails of each platform in the latest hour in which it had any.
CREATE TABLE mail_counts (
    platform_id uuid        PRIMARY KEY REFERENCES platforms,
    hour_at     timestamptz NOT NULL,
    mails       integer     NOT NULL
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE ON mail_counts TO causeway_service;
SELECT isolate_platforms('mail_counts');
