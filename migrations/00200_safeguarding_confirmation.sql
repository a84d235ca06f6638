-- +goose Up
-- What confirms from outside that an account with customers' money holds what a report says, and what of it comes from adjustments
-- since the account was last confirmed. NULL in the lines of other sections, and in reports that were made before.
SET LOCAL lock_timeout = '1s';

ALTER TABLE safeguarding_report_lines
    ADD COLUMN confirmation text CONSTRAINT safeguarding_report_line_confirmation_known
        CHECK (confirmation IN ('STATEMENT', 'RAIL_PROOF', 'SANDBOX', 'IN_TRANSIT', 'NOTHING_HELD', 'NONE')),
    ADD COLUMN manual       numeric,
    ADD COLUMN manual_since date,
    ADD CONSTRAINT safeguarding_report_line_confirmation_whole CHECK (
        (confirmation IS NULL) = (manual IS NULL) AND (confirmation IS NULL) = (manual_since IS NULL)
        AND (confirmation IS NULL OR section = 'RESOURCE'));
