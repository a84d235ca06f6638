-- +goose Up

-- The double-entry ledger. Postings and entries are only ever inserted; balances, clocks
-- and balance snapshots are derived from them and can be recomputed at any time.

-- An account is created when it is first posted to, and never changes.
CREATE TABLE ledger_accounts (
    platform_id  uuid    NOT NULL,
    id           bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
    path         text    NOT NULL,
    currency     text    NOT NULL,
    class        text    NOT NULL CONSTRAINT ledger_account_class_known CHECK (class IN ('asset', 'liability', 'income', 'expense', 'trading')),
    no_overdraft boolean NOT NULL,
    -- The inserting transaction. Processes cache only accounts of finished transactions.
    xid          xid8    NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_account_path_and_currency_unique UNIQUE (platform_id, path, currency)
);
-- Accounts are listed and searched in byte order, whatever the collation of the database.
-- The condition is always true: it keeps the planner from using this index for a lookup by id.
CREATE INDEX ledger_accounts_by_path ON ledger_accounts (platform_id, path COLLATE "C", currency COLLATE "C") WHERE path IS NOT NULL;

-- The logical clock of each platform. Its row stays locked from posting to commit, so
-- that sequence numbers have no gaps and follow the order of commits, and recorded time
-- never runs backwards. Which periods are closed is in the same row because every
-- posting updates it anyway.
CREATE TABLE ledger_clocks (
    platform_id        uuid        PRIMARY KEY,
    seq                bigint      NOT NULL DEFAULT 0,           -- of the last posting
    recorded_at        timestamptz NOT NULL DEFAULT '-infinity', -- of the last posting
    month_end          timestamptz NOT NULL DEFAULT '-infinity', -- the end of the month of recorded_at
    -- No posting may be effective before closed_before, and only an authorised one before
    -- soft_closed_before. Both are the first instant of a month, or -infinity.
    closed_before      timestamptz NOT NULL DEFAULT '-infinity',
    soft_closed_before timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 20);

-- What must hold across months: an id is used once, a posting is reversed once, and the
-- original of a reversal exists. It also locates a posting's partition.
CREATE TABLE ledger_posting_ids (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    reverses    uuid,
    seq         bigint      NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_posting_reverses_fkey FOREIGN KEY (platform_id, reverses) REFERENCES ledger_posting_ids (platform_id, id)
);
CREATE UNIQUE INDEX ledger_posting_reversed_once ON ledger_posting_ids (platform_id, reverses) WHERE reverses IS NOT NULL;

-- Postings and entries are partitioned by the month, in UTC, in which they were recorded.
-- Statements read only the months they need, and an old month can be archived and restored.
CREATE TABLE ledger_postings (
    platform_id    uuid        NOT NULL,
    id             uuid        NOT NULL,
    seq            bigint      NOT NULL,
    transaction_id uuid,
    reverses       uuid,
    effective_at   timestamptz NOT NULL,
    recorded_at    timestamptz NOT NULL,
    kind           text        NOT NULL,
    memo           text        NOT NULL,
    -- SHA-256 over the content of the posting and its entries.
    digest         bytea       NOT NULL CONSTRAINT ledger_posting_digest_is_sha256 CHECK (length(digest) = 32),
    CONSTRAINT ledger_posting_reverses_other CHECK (reverses <> id),
    CONSTRAINT ledger_posting_reversal_has_original CHECK ((kind = 'reversal') = (reverses IS NOT NULL))
) PARTITION BY RANGE (recorded_at);

-- Entries of the posting with number seq, numbered from 1 by entry_no.
CREATE TABLE ledger_entries (
    platform_id       uuid        NOT NULL,
    seq               bigint      NOT NULL,
    recorded_at       timestamptz NOT NULL, -- that of the posting
    debit_account_id  bigint      NOT NULL,
    credit_account_id bigint      NOT NULL,
    amount            bigint      NOT NULL,
    entry_no          smallint    NOT NULL,
    currency          text        NOT NULL,
    CONSTRAINT ledger_entry_amount_positive CHECK (amount > 0),
    CONSTRAINT ledger_entry_accounts_differ CHECK (debit_account_id <> credit_account_id)
) PARTITION BY RANGE (recorded_at);

-- Indexes of the parents, copied to each partition. The primary keys are those of the
-- partitions: a sequence number is unique within a month.
CREATE INDEX ledger_postings_by_transaction ON ledger_postings (platform_id, transaction_id, seq) WHERE transaction_id IS NOT NULL;
-- Postings of the kinds that every payment has are common and found by scanning back a
-- little. The other kinds may be far apart.
CREATE INDEX ledger_postings_by_rare_kind ON ledger_postings (platform_id, kind, seq)
    WHERE kind NOT IN ('jit_received', 'converted', 'delivered', 'deposit', 'transfer_in', 'transfer_out');
