package books_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/audit"
	booksapp "causeway/app/books"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
)

// lastYear is the day that the balances of most tests are as of. It is over at apptest.Noon.
var lastYear = time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)

func (e *env) importOpening(file string, against bool) ([]booksapp.PostedOpening, error) {
	return done(e.books.ImportOpeningBalances(context.Background(), e.Platform.ID, e.change("From the former provider"), nil,
		booksapp.OpeningImport{File: strings.NewReader("account,currency,debit,credit\n" + file), AsOf: lastYear,
			AgainstBroughtForward: against}))
}

func (e *env) reverseOpening(currency money.Currency) (ledger.Posting, error) {
	return done(e.books.ReverseOpeningBalances(context.Background(), e.Platform.ID, e.change(""), nil, currency))
}

// openAccount opens an internal account of the customer that was never posted to.
func (e *env) openAccount(t *testing.T, currency money.Currency) account.Internal {
	t.Helper()
	opened, err := account.NewInternal(ident.NewInternalAccount(e.IDs.New, apptest.Noon), e.Platform.ID, e.Customer.ID, currency, apptest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{opened})
	})
	return opened
}

// findings runs the check of the ledger.
func (e *env) findings(t *testing.T) []audit.Finding {
	t.Helper()
	return audittest.Check(t, e.Env).Findings
}

func TestService_ImportOpeningBalances(t *testing.T) {
	t.Parallel()
	// A file becomes one authorised posting a currency at the end of the day. Accounts have the balances of the
	// file, customers get the event of their new balance, and equity/brought-forward is zero.
	env := newEnv(t)
	ana := env.openAccount(t, money.USD)
	path := ledger.CustomerAccount(ana.ID)

	posted, err := env.importOpening("rails/RTP,USD,150.00,\n"+path+
		",USD,,100.50\nequity/capital,USD,,49.50\nchains/LAYER2,BTC,0.5,\nfx/position,BTC,,0.5\n", false)

	if err != nil || len(posted) != 2 || posted[0].Currency != money.BTC || posted[1].Debits.String() != "15000" ||
		posted[1].Difference.Sign() != 0 {
		t.Fatalf("posted %+v, %v", posted, err)
	}
	env.WantBalances(map[string]int64{"rails/RTP USD": 150_00, path + " USD": -100_50, "equity/capital USD": -49_50,
		"chains/LAYER2 BTC": 50_000_000, "fx/position BTC": -50_000_000})
	env.Events.Want(ana.ID.UUID(), event.InternalAccountBalanceUpdated)
	stored, found, err := env.Store.LedgerReader().Posting(t.Context(), env.Platform.ID, posted[1].Posting.ID)
	if err != nil || !found || stored.Kind != ledger.KindOpeningBalances || stored.Memo != "Opening balances as of 2025-12-31" ||
		!stored.Effective.Equal(lastYear.AddDate(0, 0, 1).Add(-time.Microsecond)) {
		t.Errorf("stored %+v, %v", stored, err)
	}
	authorisation, found, err := env.Store.Authorisation(t.Context(), env.Platform.ID, stored.ID)
	if err != nil || !found || authorisation.By != env.change("").By || authorisation.Note != "From the former provider" {
		t.Errorf("authorised %+v, %v", authorisation, err)
	}
	if found := env.findings(t); len(found) > 0 {
		t.Errorf("findings %v", found)
	}
}

func TestService_ImportOpeningBalancesAgainstBroughtForward(t *testing.T) {
	t.Parallel()
	// The difference of a currency is named, and is left at equity/brought-forward only if that was asked for.
	env := newEnv(t)
	file := "rails/RTP,USD,150.00,\nequity/capital,USD,,49.50\n"
	_, err := env.importOpening(file, false)
	apptest.WantFault(t, "a difference", err, fault.InvalidInput, "USD")

	if _, err := env.importOpening(file, true); err != nil {
		t.Fatal(err)
	}

	env.WantBalances(map[string]int64{"rails/RTP USD": 150_00, "equity/capital USD": -49_50, "equity/brought-forward USD": -100_50})
}

