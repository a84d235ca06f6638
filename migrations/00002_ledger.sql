-- +goose Up

-- The books. Postings and entries are only ever added; balances, clocks and
-- checkpoints follow from them and can be proved against them at any time.

-- An account is made when it is first posted to, and never changes.
CREATE TABLE ledger_accounts (
    platform_id uuid    NOT NULL,
    id          bigint  NOT NULL GENERATED ALWAYS AS IDENTITY,
    path        text    NOT NULL,
    currency    text    NOT NULL,
    class       text    NOT NULL CONSTRAINT ledger_account_class_known CHECK (class IN ('asset', 'liability', 'income', 'expense', 'trading')),
    guarded     boolean NOT NULL,
    -- The transaction that made it: what an unfinished one made is not remembered elsewhere.
    xid         xid8    NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_account_path_and_currency_unique UNIQUE (platform_id, path, currency)
);

-- One row a platform, held from posting to commit: so numbers have no gap and follow
-- the order of commits, and recorded time never runs backwards.
CREATE TABLE ledger_clock (
    platform_id uuid        PRIMARY KEY,
    seq         bigint      NOT NULL DEFAULT 0,
    recorded_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 20);

CREATE TABLE ledger_postings (
    platform_id    uuid        NOT NULL,
    id             uuid        NOT NULL,
    seq            bigint      NOT NULL,
    transaction_id uuid,
    reverses       uuid,
    effective_at   timestamptz NOT NULL,
    recorded_at    timestamptz NOT NULL,
    -- Orders what is committed across platforms: everything below the oldest running
    -- transaction is final.
    xid            xid8        NOT NULL DEFAULT pg_current_xact_id(),
    kind           text        NOT NULL,
    memo           text        NOT NULL,
    -- SHA-256 over all that the posting and its entries say.
    digest         bytea       NOT NULL CONSTRAINT ledger_posting_digest_is_sha256 CHECK (length(digest) = 32),
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_posting_reverses_existing FOREIGN KEY (platform_id, reverses) REFERENCES ledger_postings (platform_id, id),
    CONSTRAINT ledger_posting_reverses_another CHECK (reverses <> id),
    CONSTRAINT ledger_posting_reversal_names_one CHECK ((kind = 'reversal') = (reverses IS NOT NULL))
);
-- Its condition always holds. It keeps a look-up by id, which says nothing of seq, from
-- this index: while the table is young it looks as good as the primary key.
CREATE UNIQUE INDEX ledger_posting_seq_unique ON ledger_postings (platform_id, seq) WHERE seq IS NOT NULL;
CREATE UNIQUE INDEX ledger_posting_reversed_once ON ledger_postings (platform_id, reverses) WHERE reverses IS NOT NULL;
CREATE INDEX ledger_postings_of_transaction ON ledger_postings (platform_id, transaction_id, seq) WHERE transaction_id IS NOT NULL;

-- The nth entry of the posting with number seq.
CREATE TABLE ledger_entries (
    platform_id    uuid     NOT NULL,
    seq            bigint   NOT NULL,
    debit_account  bigint   NOT NULL,
    credit_account bigint   NOT NULL,
    amount         bigint   NOT NULL,
    n              smallint NOT NULL,
    currency       text     NOT NULL,
    PRIMARY KEY (platform_id, seq, n),
    CONSTRAINT ledger_entry_amount_above_zero CHECK (amount > 0),
    CONSTRAINT ledger_entry_between_two_accounts CHECK (debit_account <> credit_account)
);
CREATE INDEX ledger_entries_debit ON ledger_entries (platform_id, debit_account, seq);
CREATE INDEX ledger_entries_credit ON ledger_entries (platform_id, credit_account, seq);

-- Present balances of guarded accounts alone: the others are touched by every payment
-- and have no row to wait for.
CREATE TABLE ledger_balances (
    platform_id uuid   NOT NULL,
    account_id  bigint NOT NULL,
    balance     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (platform_id, account_id),
    CONSTRAINT ledger_balance_account FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts (platform_id, id),
    CONSTRAINT ledger_balance_not_below_zero CHECK (balance >= 0)
) WITH (fillfactor = 70);

-- A checkpoint closes a block of an account's entries: its balance after posting
-- number seq, and the earliest and latest effective time in the block since the
-- checkpoint before.
CREATE TABLE ledger_checkpoints (
    platform_id uuid        NOT NULL,
    account_id  bigint      NOT NULL,
    seq         bigint      NOT NULL,
    balance     numeric     NOT NULL,
    earliest    timestamptz NOT NULL,
    latest      timestamptz NOT NULL,
    PRIMARY KEY (platform_id, account_id, seq),
    CONSTRAINT ledger_checkpoint_account FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts (platform_id, id)
);

