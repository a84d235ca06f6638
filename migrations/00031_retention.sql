-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Deletion of old rows. Each function deletes from a batch of at most max_rows old rows of one
-- platform, in the order of time, those that nothing needs any longer. It returns how many it
-- checked, and the last of them, after which the next batch begins: so no batch reads again what
-- the ones before it left or deleted. If another session is deleting, checked is 0. The service may
-- not delete these rows in any other way, and none younger than the settings allow. The SETs make
-- each statement use indexes, whatever the statistics are.

-- The lowest UUIDv7 of a time. Ids of events and quotes begin with the time of their creation.
-- +goose StatementBegin
CREATE FUNCTION first_uuid_v7(at_time timestamptz) RETURNS uuid STABLE STRICT PARALLEL SAFE LANGUAGE sql
RETURN (lpad(to_hex(floor(extract(epoch FROM at_time) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
-- +goose StatementEnd

-- Events are kept while they are to be sent, and after an attempt since the time.
-- +goose StatementBegin
CREATE FUNCTION delete_webhook_events(platform uuid, before timestamptz, after uuid, max_rows int, OUT checked int, OUT deleted int, OUT last uuid)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    highest_seq bigint;
BEGIN
    before := least(before, clock_timestamp() - interval '8 days');
    checked := 0; deleted := 0; last := after;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_webhook_events' || platform, 0)) THEN
        RETURN;
    END IF;
    WITH old AS MATERIALIZED (
        SELECT e.id, e.seq, e.created_at FROM webhook_events e
        WHERE e.platform_id = platform AND e.id > after AND e.id < first_uuid_v7(before) ORDER BY e.id LIMIT max_rows
    ), deletable AS MATERIALIZED (
        SELECT old.id FROM old
        WHERE old.created_at < before
          AND NOT EXISTS (SELECT FROM webhook_queue q WHERE q.platform_id = platform AND q.seq = old.seq)
          AND NOT EXISTS (SELECT FROM webhook_backlog b WHERE b.platform_id = platform AND b.seq = old.seq)
          AND NOT EXISTS (SELECT FROM webhook_attempts a WHERE a.platform_id = platform AND a.event_id = old.id AND a.attempted_at >= before)
    ), deleted_events AS (
        DELETE FROM webhook_events e USING deletable d WHERE e.platform_id = platform AND e.id = d.id RETURNING 1
    ), deleted_attempts AS (
        DELETE FROM webhook_attempts a USING deletable d WHERE a.platform_id = platform AND a.event_id = d.id
    )
    SELECT count(*), (SELECT count(*) FROM deleted_events), coalesce((SELECT o.id FROM old o ORDER BY o.id DESC LIMIT 1), after), max(old.seq)
    INTO checked, deleted, last, highest_seq FROM old;
    -- A redelivery that began before an event was deleted may have queued it since.
    DELETE FROM webhook_backlog b WHERE b.platform_id = platform AND b.seq <= highest_seq
       AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.platform_id = platform AND e.id = b.event_id);
END
$$;
-- +goose StatementEnd

-- Most quotes were paid and stay, so each is checked once. No index finds those that expired:
-- it would have to change with the status of every payment.
CREATE TABLE quote_retention_progress (
    platform_id uuid PRIMARY KEY,
    checked_to  uuid NOT NULL -- of this quote and those before it, the ones that expired unpaid are deleted
);
GRANT SELECT ON quote_retention_progress TO causeway_service;
SELECT isolate_platforms('quote_retention_progress');

-- Deletes quotes that expired unpaid, with their transactions. A payment after the expiry gives
-- the transaction a refund and postings, which keep it. A quote that is open at this age, or has a
-- job that failed for ever, stays for good.
-- +goose StatementBegin
CREATE FUNCTION delete_unpaid_quotes(platform uuid, before timestamptz, max_rows int, OUT checked int, OUT deleted int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    last uuid;
BEGIN
    before := least(before, clock_timestamp() - interval '30 days');
    checked := 0; deleted := 0;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('delete_unpaid_quotes' || platform, 0)) THEN
        RETURN;
    END IF;
    SELECT p.checked_to INTO last FROM quote_retention_progress p WHERE p.platform_id = platform;
    last := coalesce(last, '00000000-0000-0000-0000-000000000000');
    WITH old AS MATERIALIZED (
        SELECT q.id, q.transaction_id FROM quotes q
        WHERE q.platform_id = platform AND q.id > last AND q.id < first_uuid_v7(before) ORDER BY q.id LIMIT max_rows
    ), unpaid AS MATERIALIZED (
        SELECT t.id, old.id AS quote_id FROM old JOIN transactions t ON t.platform_id = platform AND t.id = old.transaction_id
        WHERE t.status = 'EXPIRED' AND t.refund_status = '' AND t.stage = '' AND t.receipt_id IS NULL AND t.funded_minor = 0
          AND NOT EXISTS (SELECT FROM ledger_postings p
              WHERE p.platform_id = platform AND p.transaction_id = t.id AND p.recorded_at >= t.created_at - interval '1 day') -- clocks differ
          AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = platform AND a.transaction_id = t.id)
          AND NOT EXISTS (SELECT FROM jobs j WHERE j.platform_id = platform AND j.id < first_uuid_v7(before) AND t.id = ANY (j.subjects))
        FOR UPDATE OF t SKIP LOCKED -- a payment is being recorded
    ), deleted_quotes AS (
        DELETE FROM quotes q USING unpaid u WHERE q.platform_id = platform AND q.id = u.quote_id RETURNING 1
    ), deleted_transactions AS (
        DELETE FROM transactions t USING unpaid u WHERE t.platform_id = platform AND t.id = u.id
    )
    SELECT count(*), (SELECT count(*) FROM deleted_quotes), (SELECT o.id FROM old o ORDER BY o.id DESC LIMIT 1)
    INTO checked, deleted, last FROM old;
    IF checked > 0 THEN
        INSERT INTO quote_retention_progress VALUES (platform, last)
        ON CONFLICT (platform_id) DO UPDATE SET checked_to = excluded.checked_to;
    END IF;
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

REVOKE EXECUTE ON FUNCTION delete_webhook_events, delete_unpaid_quotes, delete_rail_replies FROM PUBLIC;
GRANT EXECUTE ON FUNCTION delete_webhook_events, delete_unpaid_quotes, delete_rail_replies TO causeway_service;
