package ledgerdb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

func TestView_EntriesOfAccountByItsIndex(t *testing.T) {
	t.Parallel()
	// The entries of one account are found by its index, also in tables without statistics: not through
	// those of all accounts. The plan is that for any account, which is made once.
	conn := pgtest.Connect(t, pgtest.New(t))
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), accountReadSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	var platform ident.Platform
	platform.SetUUID(uuid.UUID{1})
	now := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	for month := range 3 {
		var postings []ledger.Posting
		for i := range 2_000 {
			header := ledger.Header{ID: uuid.UUID{2, byte(month), 14: byte(i >> 8), 15: byte(i)}, Platform: platform,
				Effective: now.AddDate(0, month, 0)}
			postings = append(postings, ledger.FeePaid(header, ledger.Rail(fmt.Sprint("R", i%50)), money.Amount{Minor: 1, Currency: money.USD}))
		}
		if err := New().Post(t.Context(), tx, now.AddDate(0, month, 0), postings); err != nil {
			t.Fatal(err)
		}
	}
	from, to := now, now.AddDate(0, 1, 0)
	for name, c := range map[string]struct {
		statement string
		args      []any
	}{
		"entries": {selectEntriesByEffectiveTime, []any{pgUUID(uuid.UUID{1}), int64(9e9), []string{"rails/R7", "rails/R9"},
			[]string{"USD", "USD"}, from, to, int64(0)}},
		"days": {selectDays, []any{pgUUID(uuid.UUID{1}), int64(9e9), "rails/R7", "USD", from, from, to, int64(0)}},
	} {
		plan := explain(t, tx, "EXPLAIN", c.statement, c.args)
		if !strings.Contains(plan, "(platform_id = $1)") {
			t.Errorf("%s: planned for one account:\n%s", name, plan)
		}
		scans := strings.Count(plan, " on ledger_entries")
		if byAccount := strings.Count(plan, "_debit_account_id_seq_idx on ledger_entries") + strings.Count(plan,
			"_credit_account_id_seq_idx on ledger_entries") +
			strings.Count(plan, "ledger_entries_by_"); scans == 0 || byAccount != scans {
			t.Errorf("%s: %d of %d scans by account:\n%s", name, byAccount, scans, plan)
		}
	}

	// The turnovers of all accounts are not compared with all accounts, nor entries with entries: the one nested loop looks up
	// the snapshot of each account.
	if _, err := tx.Exec(t.Context(), wholeReadSettings, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	plan := explain(t, tx, "EXPLAIN", selectTurnovers, []any{pgUUID(uuid.UUID{1}), "", "", int64(9e9), from, to, int64(0)})
	if strings.Count(plan, "Nested Loop") != 1 {
		t.Errorf("turnovers:\n%s", plan)
	}
}

// explain returns the plan of a prepared statement.
func explain(t *testing.T, tx pgx.Tx, command, statement string, args []any) string {
	t.Helper()
	if _, err := tx.Prepare(t.Context(), "explained", statement); err != nil {
		t.Fatal(err)
	}
	placeholders := make([]string, len(args))
	for i := range placeholders {
		placeholders[i] = fmt.Sprint("$", i+1)
	}
	execute := command + " EXECUTE explained(" + strings.Join(placeholders, ", ") + ")"
	rows, err := tx.Query(t.Context(), execute, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil {
		_, err = tx.Exec(t.Context(), "DEALLOCATE explained")
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
