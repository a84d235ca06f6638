-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Whether an embedded wallet is private on the blockchain.
ALTER TABLE internal_accounts ADD COLUMN private_enabled boolean NOT NULL DEFAULT false;

-- How customers prove who they are to their embedded wallets. A wallet without a row has its default
-- credential, which sends codes to the customer's e-mail address.
CREATE TABLE wallet_credentials (
    platform_id       uuid        NOT NULL REFERENCES platforms,
    id                uuid        NOT NULL,
    account_id        uuid        NOT NULL,
    credential_type   text        NOT NULL CONSTRAINT wallet_credential_type_known CHECK (credential_type IN ('EMAIL_OTP', 'PASSKEY', 'OAUTH')),
    nickname          text        NOT NULL, -- encrypted
    email             text        NOT NULL, -- encrypted; empty unless codes are sent to it
    email_fingerprint text        NOT NULL, -- a keyed hash of email, by which it is found; empty as email is
    identity          jsonb       NOT NULL, -- encrypted: whom ID tokens name; null unless they are the credential
    passkey_id        bytea       NOT NULL, -- chosen by the authenticator; empty unless it is a passkey
    public_key        bytea       NOT NULL, -- a COSE key; empty unless it is a passkey of a production platform
    sign_count        bigint      NOT NULL,
    transports        text[]      NOT NULL,
    backup_eligible   boolean     NOT NULL,
    backed_up         boolean     NOT NULL,
    verified_at       timestamptz, -- first
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    revoked_at        timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT wallet_credential_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES internal_accounts
);
CREATE INDEX wallet_credentials_by_account ON wallet_credentials (platform_id, account_id);
CREATE UNIQUE INDEX wallet_credential_email_otp_unique ON wallet_credentials (platform_id, account_id) WHERE credential_type = 'EMAIL_OTP' AND revoked_at IS NULL;
CREATE UNIQUE INDEX wallet_credential_passkey_unique ON wallet_credentials (platform_id, account_id) WHERE credential_type = 'PASSKEY' AND revoked_at IS NULL;
CREATE INDEX wallet_credentials_by_email ON wallet_credentials (platform_id, email_fingerprint) WHERE email_fingerprint <> '' AND revoked_at IS NULL;
CREATE INDEX wallet_credentials_by_revoked_at ON wallet_credentials (platform_id, revoked_at) WHERE revoked_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet_credentials TO causeway_service;
SELECT isolate_platforms('wallet_credentials');

CREATE TABLE wallet_sessions (
    platform_id     uuid        NOT NULL REFERENCES platforms,
    id              uuid        NOT NULL,
    account_id      uuid        NOT NULL,
    credential_id   uuid        NOT NULL,
    credential_type text        NOT NULL,
    public_key      bytea       NOT NULL CONSTRAINT wallet_session_public_key_compressed CHECK (length(public_key) = 33),
    statement       text        NOT NULL, -- of the wallet, that it opened the session
    wallet_key      bytea       NOT NULL CONSTRAINT wallet_session_wallet_key_compressed CHECK (length(wallet_key) = 33),
    signature       bytea       NOT NULL, -- of wallet_key over statement
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    revoked_at      timestamptz,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX wallet_sessions_by_account ON wallet_sessions (platform_id, account_id, expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet_sessions TO causeway_service;
SELECT isolate_platforms('wallet_sessions');

-- The latest one-time code of a credential, with how many were sent lately.
CREATE TABLE wallet_codes (
    platform_id   uuid        NOT NULL REFERENCES platforms,
    credential_id uuid        NOT NULL,
    hash          bytea       NOT NULL CONSTRAINT wallet_code_hash_length CHECK (length(hash) = 32), -- keyed; zero after the code was used
    tries         smallint    NOT NULL,
    expires_at    timestamptz NOT NULL,
    burst_until   timestamptz NOT NULL,
    hour_until    timestamptz NOT NULL,
    PRIMARY KEY (platform_id, credential_id)
);
CREATE INDEX wallet_codes_by_expires_at ON wallet_codes (platform_id, expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet_codes TO causeway_service;
SELECT isolate_platforms('wallet_codes');

CREATE TABLE wallet_passkey_challenges (
    platform_id   uuid        NOT NULL REFERENCES platforms,
    id            uuid        NOT NULL, -- the Request-Id of the answer
    credential_id uuid        NOT NULL,
    challenge     bytea       NOT NULL,
    client_key    bytea       NOT NULL CONSTRAINT wallet_passkey_challenge_client_key_uncompressed CHECK (length(client_key) = 65),
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    used_at       timestamptz,
    PRIMARY KEY (platform_id, id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet_passkey_challenges TO causeway_service;
SELECT isolate_platforms('wallet_passkey_challenges');

-- Challenges of new passkeys, and ID tokens, that were used.
CREATE TABLE wallet_used_challenges (
    platform_id uuid        NOT NULL REFERENCES platforms,
    hash        bytea       NOT NULL CONSTRAINT wallet_used_challenge_hash_length CHECK (length(hash) = 32),
    expires_at  timestamptz NOT NULL, -- when it may be forgotten
    PRIMARY KEY (platform_id, hash)
);
CREATE INDEX wallet_used_challenges_by_expires_at ON wallet_used_challenges (platform_id, expires_at);
GRANT SELECT, INSERT, DELETE ON wallet_used_challenges TO causeway_service;
SELECT isolate_platforms('wallet_used_challenges');

-- Requests that wait for the signature of the owner of a wallet, or had one.
CREATE TABLE wallet_signed_requests (
    platform_id     uuid        NOT NULL REFERENCES platforms,
    id              uuid        NOT NULL,
    account_id      uuid        NOT NULL,
    operation       text        NOT NULL,
    credential_type text        NOT NULL, -- of the credential that it is about; empty: none
    fingerprint     bytea       NOT NULL CONSTRAINT wallet_signed_request_fingerprint_length CHECK (length(fingerprint) = 32),
    basis           bytea       NOT NULL CONSTRAINT wallet_signed_request_basis_length CHECK (length(basis) = 32),
    payload         text        NOT NULL,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz,
    PRIMARY KEY (platform_id, id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON wallet_signed_requests TO causeway_service;
SELECT isolate_platforms('wallet_signed_requests');

-- To whom the words of a wallet were given, and when. It says no words.
CREATE TABLE wallet_exports (
    platform_id   uuid        NOT NULL REFERENCES platforms,
    id            uuid        NOT NULL,
    account_id    uuid        NOT NULL,
    session_id    uuid, -- that signed the request; NULL on sandbox platforms, if there was none
    credential_id uuid,
    request_id    uuid        NOT NULL,
    token_id      uuid        NOT NULL, -- that sent the request
    exported_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT wallet_export_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES internal_accounts
);
CREATE INDEX wallet_exports_by_account ON wallet_exports (platform_id, account_id, exported_at);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_exports FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON wallet_exports TO causeway_service;
SELECT isolate_platforms('wallet_exports');
