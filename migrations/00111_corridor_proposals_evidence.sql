-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Proposed changes of the prices of one platform are sealed in its log of evidence, as proposed changes of its books are.

-- Queues a proposal that is decided: what a decision has recorded never changes. The argument of the trigger is the
-- kind of the facts.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION ledger_queue_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    VALUES (NEW.platform_id, coalesce(TG_ARGV[0], 'proposal-decision'), NEW.id::text, clock_timestamp()) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_evidence AFTER INSERT ON corridor_proposals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('corridor-proposal', 'id');
CREATE TRIGGER ledger_evidence_decision AFTER INSERT OR UPDATE ON corridor_proposals
    FOR EACH ROW WHEN (NEW.status <> 'PENDING' AND NEW.platform_id IS NOT NULL) EXECUTE FUNCTION ledger_queue_decision('corridor-decision');

INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT platform_id, 'corridor-proposal', id::text, now() FROM corridor_proposals WHERE platform_id IS NOT NULL
    UNION ALL SELECT platform_id, 'corridor-decision', id::text, now() FROM corridor_proposals WHERE platform_id IS NOT NULL AND status <> 'PENDING'
ON CONFLICT DO NOTHING;
