-- +goose Up

CREATE TABLE customers (
    platform_id          uuid        NOT NULL REFERENCES platforms,
    id                   uuid        NOT NULL,
    platform_customer_id text        NOT NULL,
    customer_type        text        NOT NULL CONSTRAINT customer_type_known CHECK (customer_type IN ('INDIVIDUAL', 'BUSINESS')),
    region               text        NOT NULL DEFAULT '',
    currencies           text[]      NOT NULL DEFAULT '{}',
    email                text        NOT NULL DEFAULT '',
    uma_address          text        NOT NULL,
    status               text        NOT NULL CONSTRAINT customer_status_known CHECK (status IN ('UNVERIFIED', 'PENDING', 'APPROVED', 'REJECTED')),
    details              jsonb       NOT NULL,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    deleted_at           timestamptz,
    held_at              timestamptz, -- when a sanctions match stopped the payments of a customer who was approved; NULL: none did
    PRIMARY KEY (platform_id, id)
);
CREATE UNIQUE INDEX customer_platform_id_unique_while_active ON customers (platform_id, platform_customer_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX customer_uma_address_unique_while_active ON customers (platform_id, uma_address) WHERE deleted_at IS NULL;
-- For lists: the unique index has active customers only.
CREATE INDEX customers_by_platform_customer_id ON customers (platform_id, platform_customer_id, id) WHERE platform_customer_id <> '';
-- For lists: the unique index has active customers only.
CREATE INDEX customers_by_uma_address ON customers (platform_id, uma_address, id) WHERE uma_address <> '';
-- For lists by type. Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE INDEX customers_by_type ON customers (platform_id, customer_type, id) WHERE customer_type <> '';
-- For lists by region. Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE INDEX customers_by_region ON customers (platform_id, region, id) WHERE region <> '';
-- For lists by time of the last change. Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE INDEX customers_by_updated_at ON customers (platform_id, updated_at, id) WHERE updated_at IS NOT NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON customers TO causeway_service;
SELECT isolate_platforms('customers');

CREATE TABLE external_accounts (
    platform_id         uuid        NOT NULL REFERENCES platforms,
    id                  uuid        NOT NULL,
    customer_id         uuid,       -- NULL: the platform's own account
    platform_account_id text        NOT NULL DEFAULT '',
    currency            text        NOT NULL,
    account_type        text        NOT NULL,
    fields              jsonb       NOT NULL,
    beneficiary         jsonb,
    rails               text[]      NOT NULL DEFAULT '{}',
    status              text        NOT NULL,
    default_uma_deposit boolean     NOT NULL DEFAULT false,
    verification        text        NOT NULL DEFAULT '',
    verified_name       text        NOT NULL DEFAULT '',
    fingerprint         text        NOT NULL,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    deleted_at          timestamptz,
    -- A keyed hash of the details of the account and of its verification, as they were registered.
    seal                text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id),
    FOREIGN KEY (platform_id, customer_id) REFERENCES customers
);
CREATE INDEX external_accounts_by_customer ON external_accounts (platform_id, customer_id, id) WHERE customer_id IS NOT NULL;
-- The platform's own accounts are few among those of its customers.
CREATE INDEX external_accounts_by_platform ON external_accounts (platform_id, id) WHERE customer_id IS NULL;
CREATE UNIQUE INDEX external_account_unique_while_active ON external_accounts
    (platform_id, coalesce(customer_id, '00000000-0000-0000-0000-000000000000'), fingerprint) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX external_account_one_uma_default ON external_accounts (platform_id, customer_id) WHERE default_uma_deposit AND deleted_at IS NULL;
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR DELETE ON external_accounts FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('external-account');
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON external_accounts FOR EACH ROW
    WHEN ((OLD.customer_id, OLD.platform_account_id, OLD.currency, OLD.account_type, OLD.rails, OLD.status, OLD.default_uma_deposit, OLD.verification, OLD.deleted_at, OLD.seal)
        IS DISTINCT FROM (NEW.customer_id, NEW.platform_account_id, NEW.currency, NEW.account_type, NEW.rails, NEW.status, NEW.default_uma_deposit, NEW.verification, NEW.deleted_at, NEW.seal))
    EXECUTE FUNCTION ledger_queue_version('external-account');
