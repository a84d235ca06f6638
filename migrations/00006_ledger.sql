-- +goose Up

-- The double-entry ledger. Postings and entries are only ever inserted; balances, clocks
-- and balance snapshots are derived from them and can be recomputed at any time.

-- An account is created when it is first posted to, and never changes.
CREATE TABLE ledger_accounts (
    platform_id  uuid    NOT NULL,
    id           bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
    path         text    NOT NULL,
    currency     text    NOT NULL,
    class        text    NOT NULL CONSTRAINT ledger_account_has_class
        CHECK (class IN ('asset', 'liability', 'equity', 'income', 'expense', 'trading')),
    no_overdraft boolean NOT NULL,
    -- The inserting transaction. Processes cache only accounts of finished transactions.
    xid          xid8    NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_account_path_and_currency_unique UNIQUE (platform_id, path, currency)
);
-- Accounts are listed and searched in byte order, whatever the collation of the database.
-- The condition is always true: it keeps the planner from using this index for a lookup by id.
CREATE INDEX ledger_accounts_by_path ON ledger_accounts (platform_id, path COLLATE "C", currency COLLATE "C") WHERE path IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_accounts FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
GRANT SELECT, INSERT ON ledger_accounts TO causeway_service;
SELECT isolate_platforms('ledger_accounts');

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

-- A closed month is not reopened, and is closed together with its trial balance. The
-- trigger names its columns: postings change neither and do not pay for it.
-- +goose StatementBegin
CREATE FUNCTION ledger_check_period_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.closed_before > NEW.soft_closed_before OR EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id AND c.month >= (NEW.closed_before AT TIME ZONE 'UTC')::date
    ) THEN
        RAISE EXCEPTION 'a closed month cannot be reopened'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_month_not_reopened', TABLE = 'ledger_clocks';
    END IF;
    IF OLD.closed_before > '-infinity' AND NEW.closed_before > OLD.closed_before AND NOT EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id
            AND c.month = ((NEW.closed_before AT TIME ZONE 'UTC') - interval '1 month')::date
    ) THEN
        RAISE EXCEPTION 'a month cannot be closed without its trial balance'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_month_has_closing', TABLE = 'ledger_clocks';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_clock_check_period_change BEFORE UPDATE OF closed_before, soft_closed_before ON ledger_clocks
    FOR EACH ROW EXECUTE FUNCTION ledger_check_period_change();
GRANT SELECT, INSERT, UPDATE ON ledger_clocks TO causeway_service;
SELECT isolate_platforms('ledger_clocks');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_posting_ids FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
GRANT SELECT, INSERT ON ledger_posting_ids TO causeway_service;
SELECT isolate_platforms('ledger_posting_ids');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
GRANT SELECT, INSERT ON ledger_postings TO causeway_service;
SELECT isolate_platforms('ledger_postings');

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
CREATE INDEX ledger_entries_by_debit_account ON ledger_entries (platform_id, debit_account_id, seq);
CREATE INDEX ledger_entries_by_credit_account ON ledger_entries (platform_id, credit_account_id, seq);

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
CREATE TRIGGER ledger_entry_currency_matches_accounts AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS new_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entry_currencies();
GRANT SELECT, INSERT ON ledger_entries TO causeway_service;
SELECT isolate_platforms('ledger_entries');

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
GRANT SELECT, INSERT, UPDATE ON ledger_balances TO causeway_service;
SELECT isolate_platforms('ledger_balances');

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
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_backdated_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Post a reversal instead.');
GRANT SELECT, INSERT ON ledger_backdated_entries TO causeway_service;
SELECT isolate_platforms('ledger_backdated_entries');

