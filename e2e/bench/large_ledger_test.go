package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/core/ident"
	"causeway/ledger"
)

// newTestLedgerFixture returns a ledger with an account of each kind, and no database.
func newTestLedgerFixture() *ledgerFixture {
	v := &ledgerFixture{service: &service{ids: ids.New()}, rand: rand.New(rand.NewPCG(1, 1))}
	v.id = ident.NewPlatform(v.ids.New, time.Now())
	customer := ledger.CustomerAccount(ident.NewInternalAccount(v.ids.New, time.Now()))
	v.accounts = []ledgerAccount{{ledger.Rail("RTP"), "USD"}, {customer, "USD"}, {customer, "BTC"}}
	v.content.From, v.content.Until = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return v
}

func TestCommitKinds_PostingsAreValid(t *testing.T) {
	// Every commit that is measured has valid postings, as many as its name says.
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
	// Queries are about existing accounts and past times; the trial balances of a year are
	// those of each past month once.
	t.Parallel()
	v := newTestLedgerFixture()
	for _, group := range ledgerQueries {
		for i, q := range group.queries {
			path := strings.TrimSuffix(v.fillPath(q.path, i), "{next}")
			if strings.ContainsAny(path, "{}") || strings.Contains(path, "customers/") || strings.Contains(path, "2026-11-22") ||
				!strings.HasPrefix(path, "/ledger/") {
				t.Errorf("%s: %s", q.name, path)
			}
		}
	}
	var months []string
	for i := range 2 * largeMonths {
		_, from, _ := strings.Cut(v.fillPath("{month}", i), "from=")
		months = append(months, from[:7])
	}
	if months[0] != "2025-11" || months[largeMonths-1] != "2026-10" || !slices.Equal(months[:largeMonths], months[largeMonths:]) {
		t.Errorf("months %v", months)
	}
}

func TestAddTableSizes_PartitionsCountForTable(t *testing.T) {
	// The size of partitions is counted for their table, and partitions are not listed.
	t.Parallel()
	settings, err := pgx.ParseConfig(pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{report: report{}, meter: &meter{superuserURL: settings.ConnString()}}
	for _, statement := range []string{
		"CREATE TABLE ledger_example (n bigint PRIMARY KEY) PARTITION BY RANGE (n)",
		"CREATE TABLE ledger_example_1 PARTITION OF ledger_example FOR VALUES FROM (0) TO (5000)",
		"CREATE TABLE ledger_example_2 PARTITION OF ledger_example FOR VALUES FROM (5000) TO (10000)",
		"INSERT INTO ledger_example SELECT generate_series(0, 9999)",
	} {
		b.meter.execIn(t.Context(), settings.Database, statement)
	}

	b.report.addTableSizes(tableSizes, b.tableSizes(t.Context(), settings.Database, `ledger\_%`), nil, 10_000)

	var rows, indexes, total float64
	n, err := fmt.Sscanf(b.report[tableSizes], "| ledger_example | %f | %f | %f |", &rows, &indexes, &total)
	if n != 3 || rows < 30 || indexes < 20 || total < 50 || strings.Contains(b.report[tableSizes], "ledger_example_") {
		t.Errorf("%v: %s", err, b.report[tableSizes])
	}
}
