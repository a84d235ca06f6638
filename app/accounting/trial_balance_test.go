package accounting_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/internal/apptest"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

// largeLedger is a ledger of so many customers' accounts, each with a cent.
type largeLedger struct {
	accounting.Finance
	accounts int
}

func (l largeLedger) Turnovers(_ context.Context, _ ident.Platform, _ ledger.Class, _ []ports.Cutoff,
	each func(ports.AccountTurnovers) error) error {
	for i := range l.accounts {
		var id ident.InternalAccount
		id.SetUUID(uuid.UUID{0: 1, 14: byte(i >> 8), 15: byte(i), 13: byte(i >> 16)})
		if err := each(ports.AccountTurnovers{Account: ledger.Account{Path: ledger.CustomerAccount(id), Currency: "USD"},
			Class: ledger.Liability, Turnovers: []ports.Turnover{{Credits: money.TotalOf(1)}}}); err != nil {
			return err
		}
	}
	return nil
}

// noMapping has no accounts of the general ledger.
type noMapping struct{ accounting.Store }

func (noMapping) GLMapping(context.Context, ident.Platform, time.Time) (books.MappingVersion, error) {
	return books.MappingVersion{}, nil
}

func TestTrialBalance_TooManyAccounts(t *testing.T) {
	t.Parallel()
	// Up to 50,000 accounts have a line each. More are refused, or grouped by a query that says so.
	for accounts, lines := range map[int]int{50_000: 50_000, 50_001: 1} {
		service := accounting.New(accounting.Config{Store: noMapping{}, Ledger: largeLedger{accounts: accounts},
			Clock: portstest.NewFakeClock(apptest.Noon)})
		_, err := service.TrialBalance(t.Context(), ident.Platform{}, accounting.TrialBalanceQuery{})
		if fault.Is(err, fault.InvalidInput) != (lines == 1) {
			t.Errorf("%d accounts: %v", accounts, err)
		}
		got, err := service.TrialBalance(t.Context(), ident.Platform{}, accounting.TrialBalanceQuery{OrGrouped: true})
		if err != nil || len(got.Lines) != lines || got.Grouped != (lines == 1) || len(got.Totals) != 1 ||
			!got.Totals[0].Closing.Equal(money.TotalOf(int64(-accounts))) {
			t.Errorf("%d accounts: %d lines, grouped %t, %+v, %v", accounts, len(got.Lines), got.Grouped, got.Totals, err)
		}
	}
}
