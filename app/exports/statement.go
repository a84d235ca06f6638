package exports

import (
	"context"
	"fmt"
	"io"
	"time"

	"causeway/app/exports/statement"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// StatementFormat is the format of an account statement.
type StatementFormat string

// The formats of account statements.
const (
	HTML StatementFormat = "html"
	PDF  StatementFormat = "pdf"
)

// StatementRequest selects a statement of one account of a customer, by the account's id or its
// currency.
type StatementRequest struct {
	Customer ident.Customer
	Account  ident.InternalAccount
	Currency money.Currency
	period.Interval
	Format StatementFormat
}

// Statement prepares an account statement for a customer. Faults: INVALID_INPUT with every invalid
// field; USER_NOT_FOUND; INTERNAL_ACCOUNT_NOT_FOUND; from Write, INVALID_INPUT for a PDF of too
// many movements, and RATE_LIMITED while too many documents are being written.
func (e *Service) Statement(ctx context.Context, p ident.Platform, r StatementRequest) (Document, error) {
	now := e.Clock.Now()
	if bad := r.check(now); len(bad) > 0 {
		return Document{}, fault.Invalid(bad...)
	}
	// Deleted customers have statements too.
	owner, err := e.Store.Customer(ctx, p, r.Customer)
	if err != nil {
		return Document{}, err
	}
	account, err := e.findAccount(ctx, p, r)
	if err != nil {
		return Document{}, err
	}
	issuer, err := e.Store.Platform(ctx, p)
	if err != nil {
		return Document{}, err
	}
	if r.To.IsZero() {
		r.To = now
	}
	if r.From.IsZero() {
		// A posting may be effective a little before the account was opened.
		r.From = earlier(account.CreatedAt, r.To)
	}
	return e.statementDocument(r, account, issuer.Name, owner.Name()), nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// check returns everything that is wrong with a request.
func (r StatementRequest) check(now time.Time) []fault.Field {
	bad := checkInterval(r.Interval, now)
	switch {
	case r.Account.IsZero() && r.Currency == "":
		bad = append(bad, fault.Field{Field: "accountId", Message: "is required unless currency is set"})
	case r.Currency != "" && !r.Currency.Known():
		bad = append(bad, fault.Field{Field: "currency", Message: "must be a supported currency"})
	}
	if r.Format != HTML && r.Format != PDF {
		bad = append(bad, fault.Field{Field: "format", Message: "must be html or pdf"})
	}
	return bad
}

// findAccount returns the account that a request selects.
func (e *Service) findAccount(ctx context.Context, p ident.Platform, r StatementRequest) (account.Internal, error) {
	if r.Account.IsZero() {
		owned, err := e.Store.InternalAccountsOf(ctx, p, []ident.Customer{r.Customer})
		if err != nil {
			return account.Internal{}, err
		}
		for _, candidate := range owned[r.Customer] {
			if candidate.Currency == r.Currency {
				return candidate, nil
			}
		}
		return account.Internal{}, fault.New(fault.InternalAccountNotFound,
			"This customer has no account in %s. List the customer's accounts with GET /customers/internal-accounts.", r.Currency)
	}
	found, err := e.Store.InternalAccount(ctx, p, r.Account)
	switch {
	case err != nil:
		return account.Internal{}, err
	case found.Customer != r.Customer:
		return account.Internal{}, fault.New(fault.InternalAccountNotFound,
			"This customer has no account with this id. List the customer's accounts with GET /customers/internal-accounts.")
	case r.Currency != "" && found.Currency != r.Currency:
		return account.Internal{}, fault.Invalid(fault.Field{Field: "currency", Message: "must be " + string(found.Currency) +
			", the currency of the account"})
	}
	return found, nil
}

// statementDocument returns the document that writes the statement.
func (e *Service) statementDocument(r StatementRequest, a account.Internal, issuer, owner string) Document {
	d := Document{Name: fmt.Sprintf("statement-%s-%s.%s", a.Currency, r.Last().Format(time.DateOnly), r.Format)}
	write := statement.HTML
	d.ContentType, d.ContentSecurityPolicy = "text/html; charset=utf-8", statement.ContentSecurityPolicy
	if r.Format == PDF {
		write, d.ContentType, d.ContentSecurityPolicy = statement.PDF, "application/pdf", ""
	}
	ledgerAccount := a.LedgerAccount()
	d.Write = e.limitConcurrency(a.Platform, func(ctx context.Context, out io.Writer) error {
		return e.Views.View(ctx, a.Platform, time.Time{}, func(ctx context.Context, view ports.LedgerView) error {
			s, err := loadSummary(ctx, view, ledgerAccount, r.Interval)
			if err != nil {
				return err
			}
			if r.Format == PDF && s.MovementCount > statement.MaxPDFMovements {
				return fault.Invalid(fault.Field{Field: "format",
					Message: fmt.Sprintf("must be html for %d movements: a pdf has at most %d; or choose a shorter period", s.MovementCount,
						statement.MaxPDFMovements)})
			}
			refunded, err := countWhatMoved(ctx, view, ledgerAccount, r.Interval, &s)
			if err != nil {
				return err
			}
			s.Company, s.Issuer, s.Owner, s.Account, s.Interval = e.Company, issuer, owner, a.ID.String(), r.Interval
			movements := narrative{store: e.Store, view: view, account: ledgerAccount, interval: r.Interval, balance: s.Opening, closing: s.Closing,
				counterpartyNames: map[ident.ExternalAccount]string{}, refunded: refunded}
			abortable := &abortableWriter{out: out, err: &movements.err}
			if err := write(abortable, s, movements.all(ctx)); movements.err == nil {
				return err
			}
			return movements.err
		})
	})
	return d
}

// loadSummary returns the balances and totals of the account for an interval. The ledger has debits
// minus credits; the owner's balance is the opposite.
func loadSummary(ctx context.Context, view ports.LedgerView, a ledger.Account, interval period.Interval) (statement.Summary, error) {
	s := statement.Summary{Currency: a.Currency, AsOf: view.LastPosting().Recorded}
	err := view.Accounts(ctx, ports.LedgerFilter{Interval: interval, Path: a.Path, Currency: a.Currency}, func(t ports.AccountTurnover) error {
		s.Opening, s.Closing = -t.Opening, -t.Closing
		s.TotalIn, s.TotalOut, s.MovementCount = t.Credits.Sum, t.Debits.Sum, t.Credits.Count+t.Debits.Count
		return nil
	})
	return s, err
}

// abortableWriter writes nothing after an error, so that an incomplete page has no end.
type abortableWriter struct {
	out io.Writer
	err *error
}

func (w *abortableWriter) Write(p []byte) (int, error) {
	if *w.err != nil {
		return 0, *w.err
	}
	return w.out.Write(p)
}