-- Up to which posting a platform's accounts have been looked at for checkpoints.
CREATE TABLE ledger_checkpointed (
    platform_id uuid   PRIMARY KEY,
    seq         bigint NOT NULL DEFAULT 0
);

-- +goose StatementBegin
CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is append-only: % on % is refused', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'Post a reversal instead.';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_accounts FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

-- Both accounts of an entry carry its currency. Once for all rows of a statement:
-- foreign keys ask row by row and lock the rows of hot accounts. The settings keep
-- the plan on ledger_accounts_pkey, however small the table was when it was made.
-- +goose StatementBegin
CREATE FUNCTION ledger_check_entries() RETURNS trigger LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    IF EXISTS (
        SELECT FROM added e
        LEFT JOIN ledger_accounts d ON d.platform_id = e.platform_id AND d.id = e.debit_account
        LEFT JOIN ledger_accounts c ON c.platform_id = e.platform_id AND c.id = e.credit_account
        WHERE d.currency IS DISTINCT FROM e.currency OR c.currency IS DISTINCT FROM e.currency
    ) THEN
        RAISE EXCEPTION 'an entry names an account that does not carry its currency'
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'ledger_entry_accounts_carry_its_currency', TABLE = 'ledger_entries';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_entry_accounts_carry_its_currency AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entries();

-- Posts a batch, of any platforms, or refuses all of it: one call, whatever its size,
-- in which the check and the write cannot be parted. It refuses when postings are
-- there already (known: their places in ids; other: those of them that say something
-- else) or when guarded accounts would at any point go below zero or past the largest
-- number (short: their places in guard_accounts, and the balances found); then nothing
-- is written.
--
-- Everything comes as parallel arrays. platforms are distinct and in order, counts
-- says how many postings each has. A posting names its platform by place and is the
-- nth of it; an entry names its posting by place. Guards are distinct and in account
-- order; sums is what the batch adds, lowest and highest the extremes on the way.
--
-- Locks are taken in one order for all: balances by account, then clocks by platform.
-- Each statement sees what the locks before it have waited for, so that looking for
-- known postings under the clock's lock misses none. The settings keep the plans on
-- the primary keys, however small the tables were when they were made.
-- +goose StatementBegin
CREATE FUNCTION ledger_post(
    at timestamptz, platforms uuid[], counts int[],
    ids uuid[], posting_platforms int[], nths int[], kinds text[], transactions uuid[], effective timestamptz[], memos text[], reversed uuid[], digests bytea[],
    entry_postings int[], ns smallint[], debits bigint[], credits bigint[], currencies text[], amounts bigint[],
    guard_platforms uuid[], guard_accounts bigint[], sums bigint[], lowest bigint[], highest bigint[],
    OUT known int[], OUT other int[], OUT short int[], OUT balances bigint[]
) LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    seqs     bigint[];
    recorded timestamptz[];
    seq_now  bigint;
    at_now   timestamptz;
    tick     CONSTANT interval := interval '1 microsecond';
