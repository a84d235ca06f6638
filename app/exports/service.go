// Package exports writes the books out: to other programs as CSV, as journals for
// hledger, ledger and beancount and as camt.053 statements, and to people as account
// statements.
//
// Every document is of one moment. It is streamed from one snapshot in a bounded amount
// of memory, and written again for the same moment it is the same to the byte. The
// package only reads, and decides nothing about money.
package exports

import (
	"context"
	"fmt"
	"io"
	"time"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Views ports.LedgerViews
	// Store has whose accounts they are and what payments are called; only statements
	// for people need it.
	Store Store
	Clock ports.Clock
	// MaxConcurrency is how many documents are written at the same time; any number when zero.
	// Each holds a connection to the database for as long as its reader takes.
	MaxConcurrency int
	// Progress is told how many of how many postings have been written; nil: nobody.
	Progress func(done, total int64)
}

// Store is what statements for people read beside the books.
type Store interface {
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error)
	ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	TransactionsByKey(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
}

// Service are the use cases.
type Service struct {
	Config
	slots chan struct{}
}

// New makes the use cases.
func New(c Config) *Service {
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	return &Service{Config: c, slots: make(chan struct{}, c.MaxConcurrency)}
}

// Document is something to be written. Write may fail before its first byte with a
// fault, and later with any error: then what was written is no document.
type Document struct {
	// Name is a file name, ContentType a media type. Policy is the
	// Content-Security-Policy of a page, and empty for what is no page.
	Name, ContentType, ContentSecurityPolicy string
	Write                                    func(ctx context.Context, out io.Writer) error
}

// Request says what is to be exported.
type Request struct {
	Format Format
	// AsOf is the recorded time that the books are shown at; zero: now.
	AsOf time.Time
	ports.LedgerFilter
}

// Export prepares an export of the ledger of a platform. Faults: INVALID_INPUT with every
// invalid field; from Write, INVALID_INPUT for an account that was never posted to and
// RATE_LIMITED while too many documents are being written.
func (e *Service) Export(p ident.Platform, r Request) (Document, error) {
	if bad := r.check(e.Clock.Now()); len(bad) > 0 {
		return Document{}, fault.Invalid(bad...)
	}
	form := formatWriters[r.Format]
	return Document{Name: "books." + form.extension, ContentType: form.contentType, Write: e.limitConcurrency(func(ctx context.Context, out io.Writer) error {
		return e.Views.View(ctx, p, r.AsOf, func(ctx context.Context, view ports.LedgerView) error {
			if err := checkAccountExists(ctx, view, r); err != nil {
				return err
			}
			return form.write(ctx, out, exportJob{view: view, filter: r.LedgerFilter, platform: p, progress: e.Progress})
		})
	})}, nil
}

// limitConcurrency lets no more than AtOnce write at the same time.
func (e *Service) limitConcurrency(write func(context.Context, io.Writer) error) func(context.Context, io.Writer) error {
	if e.MaxConcurrency == 0 {
		return write
	}
	return func(ctx context.Context, out io.Writer) error {
		select {
		case e.slots <- struct{}{}:
			defer func() { <-e.slots }()
			return write(ctx, out)
		default:
			return &fault.Error{Code: fault.RateLimited, RetryAfter: 10 * time.Second, Reason: "Too many exports",
				Message: fmt.Sprintf("%d exports and statements are being written, and no more are at once. Try again when one of them has ended.", e.MaxConcurrency)}
		}
	}
}

// checkAccountExists answers INVALID_INPUT for an account that had not been posted to.
func checkAccountExists(ctx context.Context, view ports.LedgerView, r Request) error {
	if r.Path == "" {
		return nil
	}
	found := false
	err := view.Accounts(ctx, ports.LedgerFilter{Path: r.Path, Currency: r.Currency}, func(ports.AccountTurnover) error {
		found = true
		return nil
	})
	if err != nil || found {
		return err
	}
	in := ""
	if r.Currency != "" {
		in = " in " + string(r.Currency)
	}
	return fault.Invalid(fault.Field{Field: "account", Message: fmt.Sprintf("had not been posted to%s at that moment; check the path and the moment", in)})
}
