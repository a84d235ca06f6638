package ledgerdb_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"causeway/ledger"
)

func TestSchema_AppendOnly(t *testing.T) {
	t.Parallel()
	// Postings cannot be changed or deleted: triggers refuse the owner of the tables, and the
	// role of the service lacks the privilege.
	h := newEnv(t)
	h.mustPost(h.deposit(newInternal(), 100))
	owner, ctx := h.ownerConn(), context.Background()

	for table, column := range map[string]string{
		"ledger_accounts": "path", "ledger_postings": "memo", "ledger_entries": "currency", "ledger_posting_ids": "seq",
		"ledger_months":          "first_seq",
		"ledger_postings_202611": "memo", "ledger_entries_202611": "currency",
	} {
		for _, statement := range []string{
			"UPDATE " + table + " SET " + column + " = NULL", "UPDATE " + table + " SET " + column + " = NULL WHERE false",
			"DELETE FROM " + table, "TRUNCATE " + table + " CASCADE",
		} {
			_, err := owner.Exec(ctx, statement)
			if pg := pgError(t, err); pg == nil || pg.Code != "23001" || !strings.Contains(pg.Message, "append-only") {
				t.Errorf("owner: %s: got %v, want the error of the trigger", statement, err)
			}
			_, err = h.pool.Exec(ctx, statement)
			if pg := pgError(t, err); pg == nil || pg.Code != "42501" {
				t.Errorf("service: %s: got %v, want permission denied", statement, err)
			}
		}
	}
	for _, statement := range []string{
		"DELETE FROM ledger_balances", "DELETE FROM ledger_clocks", "DELETE FROM ledger_balance_snapshots",
		"UPDATE ledger_balance_snapshots SET balance = 0", "TRUNCATE ledger_balances", "DROP TABLE ledger_entries",
		"ALTER TABLE ledger_entries DISABLE TRIGGER ALL", "SET session_replication_role = replica",
	} {
		_, err := h.pool.Exec(ctx, statement)
		if pg := pgError(t, err); pg == nil || pg.Code != "42501" {
			t.Errorf("service: %s: got %v, want permission denied", statement, err)
		}
	}
	if n := h.count("SELECT count(*) FROM ledger_entries WHERE currency = 'USD'"); n != 1 {
		t.Errorf("%d entries are unchanged, want 1", n)
	}
}

func TestSchema_NamedConstraints(t *testing.T) {
	t.Parallel()
	// The database refuses invalid rows, with the constraint that names the rule.
	h := newEnv(t)
	alice := newInternal()
	deposit := h.deposit(alice, 100)
	undo := ledger.Reverse(deposit, newID(), noon, "")
	h.mustPost(deposit, undo, ledger.Delivered(h.newHeader(), ledger.Chain("LAYER2"), btc(5)))
	p := h.platform.UUID()
	number := func(path string) int64 {
		return h.count("SELECT id FROM ledger_accounts WHERE platform_id = $1 AND path = $2", p, path)
	}
	rail, customer, chain := number(ledger.Rail("ACH")), number(ledger.CustomerAccount(alice)), number(ledger.Chain("LAYER2"))
	const (
		intoEntries = "INSERT INTO ledger_entries (platform_id, recorded_at, seq, entry_no, debit_account_id, credit_account_id, currency, " +
			"amount) VALUES ($1, '2026-11-20', 1, 2, $2, $3, $4, $5)"
		intoPostings = `INSERT INTO ledger_postings (platform_id, id, seq, kind, transaction_id, effective_at, recorded_at, memo, reverses, digest)
			SELECT platform_id, $2, $3, $4, NULL, effective_at, recorded_at, memo, $5, $6 FROM ledger_postings WHERE platform_id = $1 AND seq = 1`
		intoIDs      = "INSERT INTO ledger_posting_ids (platform_id, id, seq, reverses, recorded_at) VALUES ($1, $2, 9, $3, now())"
		intoAccounts = "INSERT INTO ledger_accounts (platform_id, path, currency, class, no_overdraft) VALUES ($1, $2, 'USD', $3, true)"
	)
	hash := make([]byte, 32)

	for rule, c := range map[string]struct {
		statement string
		args      []any
	}{
		"ledger_entry_amount_positive":           {intoEntries, []any{p, rail, customer, "USD", 0}},
		"ledger_entry_accounts_differ":           {intoEntries, []any{p, rail, rail, "USD", 1}},
		"ledger_entry_currency_matches_accounts": {intoEntries, []any{p, rail, chain, "USD", 1}},
		"ledger_entries_202611_pkey":             {strings.Replace(intoEntries, "1, 2,", "1, 1,", 1), []any{p, rail, customer, "USD", 1}},
		"ledger_postings_202611_pkey":            {intoPostings, []any{p, newID(), 1, "deposit", nil, hash}},
		"ledger_posting_ids_pkey":                {intoIDs, []any{p, deposit.ID, nil}},
		"ledger_posting_reversed_once":           {intoIDs, []any{p, newID(), deposit.ID}},
		"ledger_posting_reverses_fkey":           {intoIDs, []any{p, newID(), newID()}},
		"ledger_month_is_first_day": {"INSERT INTO ledger_months (platform_id, month, first_seq) VALUES ($1, '2026-12-02', 3)",
			[]any{p}},
		"ledger_posting_reverses_other":           {intoPostings, []any{p, undo.Reverses, 9, "reversal", undo.Reverses, hash}},
		"ledger_posting_reversal_has_original":    {intoPostings, []any{p, newID(), 9, "reversal", nil, hash}},
		"ledger_posting_digest_is_sha256":         {intoPostings, []any{p, newID(), 9, "deposit", nil, hash[1:]}},
		"ledger_account_has_class":                {intoAccounts, []any{p, "customers/x", "gift"}},
		"ledger_account_path_and_currency_unique": {intoAccounts, []any{p, ledger.CustomerAccount(alice), "liability"}},
		"ledger_balance_not_negative":             {"UPDATE ledger_balances SET balance = balance - 1 WHERE platform_id = $1", []any{p}},
		"ledger_balance_account_fkey":             {"INSERT INTO ledger_balances (platform_id, account_id) VALUES ($1, 999999)", []any{p}},
		"ledger_balance_snapshot_account_fkey":    {"INSERT INTO ledger_balance_snapshots VALUES ($1, 999999, 1, 0, now(), now(), 0)", []any{p}},
	} {
		_, err := h.pool.Exec(context.Background(), c.statement, c.args...)
		if pg := pgError(t, err); pg == nil || pg.ConstraintName != rule {
			t.Errorf("got %v, want %s to refuse it", err, rule)
		}
	}
}

// pgError returns the database error in err, or nil.
func pgError(t *testing.T, err error) *pgconn.PgError {
	t.Helper()
	var pg *pgconn.PgError
	if err == nil || !errors.As(err, &pg) {
		return nil
	}
	return pg
}
