-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Each version of the status and hold of a customer is sealed in the log of evidence, as those of accounts and tokens are.
CREATE TRIGGER ledger_evidence_version AFTER INSERT OR DELETE ON customers FOR EACH ROW EXECUTE FUNCTION ledger_queue_version('customer-status');
CREATE TRIGGER ledger_evidence_change AFTER UPDATE ON customers FOR EACH ROW
    WHEN ((OLD.customer_type, OLD.status, OLD.held_at, OLD.deleted_at) IS DISTINCT FROM (NEW.customer_type, NEW.status, NEW.held_at, NEW.deleted_at))
    EXECUTE FUNCTION ledger_queue_version('customer-status');
