package treasury_test

import (
	"strings"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/treasury"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	movements "causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// env is an environment with the use cases, and a customer who was paid 100.00 USD at RTP, of which 1.00 is a fee.
type env struct {
	*apptest.Env
	*treasury.Service
	account ident.InternalAccount
	t       *testing.T
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{Env: apptest.New(t), t: t}
	e.Service = treasury.New(treasury.Config{
		Store: e.Store, Ledger: e.Store.Finance(), Balances: e.Store.LedgerReader(), KeptRates: e.Store,
		Proofs: e.Store, Connections: e.Store, Clock: e.Clock, IDs: e.IDs})
	e.account = e.NewInternalAccount(e.Customer.ID, "USD", 0).ID
	e.Post(ledger.Deposit(e.header(), ledger.IncomingFunds{Partner: "rails/RTP", To: ledger.CustomerAccount(e.account), Amount: usd(100_00)}))
	e.Post(ledger.FeeCharged(e.header(), ledger.CustomerAccount(e.account), usd(1_00)))
	return e
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
func btc(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "BTC"} }

func (e *env) header() ledger.Header {
	return ledger.Header{ID: e.IDs.New(e.Clock.Now()), Platform: e.Platform.ID, Effective: e.Clock.Now()}
}

func (e *env) by() platform.Author { return platform.Author{Token: e.Admin.Token, Actor: "Ana Silva"} }

func (e *env) movement(kind movements.Kind, from, to string, amount money.Amount) movements.Movement {
	return movements.Movement{Platform: e.Platform.ID, Kind: kind, From: from, To: to, Amount: amount, By: e.by()}
}

func (e *env) mustMove(m movements.Movement) movements.Movement {
	e.t.Helper()
	done, err := e.Move(e.t.Context(), m, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return done.Done
}

func (e *env) wantRefused(m movements.Movement, reason string) *fault.Error {
	e.t.Helper()
	_, err := e.Move(e.t.Context(), m, nil)
	f, ok := fault.As(err)
	if !ok || f.Code != fault.Conflict || f.Reason != reason {
		e.t.Fatalf("got %v, want a conflict: %s", err, reason)
	}
	return f
}

// difference returns what is held less what is owed in a currency, in the present report.
func (e *env) difference(currency money.Currency) string {
	e.t.Helper()
	report, err := e.Report(e.t.Context(), e.Platform.ID, time.Time{})
	if err != nil {
		e.t.Fatal(err)
	}
	for _, f := range report.Figures {
		if f.Currency == currency {
			return f.Difference().String()
		}
	}
	return "none"
}

func (e *env) setPurpose(path string, purpose safeguarding.Purpose) error {
	_, err := e.SetPurpose(e.t.Context(), e.Platform.ID, ports.AccountPurpose{Path: path, Purpose: purpose, By: e.by(), Note: "Test"})
	return err
}

// wantBalances checks the present balances of accounts, each named by its path and currency.
func (e *env) wantBalances(want map[string]int64) {
	e.t.Helper()
	for name, minor := range want {
		path, currency, _ := strings.Cut(name, " ")
		account := ledger.Account{Platform: e.Platform.ID, Path: path, Currency: money.Currency(currency)}
		balances, err := e.Store.LedgerReader().Balances(e.t.Context(), []ledger.Account{account})
		if err != nil || balances[account] != minor {
			e.t.Errorf("%s holds %d, %v, want %d", name, balances[account], err, minor)
		}
	}
}
