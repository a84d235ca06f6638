-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Files of the ledger that people have asked for. A job writes each in parts, which are stored as encrypted files outside the database.
-- Deleted some days later, with the stored files.
CREATE TABLE exports (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    person_id    uuid        NOT NULL REFERENCES people,
    actor        text        NOT NULL,
    format       text        NOT NULL,
    from_at      timestamptz,
    to_at        timestamptz,
    account      text        NOT NULL,
    currency     text        NOT NULL,
    file_name    text        NOT NULL,
    content_type text        NOT NULL,
    state        text        NOT NULL
        CONSTRAINT export_state_known CHECK (state IN ('WAITING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
    run          integer     NOT NULL, -- of the process that writes it; those before change nothing
    done         bigint      NOT NULL, -- postings that are read
    total        bigint      NOT NULL,
    size         bigint      NOT NULL, -- bytes that are stored
    problem      text        NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT export_end CHECK ((ended_at IS NULL) = (state IN ('WAITING', 'RUNNING')))
);
CREATE INDEX exports_by_created_at ON exports (platform_id, created_at);
GRANT SELECT, INSERT, UPDATE (state, run, done, total, size, problem, updated_at, ended_at), DELETE ON exports TO causeway_service;
SELECT isolate_platforms('exports');

CREATE TABLE export_parts (
    platform_id uuid    NOT NULL,
    id          uuid    NOT NULL, -- of the stored file
    export_id   uuid    NOT NULL,
    number      integer NOT NULL, -- from 1
    size        bigint  NOT NULL CONSTRAINT export_part_not_empty CHECK (size > 0),
    key         bytea   NOT NULL, -- opens the stored file; encrypted
    PRIMARY KEY (platform_id, id),
    CONSTRAINT export_part_once UNIQUE (platform_id, export_id, number),
    CONSTRAINT export_part_export_fkey FOREIGN KEY (platform_id, export_id) REFERENCES exports
);
GRANT SELECT, INSERT, UPDATE (key), DELETE ON export_parts TO causeway_service;
SELECT isolate_platforms('export_parts');