-- The number of the first posting of a platform that was recorded in a month.
CREATE TABLE ledger_months (
    platform_id uuid   NOT NULL,
    month       date   NOT NULL CONSTRAINT ledger_month_is_first_day CHECK (extract(day FROM month) = 1),
    first_seq   bigint NOT NULL,
    PRIMARY KEY (platform_id, month)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_months FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_months TO causeway_service;
SELECT isolate_platforms('ledger_months');

-- Months whose partitions were archived: nothing recorded before the end of the last of
-- them is in this database. Archiving and restoring need the rights of the tables' owner.
CREATE TABLE ledger_archived_months (
    month       date        PRIMARY KEY CONSTRAINT ledger_archived_month_is_first_day CHECK (extract(day FROM month) = 1),
    archived_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON ledger_archived_months TO causeway_service;

-- The end of the month that a time is in, in UTC.
CREATE FUNCTION ledger_month_end(at_time timestamptz) RETURNS timestamptz IMMUTABLE LANGUAGE sql
RETURN (date_trunc('month', at_time AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';

-- Creates the partitions of the month that a time is in, if they do not exist. It runs
-- with the rights of the tables' owner, because the service may not create tables.
-- Postings into other months continue meanwhile. Read directly, partitions show nothing.
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
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', partition);
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

-- A balance snapshot ends a block of an account's entries: the balance and the total of
-- debits after posting number seq, and the earliest and latest effective time in the
-- block since the snapshot before. Every account posted to in a month has one at the
-- month's end, so that a balance needs the entries of one month at most.
CREATE TABLE ledger_balance_snapshots (
    platform_id           uuid        NOT NULL,
    account_id            bigint      NOT NULL,
    seq                   bigint      NOT NULL,
    balance               numeric     NOT NULL,
    earliest_effective_at timestamptz NOT NULL,
    latest_effective_at   timestamptz NOT NULL,
    debit_total           numeric     NOT NULL, -- with the balance it gives the total of credits
    PRIMARY KEY (platform_id, account_id, seq),
    CONSTRAINT ledger_balance_snapshot_account_fkey FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts (platform_id, id)
);
GRANT SELECT, INSERT ON ledger_balance_snapshots TO causeway_service;
SELECT isolate_platforms('ledger_balance_snapshots');

-- How far the worker has come that creates snapshots.
CREATE TABLE ledger_snapshot_progress (
    platform_id            uuid        PRIMARY KEY,
    seq                    bigint      NOT NULL DEFAULT 0,           -- the last posting processed
    months_complete_before timestamptz NOT NULL DEFAULT '-infinity', -- months before it have all their snapshots
    last_account_id        bigint      NOT NULL DEFAULT 0            -- the last account processed in the month after them
);
GRANT SELECT, INSERT, UPDATE ON ledger_snapshot_progress TO causeway_service;
SELECT isolate_platforms('ledger_snapshot_progress');

-- Posts a batch, for any platforms, or refuses all of it: one call whatever its size, so
-- that nothing can happen between check and write. It refuses if
--   * postings with these ids exist: duplicates are their positions in ids, mismatched
--     those of them with another digest;
--   * an account with no_overdraft would at any point go below zero or above the largest
--     bigint: short_accounts are their positions in balance_account_ids, short_balances
--     the current balances;
--   * a posting would be effective in a closed month, or in a soft-closed one without an
--     authorisation: late_postings are their positions, and earliest_allowed the earliest
--     effective time of each.
--
-- All arguments are parallel arrays. platforms are distinct and sorted; posting_counts is
-- the number of postings of each. A posting names its platform by position and is number
-- platform_positions among that platform's postings; an entry names its posting by
-- position. Balances are distinct and in account order; net_changes is what the batch
-- adds, lowest_changes and highest_changes are the extremes on the way.
--
-- Locks are taken in one order by all callers: balances by account, then clocks by
-- platform. Soft-closing and closing a month take the lock of the clock too, so no
-- posting gets into a month that is being closed. Each statement sees the commits that
-- the locks before it waited for, so the search for duplicates under the clock's lock
-- misses none. The settings keep the plans on the primary keys, however small the tables
-- were when they were made.
--
-- The first posting of a platform in a month records the number at which the month
-- begins and creates the partitions if needed. A batch is recorded in one month.
--
-- A process whose clock is ahead of the database's by more than two seconds cannot post: recorded times never decrease, so
-- one such posting would move those of its platform into the future for good. Sessions with simulated time (tests,
-- generated history) set causeway.simulated_clock to on.
-- +goose StatementBegin
CREATE FUNCTION ledger_post(
    posted_at timestamptz, platforms uuid[], posting_counts int[],
    ids uuid[], posting_platforms int[], platform_positions int[], kinds text[], transaction_ids uuid[], effective_times timestamptz[], memos text[], reversed_ids uuid[], digests bytea[],
    entry_postings int[], entry_numbers smallint[], debit_account_ids bigint[], credit_account_ids bigint[], currencies text[], amounts bigint[],
    balance_platforms uuid[], balance_account_ids bigint[], net_changes bigint[], lowest_changes bigint[], highest_changes bigint[],
    OUT duplicates int[], OUT mismatched int[], OUT short_accounts int[], OUT short_balances bigint[], OUT late_postings int[], OUT earliest_allowed timestamptz[]
) LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    max_clock_offset   CONSTANT interval := interval '2 seconds';
    microsecond        CONSTANT interval := interval '1 microsecond';
    first_seqs         bigint[];      -- for each platform, the number before its first posting
    first_times        timestamptz[]; -- and the recorded time before it
    last_seq           bigint;
    last_time          timestamptz;
    soft_closed_before timestamptz;
    month_end          timestamptz;
    latest_close       timestamptz := '-infinity';
    lowest_effective   timestamptz := 'infinity';
    highest_effective  timestamptz := '-infinity';
    lowest_recorded    timestamptz := 'infinity';
    highest_recorded   timestamptz := '-infinity';
    effective_time     timestamptz;
    month_start        timestamptz;
    months_started     timestamptz[] := '{}';
BEGIN
    IF posted_at > clock_timestamp() + max_clock_offset AND current_setting('causeway.simulated_clock', true) IS DISTINCT FROM 'on' THEN
        RAISE EXCEPTION 'the postings are recorded at %, but the database clock is at %', posted_at, clock_timestamp() USING ERRCODE = 'CW001';
    END IF;

    IF cardinality(balance_account_ids) > 0 THEN
        SELECT array_agg(l.position), array_agg(l.balance) FILTER (WHERE l.position IS NOT NULL)
        INTO short_accounts, short_balances
        FROM (
            SELECT CASE WHEN b.balance + d.lowest < 0 OR b.balance > 9223372036854775807 - d.highest THEN d.position END AS position, b.balance
            FROM unnest(balance_platforms, balance_account_ids, lowest_changes, highest_changes) WITH ORDINALITY AS d (platform_id, account_id, lowest, highest, position)
            JOIN ledger_balances b ON b.platform_id = d.platform_id AND b.account_id = d.account_id
            ORDER BY d.position
            FOR UPDATE OF b
        ) l;
        short_accounts := array_remove(short_accounts, NULL);
    END IF;

    FOR i IN 1 .. cardinality(platforms) LOOP
        -- A queue for the clock's row. Sessions that wait for the row itself are woken twice
        -- and read it again, which costs a third more when many post on one platform.
        PERFORM pg_advisory_xact_lock(uuid_hash_extended(platforms[i], 0));
        LOOP
            UPDATE ledger_clocks c
            SET seq = c.seq + posting_counts[i], recorded_at = greatest(posted_at, c.recorded_at + microsecond) + (posting_counts[i] - 1) * microsecond
            WHERE c.platform_id = platforms[i]
            RETURNING c.seq - posting_counts[i], c.recorded_at - posting_counts[i] * microsecond, c.soft_closed_before, c.month_end
            INTO last_seq, last_time, soft_closed_before, month_end;
            EXIT WHEN FOUND;
            -- The platform's first posting.
            INSERT INTO ledger_clocks (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
            INSERT INTO ledger_snapshot_progress (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
        END LOOP;
        IF last_time + posting_counts[i] * microsecond >= month_end THEN
            -- The whole batch belongs to the month of its last posting.
            month_start := date_trunc('month', last_time + posting_counts[i] * microsecond, 'UTC');
            last_time := greatest(last_time, month_start - microsecond);
            INSERT INTO ledger_months (platform_id, month, first_seq) VALUES (platforms[i], (month_start AT TIME ZONE 'UTC')::date, last_seq + 1)
            ON CONFLICT DO NOTHING;
            UPDATE ledger_clocks c
            SET recorded_at = last_time + posting_counts[i] * microsecond, month_end = ledger_month_end(month_start)
            WHERE c.platform_id = platforms[i];
            months_started := months_started || month_start;
        END IF;
        first_seqs[i] := last_seq;
        first_times[i] := last_time;
        lowest_recorded := least(lowest_recorded, last_time);
        highest_recorded := greatest(highest_recorded, last_time + posting_counts[i] * microsecond);
        IF soft_closed_before > latest_close THEN
            latest_close := soft_closed_before;
        END IF;
    END LOOP;

    -- After all clocks are locked, so that two sessions that start a month cannot deadlock.
    FOREACH month_start IN ARRAY months_started LOOP
        PERFORM ledger_create_month_partitions(month_start);
    END LOOP;

    SELECT array_agg(w.position) INTO duplicates
    FROM unnest(ids, posting_platforms) WITH ORDINALITY AS w (id, platform, position)
    JOIN ledger_posting_ids x ON x.platform_id = platforms[w.platform] AND x.id = w.id;
    IF duplicates IS NOT NULL THEN
        SELECT array_agg(w.position) INTO mismatched
        FROM unnest(ids, posting_platforms, digests) WITH ORDINALITY AS w (id, platform, digest, position)
        JOIN ledger_posting_ids x ON x.platform_id = platforms[w.platform] AND x.id = w.id
        JOIN ledger_postings p ON p.platform_id = x.platform_id AND p.seq = x.seq AND p.recorded_at = x.recorded_at
        WHERE p.digest <> w.digest;
    END IF;

    -- A loop of plain expressions: a query would cost every batch more.
    FOREACH effective_time IN ARRAY effective_times LOOP
        IF effective_time < lowest_effective THEN
            lowest_effective := effective_time;
        END IF;
        IF effective_time > highest_effective THEN
            highest_effective := effective_time;
        END IF;
    END LOOP;
    IF lowest_effective < latest_close THEN
        SELECT array_agg(l.position), array_agg(l.allowed)
        INTO late_postings, earliest_allowed
        FROM (
            SELECT w.position, w.effective_at, CASE
                WHEN EXISTS (SELECT FROM ledger_authorisations a WHERE a.platform_id = platforms[w.platform] AND a.posting_id = w.id)
                THEN c.closed_before ELSE c.soft_closed_before END AS allowed
            FROM unnest(ids, posting_platforms, effective_times) WITH ORDINALITY AS w (id, platform, effective_at, position)
            JOIN ledger_clocks c ON c.platform_id = platforms[w.platform]
            WHERE w.effective_at < c.soft_closed_before AND (duplicates IS NULL OR w.position <> ALL (duplicates))
        ) l
        WHERE l.effective_at < l.allowed;
    END IF;

    IF duplicates IS NOT NULL OR cardinality(short_accounts) > 0 OR late_postings IS NOT NULL THEN
        FOR i IN 1 .. cardinality(platforms) LOOP
            UPDATE ledger_clocks c SET seq = first_seqs[i] WHERE c.platform_id = platforms[i];
        END LOOP;
        RETURN;
    END IF;

    -- From here on only writes.
    INSERT INTO ledger_posting_ids (platform_id, id, reverses, seq, recorded_at)
    SELECT platforms[w.platform], w.id, w.reverses, first_seqs[w.platform] + w.nth, first_times[w.platform] + w.nth * microsecond
    FROM unnest(ids, posting_platforms, platform_positions, reversed_ids) AS w (id, platform, nth, reverses);

    INSERT INTO ledger_postings (platform_id, id, seq, kind, transaction_id, effective_at, recorded_at, memo, reverses, digest)
    SELECT platforms[w.platform], w.id, first_seqs[w.platform] + w.nth, w.kind, w.transaction_id, w.effective_at,
           first_times[w.platform] + w.nth * microsecond, w.memo, w.reverses, w.digest
    FROM unnest(ids, posting_platforms, platform_positions, kinds, transaction_ids, effective_times, memos, reversed_ids, digests)
        AS w (id, platform, nth, kind, transaction_id, effective_at, memo, reverses, digest);

    INSERT INTO ledger_entries (platform_id, seq, recorded_at, entry_no, debit_account_id, credit_account_id, currency, amount)
    SELECT platforms[posting_platforms[w.posting]], first_seqs[posting_platforms[w.posting]] + platform_positions[w.posting],
           first_times[posting_platforms[w.posting]] + platform_positions[w.posting] * microsecond, w.entry_no, w.debit, w.credit, w.currency, w.amount
    FROM unnest(entry_postings, entry_numbers, debit_account_ids, credit_account_ids, currencies, amounts) AS w (posting, entry_no, debit, credit, currency, amount);

    IF highest_recorded - lowest_effective > interval '10 seconds' OR lowest_recorded - highest_effective < interval '-10 seconds' THEN
        INSERT INTO ledger_backdated_entries (platform_id, seq, entry_no, effective_at, recorded_at, debit_account_id, credit_account_id, amount)
        SELECT platforms[e.platform], first_seqs[e.platform] + e.nth, e.entry_no, e.effective_at, first_times[e.platform] + e.nth * microsecond, e.debit, e.credit, e.amount
        FROM (SELECT posting_platforms[w.posting] AS platform, platform_positions[w.posting] AS nth, effective_times[w.posting] AS effective_at, w.entry_no, w.debit, w.credit, w.amount
              FROM unnest(entry_postings, entry_numbers, debit_account_ids, credit_account_ids, amounts) AS w (posting, entry_no, debit, credit, amount)) e
        WHERE first_times[e.platform] + e.nth * microsecond - e.effective_at > interval '10 seconds'
           OR first_times[e.platform] + e.nth * microsecond - e.effective_at < interval '-10 seconds';
    END IF;

    IF cardinality(balance_account_ids) > 0 THEN
        UPDATE ledger_balances b SET balance = b.balance + d.net_change
        FROM unnest(balance_platforms, balance_account_ids, net_changes) AS d (platform_id, account_id, net_change)
        WHERE b.platform_id = d.platform_id AND b.account_id = d.account_id;
    END IF;
END
$$;
-- +goose StatementEnd

-- Fails the transaction with a code of its own. A caller that sends its COMMIT together with
-- ledger_post calls it if ledger_post has refused the postings, so that nothing is committed.
-- +goose StatementBegin
CREATE FUNCTION ledger_refuse() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the postings are refused' USING ERRCODE = 'CW002', HINT = 'Call ledger_post alone to learn why.';
END
$$;
-- +goose StatementEnd

-- Fails the transaction with a code of its own. A process keeps the ids of accounts, and a primary
-- that has lost its last commits may give an id to another account. So a statement that posts to
-- accounts, or locks their balances, by id compares their paths and currencies too, and calls this
-- function if one differs. The process then forgets the ids and runs its unit of work again.
-- +goose StatementBegin
CREATE FUNCTION ledger_refuse_account_ids() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an account has another id than when the process read it' USING ERRCODE = 'CW003',
        HINT = 'The database has lost commits. Read the ids of the accounts again.';
END
$$;
-- +goose StatementEnd