-- The memo of a payment's postings is its reference, which finds the payment itself.
CREATE INDEX ledger_postings_by_memo ON ledger_postings (platform_id, memo, seq)
    WHERE transaction_id IS NULL OR kind = 'unmatched_assigned';
CREATE INDEX ledger_postings_by_reverses ON ledger_postings (platform_id, reverses, id) WHERE reverses IS NOT NULL;
CREATE INDEX ledger_entries_by_debit_account ON ledger_entries (platform_id, debit_account_id, seq);
CREATE INDEX ledger_entries_by_credit_account ON ledger_entries (platform_id, credit_account_id, seq);

-- Current balances, of accounts with no_overdraft only. Other accounts are touched by
-- every payment; a row for each of them would make payments wait for one another.
CREATE TABLE ledger_balances (
    platform_id uuid   NOT NULL,
    account_id  bigint NOT NULL,
    balance     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (platform_id, account_id),
    CONSTRAINT ledger_balance_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts (platform_id, id),
    CONSTRAINT ledger_balance_not_negative CHECK (balance >= 0)
) WITH (fillfactor = 70);

-- Entries whose posting was recorded more than ten seconds before or after it took
-- effect. They are few, and every query by effective time reads them; all other entries
-- are found near their recorded time. One table for all months, so that a query need not
-- visit each partition.
CREATE TABLE ledger_backdated_entries (
    platform_id       uuid        NOT NULL,
    seq               bigint      NOT NULL,
    effective_at      timestamptz NOT NULL,
    recorded_at       timestamptz NOT NULL,
    debit_account_id  bigint      NOT NULL,
    credit_account_id bigint      NOT NULL,
    amount            bigint      NOT NULL,
    entry_no          smallint    NOT NULL,
    -- The gap between the two times is less than 2^gap_class seconds; 33 is any longer gap.
    gap_class         smallint    NOT NULL GENERATED ALWAYS AS (least(33, length(ltrim(
        floor(abs(extract(epoch FROM recorded_at - effective_at)))::bigint::bit(48)::text, '0')))) STORED,
    PRIMARY KEY (platform_id, seq, entry_no),
    CONSTRAINT ledger_backdated_entry_gap_over_10s CHECK (recorded_at - effective_at > interval '10 seconds' OR recorded_at - effective_at < interval '-10 seconds')
);
-- For ledger_entries_spanning: of each class, the few gaps that began within its length
-- before a time.
CREATE INDEX ledger_backdated_entries_by_gap ON ledger_backdated_entries (platform_id, gap_class, least(effective_at, recorded_at));

-- The number of the first posting of a platform that was recorded in a month.
CREATE TABLE ledger_months (
    platform_id uuid   NOT NULL,
    month       date   NOT NULL CONSTRAINT ledger_month_is_first_day CHECK (extract(day FROM month) = 1),
    first_seq   bigint NOT NULL,
    PRIMARY KEY (platform_id, month)
);

-- Months whose partitions were archived: nothing recorded before the end of the last of
-- them is in this database. Archiving and restoring need the rights of the tables' owner.
CREATE TABLE ledger_archived_months (
    month       date        PRIMARY KEY CONSTRAINT ledger_archived_month_is_first_day CHECK (extract(day FROM month) = 1),
    archived_at timestamptz NOT NULL DEFAULT now()
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_accounts FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_posting_ids FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_backdated_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_months FOR EACH STATEMENT EXECUTE FUNCTION reject_change();

-- Both accounts of an entry have its currency. Checked once for all rows of a statement:
-- foreign keys would look up row by row and lock the rows of busy accounts. The settings
-- keep the plan on ledger_accounts_pkey, however small the table was when it was made.
-- +goose StatementBegin
CREATE FUNCTION ledger_check_entry_currencies() RETURNS trigger LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (
        SELECT FROM new_entries e
        LEFT JOIN ledger_accounts d ON d.platform_id = e.platform_id AND d.id = e.debit_account_id
        LEFT JOIN ledger_accounts c ON c.platform_id = e.platform_id AND c.id = e.credit_account_id
        WHERE d.currency IS DISTINCT FROM e.currency OR c.currency IS DISTINCT FROM e.currency
    ) THEN
        RAISE EXCEPTION 'the currency of an entry differs from that of its accounts'
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_entry_currency_matches_accounts', TABLE = 'ledger_entries';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_entry_currency_matches_accounts AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS new_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entry_currencies();

-- The end of the month that a time is in, in UTC.
CREATE FUNCTION ledger_month_end(at_time timestamptz) RETURNS timestamptz IMMUTABLE LANGUAGE sql
RETURN (date_trunc('month', at_time AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';

-- Creates the partitions of the month that a time is in, if they do not exist. It runs
-- with the rights of the tables' owner, because the service may not create tables.
-- Postings into other months continue meanwhile.
-- +goose StatementBegin
CREATE FUNCTION ledger_create_month_partitions(at_time timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    month_start timestamptz := date_trunc('month', at_time, 'UTC');
    suffix      text := to_char(month_start AT TIME ZONE 'UTC', 'YYYYMM');
    parent      text;
    partition   text;
BEGIN
    IF to_regclass('ledger_entries_' || suffix) IS NOT NULL THEN
        RETURN;
    END IF;
    LOCK TABLE ONLY ledger_postings IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('ledger_entries_' || suffix) IS NOT NULL THEN
        RETURN; -- another session created them while this one waited
    END IF;
    FOREACH parent IN ARRAY ARRAY['ledger_postings', 'ledger_entries'] LOOP
        partition := parent || '_' || suffix;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE, PRIMARY KEY (platform_id, seq%s))',
            partition, parent, CASE parent WHEN 'ledger_entries' THEN ', entry_no' END);
        EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION reject_change(%L)',
            partition, 'Post a reversal instead.');
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, partition, month_start, ledger_month_end(month_start));
    END LOOP;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION ledger_create_month_partitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger_create_month_partitions TO causeway_service;

