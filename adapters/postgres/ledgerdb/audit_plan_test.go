package ledgerdb

import (
	"fmt"
	"math"
	"slices"
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

// newAudited returns a transaction with the settings of an audit, on a ledger with opening balances of 5,000 accounts and
// postings of one entry in four months, and the opening balances.
func newAudited(t *testing.T) (pgx.Tx, ident.Platform, ledger.Posting) {
	t.Helper()
	conn := pgtest.Connect(t, pgtest.New(t))
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var platform ident.Platform
	platform.SetUUID(uuid.UUID{1})
	var balances []ledger.OpeningBalance
	for i := range 5_000 {
		balances = append(balances, ledger.OpeningBalance{Path: ledger.Rail(fmt.Sprint("R", i)), Minor: int64(i + 1)})
	}
	now := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	opening := ledger.OpeningBalances(ledger.Header{ID: uuid.UUID{2}, Platform: platform, Effective: now}, "USD", balances)
	if err := New().Post(t.Context(), tx, now, []ledger.Posting{opening}); err != nil {
		t.Fatal(err)
	}
	for month := range 4 {
		var postings []ledger.Posting
		for i := range 1_000 {
			header := ledger.Header{ID: uuid.UUID{3, byte(month), 14: byte(i >> 8), 15: byte(i)}, Platform: platform,
				Effective: now.AddDate(0, month, 0)}
			postings = append(postings, ledger.FeePaid(header, ledger.Rail("WIRE"), money.Amount{Minor: 1, Currency: money.USD}))
		}
		if err := New().Post(t.Context(), tx, now.AddDate(0, month, 0), postings); err != nil {
			t.Fatal(err)
		}
	}
	for _, statement := range []string{"ANALYZE", "SET LOCAL " + disableSort} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return tx, platform, opening
}

// planOf returns how a statement would be executed.
func planOf(t *testing.T, tx pgx.Tx, statement string, args ...any) string {
	t.Helper()
	rows, err := tx.Query(t.Context(), "EXPLAIN "+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestAudit_PostingsLoadedByKey(t *testing.T) {
	t.Parallel()
	// An audit, in which the planner does not sort, finds postings and the accounts of their entries by their keys. It does
	// not read all postings for each batch, nor compare all accounts with every entry of a large posting.
	tx, platform, opening := newAudited(t)
	for _, setting := range []string{"enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off",
		"plan_cache_mode = force_generic_plan"} {
		if _, err := tx.Exec(t.Context(), "SET LOCAL "+setting); err != nil {
			t.Fatal(err)
		}
	}

	plan := planOf(t, tx, loadPostings, uuidArray{pgUUID(platform.UUID())}, uuidArray{pgUUID(opening.ID)})

	for _, key := range []string{"((platform_id = w.platform_id) AND (id = w.id))", "((platform_id = e.platform_id) AND (id = " +
		"e.debit_account_id))",
		"((platform_id = e.platform_id) AND (id = e.credit_account_id))"} {
		if !strings.Contains(plan, "Index Cond: "+key) {
			t.Errorf("nothing is found by %s:\n%s", key, plan)
		}
	}
	stored, err := New().postings(t.Context(), tx, []postingKey{{platform, opening.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if got := stored[postingKey{platform, opening.ID}].Entries; !slices.Equal(got, opening.Entries) {
		t.Errorf("%d entries, the first %v", len(got), got[0])
	}
}

func TestAudit_PostingsOfAccountsReadOnce(t *testing.T) {
	t.Parallel()
	// The effective times of the entries of many accounts are not looked up one by one, nor once for each balance snapshot.
	tx, platform, _ := newAudited(t)

	plan := planOf(t, tx, auditMoves, pgUUID(platform.UUID()), int64(math.MinInt64), int64(math.MaxInt64))

	if scans := strings.Count(plan, " on ledger_postings_202604 "); scans != 1 || strings.Contains(plan, "Nested Loop") {
		t.Errorf("%d scans of the postings of a month:\n%s", scans, plan)
	}
}
