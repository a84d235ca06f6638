package customers

import (
	"context"
	"crypto/rand"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
	"causeway/ports"
)

// KYCLinksConfig holds what the use cases of KYCLinks need.
type KYCLinksConfig struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
}

// KYCLinks implements the use cases of the links with which customers open the pages of their
// verification.
type KYCLinks struct{ KYCLinksConfig }

// NewKYCLinks returns KYCLinks.
func NewKYCLinks(c KYCLinksConfig) *KYCLinks { return &KYCLinks{c} }

// IssuedKYCLink is a new link with its token, which is not stored.
type IssuedKYCLink struct {
	verification.Link
	Token string
}

// Create returns a new link for a customer; earlier ones stay valid. Faults: USER_NOT_FOUND,
// CUSTOMER_DELETED, CONFLICT while its contacts are not verified, INVALID_INPUT for a redirectURI that is not allowed.
func (s *KYCLinks) Create(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	redirectURI string) (IssuedKYCLink, error) {
	now := s.Clock.Now()
	owner, err := s.Store.Platform(ctx, p)
	if err != nil {
		return IssuedKYCLink{}, err
	}
	found, err := s.Store.Customer(ctx, p, id)
	if err != nil {
		return IssuedKYCLink{}, err
	}
	token, hash := newSecret(p)
	link, err := verification.NewLink(s.IDs.New(now), owner, found, redirectURI, hash, now)
	if err != nil {
		return IssuedKYCLink{}, err
	}
	issued := IssuedKYCLink{link, token}
	return issued, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, issued, nil); err != nil {
			return err
		}
		return tx.CreateKYCLink(ctx, link)
	})
}

// newSecret returns a secret of 256 random bits and its hash.
func newSecret(p ident.Platform) (text string, hash verification.SecretHash) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return verification.NewSecret(p, random)
}

// KYCSession is the session of a customer on the pages of its verification.
type KYCSession struct {
	verification.Link
	Customer customer.Customer
	// Secret continues the session. Only Open returns it; it is not stored.
	Secret string
}

// Open opens the link with a token and begins a session. A link is opened once: a second call fails,
// also with the right token, and the one who opened it goes on with the secret of the session. Faults:
// NOT_FOUND, CUSTOMER_DELETED; CONFLICT if it was opened or has expired.
func (s *KYCLinks) Open(ctx context.Context, token string) (session KYCSession, err error) {
	p, hash, ok := verification.ParseSecret(token)
	if !ok {
		return session, errNoSession
	}
	ctx = ports.ForPlatform(ctx, p)
	secret, sessionHash := newSecret(p)
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		link, err := tx.LockKYCLink(ctx, p, hash)
		if err != nil {
			return err
		}
		if link, err = link.Open(sessionHash, s.Clock.Now()); err != nil {
			return err
		}
		found, err := tx.LockCustomer(ctx, p, link.Customer)
		if err != nil {
			return err
		}
		if session, err = newKYCSession(link, found); err != nil {
			return err
		}
		return tx.UpdateKYCLink(ctx, link)
	})
	if err != nil {
		return KYCSession{}, err
	}
	session.Secret = secret
	return session, nil
}

// Session returns the session with a secret. Faults: NOT_FOUND, CUSTOMER_DELETED, CONFLICT if it has
// ended.
func (s *KYCLinks) Session(ctx context.Context, secret string) (KYCSession, error) {
	p, hash, ok := verification.ParseSecret(secret)
	if !ok {
		return KYCSession{}, errNoSession
	}
	ctx = ports.ForPlatform(ctx, p)
	link, err := s.Store.KYCLinkOfSession(ctx, p, hash)
	if err != nil {
		return KYCSession{}, err
	}
	if err := link.CheckSession(s.Clock.Now()); err != nil {
		return KYCSession{}, err
	}
	found, err := s.Store.Customer(ctx, p, link.Customer)
	if err != nil {
		return KYCSession{}, err
	}
	return newKYCSession(link, found)
}

func newKYCSession(link verification.Link, c customer.Customer) (KYCSession, error) {
	if c.Deleted() {
		return KYCSession{}, fault.New(fault.CustomerDeleted, "The customer of this link is deleted.")
	}
	return KYCSession{Link: link, Customer: c}, nil
}

var errNoSession = fault.New(fault.NotFound, "This link is not valid. Ask for a new one.")