-- The number of a platform's last posting recorded at or before a time, 0 if there is
-- none. ledger_months narrows the search to the numbers of one partition.
-- +goose StatementBegin
CREATE FUNCTION ledger_seq_at(platform uuid, at_time timestamptz) RETURNS bigint STABLE LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
    low         bigint;
    high        bigint;
    middle      bigint;
    month_start timestamptz;
    month_end   timestamptz;
BEGIN
    SELECT m.first_seq - 1, m.month::timestamp AT TIME ZONE 'UTC' INTO low, month_start
    FROM ledger_months m WHERE m.platform_id = platform AND m.month <= (at_time AT TIME ZONE 'UTC')::date ORDER BY m.month DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    month_end := ledger_month_end(month_start);
    SELECT m.first_seq - 1 INTO high
    FROM ledger_months m WHERE m.platform_id = platform AND m.month > (at_time AT TIME ZONE 'UTC')::date ORDER BY m.month LIMIT 1;
    IF NOT FOUND THEN
        SELECT c.seq INTO high FROM ledger_clocks c WHERE c.platform_id = platform;
    END IF;
    -- From its last microsecond on, the whole month counts.
    IF at_time >= month_end - interval '1 microsecond' THEN
        RETURN high;
    END IF;
    -- Binary search: recorded time grows with the number.
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT p.recorded_at <= at_time FROM ledger_postings p
            WHERE p.platform_id = platform AND p.seq = middle AND p.recorded_at >= month_start AND p.recorded_at < month_end) THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END
$$;
-- +goose StatementEnd

-- Entries recorded on one side of a time and effective on the other.
-- Uses ledger_backdated_entries_by_gap.
-- +goose StatementBegin
CREATE FUNCTION ledger_entries_spanning(platform uuid, at_time timestamptz) RETURNS SETOF ledger_backdated_entries STABLE LANGUAGE sql AS $$
    SELECT b.*
    FROM generate_series(4, 33) AS c (gap_class)
    CROSS JOIN LATERAL (
        SELECT b.* FROM ledger_backdated_entries b
        WHERE b.platform_id = platform AND b.gap_class = c.gap_class AND least(b.effective_at, b.recorded_at) <= at_time
          AND least(b.effective_at, b.recorded_at) >= CASE c.gap_class WHEN 33 THEN '-infinity' ELSE at_time - make_interval(secs => 2 ^ c.gap_class) END
          AND (b.recorded_at > at_time) <> (b.effective_at > at_time)
        OFFSET 0 -- keeps conditions of the caller out of here: no other index is better
    ) b
$$;
-- +goose StatementEnd

-- Locks the balances of accounts in the order given, and reads them. positions are those
-- of the accounts that have a balance row, and balances the balances of these accounts.
-- +goose StatementBegin
CREATE FUNCTION ledger_lock_balances(platforms uuid[], account_ids bigint[], OUT positions int[], OUT balances bigint[]) LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    SELECT array_agg(l.position), array_agg(l.balance) INTO positions, balances
    FROM (
        SELECT w.position, b.balance
        FROM unnest(platforms, account_ids) WITH ORDINALITY AS w (platform_id, account_id, position)
        JOIN ledger_balances b ON b.platform_id = w.platform_id AND b.account_id = w.account_id
        ORDER BY w.position
        FOR UPDATE OF b
    ) l;
END
$$;
-- +goose StatementEnd

GRANT SELECT, INSERT ON ledger_accounts, ledger_posting_ids, ledger_postings, ledger_entries, ledger_backdated_entries, ledger_months TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON ledger_clocks, ledger_balances TO causeway_service;
GRANT SELECT ON ledger_archived_months TO causeway_service;
