-- +goose Up
-- Connections to partners as operators have set them, and what operators have stopped. Every version stays. Secrets are
-- not in the settings, only references to files and variables of the environment.
SET LOCAL lock_timeout = '1s';

CREATE TABLE rail_connections (
    name     text        NOT NULL CONSTRAINT rail_connection_name_valid CHECK (name ~ '^[a-z][a-z0-9-]{0,39}$'),
    version  integer     NOT NULL CONSTRAINT rail_connection_version_positive CHECK (version > 0),
    settings jsonb       NOT NULL,
    set_by   text        NOT NULL CONSTRAINT rail_connection_set_by_length CHECK (length(set_by) BETWEEN 1 AND 200),
    note     text        NOT NULL CONSTRAINT rail_connection_note_length CHECK (length(note) BETWEEN 1 AND 500),
    set_at   timestamptz NOT NULL,
    PRIMARY KEY (name, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_connections FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- A name is that of a connection, or in capital letters that of a rail. The latest row of a name is in force.
CREATE TABLE rail_controls (
    id     bigint      GENERATED ALWAYS AS IDENTITY,
    name   text        NOT NULL CONSTRAINT rail_control_name_valid CHECK (name ~ '^([a-z][a-z0-9-]{0,39}|[A-Z][A-Z0-9_]{0,39})$'),
    paused boolean     NOT NULL,
    set_by text        NOT NULL CONSTRAINT rail_control_set_by_length CHECK (length(set_by) BETWEEN 1 AND 200),
    note   text        NOT NULL CONSTRAINT rail_control_note_length CHECK (length(note) BETWEEN 1 AND 500),
    set_at timestamptz NOT NULL,
    PRIMARY KEY (name, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_controls FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- Only the owner of the database, as whom the commands of operators work, writes them.
GRANT SELECT ON rail_connections, rail_controls TO causeway_service;
