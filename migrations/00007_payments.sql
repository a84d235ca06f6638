-- +goose Up

-- A quote never changes; its state is the status of its transaction.
CREATE TABLE quotes (
    platform_id       uuid        NOT NULL,
    id                uuid        NOT NULL,
    transaction_id    uuid        NOT NULL,
    side              text        NOT NULL,
    locked_amount     bigint      NOT NULL,
    fees              bigint      NOT NULL,
    fee_fixed         bigint      NOT NULL,
    fee_variable      bigint      NOT NULL,
    fee_fraction      text        NOT NULL,
    rate              text        NOT NULL,
    market_rate       text        NOT NULL,
    rounding_sent     bigint      NOT NULL,
    rounding_received bigint      NOT NULL,
    network           text        NOT NULL,
    reference         text        NOT NULL,
    instructions      text        NOT NULL,
    description       text        NOT NULL,
    purpose           text        NOT NULL,
    expires_at        timestamptz NOT NULL,
    created_at        timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
-- Partial, like every further index here, so that the planner never prefers it to the
-- primary key for a lookup by id, whatever it estimates for a young table.
CREATE UNIQUE INDEX quote_reference_unique ON quotes (platform_id, reference) WHERE reference <> '';
-- What was written about a payment is removed when the personal data of its customer is erased.
GRANT SELECT, INSERT, UPDATE (description) ON quotes TO causeway_service;
SELECT isolate_platforms('quotes');

-- The status of each transaction, in the order of the lists: for lists by status and type that match
-- few of many. An index of transactions on its status would make each change of it update every
-- index of that table.
CREATE TABLE transaction_statuses (
    platform_id uuid NOT NULL,
    status      text NOT NULL,
    direction   text NOT NULL,
    id          uuid NOT NULL,
    PRIMARY KEY (platform_id, status, direction, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
GRANT SELECT ON transaction_statuses TO causeway_service;
SELECT isolate_platforms('transaction_statuses');

-- Narrow rows, pages filled to four fifths: a change of state stays on its page and
-- updates no index.
CREATE TABLE transactions (
    platform_id            uuid        NOT NULL,
    id                     uuid        NOT NULL,
    quote_id               uuid,
    customer_id            uuid,       -- NULL: the platform's own transaction
    direction              text        NOT NULL,
    status                 text        NOT NULL CONSTRAINT transaction_status_known
        CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED')),
    refund_status          text        NOT NULL,
    stage                  text        NOT NULL,
    failure_reason         text        NOT NULL,
    source_external        uuid,
    source_internal        uuid,
    destination_external   uuid,
    destination_internal   uuid,
    source_rail            text        NOT NULL, -- '' if an internal account pays
    source_account         text        NOT NULL, -- path of the ledger account
    destination_rail       text        NOT NULL, -- '' if an internal account receives
    destination_account    text        NOT NULL, -- path of the ledger account
    receipt_id             uuid,       -- the receipt that funded it
    sent_currency          text        NOT NULL,
    sent_minor             bigint      NOT NULL CONSTRAINT transaction_sent_positive CHECK (sent_minor > 0),
    received_currency      text        NOT NULL,
    received_minor         bigint      NOT NULL CONSTRAINT transaction_received_positive CHECK (received_minor > 0),
    funded_currency        text        NOT NULL DEFAULT '',
    funded_minor           bigint      NOT NULL DEFAULT 0,
    refund_reason          text        NOT NULL DEFAULT '',
    refund_at              timestamptz,
    refund_settled_at      timestamptz,
    created_at             timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    settled_at             timestamptz,
    source_uma             text        NOT NULL, -- a sender at another provider; empty if none
    destination_uma        text        NOT NULL, -- a receiver at another provider; empty if none
    reference              text        NOT NULL, -- of a transaction without a quote; else empty
    details                text        NOT NULL, -- fields that no query filters by (JSON)
    -- The agent that created it, and how it counts towards the limits of the agent: NULL if it does not, because the
    -- agent has not started it.
    agent_id               uuid,
    usage_day              date,       -- UTC
    usage_given_back       boolean,
    expected_settlement_at timestamptz, -- when the beneficiary of a payout in transit is expected to have it; NULL: unknown
    -- A keyed hash of who is paid and how much, as it was accepted: the beneficiary's account with its details, or the
    -- internal account or the UMA address. It is compared before a payment leaves. Empty for what is not paid out.
    payee_seal             text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id),
    CONSTRAINT transaction_usage_of_agent CHECK ((usage_day IS NULL) = (usage_given_back IS NULL)
        AND (usage_day IS NULL OR agent_id IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX transactions_by_customer ON transactions (platform_id, customer_id, id) WHERE customer_id IS NOT NULL;
-- The platform's own transactions are few among those of its customers.
CREATE INDEX transactions_by_platform ON transactions (platform_id, id) WHERE customer_id IS NULL;
CREATE INDEX transactions_by_source_external ON transactions (platform_id, source_external, id) WHERE source_external IS NOT NULL;
CREATE INDEX transactions_by_source_internal ON transactions (platform_id, source_internal, id) WHERE source_internal IS NOT NULL;
CREATE INDEX transactions_by_source_uma ON transactions (platform_id, source_uma, id) WHERE source_uma <> '';
CREATE INDEX transactions_by_destination_external ON transactions (platform_id, destination_external, id) WHERE destination_external IS NOT NULL;
CREATE INDEX transactions_by_destination_internal ON transactions (platform_id, destination_internal, id) WHERE destination_internal IS NOT NULL;
CREATE INDEX transactions_by_destination_uma ON transactions (platform_id, destination_uma, id) WHERE destination_uma <> '';
CREATE INDEX transactions_by_reference ON transactions (platform_id, reference, id) WHERE reference <> '';
-- Transactions that were created long after the time in their id, which is that of a payment or a
-- receipt. A list that begins at a time finds the others by their ids.
CREATE INDEX transactions_created_late ON transactions (platform_id, created_at)
    WHERE created_at - uuid_v7_time(id) > interval '2 hours';
-- Partial, as the others of the table.
CREATE INDEX transactions_by_agent ON transactions (platform_id, agent_id, id) WHERE agent_id IS NOT NULL;

-- Triggers, so that the statuses are true whatever changes a transaction. The settings keep the plans on the
-- primary key, however small the table was when they were made.
-- +goose StatementBegin
CREATE FUNCTION add_transaction_statuses() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO transaction_statuses SELECT n.platform_id, n.status, n.direction, n.id FROM new_transactions n;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION change_transaction_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    UPDATE transaction_statuses s SET status = NEW.status
    WHERE s.platform_id = OLD.platform_id AND s.status = OLD.status AND s.direction = OLD.direction AND s.id = OLD.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION delete_transaction_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM transaction_statuses s
    WHERE s.platform_id = OLD.platform_id AND s.status = OLD.status AND s.direction = OLD.direction AND s.id = OLD.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- No wallet is debited without evidence.
-- +goose StatementBegin
CREATE FUNCTION require_wallet_authorization() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM wallet_authorizations a WHERE a.platform_id = NEW.platform_id AND a.id = NEW.id) THEN
        RAISE EXCEPTION 'transaction % is paid by an embedded wallet, and nobody has signed it', NEW.id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER add_statuses AFTER INSERT ON transactions
    REFERENCING NEW TABLE AS new_transactions FOR EACH STATEMENT EXECUTE FUNCTION add_transaction_statuses();
CREATE TRIGGER change_status AFTER UPDATE ON transactions FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION change_transaction_status();
CREATE TRIGGER delete_status AFTER DELETE ON transactions FOR EACH ROW EXECUTE FUNCTION delete_transaction_status();
CREATE TRIGGER wallet_authorized BEFORE UPDATE OF status ON transactions FOR EACH ROW
    WHEN (OLD.status = 'PENDING' AND NEW.status IN ('PROCESSING', 'COMPLETED') AND starts_with(NEW.source_account, 'wallets/'))
    EXECUTE FUNCTION require_wallet_authorization();
GRANT SELECT, INSERT, UPDATE ON transactions TO causeway_service;
SELECT isolate_platforms('transactions');
REVOKE EXECUTE ON FUNCTION add_transaction_statuses, change_transaction_status, delete_transaction_status FROM PUBLIC;

-- Every payment received from a partner, matched or not. The id is derived from the
-- rail and the partner's own id, so that a repeated notification is stored once.
CREATE TABLE receipts (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    rail        text        NOT NULL, -- rail or chain it was paid by
    partner_id  text        NOT NULL, -- at most 255 bytes: a longer one is its hash
    reference   text        NOT NULL,
    currency    text        NOT NULL,
    amount      bigint      NOT NULL CONSTRAINT receipt_amount_positive CHECK (amount > 0),
    received_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id)
);
-- A payment is unique by the partner's id of it: one that is reported again with another time is not stored twice.
CREATE UNIQUE INDEX receipts_by_partner_id ON receipts (platform_id, rail, partner_id);
GRANT SELECT, INSERT ON receipts TO causeway_service;
SELECT isolate_platforms('receipts');

-- The accounts from which money was received, as partners named them, so that it can be sent back. In a table of its own,
-- because receipts never change and these are personal data: they are erased with the customer for whom the money was, and
-- those of nobody are deleted after some years, in adapters/postgres/receipt_payers.go.
CREATE TABLE receipt_payers (
    platform_id uuid NOT NULL,
    id          uuid NOT NULL, -- of the receipt
    customer_id uuid, -- for whom the money was; NULL: nobody that is known
    account     text NOT NULL, -- encrypted
    PRIMARY KEY (platform_id, id),
    CONSTRAINT receipt_payer_receipt_fkey FOREIGN KEY (platform_id, id) REFERENCES receipts (platform_id, id)
);
CREATE INDEX receipt_payers_by_customer ON receipt_payers (platform_id, customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX receipt_payers_of_nobody ON receipt_payers (platform_id, id) WHERE customer_id IS NULL;
GRANT SELECT, INSERT, UPDATE (customer_id, account), DELETE ON receipt_payers TO causeway_service;
SELECT isolate_platforms('receipt_payers');

-- Money that was received and that the partner or chain took back, once for each receipt. Rows never change.
CREATE TABLE receipt_reversals (
    platform_id uuid        NOT NULL,
    receipt_id  uuid        NOT NULL,
    partner_id  text        NOT NULL CONSTRAINT receipt_reversal_partner_id_length CHECK (length(partner_id) <= 300),
    code        text        NOT NULL CONSTRAINT receipt_reversal_code_length CHECK (length(code) <= 40),
    note        text        NOT NULL CONSTRAINT receipt_reversal_note_length CHECK (length(note) <= 500),
    reversed_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, receipt_id),
    CONSTRAINT receipt_reversal_receipt_fkey FOREIGN KEY (platform_id, receipt_id) REFERENCES receipts (platform_id, id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON receipt_reversals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON receipt_reversals TO causeway_service;
SELECT isolate_platforms('receipt_reversals');

-- Replies of rails about a payment or a refund, except those that it succeeded: these follow from the postings, and
-- are here only if they have a partner's id or code. Rows never change.
CREATE TABLE rail_replies (
    platform_id  uuid        NOT NULL,
    subject_id   uuid        NOT NULL,
    replied_at   timestamptz NOT NULL,
    call         text        NOT NULL,
    verdict      text        NOT NULL,
    reason       text        NOT NULL,
    accepted     boolean     NOT NULL,
    retry_at     timestamptz,
    -- What the partner itself has said: its id of the payment, its reason as a code and in words, and when it took money
    -- back or expects to settle.
    partner_id   text        NOT NULL DEFAULT '',
    partner_code text        NOT NULL DEFAULT '',
    partner_text text        NOT NULL DEFAULT '',
    returned_at  timestamptz,
    expected_at  timestamptz,
    seal         text        NOT NULL DEFAULT '' -- a keyed hash of the reply as it was recorded, which the check of the ledger compares
);
CREATE INDEX rail_replies_by_subject ON rail_replies (platform_id, subject_id, replied_at);
-- Finds the oldest replies of a platform.
CREATE INDEX rail_replies_by_replied_at ON rail_replies (platform_id, replied_at);
GRANT SELECT, INSERT ON rail_replies TO causeway_service;
SELECT isolate_platforms('rail_replies');

-- The postings that put the funds of a receipt into the ledger account funding/unmatched
-- (suspense). Rows never change.
CREATE TABLE unmatched_funds (
    platform_id uuid NOT NULL,
    posting_id  uuid NOT NULL,
    receipt_id  uuid NOT NULL,
    PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT unmatched_funds_receipt_fkey FOREIGN KEY (platform_id, receipt_id) REFERENCES receipts (platform_id, id)
);
-- Partial, so that the planner never prefers it to the primary key.
CREATE INDEX unmatched_funds_by_receipt ON unmatched_funds (platform_id, receipt_id) WHERE receipt_id IS NOT NULL;
GRANT SELECT, INSERT ON unmatched_funds TO causeway_service;
SELECT isolate_platforms('unmatched_funds');

-- Decisions about unmatched funds (suspense), once for each posting that put funds there.
-- Rows never change.
CREATE TABLE unmatched_assignments (
    platform_id       uuid        NOT NULL,
    posting_id        uuid        NOT NULL,
    receipt_id        uuid        NOT NULL,
    transaction_id    uuid,       -- NULL: the funds go back to the payer
    account_id        uuid,       -- NULL: the funds pay for a quote, or go back
    note              text        NOT NULL,
    token_id          uuid,       -- of the caller who decided; NULL: the service, for what a partner takes back
    assigned_at       timestamptz NOT NULL,
    actor             text        NOT NULL DEFAULT '', -- the person that the request named
    proposal_id       uuid,       -- if it needed four eyes, as the two columns after it
    approver_token_id uuid        CONSTRAINT unmatched_assignment_two_tokens CHECK (approver_token_id <> token_id),
    approver          text        NOT NULL DEFAULT '',
    CONSTRAINT unmatched_assignment_once PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT unmatched_assignment_account_needs_transaction CHECK (account_id IS NULL OR transaction_id IS NOT NULL),
    CONSTRAINT unmatched_assignment_has_author CHECK (token_id IS NOT NULL OR actor <> '')
);
CREATE INDEX unmatched_assignments_by_transaction ON unmatched_assignments (platform_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE TRIGGER ledger_evidence AFTER INSERT ON unmatched_assignments REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('assignment', 'posting_id');
GRANT SELECT, INSERT ON unmatched_assignments TO causeway_service;
SELECT isolate_platforms('unmatched_assignments');