GRANT SELECT, INSERT, UPDATE, DELETE ON external_accounts TO causeway_service;
SELECT isolate_platforms('external_accounts');

CREATE TABLE internal_accounts (
    platform_id     uuid        NOT NULL REFERENCES platforms,
    id              uuid        NOT NULL,
    customer_id     uuid,       -- NULL: the platform's own account
    currency        text        NOT NULL,
    account_type    text        NOT NULL,
    status          text        NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    reference       text        NOT NULL, -- the code in the memo of a payment into the account
    instructions    text        NOT NULL, -- how to pay into the account (JSON); empty until the rails have returned them
    private_enabled boolean     NOT NULL DEFAULT false, -- whether an embedded wallet is private on the blockchain
    PRIMARY KEY (platform_id, id),
    FOREIGN KEY (platform_id, customer_id) REFERENCES customers
);
-- Partial, so that the planner never prefers it to the primary key for a lookup by id.
CREATE UNIQUE INDEX internal_account_reference_unique ON internal_accounts (platform_id, reference) WHERE reference <> '';
-- A customer with an embedded wallet can have a crypto account in its currency too, for refunds.
CREATE UNIQUE INDEX internal_account_owner_currency_type_unique ON internal_accounts
    (platform_id, coalesce(customer_id, '00000000-0000-0000-0000-000000000000'), currency, account_type);
-- For lookups by owner, which is the platform if customer_id is NULL. With row-level security, Postgres
-- uses no index for coalesce(): it does not regard it as leakproof.
CREATE INDEX internal_accounts_by_owner ON internal_accounts
    (platform_id, (CASE WHEN customer_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE customer_id END), currency, account_type);
GRANT SELECT, INSERT, UPDATE, DELETE ON internal_accounts TO causeway_service;
SELECT isolate_platforms('internal_accounts');

-- Results of receiver lookups. Each is valid for some minutes. They are in partitions by the time of their creation, so that
-- old ones are dropped and not deleted.
CREATE TABLE lookups (
    platform_id      uuid        NOT NULL REFERENCES platforms,
    id               uuid        NOT NULL,
    customer_id      uuid,
    sender_uma       text        NOT NULL,
    receiver_uma     text        NOT NULL,
    external_id      uuid,
    requested_fields jsonb       NOT NULL, -- what the receiver's provider asks to know about the payer
    expires_at       timestamptz NOT NULL,
    created_at       timestamptz NOT NULL,
    currencies       text[]      NOT NULL, -- that can be delivered to the receiver
    receiver_info    jsonb       NOT NULL, -- what the receiver's provider says about the receiver
    PRIMARY KEY (platform_id, id),
    CONSTRAINT lookup_has_one_receiver CHECK ((receiver_uma = '') = (external_id IS NOT NULL))
) PARTITION BY RANGE (id);
GRANT SELECT, INSERT, UPDATE (receiver_info) ON lookups TO causeway_service;
SELECT isolate_platforms('lookups');
-- The first partition lasts for two weeks, so that the service can begin before it creates any.
-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE format('CREATE TABLE lookups_first PARTITION OF lookups FOR VALUES FROM (MINVALUE) TO (%L)',
        first_uuid_v7(date_trunc('day', now(), 'UTC') + interval '14 days'));
END
$$;
-- +goose StatementEnd
CREATE TABLE lookups_default PARTITION OF lookups DEFAULT;
ALTER TABLE lookups_first ENABLE ROW LEVEL SECURITY;
ALTER TABLE lookups_default ENABLE ROW LEVEL SECURITY;

-- +goose StatementBegin
CREATE FUNCTION create_lookup_partitions() RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '200ms' AS $$
BEGIN
    PERFORM create_time_partitions(ARRAY['lookups'], 1);
END
$$;
-- +goose StatementEnd

