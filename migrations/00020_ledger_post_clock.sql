-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The function of 00006_ledger_post.sql, which describes it, with one more check: a process
-- whose clock is ahead of the database's by more than two seconds cannot post. Recorded times
-- never decrease, so one such posting would move those of its platform into the future for good.
-- Sessions with simulated time (tests, generated history) set causeway.simulated_clock to on.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_post(
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
