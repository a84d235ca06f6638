package customers

import (
	"context"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// EndUserTerms returns the terms that customers of platforms that are not regulated have to accept now, or NOT_FOUND if the operator has
// set none.
func (s *Service) EndUserTerms(ctx context.Context) (customer.EndUserTerms, error) {
	versions, err := s.Store.EndUserTerms(ctx)
	if err == nil && len(versions) == 0 {
		err = fault.New(fault.NotFound, "The operator of the service has set no terms for end users, so customers have none to accept.")
	}
	if err != nil {
		return customer.EndUserTerms{}, err
	}
	return versions[len(versions)-1], nil
}

// AllEndUserTerms returns every version of the terms, oldest first.
func (s *Service) AllEndUserTerms(ctx context.Context) ([]customer.EndUserTerms, error) {
	return s.Store.EndUserTerms(ctx)
}

// SetEndUserTerms makes a new version of the terms the present one. Faults: INVALID_INPUT, CONFLICT if the version exists.
func (s *Service) SetEndUserTerms(ctx context.Context, version, link string, by platform.Author) (customer.EndUserTerms, error) {
	terms, err := customer.NewEndUserTerms(version, link, by, s.Clock.Now())
	if err != nil {
		return terms, err
	}
	return terms, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error { return tx.CreateEndUserTerms(ctx, terms) })
}

// checkTermsKnown returns END_USER_TERMS_VERSION_NOT_FOUND if a consent is to terms that do not exist.
func checkTermsKnown(ctx context.Context, tx Tx, consent *customer.Consent) error {
	if consent == nil {
		return nil
	}
	versions, err := tx.EndUserTerms(ctx)
	if err != nil {
		return err
	}
	return consent.CheckKnown(versions)
}
