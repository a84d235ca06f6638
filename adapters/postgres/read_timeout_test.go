package postgres_test

import (
	"errors"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestReads_TimeoutIsReported(t *testing.T) {
	t.Parallel()
	// A list or report whose statement takes longer than the time for reads ends with
	// ErrReadTimeout, while units of work still wait: here all tables are locked.
	url := pgtest.New(t)
	db := openWith(t, postgres.Options{URL: url, AllPlatforms: true, MaxConnections: 1, MaxReadConnections: 1,
		ReadTimeout: 100 * time.Millisecond, Clock: portstest.NewFakeClock(noon)})
	owner := pgtest.Connect(t, url)
	if _, err := owner.Exec(t.Context(), "BEGIN; LOCK TABLE transactions, customers, reconciliations, ledger_accounts, ledger_clocks, "+
		"ledger_months, ledger_postings IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	platform := newPlatform(t, "P").ID
	ten := ports.Paging{Limit: 10}

	for name, read := range map[string]func() error{
		"transactions": func() error {
			_, err := db.Transactions(t.Context(), platform, ports.TransactionFilter{Paging: ten})
			return err
		},
		"customers": func() error {
			_, err := db.Customers(t.Context(), platform, ports.CustomerFilter{Paging: ten})
			return err
		},
		"reconciliations": func() error {
			_, err := db.Reconciliations(t.Context(), platform, ports.ReconciliationFilter{Paging: ten})
			return err
		},
		"unmatched": func() error {
			_, err := db.Unmatched(t.Context(), platform, ports.UnmatchedFilter{Limit: 10})
			return err
		},
		"months": func() error { _, err := db.PeriodOverview(t.Context(), platform); return err },
		"postings": func() error {
			_, err := db.Finance().Postings(t.Context(), ports.PostingFilter{Platform: platform, Limit: 10})
			return err
		},
		"turnovers": func() error {
			return db.Finance().Turnovers(t.Context(), platform, "", []ports.Cutoff{{}}, func(ports.AccountTurnovers) error { return nil })
		},
	} {
		if err := read(); !errors.Is(err, ports.ErrReadTimeout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
