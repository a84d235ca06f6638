-- +goose Up

-- Postings and entries lie in a partition for each month, in UTC, in which they were
-- recorded. Reading and writing touch the months they are about, and an old one can be
-- detached, kept elsewhere and attached again.

-- What must hold across months: each id is used once, a posting is reversed once, and
-- the posting that a reversal names is there. And in which month a posting is found.
CREATE TABLE ledger_posting_ids (
    platform_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    reverses    uuid,
    seq         bigint      NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, id),
    CONSTRAINT ledger_posting_reverses_existing FOREIGN KEY (platform_id, reverses) REFERENCES ledger_posting_ids (platform_id, id)
);

-- The number from which on a platform's postings were recorded in a month. Recorded time
-- grows with the number.
CREATE TABLE ledger_months (
    platform_id uuid   NOT NULL,
    month       date   NOT NULL CONSTRAINT ledger_month_begins_with_its_first CHECK (extract(day FROM month) = 1),
    first_seq   bigint NOT NULL,
    PRIMARY KEY (platform_id, month)
);

-- Entries of postings that took effect long before they were recorded, or after: few, and
-- asked for whenever somebody asks by effective time. All others are found around that
-- time. One table for all months: whoever asks need not look into each.
CREATE TABLE ledger_astray (
    platform_id    uuid        NOT NULL,
    seq            bigint      NOT NULL,
    effective_at   timestamptz NOT NULL,
    recorded_at    timestamptz NOT NULL,
    debit_account  bigint      NOT NULL,
    credit_account bigint      NOT NULL,
    amount         bigint      NOT NULL,
    n              smallint    NOT NULL,
    -- How far apart the two times are: less than 2 to the power of it, in seconds; 33 is any.
    class          smallint    NOT NULL GENERATED ALWAYS AS (least(33, length(ltrim(
        floor(abs(extract(epoch FROM recorded_at - effective_at)))::bigint::bit(48)::text, '0')))) STORED,
    PRIMARY KEY (platform_id, seq, n),
    CONSTRAINT ledger_astray_by_ten_seconds CHECK (recorded_at - effective_at > interval '10 seconds' OR recorded_at - effective_at < interval '-10 seconds')
);
-- Those that lie across a moment are wanted: of each class the few that began within its
-- length before.
CREATE INDEX ledger_astray_across ON ledger_astray (platform_id, class, least(effective_at, recorded_at));

-- What was recorded on one side of a moment and took effect on the other.
-- +goose StatementBegin
CREATE FUNCTION ledger_across(platform uuid, moment timestamptz) RETURNS SETOF ledger_astray STABLE LANGUAGE sql AS $$
    SELECT y.*
    FROM generate_series(4, 33) AS of (class)
    CROSS JOIN LATERAL (
        SELECT y.* FROM ledger_astray y
        WHERE y.platform_id = platform AND y.class = of.class AND least(y.effective_at, y.recorded_at) <= moment
          AND least(y.effective_at, y.recorded_at) >= CASE of.class WHEN 33 THEN '-infinity' ELSE moment - make_interval(secs => 2 ^ of.class) END
          AND (y.recorded_at > moment) <> (y.effective_at > moment)
        OFFSET 0 -- what is asked of them beside this finds them by nothing better
    ) y
$$;
-- +goose StatementEnd

-- When the month ends in which the last posting was recorded: whoever posts then begins
-- the next one.
ALTER TABLE ledger_clock ADD COLUMN month_ends timestamptz NOT NULL DEFAULT '-infinity';

ALTER TABLE ledger_authorisations DROP CONSTRAINT ledger_authorisation_is_of_a_posting;
ALTER TABLE ledger_postings RENAME TO ledger_postings_of_all_months;
ALTER TABLE ledger_entries RENAME TO ledger_entries_of_all_months;
ALTER TABLE ledger_postings_of_all_months DROP CONSTRAINT ledger_posting_reverses_existing, DROP CONSTRAINT ledger_postings_pkey;

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
    CONSTRAINT ledger_posting_reverses_another CHECK (reverses <> id),
    CONSTRAINT ledger_posting_reversal_names_one CHECK ((kind = 'reversal') = (reverses IS NOT NULL))
) PARTITION BY RANGE (recorded_at);

-- The nth entry of the posting with number seq.
CREATE TABLE ledger_entries (
    platform_id    uuid        NOT NULL,
    seq            bigint      NOT NULL,
    recorded_at    timestamptz NOT NULL, -- as its posting
    debit_account  bigint      NOT NULL,
    credit_account bigint      NOT NULL,
    amount         bigint      NOT NULL,
    n              smallint    NOT NULL,
    currency       text        NOT NULL,
    CONSTRAINT ledger_entry_amount_above_zero CHECK (amount > 0),
    CONSTRAINT ledger_entry_between_two_accounts CHECK (debit_account <> credit_account)
) PARTITION BY RANGE (recorded_at);

