-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The unmatched funds that nobody has assigned, which are few beside all that there ever were. Triggers keep the table, so that the previous
-- version does too. A row may be of funds that were assigned while it was filled, so a reader looks for the assignment as well.
CREATE TABLE unmatched_waiting (
    platform_id uuid        NOT NULL,
    seq         bigint      NOT NULL,
    posting_id  uuid        NOT NULL,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (platform_id, seq)
);
GRANT SELECT, INSERT, DELETE ON unmatched_waiting TO causeway_service;
SELECT isolate_platforms('unmatched_waiting');

-- +goose StatementBegin
CREATE FUNCTION add_unmatched_waiting() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO unmatched_waiting (platform_id, seq, posting_id, recorded_at) VALUES (NEW.platform_id, NEW.seq, NEW.id, NEW.recorded_at);
    RETURN NULL;
END $$;
CREATE FUNCTION remove_unmatched_waiting() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM unmatched_waiting WHERE platform_id = NEW.platform_id
        AND seq = (SELECT x.seq FROM ledger_posting_ids x WHERE x.platform_id = NEW.platform_id AND x.id = NEW.posting_id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER remove_waiting AFTER INSERT ON unmatched_assignments FOR EACH ROW EXECUTE FUNCTION remove_unmatched_waiting();
CREATE TRIGGER add_waiting AFTER INSERT ON ledger_postings FOR EACH ROW
    WHEN (NEW.kind IN ('unmatched_received', 'refund_failed')) EXECUTE FUNCTION add_unmatched_waiting();
