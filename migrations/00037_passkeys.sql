-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The passkeys with which people sign in. The public key is no secret; the id finds the person who signs in without an address.
CREATE TABLE person_passkeys (
    credential_id   bytea       PRIMARY KEY CONSTRAINT person_passkey_id_length CHECK (length(credential_id) BETWEEN 1 AND 1023),
    person_id       uuid        NOT NULL CONSTRAINT person_passkey_person_fkey REFERENCES people,
    name            text        NOT NULL CONSTRAINT person_passkey_name_length CHECK (length(name) BETWEEN 1 AND 60),
    public_key      bytea       NOT NULL CONSTRAINT person_passkey_key_length CHECK (length(public_key) BETWEEN 1 AND 1024),
    sign_count      bigint      NOT NULL, -- of the last use; a lower one is that of a copy
    backup_eligible boolean     NOT NULL,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz, -- NULL before the first use
    stopped_at      timestamptz -- since it may have been copied; NULL for none
);
CREATE INDEX person_passkeys_by_person ON person_passkeys (person_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON person_passkeys TO causeway_service;
SELECT isolate_platforms('person_passkeys', 'false');

-- What a passkey has to sign, or a provider of single sign-on to return, once. holder_hash is that of the session or browser that may answer.
CREATE TABLE sign_in_challenges (
    challenge_hash bytea       PRIMARY KEY CONSTRAINT sign_in_challenge_is_sha256 CHECK (length(challenge_hash) = 32),
    purpose        text        NOT NULL CONSTRAINT sign_in_challenge_purpose_length CHECK (length(purpose) BETWEEN 1 AND 40),
    person_id      uuid        CONSTRAINT sign_in_challenge_person_fkey REFERENCES people, -- NULL for who is not signed in
    holder_hash    bytea       NOT NULL CONSTRAINT sign_in_challenge_holder_is_sha256 CHECK (length(holder_hash) = 32),
    action         text        NOT NULL CONSTRAINT sign_in_challenge_action_length CHECK (length(action) <= 2000),
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL
);
CREATE INDEX sign_in_challenges_by_expires_at ON sign_in_challenges (expires_at);
CREATE INDEX sign_in_challenges_by_person ON sign_in_challenges (person_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in_challenges TO causeway_service;
SELECT isolate_platforms('sign_in_challenges', 'false');

-- Who people are for a provider of single sign-on. Another one with the same address there is not the same person.
CREATE TABLE person_identities (
    issuer    text NOT NULL,
    subject   text NOT NULL CONSTRAINT person_identity_subject_length CHECK (length(subject) BETWEEN 1 AND 255),
    person_id uuid NOT NULL CONSTRAINT person_identity_person_fkey REFERENCES people CONSTRAINT person_identity_person_unique UNIQUE,
    PRIMARY KEY (issuer, subject)
);
GRANT SELECT, INSERT, DELETE ON person_identities TO causeway_service;
SELECT isolate_platforms('person_identities', 'false');

-- A session that single sign-on has begun, and the action for which its provider has confirmed who the person is.
ALTER TABLE person_sessions ADD COLUMN single_sign_on boolean NOT NULL DEFAULT false, ADD COLUMN confirmed_action text NOT NULL DEFAULT '',
    ADD COLUMN confirmed_until timestamptz;
