-- +goose NO TRANSACTION
-- +goose Up
-- The previous version runs beside it.
-- What people have done in the books, the newest first, of tables that grow with the work of a day.
DROP INDEX CONCURRENTLY IF EXISTS ledger_authorisations_by_time;
CREATE INDEX CONCURRENTLY ledger_authorisations_by_time ON ledger_authorisations (platform_id, authorised_at);
DROP INDEX CONCURRENTLY IF EXISTS receivables_written_off_by_time;
CREATE INDEX CONCURRENTLY receivables_written_off_by_time ON receivable_changes (platform_id, changed_at) WHERE kind = 'WRITTEN_OFF';
DROP INDEX CONCURRENTLY IF EXISTS unmatched_assignments_by_time;
CREATE INDEX CONCURRENTLY unmatched_assignments_by_time ON unmatched_assignments (platform_id, assigned_at);
DROP INDEX CONCURRENTLY IF EXISTS reconciliation_resolutions_by_time;
CREATE INDEX CONCURRENTLY reconciliation_resolutions_by_time ON reconciliation_resolutions (platform_id, resolved_at);
DROP INDEX CONCURRENTLY IF EXISTS ledger_proposals_by_decision;
CREATE INDEX CONCURRENTLY ledger_proposals_by_decision ON ledger_proposals (platform_id, decided_at) WHERE decided_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS operator_actions_by_name;
CREATE INDEX CONCURRENTLY operator_actions_by_name ON operator_actions (platform_id, subject, id) WHERE subject <> '';