func TestService_ImportOpeningBalancesOnce(t *testing.T) {
	t.Parallel()
	// A currency is imported once. After a reversal, which restores every balance, it can be imported again, also
	// several times. Another currency can follow.
	env := newEnv(t)
	first, err := env.importOpening("rails/RTP,USD,10,\nequity/capital,USD,,10\n", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"rails/RTP,USD,10,\nequity/capital,USD,,10\n", "asset/taxes,USD,7,\nequity/capital,USD,,7\n"} {
		_, err := env.importOpening(file, false)
		apptest.WantFault(t, "a second import", err, fault.Conflict)
	}
	if _, err := env.importOpening("rails/SEPA,EUR,10,\nequity/capital,EUR,,10\n", false); err != nil {
		t.Errorf("another currency: %v", err)
	}

	for range 2 {
		reversal, err := env.reverseOpening(money.USD)
		if err != nil || !reversal.Effective.Equal(first[0].Posting.Effective) {
			t.Fatalf("reversed %+v, %v", reversal, err)
		}
		env.WantBalances(map[string]int64{"rails/SEPA EUR": 10_00, "equity/capital EUR": -10_00})
		if again, err := env.importOpening("rails/RTP,USD,20,\nequity/capital,USD,,20\n", false); err != nil ||
			again[0].Posting.ID == first[0].Posting.ID {
			t.Fatalf("imported again %+v, %v", again, err)
		}
	}

	env.WantBalances(map[string]int64{"rails/RTP USD": 20_00, "equity/capital USD": -20_00, "rails/SEPA EUR": 10_00,
		"equity/capital EUR": -10_00})
	_, err = env.reverseOpening(money.BTC)
	apptest.WantFault(t, "nothing to reverse", err, fault.NotFound)
	if found := env.findings(t); len(found) > 0 {
		t.Errorf("findings %v", found)
	}
}

func TestService_ImportOpeningBalancesRefuses(t *testing.T) {
	t.Parallel()
	// Wrong rows are listed and nothing is posted: internal accounts that do not exist, are in another currency or
	// have another path, and accounts that finance has not added. So are a day that is not over, and balances that
	// exist at that time.
	env := newEnv(t)
	euros := env.openAccount(t, "EUR")
	unknown := ledger.CustomerAccount(ident.NewInternalAccount(env.IDs.New, apptest.Noon))
	_, err := env.importOpening(fmt.Sprintf("rails/RTP,USD,3,\n%s,USD,,1\n%s,USD,,1\n%s,USD,,1\n", ledger.CustomerAccount(euros.ID),
		ledger.PlatformAccount(euros.ID), unknown), false)
	apptest.WantFault(t, "internal accounts", err, fault.InvalidInput, "row 3 account", "row 4 account", "row 5 account")
	_, err = env.importOpening("rails/RTP,USD,3,\nliability/loans,USD,,3\n", false)
	apptest.WantFault(t, "an account that was not added", err, fault.InvalidInput, "row 3 account")
	for _, day := range []time.Time{apptest.Noon, {}} {
		_, err = done(env.books.ImportOpeningBalances(t.Context(), env.Platform.ID, env.change(""), nil,
			booksapp.OpeningImport{File: strings.NewReader(""), AsOf: day}))
		apptest.WantFault(t, day.String(), err, fault.InvalidInput, "asOf")
	}
	env.WantBalances(map[string]int64{})

	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.Post(ctx, []ledger.Posting{ledger.FeePaid(ledger.Header{ID: uuid.New(), Platform: env.Platform.ID, Effective: lastYear,
			Memo: "x"}, ledger.Rail("RTP"), money.Amount{Minor: 5, Currency: money.USD})})
	})
	_, err = env.importOpening("rails/RTP,USD,3,\nequity/capital,USD,,3\n", false)
	apptest.WantFault(t, "balances exist", err, fault.Conflict)
	if _, err := env.importOpening("rails/SEPA,EUR,3,\nequity/capital,EUR,,3\n", false); err != nil {
		t.Errorf("in another currency: %v", err)
	}
}

func TestService_ImportOpeningBalancesIntoMonths(t *testing.T) {
	t.Parallel()
	// A soft-closed month takes opening balances, because they are authorised. A closed one, and one before the
	// first accounting period, do not. The reversal of closed ones is effective in the next month.
	env := newEnv(t)
	change := func(action period.Action, m period.Month) {
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			calendar, err := tx.LockPeriods(ctx, env.Platform.ID)
			if err != nil {
				return err
			}
			next, err := calendar.Apply(action, m, apptest.Noon)
			if err != nil {
				return err
			}
			done := period.Change{Platform: env.Platform.ID, Month: m, Action: action, At: apptest.Noon, By: env.change("").By}
			if action == period.Close {
				if _, err := tx.RecordClosing(ctx, done, calendar); err != nil {
					return err
				}
			}
			return tx.ChangePeriods(ctx, done, next)
		})
	}
	december := period.MonthOf(lastYear)
	change(period.SoftClose, december)
	if _, err := env.importOpening("rails/RTP,USD,3,\nequity/capital,USD,,3\n", false); err != nil {
		t.Errorf("soft-closed: %v", err)
	}
	change(period.Close, december)
	_, err := env.importOpening("rails/SEPA,EUR,3,\nequity/capital,EUR,,3\n", false)
	apptest.WantFault(t, "closed", err, fault.Conflict)

	reversal, err := env.reverseOpening(money.USD)

	if err != nil || !reversal.Effective.Equal(december.End()) {
		t.Errorf("reversed %+v, %v", reversal, err)
	}
	if found := env.findings(t); len(found) > 0 {
		t.Errorf("findings %v", found)
	}
}

