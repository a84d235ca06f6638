-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The size of the checkpoint that was the newest when this one was stored, 0 for the first: a deleted
-- one is missed by the next. NULL for the checkpoints of earlier versions.
ALTER TABLE ledger_log_checkpoints ADD COLUMN previous_size bigint;

-- +goose StatementBegin
CREATE FUNCTION ledger_chain_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Uses ledger_log_checkpoints_pkey.
    NEW.previous_size := greatest((SELECT c.size FROM ledger_log_checkpoints c WHERE c.platform_id = NEW.platform_id ORDER BY c.size DESC LIMIT 1), 0);
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER ledger_log_checkpoint_chain BEFORE INSERT ON ledger_log_checkpoints FOR EACH ROW EXECUTE FUNCTION ledger_chain_checkpoint();
