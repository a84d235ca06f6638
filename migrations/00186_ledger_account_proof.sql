-- +goose Up
SET LOCAL lock_timeout = '1s';

-- Fails the transaction with a code of its own. A process keeps the ids of accounts, and a primary
-- that has lost its last commits may give an id to another account. So a statement that posts to
-- accounts, or locks their balances, by id compares their paths and currencies too, and calls this
-- function if one differs. The process then forgets the ids and runs its unit of work again.
-- +goose StatementBegin
CREATE FUNCTION ledger_refuse_account_ids() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an account has another id than when the process read it' USING ERRCODE = 'CW003',
        HINT = 'The database has lost commits. Read the ids of the accounts again.';
END
$$;
-- +goose StatementEnd
