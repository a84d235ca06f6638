-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

ALTER TABLE person_sessions ADD COLUMN command_line boolean NOT NULL DEFAULT false;

-- Wrong codes of the second factor, and since when they are counted; NULL for none.
ALTER TABLE person_factors ADD COLUMN wrong_codes integer NOT NULL DEFAULT 0, ADD COLUMN wrong_since timestamptz;

-- Sign-ins of the command line that wait for a person to approve them in the console. token_hash is that of the session that begins then.
CREATE TABLE sign_in_requests (
    code           text        PRIMARY KEY CONSTRAINT sign_in_request_code_form CHECK (code ~ '^[B-Z]{8}$'),
    token_hash     bytea       NOT NULL CONSTRAINT sign_in_request_token_is_sha256 CHECK (length(token_hash) = 32),
    requested_from text        NOT NULL CONSTRAINT sign_in_request_from_length CHECK (length(requested_from) <= 200),
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL
);
CREATE INDEX sign_in_requests_by_expires_at ON sign_in_requests (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in_requests TO causeway_service;
SELECT isolate_platforms('sign_in_requests', 'false');
