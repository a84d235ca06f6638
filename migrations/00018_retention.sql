-- +goose Up

-- Deletion of old rows. Each function deletes from a batch of at most max_rows old rows of one
-- platform, in the order of time, those that nothing needs any longer. It returns how many it
-- checked, and the last of them, after which the next batch begins: so no batch reads again what
-- the ones before it left or deleted. If another session is deleting, checked is 0. The service may
-- not delete these rows in any other way, and none younger than the settings allow. The SETs make
-- each statement use indexes, whatever the statistics are.

-- Most quotes were paid and stay, so each is checked once. No index finds those that expired:
-- it would have to change with the status of every payment.
CREATE TABLE quote_retention_progress (
    platform_id uuid PRIMARY KEY,
    checked_to  uuid NOT NULL -- of this quote and those before it, the ones that expired unpaid are deleted
);
GRANT SELECT ON quote_retention_progress TO causeway_service;
SELECT isolate_platforms('quote_retention_progress');

-- Quotes that were open when delete_unpaid_quotes checked them, locked, or had a job. They are checked
-- again, once a day.
CREATE TABLE quote_retention_open (
    platform_id uuid        NOT NULL,
    quote_id    uuid        NOT NULL,
    check_at    timestamptz NOT NULL,
    PRIMARY KEY (platform_id, quote_id)
);
CREATE INDEX quote_retention_open_by_check_at ON quote_retention_open (platform_id, check_at);
GRANT SELECT ON quote_retention_open TO causeway_service;
SELECT isolate_platforms('quote_retention_open');

-- Deletes quotes that expired unpaid, with their transactions. A payment after the expiry gives
-- the transaction a refund and postings, which keep it. What may still expire unpaid is checked again.
-- +goose StatementBegin
CREATE FUNCTION delete_unpaid_quotes(platform uuid, before timestamptz, max_rows int, OUT checked int, OUT deleted int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    last uuid;
    old  uuid[]; -- the quotes to check
    next uuid[];
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_unpaid_quotes' || platform, 0)) THEN
        RETURN;
    END IF;
    WITH due AS (
        DELETE FROM quote_retention_open o WHERE o.platform_id = platform AND o.quote_id = ANY (ARRAY(
            SELECT d.quote_id FROM quote_retention_open d WHERE d.platform_id = platform AND d.check_at <= clock_timestamp() ORDER BY d.check_at LIMIT max_rows))
        RETURNING o.quote_id)
    SELECT coalesce(array_agg(quote_id), '{}') INTO old FROM due;
    SELECT p.checked_to INTO last FROM quote_retention_progress p WHERE p.platform_id = platform;
    next := ARRAY(SELECT q.id FROM quotes q
        WHERE q.platform_id = platform AND q.id > coalesce(last, '00000000-0000-0000-0000-000000000000') AND q.id < first_uuid_v7(before)
        ORDER BY q.id LIMIT max_rows - cardinality(old));
    IF cardinality(next) > 0 THEN
        INSERT INTO quote_retention_progress VALUES (platform, next[cardinality(next)])
        ON CONFLICT (platform_id) DO UPDATE SET checked_to = excluded.checked_to;
    END IF;
    old := old || next;
    checked := cardinality(old);
    WITH maybe AS MATERIALIZED (
        SELECT t.id, q.id AS quote_id FROM unnest(old) AS o(id)
        JOIN quotes q ON q.platform_id = platform AND q.id = o.id
        JOIN transactions t ON t.platform_id = platform AND t.id = q.transaction_id
        WHERE t.status = 'PENDING'
           OR t.status = 'EXPIRED' AND t.refund_status = '' AND t.stage = '' AND t.receipt_id IS NULL AND t.funded_minor = 0
          AND NOT EXISTS (SELECT FROM ledger_postings p
              WHERE p.platform_id = platform AND p.transaction_id = t.id AND p.recorded_at >= t.created_at - interval '1 day') -- clocks differ
          AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = platform AND a.transaction_id = t.id)
    ), unpaid AS MATERIALIZED (
        SELECT t.id, m.quote_id FROM maybe m JOIN transactions t ON t.platform_id = platform AND t.id = m.id
        WHERE t.status = 'EXPIRED' AND t.refund_status = '' AND t.receipt_id IS NULL AND t.funded_minor = 0
          AND NOT EXISTS (SELECT FROM jobs j WHERE j.platform_id = platform AND j.id < first_uuid_v7(before) AND t.id = ANY (j.subjects))
        FOR UPDATE OF t SKIP LOCKED -- a payment is being recorded
    ), deleted_quotes AS (
        DELETE FROM quotes q USING unpaid u WHERE q.platform_id = platform AND q.id = u.quote_id RETURNING 1
    ), deleted_transactions AS (
        DELETE FROM transactions t USING unpaid u WHERE t.platform_id = platform AND t.id = u.id
    ), still_open AS (
        INSERT INTO quote_retention_open
        SELECT platform, m.quote_id, clock_timestamp() + interval '1 day' FROM maybe m
        WHERE NOT EXISTS (SELECT FROM unpaid u WHERE u.id = m.id)
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) INTO deleted FROM deleted_quotes;
END
$$;
-- +goose StatementEnd

-- Replies about a payment or refund that is open are kept. Uses rail_replies_by_replied_at.
-- +goose StatementBegin
CREATE FUNCTION delete_rail_replies(platform uuid, before timestamptz, after timestamptz, max_rows int, OUT checked int, OUT deleted int, OUT last timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0; last := after;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_rail_replies' || platform, 0)) THEN
        RETURN;
    END IF;
    -- WITH TIES: the next batch begins after the time of the last row.
    WITH old AS MATERIALIZED (
        SELECT r.ctid AS row_id, r.subject_id, r.replied_at FROM rail_replies r
        WHERE r.platform_id = platform AND r.replied_at > after AND r.replied_at < before
        ORDER BY r.replied_at FETCH FIRST (max_rows) ROWS WITH TIES
    ), deleted_replies AS (
        DELETE FROM rail_replies r USING old WHERE r.ctid = old.row_id AND NOT EXISTS (
            SELECT FROM transactions t WHERE t.platform_id = platform AND t.id = old.subject_id
               AND (t.status IN ('PENDING', 'PROCESSING') OR t.refund_status = 'PENDING'))
        RETURNING 1
    )
    SELECT count(*), (SELECT count(*) FROM deleted_replies), coalesce(max(old.replied_at), after) INTO checked, deleted, last FROM old;
END
$$;
-- +goose StatementEnd

REVOKE EXECUTE ON FUNCTION delete_unpaid_quotes, delete_rail_replies FROM PUBLIC;
GRANT EXECUTE ON FUNCTION delete_unpaid_quotes, delete_rail_replies TO causeway_service;
