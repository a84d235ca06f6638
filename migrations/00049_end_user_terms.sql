-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The terms of the operator for the customers of platforms that are not regulated. The version that was set last is the present one;
-- none is ever deleted, because customers have accepted it.
CREATE TABLE end_user_terms (
    version   text        PRIMARY KEY CONSTRAINT end_user_terms_version_length CHECK (length(version) BETWEEN 1 AND 64),
    url       text        NOT NULL,
    set_at    timestamptz NOT NULL,
    actor     text        NOT NULL,
    person_id uuid
);
GRANT SELECT, INSERT ON end_user_terms TO causeway_service;
