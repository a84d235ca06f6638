-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The person who has made a change, or stands behind the service that has, beside the token and the name. NULL: none is known.
-- People are never deleted, and rows of these tables are many or never change: no foreign key.
ALTER TABLE operator_actions ADD COLUMN person_id uuid;
ALTER TABLE corridor_changes ADD COLUMN person_id uuid; -- as its other columns of authors, set by the trigger of corridor_overrides
ALTER TABLE corridor_changes ALTER COLUMN person_id SET DEFAULT nullif(current_setting('causeway.person', true), '')::uuid;
ALTER TABLE job_actions ADD COLUMN person_id uuid;
ALTER TABLE verification_reviews ADD COLUMN person_id uuid;
ALTER TABLE sanctions_lists ADD COLUMN person_id uuid;
ALTER TABLE lost_commit_reviews ADD COLUMN person_id uuid;
ALTER TABLE rail_connections ADD COLUMN person_id uuid;
ALTER TABLE rail_controls ADD COLUMN person_id uuid;
ALTER TABLE rail_decisions ADD COLUMN person_id uuid;
ALTER TABLE rail_opening_balances ADD COLUMN person_id uuid;
ALTER TABLE rail_feed_items ADD COLUMN person_id uuid;
ALTER TABLE rail_statements ADD COLUMN person_id uuid;
GRANT UPDATE (person_id) ON rail_feed_items, rail_statements TO causeway_service;

ALTER TABLE ledger_authorisations ADD COLUMN person_id uuid;
ALTER TABLE ledger_period_changes ADD COLUMN person_id uuid;
ALTER TABLE ledger_settings ADD COLUMN person_id uuid;
ALTER TABLE ledger_added_accounts ADD COLUMN person_id uuid;
ALTER TABLE ledger_gl_mappings ADD COLUMN person_id uuid;
ALTER TABLE ledger_month_end_runs ADD COLUMN person_id uuid;
ALTER TABLE ledger_year_closings ADD COLUMN person_id uuid;
ALTER TABLE ledger_year_reversals ADD COLUMN person_id uuid;
ALTER TABLE gl_journals ADD COLUMN person_id uuid;
ALTER TABLE reconciliation_resolutions ADD COLUMN person_id uuid;
ALTER TABLE receivables ADD COLUMN person_id uuid;
ALTER TABLE receivable_changes ADD COLUMN person_id uuid;
ALTER TABLE safeguarding_purposes ADD COLUMN person_id uuid;
ALTER TABLE safeguarding_reports ADD COLUMN person_id uuid;
ALTER TABLE safeguarding_acknowledgements ADD COLUMN person_id uuid;
ALTER TABLE treasury_movements ADD COLUMN person_id uuid;
ALTER TABLE treasury_arrivals ADD COLUMN person_id uuid;
ALTER TABLE unmatched_assignments ADD COLUMN person_id uuid;
