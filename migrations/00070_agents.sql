-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Programs that act for a customer under a policy. Deleting an agent ends its access token.
CREATE TABLE agents (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    customer_id  uuid        NOT NULL,
    name         text        NOT NULL, -- encrypted
    paused       boolean     NOT NULL,
    policy       jsonb       NOT NULL,
    token_hash   bytea       CONSTRAINT agent_token_hash_length CHECK (length(token_hash) = 32), -- SHA-256 of the access token
    connected_at timestamptz, -- when a device code was redeemed for the access token
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT agent_customer_fkey FOREIGN KEY (platform_id, customer_id) REFERENCES customers,
    CONSTRAINT agent_connected_with_token CHECK ((token_hash IS NULL) = (connected_at IS NULL))
);
CREATE INDEX agents_by_customer ON agents (platform_id, customer_id, id);
-- The platform of a token is not known before it was found.
CREATE UNIQUE INDEX agent_token_hash_unique ON agents (token_hash);
GRANT SELECT, INSERT, UPDATE, DELETE ON agents TO causeway_service;
SELECT isolate_platforms('agents');

-- Codes that pair a program with an agent. At most one of an agent can be redeemed.
CREATE TABLE agent_device_codes (
    platform_id uuid        NOT NULL REFERENCES platforms,
    hash        bytea       NOT NULL CONSTRAINT agent_device_code_hash_length CHECK (length(hash) = 32), -- keyed
    agent_id    uuid        NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    voided_at   timestamptz, -- when a newer code was issued
    redeemed_at timestamptz,
    PRIMARY KEY (platform_id, hash),
    CONSTRAINT agent_device_code_agent_fkey FOREIGN KEY (platform_id, agent_id) REFERENCES agents ON DELETE CASCADE,
    CONSTRAINT agent_device_code_redeemed_or_voided CHECK (num_nonnulls(voided_at, redeemed_at) <= 1)
);
-- A program that redeems a code does not know the platform.
CREATE UNIQUE INDEX agent_device_code_hash_unique ON agent_device_codes (hash);
CREATE INDEX agent_device_codes_by_agent ON agent_device_codes (platform_id, agent_id);
CREATE UNIQUE INDEX agent_device_code_open_unique ON agent_device_codes (platform_id, agent_id) WHERE voided_at IS NULL AND redeemed_at IS NULL;
CREATE INDEX agent_device_codes_by_expires_at ON agent_device_codes (platform_id, expires_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON agent_device_codes TO causeway_service;
SELECT isolate_platforms('agent_device_codes');
