-- +goose NO TRANSACTION
-- +goose Up

-- Accounts of the class equity. The new constraint is wider than the old one, so the rows that the old
-- one has checked are valid; validating reads them without blocking writes.
-- +goose StatementBegin
DO $$
BEGIN
    PERFORM set_config('lock_timeout', '1s', true);
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'ledger_accounts'::regclass AND conname = 'ledger_account_has_class') THEN
        ALTER TABLE ledger_accounts
            ADD CONSTRAINT ledger_account_has_class CHECK (class IN ('asset', 'liability', 'equity', 'income', 'expense', 'trading')) NOT VALID,
            DROP CONSTRAINT ledger_account_class_known;
    END IF;
END
$$;
-- +goose StatementEnd
ALTER TABLE ledger_accounts VALIDATE CONSTRAINT ledger_account_has_class;
