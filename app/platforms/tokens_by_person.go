package platforms

import (
	"context"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// CreateTokenBy creates the token of a service, as a person who works in the console, and records it. The secret is shown once. Faults:
// NOT_FOUND, INVALID_INPUT, CONFLICT for a closed platform and for one with platform.MaxTokens.
func (s *Service) CreateTokenBy(ctx context.Context, p ident.Platform, by person.Person, name string,
	permissions []platform.Permission) (IssuedToken, error) {
	issued, err := s.newToken(p, name, permissions, s.Clock.Now())
	if err != nil {
		return IssuedToken{}, err
	}
	issued.Token.Creator = by.ID
	return issued, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := lockRoom(ctx, tx, p, false); err != nil {
			return err
		}
		if err := tx.CreateToken(ctx, issued.Token); err != nil {
			return err
		}
		return s.recordToken(ctx, tx, authorOf(by), platform.OperatorCreatedToken, issued.Token)
	})
}

// DeleteTokenBy is DeleteToken as a person who works in the console.
func (s *Service) DeleteTokenBy(ctx context.Context, p ident.Platform, by person.Person, id ident.Token) error {
	return s.DeleteToken(ctx, p, authorOf(by), id)
}

func authorOf(p person.Person) platform.Author { return platform.Author{Actor: p.Email, Person: p.ID} }
