package receivers

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// Store reads who can be paid, and from what.
type Store interface {
	ports.UnitsOfWork
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
	ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error)
	InternalAccount(ctx context.Context, p ident.Platform, id ident.InternalAccount) (account.Internal, error)
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// UMAInvoice returns an invoice, or NOT_FOUND.
	UMAInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (uma.KeptInvoice, error)
	// UMAInvoiceOf returns an invoice by the domain of the provider that has issued it, and its id there; false for none.
	UMAInvoiceOf(ctx context.Context, p ident.Platform, issuer string, id uuid.UUID) (uma.KeptInvoice, bool, error)
	UMAInvoices(ctx context.Context, p ident.Platform, f ports.UMAInvoiceFilter) (ports.Page[uma.KeptInvoice], error)
	// TransactionsByKey returns transactions without their payment instructions.
	TransactionsByKey(ctx context.Context, keys []ports.TransactionKey) (map[ports.TransactionKey]transaction.Transaction, error)
}

// Tx stores lookups of receivers.
type Tx interface {
	// CreateLookup stores a lookup of a receiver.
	CreateLookup(ctx context.Context, l quote.Lookup) error
	// AddUMAInvoice stores an invoice, unless it is stored already, and returns its id. It adds the sender to one that has none.
	AddUMAInvoice(ctx context.Context, k uma.KeptInvoice) (ident.UMAInvoice, error)
	// LockCustomer returns a customer, or USER_NOT_FOUND, and locks it.
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	// CountUMAInvoices returns how many invoices a customer is asked to pay, by the providers of one site and by all, that have not expired
	// and of which there was no payment. It counts to most.
	CountUMAInvoices(ctx context.Context, p ident.Platform, from ident.Customer, site string, now time.Time, most int) (
		byOne, all int, err error)
	// DeliverUMAInvoice stores what became of the delivery of an invoice.
	DeliverUMAInvoice(ctx context.Context, k uma.KeptInvoice) error
	AddJobs(ctx context.Context, jobs []ports.Job) error
	FinishJobs(ctx context.Context, jobs []ports.Job) error
	Emit(ctx context.Context, events []event.Event) error
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
}
