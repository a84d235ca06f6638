-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Which account of the general ledger each account of a platform belongs to: versions of a mapping, and their
-- lines. A platform without a version has the built-in mapping of core/books.
CREATE TABLE ledger_gl_mappings (
    platform_id uuid        NOT NULL,
    version     integer     NOT NULL CONSTRAINT ledger_gl_mapping_version_positive CHECK (version > 0),
    changed_at  timestamptz NOT NULL,
    token_id    uuid, -- NULL: an operator on the command line
    actor       text        NOT NULL,
    note        text        NOT NULL CONSTRAINT ledger_gl_mapping_note_length CHECK (length(note) <= 500),
    PRIMARY KEY (platform_id, version),
    CONSTRAINT ledger_gl_mapping_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE TABLE ledger_gl_mapping_lines (
    platform_id uuid    NOT NULL,
    version     integer NOT NULL,
    path        text    NOT NULL, -- of an account, or a group such as customers/*
    currency    text    NOT NULL, -- empty: all
    code        text    NOT NULL CONSTRAINT ledger_gl_mapping_line_code_length CHECK (length(code) BETWEEN 1 AND 40),
    name        text    NOT NULL CONSTRAINT ledger_gl_mapping_line_name_length CHECK (length(name) BETWEEN 1 AND 100),
    PRIMARY KEY (platform_id, version, path, currency),
    CONSTRAINT ledger_gl_mapping_line_version_fkey FOREIGN KEY (platform_id, version) REFERENCES ledger_gl_mappings (platform_id, version)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_gl_mappings FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_gl_mapping_lines FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_gl_mappings, ledger_gl_mapping_lines TO causeway_service;
SELECT isolate_platforms('ledger_gl_mappings');
SELECT isolate_platforms('ledger_gl_mapping_lines');