-- The first moment after the month that a moment is in, in UTC.
CREATE FUNCTION ledger_month_after(moment timestamptz) RETURNS timestamptz IMMUTABLE LANGUAGE sql
RETURN (date_trunc('month', moment AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';

-- Makes the partitions of the month that a moment is in, if they are not there. It runs
-- with the rights of the tables' owner: the service has none to make tables. Postings
-- of other months go on meanwhile.
-- +goose StatementBegin
CREATE FUNCTION ledger_open_month(moment timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    begins timestamptz := date_trunc('month', moment, 'UTC');
    month  text := to_char(begins AT TIME ZONE 'UTC', 'YYYYMM');
    of     text;
BEGIN
    IF to_regclass('ledger_entries_' || month) IS NOT NULL THEN
        RETURN;
    END IF;
    LOCK TABLE ONLY ledger_postings IN SHARE UPDATE EXCLUSIVE MODE;
    IF to_regclass('ledger_entries_' || month) IS NOT NULL THEN
        RETURN; -- somebody else was faster
    END IF;
    FOREACH of IN ARRAY ARRAY['ledger_postings', 'ledger_entries'] LOOP
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE, PRIMARY KEY (platform_id, seq%s))',
            of || '_' || month, of, CASE of WHEN 'ledger_entries' THEN ', n' END);
        EXECUTE format('CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change()',
            of || '_' || month);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', of, of || '_' || month, begins, ledger_month_after(begins));
    END LOOP;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION ledger_open_month FROM PUBLIC;
GRANT EXECUTE ON FUNCTION ledger_open_month TO causeway_service;

INSERT INTO ledger_months (platform_id, month, first_seq)
SELECT platform_id, date_trunc('month', recorded_at AT TIME ZONE 'UTC')::date AS month, min(seq)
FROM ledger_postings_of_all_months GROUP BY platform_id, month;
UPDATE ledger_clock c SET month_ends = ledger_month_after(m.month::timestamp AT TIME ZONE 'UTC')
FROM (SELECT platform_id, max(month) AS month FROM ledger_months GROUP BY platform_id) m WHERE m.platform_id = c.platform_id;
SELECT ledger_open_month(m.month::timestamp AT TIME ZONE 'UTC') FROM (SELECT DISTINCT month FROM ledger_months) m;
INSERT INTO ledger_posting_ids (platform_id, id, reverses, seq, recorded_at)
SELECT platform_id, id, reverses, seq, recorded_at FROM ledger_postings_of_all_months;
INSERT INTO ledger_postings (platform_id, id, seq, transaction_id, reverses, effective_at, recorded_at, xid, kind, memo, digest)
SELECT platform_id, id, seq, transaction_id, reverses, effective_at, recorded_at, xid, kind, memo, digest FROM ledger_postings_of_all_months;
INSERT INTO ledger_entries (platform_id, seq, recorded_at, debit_account, credit_account, amount, n, currency)
SELECT e.platform_id, e.seq, p.recorded_at, e.debit_account, e.credit_account, e.amount, e.n, e.currency
FROM ledger_entries_of_all_months e JOIN ledger_postings_of_all_months p ON p.platform_id = e.platform_id AND p.seq = e.seq;
INSERT INTO ledger_astray (platform_id, seq, n, effective_at, recorded_at, debit_account, credit_account, amount)
SELECT e.platform_id, e.seq, e.n, p.effective_at, p.recorded_at, e.debit_account, e.credit_account, e.amount
FROM ledger_entries_of_all_months e JOIN ledger_postings_of_all_months p ON p.platform_id = e.platform_id AND p.seq = e.seq
WHERE p.recorded_at - p.effective_at > interval '10 seconds' OR p.recorded_at - p.effective_at < interval '-10 seconds';
DROP TABLE ledger_postings_of_all_months, ledger_entries_of_all_months;

CREATE UNIQUE INDEX ledger_posting_reversed_once ON ledger_posting_ids (platform_id, reverses) WHERE reverses IS NOT NULL;
ALTER TABLE ledger_authorisations ADD CONSTRAINT ledger_authorisation_is_of_a_posting FOREIGN KEY (platform_id, posting_id)
    REFERENCES ledger_posting_ids (platform_id, id) DEFERRABLE INITIALLY DEFERRED;

-- Those of each month are made with its partition. That a number stands once in a month
-- the primary keys of the partitions hold.
CREATE INDEX ledger_postings_of_transaction ON ledger_postings (platform_id, transaction_id, seq) WHERE transaction_id IS NOT NULL;
CREATE INDEX ledger_postings_of_rare_kind ON ledger_postings (platform_id, kind, seq)
    WHERE kind NOT IN ('jit_received', 'converted', 'delivered', 'deposit', 'transfer_in', 'transfer_out');
CREATE INDEX ledger_postings_by_memo ON ledger_postings (platform_id, memo, seq)
    WHERE transaction_id IS NULL OR kind = 'unmatched_assigned';
CREATE INDEX ledger_postings_reversing ON ledger_postings (platform_id, reverses, id) WHERE reverses IS NOT NULL;
CREATE INDEX ledger_entries_debit ON ledger_entries (platform_id, debit_account, seq);
CREATE INDEX ledger_entries_credit ON ledger_entries (platform_id, credit_account, seq);

CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_posting_ids FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_astray FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_months FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER ledger_entry_accounts_carry_its_currency AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_entries();

GRANT SELECT, INSERT ON ledger_postings, ledger_entries, ledger_posting_ids, ledger_months, ledger_astray TO causeway_service;

-- Every account that was posted to in a month gets a checkpoint with the month's end, so
-- that a balance never needs the entries of more than one month. complete_to is the end
-- of the last month of which that is so, accounts_to how far the accounts have been gone
-- through for the month after it. The checkpoints there are do not heed months; a worker
-- makes them anew.
ALTER TABLE ledger_checkpointed
    ADD COLUMN complete_to timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN accounts_to bigint NOT NULL DEFAULT 0;
DELETE FROM ledger_checkpoints;
UPDATE ledger_checkpointed SET seq = 0;
ALTER TABLE ledger_checkpoints ALTER COLUMN debits SET NOT NULL;

-- The number of a platform's last posting recorded at or before a moment, 0 for none. The
-- months say between which numbers to look, and in which partition.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_seq_at(platform uuid, moment timestamptz) RETURNS bigint STABLE LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
    low    bigint;
    high   bigint;
    middle bigint;
    begins timestamptz;
    ends   timestamptz;
BEGIN
    SELECT m.first_seq - 1, m.month::timestamp AT TIME ZONE 'UTC' INTO low, begins
    FROM ledger_months m WHERE m.platform_id = platform AND m.month <= (moment AT TIME ZONE 'UTC')::date ORDER BY m.month DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    ends := ledger_month_after(begins);
    SELECT m.first_seq - 1 INTO high
    FROM ledger_months m WHERE m.platform_id = platform AND m.month > (moment AT TIME ZONE 'UTC')::date ORDER BY m.month LIMIT 1;
    IF NOT FOUND THEN
        SELECT c.seq INTO high FROM ledger_clock c WHERE c.platform_id = platform;
    END IF;
    -- At its last moment or later all of the month is recorded.
    IF moment >= ends - interval '1 microsecond' THEN
        RETURN high;
    END IF;
    WHILE low < high LOOP
        middle := (low + high + 1) / 2;
        IF (SELECT p.recorded_at <= moment FROM ledger_postings p
            WHERE p.platform_id = platform AND p.seq = middle AND p.recorded_at >= begins AND p.recorded_at < ends) THEN
            low := middle;
        ELSE
            high := middle - 1;
        END IF;
    END LOOP;
    RETURN low;
END
$$;
-- +goose StatementEnd

-- As before, in the month of the moment: the first posting of a platform in a month says
-- with which number it begins. Ids are looked for among those of all months.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_post(
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
    ends     timestamptz;
    latest   timestamptz := '-infinity';
    lowest_effective  timestamptz := 'infinity';
    highest_effective timestamptz := '-infinity';
    lowest_recorded   timestamptz := 'infinity';
    highest_recorded  timestamptz := '-infinity';
    moment   timestamptz;
    begun    timestamptz[] := '{}';
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
            RETURNING c.seq - counts[i], c.recorded_at - counts[i] * tick, c.open_from, c.month_ends INTO seq_now, at_now, opening, ends;
            EXIT WHEN FOUND;
            -- The platform's first posting.
            INSERT INTO ledger_clock (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
            INSERT INTO ledger_checkpointed (platform_id) VALUES (platforms[i]) ON CONFLICT DO NOTHING;
        END LOOP;
        IF at_now + counts[i] * tick >= ends THEN
            -- The first of a month. A batch lies in one month: that of its last posting.
            moment := date_trunc('month', at_now + counts[i] * tick, 'UTC');
            at_now := greatest(at_now, moment - tick);
            INSERT INTO ledger_months (platform_id, month, first_seq) VALUES (platforms[i], (moment AT TIME ZONE 'UTC')::date, seq_now + 1)
            ON CONFLICT DO NOTHING;
            UPDATE ledger_clock c
            SET recorded_at = at_now + counts[i] * tick, month_ends = ledger_month_after(moment)
            WHERE c.platform_id = platforms[i];
            begun := begun || moment;
        END IF;
        seqs[i] := seq_now;
        recorded[i] := at_now;
        lowest_recorded := least(lowest_recorded, at_now);
        highest_recorded := greatest(highest_recorded, at_now + counts[i] * tick);
        IF opening > latest THEN
            latest := opening;
        END IF;
    END LOOP;

    -- After all clocks: two that would open a month cannot wait for each other in a circle.
    FOREACH moment IN ARRAY begun LOOP
        PERFORM ledger_open_month(moment);
    END LOOP;

    SELECT array_agg(w.place) INTO known
    FROM unnest(ids, posting_platforms) WITH ORDINALITY AS w (id, platform, place)
    JOIN ledger_posting_ids x ON x.platform_id = platforms[w.platform] AND x.id = w.id;
    IF known IS NOT NULL THEN
        SELECT array_agg(w.place) INTO other
        FROM unnest(ids, posting_platforms, digests) WITH ORDINALITY AS w (id, platform, digest, place)
        JOIN ledger_posting_ids x ON x.platform_id = platforms[w.platform] AND x.id = w.id
        JOIN ledger_postings p ON p.platform_id = x.platform_id AND p.seq = x.seq AND p.recorded_at = x.recorded_at
        WHERE p.digest <> w.digest;
    END IF;

    -- A loop of plain expressions, as long as there is nothing to find: a query would
    -- cost every posting more.
    FOREACH moment IN ARRAY effective LOOP
        IF moment < lowest_effective THEN
            lowest_effective := moment;
        END IF;
        IF moment > highest_effective THEN
            highest_effective := moment;
        END IF;
    END LOOP;
    IF lowest_effective < latest THEN
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
    END IF;

    IF known IS NOT NULL OR cardinality(short) > 0 OR late IS NOT NULL THEN
        FOR i IN 1 .. cardinality(platforms) LOOP
            UPDATE ledger_clock c SET seq = seqs[i] WHERE c.platform_id = platforms[i];
        END LOOP;
        RETURN;
    END IF;

    INSERT INTO ledger_posting_ids (platform_id, id, reverses, seq, recorded_at)
    SELECT platforms[w.platform], w.id, w.reverses, seqs[w.platform] + w.nth, recorded[w.platform] + w.nth * tick
    FROM unnest(ids, posting_platforms, nths, reversed) AS w (id, platform, nth, reverses);

    INSERT INTO ledger_postings (platform_id, id, seq, kind, transaction_id, effective_at, recorded_at, memo, reverses, digest)
    SELECT platforms[w.platform], w.id, seqs[w.platform] + w.nth, w.kind, w.transaction_id, w.effective_at,
           recorded[w.platform] + w.nth * tick, w.memo, w.reverses, w.digest
    FROM unnest(ids, posting_platforms, nths, kinds, transactions, effective, memos, reversed, digests)
        AS w (id, platform, nth, kind, transaction_id, effective_at, memo, reverses, digest);

    INSERT INTO ledger_entries (platform_id, seq, recorded_at, n, debit_account, credit_account, currency, amount)
    SELECT platforms[posting_platforms[w.posting]], seqs[posting_platforms[w.posting]] + nths[w.posting],
           recorded[posting_platforms[w.posting]] + nths[w.posting] * tick, w.n, w.debit, w.credit, w.currency, w.amount
    FROM unnest(entry_postings, ns, debits, credits, currencies, amounts) AS w (posting, n, debit, credit, currency, amount);

    IF highest_recorded - lowest_effective > interval '10 seconds' OR lowest_recorded - highest_effective < interval '-10 seconds' THEN
        INSERT INTO ledger_astray (platform_id, seq, n, effective_at, recorded_at, debit_account, credit_account, amount)
        SELECT platforms[a.platform], seqs[a.platform] + a.nth, a.n, a.effective_at, recorded[a.platform] + a.nth * tick, a.debit, a.credit, a.amount
        FROM (SELECT posting_platforms[w.posting] AS platform, nths[w.posting] AS nth, effective[w.posting] AS effective_at, w.n, w.debit, w.credit, w.amount
              FROM unnest(entry_postings, ns, debits, credits, amounts) AS w (posting, n, debit, credit, amount)) a
        WHERE recorded[a.platform] + a.nth * tick - a.effective_at > interval '10 seconds'
           OR recorded[a.platform] + a.nth * tick - a.effective_at < interval '-10 seconds';
    END IF;

    IF cardinality(guard_accounts) > 0 THEN
        UPDATE ledger_balances b SET balance = b.balance + g.sum
        FROM unnest(guard_platforms, guard_accounts, sums) AS g (platform_id, account_id, sum)
        WHERE b.platform_id = g.platform_id AND b.account_id = g.account_id;
    END IF;
END
$$;
-- +goose StatementEnd