func TestService_ReverseOpeningBalancesOfSpentMoney(t *testing.T) {
	t.Parallel()
	// Opening balances of which a customer has spent some cannot be reversed.
	env := newEnv(t)
	path := ledger.CustomerAccount(env.openAccount(t, money.USD).ID)
	if _, err := env.importOpening("rails/RTP,USD,3,\n"+path+",USD,,3\n", false); err != nil {
		t.Fatal(err)
	}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.Post(ctx, []ledger.Posting{ledger.FeeCharged(ledger.Header{ID: uuid.New(), Platform: env.Platform.ID, Effective: apptest.Noon,
			Memo: "x"}, path, money.Amount{Minor: 1, Currency: money.USD})})
	})

	_, err := env.reverseOpening(money.USD)

	apptest.WantFault(t, "spent", err, fault.InsufficientBalance)
}

func TestCheck_FindsDamagedOpeningBalances(t *testing.T) {
	t.Parallel()
	// Opening balances that nobody authorised, that are posted beside others, or that are not brought forward, are
	// found.
	post := func(env *env, nth int, entries ...ledger.Entry) {
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			p := ledger.OpeningBalances(ledger.Header{ID: ledger.OpeningBalancesID(env.Platform.ID, money.USD, nth), Platform: env.Platform.ID,
				Effective: apptest.Noon, Memo: "x"}, money.USD, nil)
			p.Entries = entries
			return tx.Post(ctx, []ledger.Posting{p})
		})
	}
	brought := ledger.Entry{Debit: "rails/RTP", Credit: ledger.EquityBroughtForward, Currency: money.USD, Amount: 1}
	for want, damage := range map[string]func(*env){
		"nobody has authorised": func(e *env) {
			pgtest.ExecAsSuperuser(t, e.URL, "ALTER TABLE ledger_authorisations DISABLE TRIGGER append_only; DELETE FROM ledger_authorisations")
		},
		"which is not reversed": func(e *env) { post(e, 1, brought) },
		"is not between": func(e *env) {
			post(e, 1, ledger.Entry{Debit: "rails/RTP", Credit: "equity/capital", Currency: money.USD, Amount: 1})
		},
		"its id is not that": func(e *env) { post(e, 7, brought) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			if _, err := env.importOpening("rails/RTP,USD,3,\nequity/capital,USD,,3\n", false); err != nil {
				t.Fatal(err)
			}
			damage(env)

			found := env.findings(t)

			matches := 0
			for _, f := range found {
				if f.Rule == audit.RuleOpeningBalances && strings.Contains(f.Message, want) {
					matches++
				}
			}
			if matches != 1 {
				t.Errorf("findings %v", found)
			}
		})
	}
}

func TestService_ImportOpeningBalancesOfManyAccounts(t *testing.T) {
	t.Parallel()
	// Thousands of accounts are taken over in one posting, which is read, checked and reversed as any other.
	const accounts = 5000
	env := newEnv(t)
	file := strings.Builder{}
	fmt.Fprintf(&file, "rails/RTP,USD,%d.00,\n", accounts)
	for i := range accounts {
		fmt.Fprintf(&file, "liability/c%d,USD,,1.00\n", i)
	}
	if _, err := env.Store.Pool().Exec(t.Context(),
		`INSERT INTO ledger_added_accounts SELECT $1, 'liability/c' || n, 1, 'A', '', false, now(), NULL, 'ana', '' FROM generate_series(0, $2) n`,
		env.Platform.ID.UUID(), accounts); err != nil {
		t.Fatal(err)
	}

	posted, err := env.importOpening(file.String(), false)
	if err != nil || len(posted[0].Posting.Entries) != accounts+1 {
		t.Fatalf("posted %d, %v", len(posted), err)
	}
	if found := env.findings(t); len(found) > 0 {
		t.Errorf("findings %v", found)
	}
	read, found, err := env.Store.Finance().RecordedPosting(t.Context(), env.Platform.ID, posted[0].Posting.ID)
	if err != nil || !found || len(read.Entries) != accounts+1 {
		t.Errorf("read %d entries, %v", len(read.Entries), err)
	}
	if _, err := env.reverseOpening(money.USD); err != nil {
		t.Error(err)
	}
	env.WantBalances(map[string]int64{})
}
