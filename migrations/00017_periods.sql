-- +goose Up

-- Months of the books. Finance holds a month that is over, and closes it; then nothing
-- is posted into it any more, and what it came to is kept.

-- Where a platform's months stand lies in the row that every posting updates anyway:
-- nothing is effective before closed_before any more, and before open_from only what
-- somebody authorised. Both are the first moment of a month, or -infinity.
ALTER TABLE ledger_clock
    ADD COLUMN closed_before timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN open_from     timestamptz NOT NULL DEFAULT '-infinity';

-- Who did what to which month, and why. A token is missing where the operator did it,
-- on the command line.
CREATE TABLE ledger_period_changes (
    platform_id uuid        NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    month       date        NOT NULL CONSTRAINT ledger_period_change_is_of_a_month CHECK (extract(day FROM month) = 1),
    action      text        NOT NULL CONSTRAINT ledger_period_action_known CHECK (action IN ('soft-close', 'reopen', 'close')),
    changed_at  timestamptz NOT NULL,
    token_id    uuid,
    note        text        NOT NULL CONSTRAINT ledger_period_note_is_short CHECK (length(note) <= 500),
    PRIMARY KEY (platform_id, id)
);

-- What the books said when a month was closed.
CREATE TABLE ledger_closings (
    platform_id uuid        NOT NULL,
    month       date        NOT NULL CONSTRAINT ledger_closing_is_of_a_month CHECK (extract(day FROM month) = 1),
    closed_at   timestamptz NOT NULL,
    token_id    uuid,
    note        text        NOT NULL CONSTRAINT ledger_closing_note_is_short CHECK (length(note) <= 500),
    -- The last posting of the platform then, and its digest; 0 and none on empty books.
    seq         bigint      NOT NULL,
    digest      bytea       CONSTRAINT ledger_closing_digest_is_sha256 CHECK (length(digest) = 32),
    -- No posting before this number is effective after the month: where to begin when
    -- the next one is added up.
    next_seq    bigint      NOT NULL,
    -- The newest signed head of the log then, if there was one.
    head        text,
    PRIMARY KEY (platform_id, month),
    CONSTRAINT ledger_closing_names_its_last_posting CHECK ((seq = 0) = (digest IS NULL))
);

-- The trial balance of a closed month: a line for every account with an entry that is
-- effective in it or before. Opening and closing have the sign of the account's class.
CREATE TABLE ledger_closing_lines (
    platform_id uuid    NOT NULL,
    month       date    NOT NULL,
    account_id  bigint  NOT NULL,
    opening     numeric NOT NULL,
    debits      numeric NOT NULL,
    credits     numeric NOT NULL,
    closing     numeric NOT NULL,
    PRIMARY KEY (platform_id, month, account_id),
    CONSTRAINT ledger_closing_line_account FOREIGN KEY (platform_id, account_id) REFERENCES ledger_accounts (platform_id, id)
);

-- Who stands behind a posting made by hand. It may be effective in a month that is
-- held. Written before the posting, in the same transaction.
CREATE TABLE ledger_authorisations (
    platform_id   uuid        NOT NULL,
    posting_id    uuid        NOT NULL,
    token_id      uuid        NOT NULL,
    note          text        NOT NULL CONSTRAINT ledger_authorisation_says_why CHECK (length(btrim(note)) BETWEEN 1 AND 500),
    authorised_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, posting_id),
    CONSTRAINT ledger_authorisation_is_of_a_posting FOREIGN KEY (platform_id, posting_id)
        REFERENCES ledger_postings (platform_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_period_changes FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_closings FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_closing_lines FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_authorisations FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

-- A month that was closed stays closed, and is closed with its balance. Named columns:
-- posting, which changes neither, does not come here.
-- +goose StatementBegin
CREATE FUNCTION ledger_check_periods() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.closed_before > NEW.open_from OR EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id AND c.month >= (NEW.closed_before AT TIME ZONE 'UTC')::date
    ) THEN
        RAISE EXCEPTION 'a closed month is not opened again'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_months_stay_closed', TABLE = 'ledger_clock';
    END IF;
    IF OLD.closed_before > '-infinity' AND NEW.closed_before > OLD.closed_before AND NOT EXISTS (
        SELECT FROM ledger_closings c WHERE c.platform_id = NEW.platform_id
            AND c.month = ((NEW.closed_before AT TIME ZONE 'UTC') - interval '1 month')::date
    ) THEN
        RAISE EXCEPTION 'a month is closed with its trial balance'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_clock_closed_months_have_a_balance', TABLE = 'ledger_clock';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_clock_periods BEFORE UPDATE OF closed_before, open_from ON ledger_clock FOR EACH ROW EXECUTE FUNCTION ledger_check_periods();

