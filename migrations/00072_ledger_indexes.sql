-- +goose Up
-- The previous version runs beside it.

-- Ids of accounts and payments are not given twice, so their indexes find entries and postings without the platform, whose 16 bytes
-- were half of each. See replaceIndexes, which builds them for the partitions there are and puts them in place.
SET LOCAL lock_timeout = '1s';
CREATE INDEX ledger_entries_by_debit_account_replacement ON ONLY ledger_entries (debit_account_id, seq);
CREATE INDEX ledger_entries_by_credit_account_replacement ON ONLY ledger_entries (credit_account_id, seq);
CREATE INDEX ledger_postings_by_transaction_replacement ON ONLY ledger_postings (transaction_id, seq) WHERE transaction_id IS NOT NULL;
