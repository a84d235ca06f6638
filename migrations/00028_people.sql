-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The people who work with the service. They belong to no platform and are never deleted, because records name them. Only what is done
-- for all platforms sees them, their links and sessions.
CREATE TABLE people (
    id         uuid        PRIMARY KEY,
    email      text        NOT NULL CONSTRAINT person_email_unique UNIQUE CONSTRAINT person_email_length CHECK (length(email) BETWEEN 6 AND 200),
    name       text        NOT NULL CONSTRAINT person_name_length CHECK (length(name) BETWEEN 1 AND 255),
    roles      text[]      NOT NULL CONSTRAINT person_has_role CHECK (cardinality(roles) > 0), -- such as FINANCE, or FINANCE@ and a platform
    status     text        NOT NULL CONSTRAINT person_status_known CHECK (status IN ('INVITED', 'ACTIVE', 'DISABLED')),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON people TO causeway_service;
SELECT isolate_platforms('people', 'false');
-- Who may approve a change of a platform is read with the change.
CREATE POLICY people_read_for_platforms ON people FOR SELECT USING ((SELECT visible_platform()) IS NOT NULL);

-- What a person signs in with. The platform is always zero: encrypted columns are found by it when their keys are replaced.
CREATE TABLE person_factors (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL CONSTRAINT person_factors_person_fkey REFERENCES people,
    secrets     jsonb       NOT NULL, -- encrypted
    totp_step   bigint      NOT NULL, -- of the last code that was accepted
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON person_factors TO causeway_service;
SELECT isolate_platforms('person_factors');

CREATE TABLE person_links (
    token_hash bytea       PRIMARY KEY CONSTRAINT person_link_token_is_sha256 CHECK (length(token_hash) = 32),
    person_id  uuid        NOT NULL CONSTRAINT person_link_person_fkey REFERENCES people,
    signs_in   boolean     NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    opened_at  timestamptz
);
CREATE INDEX person_links_by_person ON person_links (person_id);
CREATE INDEX person_links_by_expires_at ON person_links (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON person_links TO causeway_service;
SELECT isolate_platforms('person_links', 'false');

CREATE TABLE person_sessions (
    token_hash   bytea       PRIMARY KEY CONSTRAINT person_session_token_is_sha256 CHECK (length(token_hash) = 32),
    person_id    uuid        NOT NULL CONSTRAINT person_session_person_fkey REFERENCES people,
    setup        boolean     NOT NULL,
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL
);
CREATE INDEX person_sessions_by_person ON person_sessions (person_id);
CREATE INDEX person_sessions_by_expires_at ON person_sessions (expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON person_sessions TO causeway_service;
SELECT isolate_platforms('person_sessions', 'false');

-- Failed attempts to sign in, by the SHA-256 of the address, which may be nobody's.
CREATE TABLE sign_in_attempts (
    address_hash bytea       PRIMARY KEY CONSTRAINT sign_in_attempt_address_is_sha256 CHECK (length(address_hash) = 32),
    failed       integer     NOT NULL,
    last_at      timestamptz -- NULL after a success
);
CREATE INDEX sign_in_attempts_by_last_at ON sign_in_attempts (last_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in_attempts TO causeway_service;
SELECT isolate_platforms('sign_in_attempts', 'false');
