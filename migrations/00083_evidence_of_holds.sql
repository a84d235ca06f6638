-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- That a person puts a customer on hold, or releases it, is evidence too.
DROP TRIGGER ledger_evidence_change ON customers;
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON customers FOR EACH ROW
    WHEN (OLD.customer_type IS DISTINCT FROM NEW.customer_type OR OLD.status IS DISTINCT FROM NEW.status
        OR OLD.held_at IS DISTINCT FROM NEW.held_at OR OLD.on_hold_at IS DISTINCT FROM NEW.on_hold_at
        OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)
    EXECUTE FUNCTION ledger_queue_version('customer-status');