-- Drops the oldest partition whose lookups were all created before the time. It returns its name and
-- about how many it had, or NULL if there is none; if the lock is not available in a moment, the
-- error is lock_not_available.
-- +goose StatementBegin
CREATE FUNCTION drop_lookup_partition(before timestamptz, OUT dropped text, OUT lookups bigint) LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    old record;
BEGIN
    before := least(before, clock_timestamp() - interval '1 hour'); -- they are valid for ten minutes
    IF NOT pg_try_advisory_xact_lock(hashtextextended('drop_lookup_partition', 0)) THEN
        RETURN;
    END IF;
    SELECT p.partition, p.ends_before INTO old FROM time_partitions('lookups') p ORDER BY p.ends_before LIMIT 1;
    IF old.ends_before <= first_uuid_v7(before - interval '10 minutes') THEN
        SELECT greatest(c.reltuples, 0)::bigint INTO lookups FROM pg_class c WHERE c.oid = old.partition;
        dropped := old.partition::text;
        EXECUTE format('DROP TABLE %s', old.partition);
    END IF;
END
$$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION create_lookup_partitions, drop_lookup_partition FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_lookup_partitions, drop_lookup_partition TO causeway_service;

-- Imports of customers from files. The rows of a file are stored while it is uploaded, in chunks, and
-- each chunk is deleted in the transaction that imports it.
CREATE TABLE customer_imports (
    platform_id  uuid        NOT NULL REFERENCES platforms,
    id           uuid        NOT NULL,
    status       text        NOT NULL CONSTRAINT customer_import_status_known CHECK (status IN ('UPLOADING', 'PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
    columns      text[]      NOT NULL DEFAULT '{}', -- the header of the file
    total        int         NOT NULL DEFAULT 0,
    successful   int         NOT NULL DEFAULT 0,
    failed       int         NOT NULL DEFAULT 0,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT customer_import_counts_rows CHECK (successful >= 0 AND failed >= 0 AND successful + failed <= total)
);
-- The imports that count towards the limit of a platform.
CREATE INDEX customer_imports_unfinished ON customer_imports (platform_id) WHERE completed_at IS NULL;
CREATE INDEX customer_imports_by_updated_at ON customer_imports (platform_id, updated_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON customer_imports TO causeway_service;
SELECT isolate_platforms('customer_imports');

CREATE TABLE customer_import_chunks (
    platform_id uuid  NOT NULL,
    id          uuid  NOT NULL,
    import_id   uuid  NOT NULL,
    first_row   int   NOT NULL,
    rows        bytea NOT NULL, -- JSON, encrypted
    PRIMARY KEY (platform_id, id),
    CONSTRAINT customer_import_chunk_import_fkey FOREIGN KEY (platform_id, import_id) REFERENCES customer_imports ON DELETE CASCADE
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);
CREATE UNIQUE INDEX customer_import_chunks_by_row ON customer_import_chunks (platform_id, import_id, first_row);
GRANT SELECT, INSERT, UPDATE (rows), DELETE ON customer_import_chunks TO causeway_service;
SELECT isolate_platforms('customer_import_chunks');

-- The rows that were refused, up to a limit, or what is wrong with the file.
CREATE TABLE customer_import_errors (
    platform_id          uuid NOT NULL,
    import_id            uuid NOT NULL,
    position             int  NOT NULL, -- of the row, or of the error among those of the file
    row_number           int  NOT NULL, -- 0: the file
    line                 int  NOT NULL,
    platform_customer_id text NOT NULL,
    code                 text NOT NULL,
    message              text NOT NULL,
    reason               text NOT NULL,
    column_name          text NOT NULL,
    fields               jsonb NOT NULL,
    PRIMARY KEY (platform_id, import_id, position),
    CONSTRAINT customer_import_error_import_fkey FOREIGN KEY (platform_id, import_id) REFERENCES customer_imports ON DELETE CASCADE
);
GRANT SELECT, INSERT ON customer_import_errors TO causeway_service;
SELECT isolate_platforms('customer_import_errors');

CREATE TABLE invitations (
    platform_id         uuid        NOT NULL, -- of the inviter
    id                  uuid        NOT NULL,
    code                text        NOT NULL,
    url                 text        NOT NULL,
    inviter_id          uuid        NOT NULL,
    inviter_uma         text        NOT NULL,
    first_name          text        NOT NULL, -- of the invited person, encrypted
    amount_minor        bigint      NOT NULL, -- 0: none
    amount_currency     text        NOT NULL,
    status              text        NOT NULL CONSTRAINT invitation_status_known CHECK (status IN ('PENDING', 'CLAIMED', 'CANCELLED')),
    created_at          timestamptz NOT NULL,
    expires_at          timestamptz,
    claimed_at          timestamptz,
    cancelled_at        timestamptz,
    ends_at             timestamptz, -- when it was claimed or cancelled, or expires
    invitee_platform_id uuid,
    invitee_id          uuid,
    invitee_uma         text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id),
    CONSTRAINT invitation_inviter_fkey FOREIGN KEY (platform_id, inviter_id) REFERENCES customers,
    CONSTRAINT invitation_claimed_by_someone CHECK ((status = 'CLAIMED') = (claimed_at IS NOT NULL AND invitee_id IS NOT NULL AND invitee_platform_id IS NOT NULL))
);
-- A code is looked up by those who do not know the platform, so the index does not begin with it.
CREATE UNIQUE INDEX invitation_code_unique ON invitations (code);
CREATE INDEX invitations_by_inviter ON invitations (platform_id, inviter_id);
-- The invitee may be a customer of another platform, whose data is erased there.
CREATE INDEX invitations_by_invitee ON invitations (invitee_platform_id, invitee_id) WHERE invitee_id IS NOT NULL;
CREATE INDEX invitations_by_end ON invitations (platform_id, ends_at) WHERE ends_at IS NOT NULL;
-- For the retention of invitations that nobody claimed and that do not expire.
CREATE INDEX invitations_without_end ON invitations (platform_id, created_at) WHERE ends_at IS NULL;
GRANT SELECT, INSERT, UPDATE, DELETE ON invitations TO causeway_service;
SELECT isolate_platforms('invitations');

-- Returns the invitation with a code, of whatever platform of the same environment as the caller's. It
-- is the only way in which a platform sees a row of another one: it must know the code.
CREATE FUNCTION invitation_by_code(wanted text, caller uuid) RETURNS SETOF invitations STABLE ROWS 1 LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT i.* FROM invitations i JOIN platforms inviter ON inviter.id = i.platform_id JOIN platforms reader ON reader.id = caller
    WHERE i.code = wanted AND inviter.environment = reader.environment AND (caller = visible_platform() OR all_platforms_visible())
$$;
REVOKE EXECUTE ON FUNCTION invitation_by_code FROM PUBLIC;
GRANT EXECUTE ON FUNCTION invitation_by_code TO causeway_service;

-- Mails to customers. A mail is written with what it is about, and sent by a job. Its content is deleted
-- when it was sent or cannot be.
CREATE TABLE mails (
    platform_id uuid        NOT NULL REFERENCES platforms,
    id          uuid        NOT NULL,
    kind        text        NOT NULL,
    status      text        NOT NULL CONSTRAINT mail_status_known CHECK (status IN ('WAITING', 'SENT', 'REFUSED', 'EXPIRED')),
    content     text        NOT NULL, -- encrypted: the addresses, the subject, the texts
    reason      text        NOT NULL DEFAULT '', -- why it was not sent
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    ended_at    timestamptz,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT mail_waits_until_end CHECK ((status = 'WAITING') = (ended_at IS NULL)),
    CONSTRAINT mail_content_until_end CHECK ((status = 'WAITING') = (content <> ''))
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX mails_waiting ON mails (platform_id, created_at) WHERE status = 'WAITING';
CREATE INDEX mails_refused ON mails (platform_id, id) WHERE status = 'REFUSED';
GRANT SELECT, INSERT, UPDATE, DELETE ON mails TO causeway_service;
SELECT isolate_platforms('mails');

-- The number of mails of each platform in the latest hour in which it had any. Notices are counted apart from codes, which
-- mails counts: neither use up the limit of the other.
CREATE TABLE mail_counts (
    platform_id uuid        PRIMARY KEY REFERENCES platforms,
    hour_at     timestamptz NOT NULL,
    mails       integer     NOT NULL,
    notices     integer     NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE ON mail_counts TO causeway_service;
SELECT isolate_platforms('mail_counts');