BEGIN
    IF cardinality(guard_accounts) > 0 THEN
        SELECT array_agg(l.place), array_agg(l.balance) FILTER (WHERE l.place IS NOT NULL)
        INTO short, balances
        FROM (
            SELECT CASE WHEN b.balance + g.low < 0 OR b.balance > 9223372036854775807 - g.high THEN g.place END AS place, b.balance
            FROM unnest(guard_platforms, guard_accounts, lowest, highest) WITH ORDINALITY AS g (platform_id, account_id, low, high, place)
            JOIN ledger_balances b ON b.platform_id = g.platform_id AND b.account_id = g.account_id
            ORDER BY g.place
            FOR UPDATE OF b
        ) l;
        short := array_remove(short, NULL);
    END IF;

    FOR i IN 1 .. cardinality(platforms) LOOP
        -- A queue for the clock's row: who waits for the row itself is woken twice and
        -- reads it again, which costs a third more when many post on one platform.
        PERFORM pg_advisory_xact_lock(uuid_hash_extended(platforms[i], 0));
        LOOP
            UPDATE ledger_clock c
            SET seq = c.seq + counts[i], recorded_at = greatest(at, c.recorded_at + tick) + (counts[i] - 1) * tick
            WHERE c.platform_id = platforms[i]
            RETURNING c.seq - counts[i], c.recorded_at - counts[i] * tick INTO seq_now, at_now;
            EXIT WHEN FOUND;
            -- The platform's first posting.
            INSERT INTO ledger_clock (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
            INSERT INTO ledger_checkpointed (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
        END LOOP;
        seqs[i] := seq_now;
        recorded[i] := at_now;
    END LOOP;

    SELECT array_agg(w.place), array_agg(w.place) FILTER (WHERE p.digest <> w.digest) INTO known, other
    FROM unnest(ids, posting_platforms, digests) WITH ORDINALITY AS w (id, platform, digest, place)
    JOIN ledger_postings p ON p.platform_id = platforms[w.platform] AND p.id = w.id;

    IF known IS NOT NULL OR cardinality(short) > 0 THEN
        FOR i IN 1 .. cardinality(platforms) LOOP
            UPDATE ledger_clock c SET seq = seqs[i] WHERE c.platform_id = platforms[i];
        END LOOP;
        RETURN;
    END IF;

    INSERT INTO ledger_postings (platform_id, id, seq, kind, transaction_id, effective_at, recorded_at, memo, reverses, digest)
    SELECT platforms[w.platform], w.id, seqs[w.platform] + w.nth, w.kind, w.transaction_id, w.effective_at,
           recorded[w.platform] + w.nth * tick, w.memo, w.reverses, w.digest
    FROM unnest(ids, posting_platforms, nths, kinds, transactions, effective, memos, reversed, digests)
        AS w (id, platform, nth, kind, transaction_id, effective_at, memo, reverses, digest);

    INSERT INTO ledger_entries (platform_id, seq, n, debit_account, credit_account, currency, amount)
    SELECT platforms[posting_platforms[w.posting]], seqs[posting_platforms[w.posting]] + nths[w.posting], w.n, w.debit, w.credit, w.currency, w.amount
    FROM unnest(entry_postings, ns, debits, credits, currencies, amounts) AS w (posting, n, debit, credit, currency, amount);

    IF cardinality(guard_accounts) > 0 THEN
        UPDATE ledger_balances b SET balance = b.balance + g.sum
        FROM unnest(guard_platforms, guard_accounts, sums) AS g (platform_id, account_id, sum)
        WHERE b.platform_id = g.platform_id AND b.account_id = g.account_id;
    END IF;
END
$$;
-- +goose StatementEnd

-- Locks the balances of guarded accounts, in the order given, and reads them: places
-- says which accounts balances are of; one without a row is left out.
-- +goose StatementBegin
CREATE FUNCTION ledger_lock_balances(platforms uuid[], accounts bigint[], OUT places int[], OUT balances bigint[]) LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
    SELECT array_agg(l.place), array_agg(l.balance) INTO places, balances
    FROM (
        SELECT w.place, b.balance
        FROM unnest(platforms, accounts) WITH ORDINALITY AS w (platform_id, account_id, place)
        JOIN ledger_balances b ON b.platform_id = w.platform_id AND b.account_id = w.account_id
        ORDER BY w.place
        FOR UPDATE OF b
    ) l;
END
$$;
-- +goose StatementEnd

-- The number of a platform's last posting recorded at or before a moment, 0 for none.
-- Recorded time grows with the number, so no index on it is needed.
-- +goose StatementBegin
CREATE FUNCTION ledger_seq_at(platform uuid, moment timestamptz) RETURNS bigint STABLE LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
    low    bigint := 0;
    high   bigint;
    middle bigint;
BEGIN
    SELECT c.seq INTO high FROM ledger_clock c WHERE c.platform_id = platform;
    high := coalesce(high, 0);
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT p.recorded_at <= moment FROM ledger_postings p WHERE p.platform_id = platform AND p.seq = middle) THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END
$$;
-- +goose StatementEnd

GRANT SELECT, INSERT ON ledger_accounts, ledger_postings, ledger_entries, ledger_checkpoints TO causeway_service;
GRANT SELECT, INSERT, UPDATE ON ledger_clock, ledger_balances, ledger_checkpointed TO causeway_service;

-- +goose Down
DROP TABLE ledger_checkpointed, ledger_checkpoints, ledger_balances, ledger_entries, ledger_postings, ledger_clock, ledger_accounts;
DROP FUNCTION ledger_seq_at, ledger_lock_balances, ledger_post, ledger_refuse_change, ledger_check_entries;
