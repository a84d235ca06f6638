-- +goose Up
-- The position is what a platform has in each currency on its own account: also income, expense and own funds in foreign
-- currencies, which are translated at the rates of their times.
SET LOCAL lock_timeout = '1s';

-- What they were worth until the end of the month, in the functional currency; NULL for nothing. Older rows are sealed as
-- evidence without it, and so cannot have another default.
ALTER TABLE ledger_exchange_results ADD COLUMN translated bigint;

-- What was posted in the month on accounts of these, and its value in the functional currency.
CREATE TABLE ledger_exchange_translations (
    platform_id uuid   NOT NULL REFERENCES platforms,
    month       date   NOT NULL,
    run         int    NOT NULL,
    account     text   NOT NULL, -- a path, or the line of the chart for internal accounts
    currency    text   NOT NULL,
    quantity    bigint NOT NULL, -- credits less debits
    value       bigint NOT NULL,
    postings    bigint NOT NULL,
    PRIMARY KEY (platform_id, month, run, account, currency)
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_exchange_translations FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
GRANT SELECT, INSERT ON ledger_exchange_translations TO causeway_service;
SELECT isolate_platforms('ledger_exchange_translations');
