-- +goose Up

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

-- What agents have spent, exactly. It stays when an agent is deleted: its payments can still fail.
CREATE TABLE agent_usage (
    platform_id  uuid   NOT NULL REFERENCES platforms,
    agent_id     uuid   NOT NULL,
    day          date   NOT NULL, -- UTC
    currency     text   NOT NULL,
    transactions bigint NOT NULL CONSTRAINT agent_usage_transactions_not_negative CHECK (transactions >= 0),
    spent        bigint NOT NULL CONSTRAINT agent_usage_spent_not_negative CHECK (spent >= 0), -- minor units
    PRIMARY KEY (platform_id, agent_id, day, currency)
) WITH (fillfactor = 50); -- a row changes with each payment of its day
CREATE INDEX agent_usage_by_day ON agent_usage (platform_id, day);
GRANT SELECT, INSERT, UPDATE, DELETE ON agent_usage TO causeway_service;
SELECT isolate_platforms('agent_usage');

-- Payments that agents have asked for and that their policies did not refuse. They are kept for ever, as
-- transactions are, also when the agent is deleted.
CREATE TABLE agent_actions (
    platform_id         uuid        NOT NULL,
    id                  uuid        NOT NULL,
    agent_id            uuid        NOT NULL,
    customer_id         uuid        NOT NULL,
    action_type         text        NOT NULL CONSTRAINT agent_action_type_known CHECK (action_type IN ('EXECUTE_QUOTE', 'TRANSFER_OUT', 'TRANSFER_IN')),
    status              text        NOT NULL CONSTRAINT agent_action_status_known CHECK (status IN ('PENDING_APPROVAL', 'APPROVED', 'REJECTED', 'FAILED')),
    quote_id            uuid,
    internal_account_id uuid,       -- of a transfer, as the rest of it
    external_account_id uuid,
    currency            text,
    amount              bigint,
    rail                text,
    signature           text        NOT NULL, -- the header Service-Wallet-Signature; empty if no wallet pays
    transaction_id      uuid,
    reason              text        NOT NULL, -- encrypted: why it was rejected or failed
    failure_code        text        NOT NULL,
    decided_by          uuid,       -- the token that approved or rejected it
    decided_at          timestamptz,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT agent_action_has_one_payment CHECK ((action_type = 'EXECUTE_QUOTE') = (quote_id IS NOT NULL)
        AND num_nulls(internal_account_id, external_account_id, currency, amount, rail) = CASE WHEN quote_id IS NULL THEN 0 ELSE 5 END),
    CONSTRAINT agent_action_approved_with_transaction CHECK ((status = 'APPROVED') = (transaction_id IS NOT NULL)),
    CONSTRAINT agent_action_failed_with_code CHECK ((status = 'FAILED') = (failure_code <> ''))
);
CREATE INDEX agent_actions_by_agent ON agent_actions (platform_id, agent_id, id);
CREATE INDEX agent_actions_by_customer ON agent_actions (platform_id, customer_id, id);
-- Those that wait are few among all.
CREATE INDEX agent_actions_waiting ON agent_actions (platform_id, id) WHERE status = 'PENDING_APPROVAL';
CREATE INDEX agent_actions_waiting_by_agent ON agent_actions (platform_id, agent_id, id) WHERE status = 'PENDING_APPROVAL';
-- Those that asked for approval, for the erasure of a customer: others have no events and no reason.
CREATE INDEX agent_actions_asked ON agent_actions (platform_id, customer_id) WHERE status <> 'APPROVED' OR decided_by IS NOT NULL;
CREATE UNIQUE INDEX agent_action_waiting_quote_unique ON agent_actions (platform_id, quote_id) WHERE status = 'PENDING_APPROVAL' AND quote_id IS NOT NULL;
CREATE UNIQUE INDEX agent_action_transaction_unique ON agent_actions (platform_id, transaction_id) WHERE transaction_id IS NOT NULL;
GRANT SELECT, INSERT, UPDATE (status, transaction_id, reason, failure_code, decided_by, decided_at, updated_at) ON agent_actions TO causeway_service;
SELECT isolate_platforms('agent_actions');

-- The audit trail of agents. Rows never change, and are deleted by delete_agent_attempts only.
CREATE TABLE agent_attempts (
    platform_id         uuid        NOT NULL,
    id                  uuid        NOT NULL,
    agent_id            uuid        NOT NULL,
    customer_id         uuid        NOT NULL,
    operation           text        NOT NULL,
    decision            text        NOT NULL CONSTRAINT agent_attempt_decision_known CHECK (decision IN ('ALLOWED', 'APPROVAL_REQUIRED', 'REFUSED')),
    reasons             jsonb       NOT NULL,
    error               text        NOT NULL, -- code of the fault; empty for none
    currency            text        NOT NULL, -- empty if no money was to move
    amount              bigint      NOT NULL,
    internal_account_id uuid,
    external_account_id uuid,
    quote_id            uuid,
    transaction_id      uuid,
    action_id           uuid,
    token_id            uuid,       -- of the platform, that approved or rejected
    attempted_at        timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
CREATE INDEX agent_attempts_by_agent ON agent_attempts (platform_id, agent_id, id);
CREATE INDEX agent_attempts_by_transaction ON agent_attempts (platform_id, transaction_id, id) WHERE transaction_id IS NOT NULL;
CREATE INDEX agent_attempts_by_action ON agent_attempts (platform_id, action_id, id) WHERE action_id IS NOT NULL AND transaction_id IS NULL;
GRANT SELECT, INSERT ON agent_attempts TO causeway_service;
SELECT isolate_platforms('agent_attempts');

-- Deletes a batch of old rows, as the functions of 00018_retention.sql do. Uses the primary key: ids begin
-- with the time of the attempt.
-- +goose StatementBegin
CREATE FUNCTION delete_agent_attempts(platform uuid, before timestamptz, after uuid, max_rows int, OUT checked int, OUT deleted int, OUT last uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0; last := after;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_agent_attempts' || platform, 0)) THEN
        RETURN;
    END IF;
    WITH old AS MATERIALIZED (
        SELECT a.id, a.attempted_at FROM agent_attempts a
        WHERE a.platform_id = platform AND a.id > after AND a.id < first_uuid_v7(before) ORDER BY a.id LIMIT max_rows
    ), deleted_attempts AS (
        DELETE FROM agent_attempts a USING old WHERE a.platform_id = platform AND a.id = old.id AND old.attempted_at < before RETURNING 1
    )
    SELECT count(*), (SELECT count(*) FROM deleted_attempts), coalesce((SELECT o.id FROM old o ORDER BY o.id DESC LIMIT 1), after)
    INTO checked, deleted, last FROM old;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION delete_agent_attempts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION delete_agent_attempts TO causeway_service;
