package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/e2e/bench/history"
	"causeway/ledger"
)

// newTestLedgerFixture are books with an account of each sort, and no database.
func newTestLedgerFixture() *ledgerFixture {
	v := &ledgerFixture{ids: ids.New(), rand: rand.New(rand.NewPCG(1, 1))}
	v.id = ident.NewPlatform(v.ids.New, time.Now())
	account := func(path string, currency money.Currency) history.Account {
		return history.Account{Account: ledger.Account{Platform: v.id, Path: path, Currency: currency}, Entries: 1}
	}
	of := ledger.CustomerAccount(ident.NewInternalAccount(v.ids.New, time.Now()))
	v.content.Accounts = []history.Account{account(ledger.Rail("RTP"), money.USD), account(of, money.USD), account(of, money.BTC)}
	v.content.From, v.content.Until = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return v
}

func TestCommitKinds_PostingsAreValid(t *testing.T) {
	// Every commit that is measured holds valid postings, as many as it is named for.
	t.Parallel()
	want := map[string][2]int{"One ramp": {3, 5}, "32 ramps": {96, 160}, "100 deposits": {100, 100}}
	for _, s := range commitKinds {
		postings := s.newPostings(newTestLedgerFixture())
		entries := 0
		for _, p := range postings {
			if err := p.Validate(); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			entries += len(p.Entries)
		}
		if got := [2]int{len(postings), entries}; got != want[s.name] {
			t.Errorf("%s: %v postings and entries; want %v", s.name, got, want[s.name])
		}
	}
}

func TestLedgerQueries_NameExistingAccountsAndTimes(t *testing.T) {
	// Questions name accounts that are there and moments of the past; a year of trial
	// balances asks for each month once, and for none that is not over.
	t.Parallel()
	v := newTestLedgerFixture()
	for _, q := range v.queries() {
		for range 20 {
			path := q.path()
			if strings.Contains(path, "customers/") || strings.Contains(path, "2026-11-22") || !strings.HasPrefix(path, "/ledger/") {
				t.Errorf("%s: %s", q.name, path)
			}
		}
	}
	month := v.trialBalanceQueries()[0]
	var asked []string
	for range 2 * largeMonths {
		_, from, _ := strings.Cut(month.path(), "from=")
		asked = append(asked, from[:7])
	}
	if asked[0] != "2025-11" || asked[largeMonths-1] != "2026-10" || !slices.Equal(asked[:largeMonths], asked[largeMonths:]) {
		t.Errorf("months %v", asked)
	}
}

func TestTableSizes_PartitionsCountForTable(t *testing.T) {
	// What partitions take is their table's, and they are not told of by themselves.
	t.Parallel()
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `
		CREATE TABLE ledger_example (n bigint PRIMARY KEY) PARTITION BY RANGE (n);
		CREATE TABLE ledger_example_1 PARTITION OF ledger_example FOR VALUES FROM (0) TO (5000);
		CREATE TABLE ledger_example_2 PARTITION OF ledger_example FOR VALUES FROM (5000) TO (10000);
		INSERT INTO ledger_example SELECT generate_series(0, 9999)`); err != nil {
		t.Fatal(err)
	}

	sizes, err := queryTableSizes(ctx, conn, 10_000)
	if err != nil {
		t.Fatal(err)
	}

	if sizes[0].name != "ledger_example" || sizes[0].rowBytes < 30 || sizes[0].indexBytes < 20 {
		t.Errorf("the largest is %+v", sizes[0])
	}
	for _, s := range sizes {
		if strings.HasPrefix(s.name, "ledger_example_") {
			t.Errorf("a partition is told of: %+v", s)
		}
	}
}

func TestFormatThousands(t *testing.T) {
	// Thousands stand apart.
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1 000", 10_023_000: "10 023 000"} {
		if got := formatThousands(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
