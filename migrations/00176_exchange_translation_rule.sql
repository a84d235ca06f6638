-- +goose Up
-- Income, expense and own funds in foreign currencies are translated exactly and rounded once for each account, currency and
-- month; what remains is carried into the next month. Runs of earlier releases rounded each posting, and are checked by that
-- rule: NULL. A release that does not know these columns writes runs of that rule.
SET LOCAL lock_timeout = '1s';

ALTER TABLE ledger_month_end_runs ADD COLUMN rule smallint;
ALTER TABLE ledger_exchange_translations ADD COLUMN remainder text; -- a decimal; NULL for nothing
