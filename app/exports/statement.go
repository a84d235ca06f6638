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
	"causeway/core/quote"
	"causeway/ledger"
	"causeway/ports"
)

// StatementFormat is what a statement is set as.
type StatementFormat string

// The formats of statements.
const (
	HTML StatementFormat = "html"
	PDF  StatementFormat = "pdf"
)

// StatementRequest says which statement is wanted: of one account of a customer, by its
// id or its currency.
type StatementRequest struct {
	Customer ident.Customer
	Account  ident.InternalAccount
	Currency money.Currency
	period.Interval
	Format StatementFormat
}

// Statement makes ready to write an account statement for a customer. Faults:
// INVALID_INPUT with every bad field, USER_NOT_FOUND, INTERNAL_ACCOUNT_NOT_FOUND; from
// Write, INVALID_INPUT for a PDF of too many movements and RATE_LIMITED while too many
// are being written.
func (e *Service) Statement(ctx context.Context, p ident.Platform, r StatementRequest) (Document, error) {
	now := e.Clock.Now()
	if bad := r.check(now); len(bad) > 0 {
		return Document{}, fault.Invalid(bad...)
	}
	// Deleted customers too: what they had stays in the books.
	owner, err := e.Store.Customer(ctx, p, r.Customer)
	if err != nil {
		return Document{}, err
	}
	of, err := e.findAccount(ctx, p, r)
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
		// Money may have taken effect a little before the account is said to be opened.
		r.From = earlier(of.CreatedAt, r.To)
	}
	return e.statementDocument(r, of, issuer.Name, owner.Name()), nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// check finds everything that is wrong with a request at a moment.
func (r StatementRequest) check(now time.Time) []fault.Field {
	bad := checkPeriod(r.Interval, now)
	switch {
	case r.Account.IsZero() && r.Currency == "":
		bad = append(bad, fault.Field{Field: "accountId", Message: "is required, or else currency"})
	case r.Currency != "" && !r.Currency.Known():
		bad = append(bad, fault.Field{Field: "currency", Message: "must be a currency that is known here"})
	}
	if r.Format != HTML && r.Format != PDF {
		bad = append(bad, fault.Field{Field: "format", Message: "must be html or pdf"})
	}
	return bad
}

// findAccount finds the account of the customer that is meant.
func (e *Service) findAccount(ctx context.Context, p ident.Platform, r StatementRequest) (account.Internal, error) {
	if r.Account.IsZero() {
		owned, err := e.Store.InternalAccountsOf(ctx, p, []ident.Customer{r.Customer})
		if err != nil {
			return account.Internal{}, err
		}
		for _, is := range owned[r.Customer] {
			if is.Currency == r.Currency {
				return is, nil
			}
		}
		return account.Internal{}, fault.New(fault.InternalAccountNotFound,
			"This customer has no account in %s. List the customer's accounts with GET /customers/internal-accounts.", r.Currency)
	}
	is, err := e.Store.InternalAccount(ctx, p, r.Account)
	switch {
	case err != nil:
		return account.Internal{}, err
	case is.Customer != r.Customer:
		return account.Internal{}, fault.New(fault.InternalAccountNotFound,
			"This customer has no account with this id. List the customer's accounts with GET /customers/internal-accounts.")
	case r.Currency != "" && is.Currency != r.Currency:
		return account.Internal{}, fault.Invalid(fault.Field{Field: "currency", Message: "must be " + string(is.Currency) + ", that of the account, or left out"})
	}
	return is, nil
}

// statementDocument writes the statement from one snapshot of the books.
func (e *Service) statementDocument(r StatementRequest, of account.Internal, issuer, owner string) Document {
	d := Document{Name: fmt.Sprintf("statement-%s-%s.%s", of.Currency, r.To.Add(-time.Microsecond).Format(time.DateOnly), r.Format)}
	set := statement.HTML
	d.ContentType, d.ContentSecurityPolicy = "text/html; charset=utf-8", statement.ContentSecurityPolicy
	if r.Format == PDF {
		set, d.ContentType, d.ContentSecurityPolicy = statement.PDF, "application/pdf", ""
	}
	place := ledger.Account{Platform: of.Platform, Path: quote.AccountPath(of), Currency: of.Currency}
	d.Write = e.limitConcurrency(func(ctx context.Context, out io.Writer) error {
		return e.Views.View(ctx, of.Platform, time.Time{}, func(ctx context.Context, view ports.LedgerView) error {
			s, err := loadSummary(ctx, view, place, r.Interval)
			if err != nil {
				return err
			}
			if r.Format == PDF && s.MovementCount > statement.MaxPDFMovements {
				return fault.Invalid(fault.Field{Field: "format",
					Message: fmt.Sprintf("must be html for %d movements: a pdf holds %d; take that or a shorter period", s.MovementCount, statement.MaxPDFMovements)})
			}
			s.Issuer, s.Owner, s.Account, s.From, s.To = issuer, owner, of.ID.String(), r.From, r.To
			told := narrative{store: e.Store, view: view, account: place, interval: r.Interval, balance: s.Opening, closing: s.Closing, counterpartyNames: map[ident.ExternalAccount]string{}}
			gate := &abortableWriter{out: out, err: &told.err}
			if err := set(gate, s, told.movements(ctx)); told.err == nil {
				return err
			}
			return told.err
		})
	})
	return d
}

// loadSummary is what the books say of the account and the period, with the sign of the
// owner: debits less credits is what the service has, and so what the owner has not.
func loadSummary(ctx context.Context, view ports.LedgerView, a ledger.Account, interval period.Interval) (statement.Summary, error) {
	s := statement.Summary{Currency: a.Currency, AsOf: view.LastPosting().Recorded}
	err := view.Accounts(ctx, ports.LedgerFilter{Interval: interval, Path: a.Path, Currency: a.Currency}, func(t ports.AccountTurnover) error {
		s.Opening, s.Closing = -t.Opening, -t.Closing
		s.TotalIn, s.TotalOut, s.MovementCount = t.Credits.Sum, t.Debits.Sum, t.Credits.Count+t.Debits.Count
		return nil
	})
	return s, err
}

// abortableWriter lets nothing through once something went wrong, so that a page that broke off
// does not get its end.
type abortableWriter struct {
	out io.Writer
	err *error
}

func (g *abortableWriter) Write(p []byte) (int, error) {
	if *g.err != nil {
		return 0, *g.err
	}
	return g.out.Write(p)
}
