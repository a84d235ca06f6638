// Package exports exports the ledger as CSV, as journals for hledger, ledger and beancount and as
// camt.053 statements, and writes account statements for customers.
//
// Every document shows the ledger up to one posting and is streamed in bounded memory. Two exports
// as of the same time have the same bytes, but for the names of customers, if these are asked for. The
// package only reads.
package exports

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"causeway/app/exports/camt053"
	"causeway/app/exports/statement"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what a Service needs.
type Config struct {
	Views ports.LedgerViews
	// Store has the platforms, customers, accounts and payments that statements and exports name.
	Store Store
	Clock ports.Clock
	// Company issues account statements and services the accounts of camt.053; may be zero.
	Company statement.Company
	// MaxConcurrency is the maximum number of documents written at the same time, and
	// MaxPerPlatform that of one platform; unlimited if zero.
	MaxConcurrency, MaxPerPlatform int
	// Progress is called with the number of postings written so far, of total; may be nil.
	Progress progress
}

// progress is called with the number of postings written so far, of total.
type progress func(done, total int64)

// Store is what exports and account statements read beside the ledger.
type Store interface {
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error)
	ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	AccountHolders(ctx context.Context, p ident.Platform, accounts []ident.InternalAccount,
		names bool) (map[ident.InternalAccount]ports.AccountHolder, error)
	// GLMapping returns the accounts of the general ledger that the CSV names.
	GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error)
	TransactionsByKey(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
}

// Service holds the use cases on exports and statements.
type Service struct {
	Config
	mu sync.Mutex
	// running counts the documents that are being written, in all and by platform.
	running           int
	runningByPlatform map[ident.Platform]int
}

// New returns a Service.
func New(c Config) *Service {
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	return &Service{Config: c, runningByPlatform: map[ident.Platform]int{}}
}

// Document is a document to be written. Write returns a fault before the first byte, or any error
// later; then what was written is incomplete.
type Document struct {
	// Name is a file name and ContentType a media type. ContentSecurityPolicy is empty unless the
	// document is a web page.
	Name, ContentType, ContentSecurityPolicy string
	Write                                    func(ctx context.Context, out io.Writer) error
}

// Request selects what is exported.
type Request struct {
	Format Format
	// AsOf limits the export to postings recorded by the end of a time; zero for now.
	AsOf time.Time
	ports.LedgerFilter
	// Names adds the present names of customers to their accounts.
	Names bool
}

// Export prepares an export of the ledger of a platform. Faults: INVALID_INPUT with every
// invalid field; from Write, INVALID_INPUT for an account that was never posted to and
// RATE_LIMITED while too many documents are being written.
func (e *Service) Export(p ident.Platform, r Request) (Document, error) {
	document, err := e.document(p, r, e.Progress)
	if err != nil {
		return document, err
	}
	document.Write = e.limitConcurrency(p, document.Write)
	return document, nil
}

func (e *Service) document(p ident.Platform, r Request, progress progress) (Document, error) {
	if bad := r.check(e.Clock.Now()); len(bad) > 0 {
		return Document{}, fault.Invalid(bad...)
	}
	writer := formatWriters[r.Format]
	return Document{Name: "ledger-export." + writer.extension, ContentType: writer.contentType,
		Write: func(ctx context.Context, out io.Writer) error {
			return e.Views.View(ctx, p, r.AsOf, func(ctx context.Context, view ports.LedgerView) error {
				if err := checkAccountExists(ctx, view, r); err != nil {
					return err
				}
				return writer.write(ctx, out, exportJob{view: view, asOf: r.AsOf, filter: r.LedgerFilter, platform: p,
					progress: progress, store: e.Store,
					holders: newHolders(e.Store, p, r.Names), servicer: camt053.Party{Name: e.Company.Name, Address: e.Company.Address}})
			})
		}}, nil
}

// limitConcurrency returns RATE_LIMITED instead of writing if the maximum number of documents are
// being written.
func (e *Service) limitConcurrency(p ident.Platform, write func(context.Context, io.Writer) error) func(context.Context, io.Writer) error {
	return func(ctx context.Context, out io.Writer) error {
		if err := e.begin(p); err != nil {
			return err
		}
		defer e.end(p)
		return write(ctx, out)
	}
}

func (e *Service) begin(p ident.Platform) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var message string
	switch {
	case e.MaxPerPlatform > 0 && e.runningByPlatform[p] >= e.MaxPerPlatform:
		message = fmt.Sprintf("Your platform is already downloading as many exports and statements as it may at the same time (%d). Retry when "+
			"one is complete.", e.MaxPerPlatform)
	case e.MaxConcurrency > 0 && e.running >= e.MaxConcurrency:
		message = fmt.Sprintf("%d exports and statements are being written, which is the maximum. Retry when one is complete.", e.MaxConcurrency)
	default:
		e.running++
		e.runningByPlatform[p]++
		return nil
	}
	return &fault.Error{Code: fault.RateLimited, RetryAfter: 10 * time.Second, Reason: "Too many exports", Message: message}
}

func (e *Service) end(p ident.Platform) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running--
	if e.runningByPlatform[p]--; e.runningByPlatform[p] == 0 {
		delete(e.runningByPlatform, p)
	}
}

// checkAccountExists returns INVALID_INPUT for an account that had no postings.
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
	return fault.Invalid(fault.Field{Field: "account", Message: fmt.Sprintf("had no postings%s at that time; check account, currency and asOf",
		in)})
}
