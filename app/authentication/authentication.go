// Package authentication lets customers enroll the factors of strong customer authentication, log in with them, and reset those that
// they have lost; platforms record failed logins. The rules are in core/sca. What a payment needs to be authorised is for the
// capability that moves the money: it shares app/internal/strongauth.
package authentication

import (
	"context"
	"time"

	"causeway/app/internal/strongauth"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/ports"
)

// Store reads what the use cases need.
type Store interface {
	ports.UnitsOfWork
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	SCACredentials(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error)
	// SCAReset returns a reset of a platform, or REFERENCE_NOT_FOUND.
	SCAReset(ctx context.Context, p ident.Platform, id ident.SCAReset) (sca.Reset, error)
	// OpenSCAResets returns the resets of a platform that are not decided and have not expired, oldest first.
	OpenSCAResets(ctx context.Context, p ident.Platform, now time.Time) ([]sca.Reset, error)
}

// Tx is a unit of work.
type Tx interface {
	strongauth.Tx
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	UpdateCustomer(ctx context.Context, c customer.Customer) error
	DeleteSCACredential(ctx context.Context, p ident.Platform, id ident.SCACredential) error
	CreateSCASession(ctx context.Context, s sca.Session) error
	// EndSCASessions ends the sessions of a customer that a factor has opened, and the challenges that it could answer; all for no factor.
	EndSCASessions(ctx context.Context, p ident.Platform, id ident.Customer, opened sca.Factor, now time.Time) error
	// SCAResets returns the latest resets of a customer, the newest first: as many as CheckResets needs.
	SCAResets(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Reset, error)
	// LockSCAReset returns a reset of a platform, or REFERENCE_NOT_FOUND.
	LockSCAReset(ctx context.Context, p ident.Platform, id ident.SCAReset) (sca.Reset, error)
	SaveSCAReset(ctx context.Context, r sca.Reset) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
}

// Config holds what the use cases need.
type Config struct {
	Store Store
	*strongauth.Auth
	Liveness ports.ResetChecksByEnvironment
	Clock    ports.Clock
}

// Service implements the use cases. All of them have the faults USER_NOT_FOUND, CUSTOMER_DELETED, and CONFLICT for a customer of a
// region that does not require strong customer authentication.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// now returns the time in the precision in which it is stored.
func (s *Service) now() time.Time { return s.Clock.Now().UTC().Truncate(time.Microsecond) }

// read returns a customer that needs strong customer authentication.
func (s *Service) read(ctx context.Context, p ident.Platform, id ident.Customer) (of strongauth.Subject, err error) {
	if of.Platform, err = s.Store.Platform(ctx, p); err != nil {
		return of, err
	}
	of.Customer, err = s.Store.Customer(ctx, p, id)
	return of, check(of, err)
}

// do runs fn with a locked customer that needs strong customer authentication, and stores the response. fn returns refused for an answer
// that is an error although what it has written is to be kept, and err to write nothing.
func do[R any](ctx context.Context, s *Service, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	fn func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (result R, refused, err error)) (result R, err error) {
	owner, err := s.Store.Platform(ctx, p)
	if err != nil {
		return result, err
	}
	var refused error
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockCustomer(ctx, p, id)
		of := strongauth.Subject{Platform: owner, Customer: locked, Purpose: sca.Login}
		if err := check(of, err); err != nil {
			return err
		}
		if result, refused, err = fn(ctx, tx, of, s.now()); err != nil || request == nil {
			return err
		}
		return tx.SaveResponse(ctx, request, result, refused)
	})
	if err == nil {
		err = refused
	}
	return result, err
}

func check(of strongauth.Subject, err error) error {
	switch {
	case err != nil:
		return err
	case of.Customer.Deleted():
		return fault.New(fault.CustomerDeleted, "The customer %s is deleted; it cannot be authenticated.", of.Customer.ID)
	case !of.Platform.RequiresSCA(of.Customer.Region):
		return sca.ErrNotRequired
	default:
		return nil
	}
}