-- As before, and it refuses what would be effective in a month that does not take it:
-- late says the places, and moves where each of them may be at the earliest. Under the
-- clock's lock, which whoever holds or closes a month takes too: so no posting slips
-- into one. Programs that know nothing of months read late postings as others, and do
-- not take them for written.
DROP FUNCTION ledger_post;
-- +goose StatementBegin
CREATE FUNCTION ledger_post(
    at timestamptz, platforms uuid[], counts int[],
    ids uuid[], posting_platforms int[], nths int[], kinds text[], transactions uuid[], effective timestamptz[], memos text[], reversed uuid[], digests bytea[],
    entry_postings int[], ns smallint[], debits bigint[], credits bigint[], currencies text[], amounts bigint[],
    guard_platforms uuid[], guard_accounts bigint[], sums bigint[], lowest bigint[], highest bigint[],
    OUT known int[], OUT other int[], OUT short int[], OUT balances bigint[], OUT late int[], OUT moves timestamptz[]
) LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    seqs     bigint[];
    recorded timestamptz[];
    seq_now  bigint;
    at_now   timestamptz;
    opening  timestamptz;
    latest   timestamptz := '-infinity';
    moment   timestamptz;
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
            RETURNING c.seq - counts[i], c.recorded_at - counts[i] * tick, c.open_from INTO seq_now, at_now, opening;
            EXIT WHEN FOUND;
            -- The platform's first posting.
            INSERT INTO ledger_clock (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
            INSERT INTO ledger_checkpointed (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
        END LOOP;
        seqs[i] := seq_now;
        recorded[i] := at_now;
        IF opening > latest THEN
            latest := opening;
        END IF;
    END LOOP;

    SELECT array_agg(w.place), array_agg(w.place) FILTER (WHERE p.digest <> w.digest) INTO known, other
    FROM unnest(ids, posting_platforms, digests) WITH ORDINALITY AS w (id, platform, digest, place)
    JOIN ledger_postings p ON p.platform_id = platforms[w.platform] AND p.id = w.id;

    -- A loop of plain expressions, as long as there is nothing to find: a query would
    -- cost every posting more.
    FOREACH moment IN ARRAY effective LOOP
        IF moment < latest THEN
            SELECT array_agg(l.place), array_agg(l.moves), coalesce(other, '{}') || coalesce(array_agg(l.place), '{}')
            INTO late, moves, other
            FROM (
                SELECT w.place, w.at, CASE
                    WHEN EXISTS (SELECT FROM ledger_authorisations a WHERE a.platform_id = platforms[w.platform] AND a.posting_id = w.id)
                    THEN c.closed_before ELSE c.open_from END AS moves
                FROM unnest(ids, posting_platforms, effective) WITH ORDINALITY AS w (id, platform, at, place)
                JOIN ledger_clock c ON c.platform_id = platforms[w.platform]
                WHERE w.at < c.open_from AND (known IS NULL OR w.place <> ALL (known))
            ) l
            WHERE l.at < l.moves;
            EXIT;
        END IF;
    END LOOP;

    IF known IS NOT NULL OR cardinality(short) > 0 OR late IS NOT NULL THEN
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

GRANT SELECT, INSERT ON ledger_period_changes, ledger_closings, ledger_closing_lines, ledger_authorisations TO causeway_service;

-- +goose Down
DROP TRIGGER ledger_clock_periods ON ledger_clock;
DROP FUNCTION ledger_check_periods, ledger_post;
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
DROP TABLE ledger_authorisations, ledger_closing_lines, ledger_closings, ledger_period_changes;
ALTER TABLE ledger_clock DROP COLUMN closed_before, DROP COLUMN open_from;
