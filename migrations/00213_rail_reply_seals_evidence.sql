-- +goose Up
SET LOCAL lock_timeout = '1s';

-- A keyed hash of the reply of a rail, as it was recorded: the check compares it. Empty in older rows.
ALTER TABLE rail_replies ADD COLUMN seal text NOT NULL DEFAULT '';

-- Replies to a platform from before this day may have no seal: those before the upgrade, and those that the program of before
-- records while it runs beside this one. A platform without a row has sealed all of them.
CREATE TABLE rail_reply_sealing (
    platform_id uuid NOT NULL,
    since       date NOT NULL,
    PRIMARY KEY (platform_id, since)
);
INSERT INTO rail_reply_sealing (platform_id, since) SELECT id, (now() AT TIME ZONE 'UTC')::date + 2 FROM platforms;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rail_reply_sealing FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON rail_reply_sealing REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('reply-sealing', 'since');
GRANT SELECT ON rail_reply_sealing TO causeway_service;
SELECT isolate_platforms('rail_reply_sealing');

INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT platform_id, 'reply-sealing', to_char(since, 'YYYY-MM-DD'), now() FROM rail_reply_sealing
ON CONFLICT DO NOTHING;
