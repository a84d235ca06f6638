-- +goose Up

-- What the keys of embedded wallets are made from. A row is never deleted, and only the encryption of its
-- entropy changes: who loses it has lost what the wallet holds.
CREATE TABLE wallet_keys (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL, -- of the internal account
    entropy     bytea       NOT NULL CONSTRAINT wallet_key_entropy_encrypted CHECK (length(entropy) > 32 AND get_byte(entropy, 0) < 32),
    public_key  bytea       NOT NULL CONSTRAINT wallet_key_public_key_compressed CHECK (length(public_key) = 33 AND get_byte(public_key, 0) IN (2, 3)),
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT wallet_key_account_fkey FOREIGN KEY (platform_id, id) REFERENCES internal_accounts
);
CREATE TRIGGER append_only BEFORE UPDATE OF platform_id, id, public_key, created_at OR DELETE OR TRUNCATE ON wallet_keys
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT, UPDATE (entropy) ON wallet_keys TO causeway_service;
SELECT isolate_platforms('wallet_keys');

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
    user_verified     boolean     NOT NULL DEFAULT false, -- whether the authenticator of a passkey checked its user at the last use, by a PIN or a fingerprint
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
    -- Wrong codes since the last right one, over all codes of the credential, and until when none is sent or tried because
    -- of them.
    failures      integer     NOT NULL DEFAULT 0 CONSTRAINT wallet_code_failures_not_negative CHECK (failures >= 0),
    blocked_until timestamptz,
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

-- The evidence of payments from embedded wallets: what the owner signed, and with which key. It is kept
-- for ever, as the ledger is; only the encryption of the payload changes. The session is NULL for a test
-- value of the sandbox.
CREATE TABLE wallet_authorizations (
    platform_id           uuid        NOT NULL,
    id                    uuid        NOT NULL, -- of the transaction
    account_id            uuid        NOT NULL, -- the wallet
    payload               text        NOT NULL, -- encrypted: it can name the address of a person
    signature             text        NOT NULL, -- the header Service-Wallet-Signature
    session_id            uuid,
    session_key           bytea       CONSTRAINT wallet_authorization_session_key_compressed CHECK (length(session_key) = 33),
    certificate_statement text,
    certificate_key       bytea       CONSTRAINT wallet_authorization_certificate_key_compressed CHECK (length(certificate_key) = 33),
    certificate_signature bytea,
    signed_at             timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT wallet_authorization_has_whole_session
        CHECK (num_nulls(session_id, session_key, certificate_statement, certificate_key, certificate_signature) IN (0, 5))
);
CREATE TRIGGER append_only
    BEFORE UPDATE OF platform_id, id, account_id, signature, session_id, session_key, certificate_statement, certificate_key, certificate_signature, signed_at
        OR DELETE OR TRUNCATE ON wallet_authorizations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
-- Nobody without the data key replaces the payload: what is written is encrypted.
CREATE TRIGGER payload_stays_encrypted BEFORE UPDATE OF payload ON wallet_authorizations FOR EACH ROW
    WHEN (NEW.payload <> OLD.payload AND left(NEW.payload, 1) <> E'\x01') EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT, UPDATE (payload) ON wallet_authorizations TO causeway_service;
SELECT isolate_platforms('wallet_authorizations');
