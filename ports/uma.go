package ports

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/uma"
)

// UMAStore stores the keys of platforms as UMA providers, and what they have of others. Each method is one atomic step.
type UMAStore interface {
	// UMAPlatform returns the production platform with a UMA domain; false if there is none, or several have it.
	UMAPlatform(ctx context.Context, domain string) (platform.Platform, bool, error)
	UMAKeys(ctx context.Context, p ident.Platform) (uma.KeyRing, error)
	// AddUMAKeys adds a key pair. It returns false, and changes nothing, if there is one with its number.
	AddUMAKeys(ctx context.Context, pair uma.KeyPair) (bool, error)
	// DeleteUMAKeys deletes key pairs of a platform that have no use any more.
	DeleteUMAKeys(ctx context.Context, p ident.Platform, pairs []uma.KeyPair) error
	// SaveUMANonce keeps a nonce of a provider until a time. It returns false if it is kept already.
	SaveUMANonce(ctx context.Context, p ident.Platform, domain, nonce string, until time.Time) (bool, error)
	// UMAPeer returns the keys of another provider as a platform has read them last; false for none.
	UMAPeer(ctx context.Context, p ident.Platform, domain string) (uma.PeerKeys, bool, error)
	SaveUMAPeer(ctx context.Context, p ident.Platform, keys uma.PeerKeys) error
	// UMAPeers returns the domains of the providers that a platform has keys of.
	UMAPeers(ctx context.Context, p ident.Platform, limit int) ([]string, error)
}

// UMAInvoices signs the UMA invoices of platforms, and reads those of other providers. Its calls move no money.
type UMAInvoices interface {
	// IssueInvoice returns the signed text of an invoice of a platform, and whether it is to be sent to the provider of its sender.
	// INVALID_RECEIVER if payments with that are not allowed, NOT_IMPLEMENTED if the platform cannot be paid.
	IssueInvoice(ctx context.Context, on platform.Platform, i uma.Invoice) (text string, send bool, err error)
	// SendInvoice sends an issued invoice to the provider of its sender, which takes it once, however often it is sent. The error is a
	// uma.Refusal if that provider does not take it; others may be temporary.
	SendInvoice(ctx context.Context, k uma.KeptInvoice) error
	// CheckInvoice returns an error unless an invoice is signed by the provider of its receiver, with which payments are exchanged.
	CheckInvoice(ctx context.Context, on platform.Platform, i uma.SignedInvoice) error
}

// UMAInvoiceFilter selects UMA invoices, by their receiver or sender; zero fields match all.
type UMAInvoiceFilter struct {
	Paging
	To, From ident.Customer
}
