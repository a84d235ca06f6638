-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The regions (ISO 3166-1 alpha-2) whose customers need strong customer authentication; NULL for those of the law.
ALTER TABLE platforms ADD COLUMN sca_regions text[];

-- What is counted of a customer: failed attempts by factor, which lock or suspend, and codes that were sent.
CREATE TABLE sca_accounts (
    platform_id     uuid        NOT NULL REFERENCES platforms,
    customer_id     uuid        NOT NULL,
    failed_logins   integer     NOT NULL DEFAULT 0 CONSTRAINT sca_account_logins_not_negative CHECK (failed_logins >= 0), -- that the platform has recorded
    failed_sms      integer     NOT NULL DEFAULT 0 CONSTRAINT sca_account_sms_not_negative CHECK (failed_sms >= 0),
    failed_totp     integer     NOT NULL DEFAULT 0 CONSTRAINT sca_account_totp_not_negative CHECK (failed_totp >= 0),
    failed_passkeys integer     NOT NULL DEFAULT 0 CONSTRAINT sca_account_passkeys_not_negative CHECK (failed_passkeys >= 0),
    locked_until    timestamptz,
    suspended_at    timestamptz,
    burst_until     timestamptz NOT NULL DEFAULT '-infinity',
    hour_until      timestamptz NOT NULL DEFAULT '-infinity',
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (platform_id, customer_id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON sca_accounts TO causeway_service;
SELECT isolate_platforms('sca_accounts');

-- The factors that customers have enrolled, one of each. What the other one has is empty.
CREATE TABLE sca_credentials (
    platform_id     uuid        NOT NULL REFERENCES platforms,
    id              uuid        NOT NULL,
    customer_id     uuid        NOT NULL,
    factor          text        NOT NULL CONSTRAINT sca_credential_factor_known CHECK (factor IN ('TOTP', 'PASSKEY')),
    totp_secret     text        NOT NULL, -- encrypted
    totp_step       bigint      NOT NULL, -- of the last code that was accepted
    recovery_codes  bytea       NOT NULL CONSTRAINT sca_credential_recovery_codes_are_sha256 CHECK (length(recovery_codes) % 32 = 0), -- one after the other
    passkey_id      bytea       NOT NULL CONSTRAINT sca_credential_passkey_id_length CHECK (length(passkey_id) <= 1023),
    public_key      bytea       NOT NULL CONSTRAINT sca_credential_public_key_length CHECK (length(public_key) <= 1024),
    sign_count      bigint      NOT NULL,
    transports      text[]      NOT NULL,
    backup_eligible boolean     NOT NULL,
    backed_up       boolean     NOT NULL,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz, -- NULL before the first use
    PRIMARY KEY (platform_id, id),
    CONSTRAINT sca_credential_one_of_each UNIQUE (platform_id, customer_id, factor)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON sca_credentials TO causeway_service;
SELECT isolate_platforms('sca_credentials');

-- What customers are asked to prove. The latest one of a customer for a purpose and subject counts.
CREATE TABLE sca_challenges (
    platform_id       uuid        NOT NULL REFERENCES platforms,
    id                uuid        NOT NULL,
    customer_id       uuid        NOT NULL,
    purpose           text        NOT NULL CONSTRAINT sca_challenge_purpose_length CHECK (length(purpose) BETWEEN 1 AND 40),
    subject           bytea       NOT NULL CONSTRAINT sca_challenge_subject_is_sha256 CHECK (length(subject) = 32), -- what is authorised; zero for a login
    factor            text        NOT NULL CONSTRAINT sca_challenge_factor_known CHECK (factor IN ('SMS_OTP', 'TOTP', 'PASSKEY')),
    code_hash         bytea       NOT NULL CONSTRAINT sca_challenge_code_is_sha256 CHECK (length(code_hash) = 32), -- keyed; zero for none
    passkey_challenge bytea       NOT NULL CONSTRAINT sca_challenge_passkey_length CHECK (length(passkey_challenge) IN (0, 64)),
    attempts          smallint    NOT NULL CONSTRAINT sca_challenge_attempts_not_negative CHECK (attempts >= 0),
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL,
    ended_at          timestamptz, -- by the right answer
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX sca_challenges_by_customer ON sca_challenges (platform_id, customer_id, purpose, subject, id);
GRANT SELECT, INSERT, UPDATE, DELETE ON sca_challenges TO causeway_service;
SELECT isolate_platforms('sca_challenges');

-- What logins have opened. A customer with one that counts may start payments.
CREATE TABLE sca_sessions (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          uuid        NOT NULL,
    customer_id uuid        NOT NULL,
    factor      text        NOT NULL CONSTRAINT sca_session_factor_known CHECK (factor IN ('SMS_OTP', 'TOTP', 'PASSKEY')),
    ip_address  text        NOT NULL, -- of the customer; encrypted
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    ended_at    timestamptz,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX sca_sessions_by_customer ON sca_sessions (platform_id, customer_id, expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON sca_sessions TO causeway_service;
SELECT isolate_platforms('sca_sessions');

-- Resets of factors that customers have lost.
CREATE TABLE sca_resets (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    customer_id  uuid        NOT NULL,
    factor       text        NOT NULL CONSTRAINT sca_reset_factor_known CHECK (factor IN ('SMS_OTP', 'TOTP', 'PASSKEY')),
    status       text        NOT NULL CONSTRAINT sca_reset_status_length CHECK (length(status) BETWEEN 1 AND 40),
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX sca_resets_by_customer ON sca_resets (platform_id, customer_id, id);
CREATE INDEX sca_resets_open ON sca_resets (platform_id, expires_at) WHERE status IN ('INITIATED', 'PENDING_REVIEW');
GRANT SELECT, INSERT, UPDATE, DELETE ON sca_resets TO causeway_service;
SELECT isolate_platforms('sca_resets');
