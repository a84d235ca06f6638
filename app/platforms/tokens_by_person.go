package platforms

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// CreateTokenBy creates the token of a service, as a person who works in the console, and records it. The secret is shown once.
func (s *Service) CreateTokenBy(ctx context.Context, p ident.Platform, by person.Person, name string,
	permissions []platform.Permission) (IssuedToken, error) {
	issued, err := s.newToken(p, name, permissions, s.Clock.Now())
	if err != nil {
		return IssuedToken{}, err
	}
	issued.Token.Creator = by.ID
	return issued, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.CreateToken(ctx, issued.Token); err != nil {
			return err
		}
		return s.recordBy(ctx, tx, p, by, platform.OperatorCreatedToken, issued.Token.ID.UUID())
	})
}

// DeleteTokenBy is DeleteToken as a person who works in the console, and records it.
func (s *Service) DeleteTokenBy(ctx context.Context, p ident.Platform, by person.Person, id ident.Token) error {
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := deleteToken(ctx, tx, p, id); err != nil {
			return err
		}
		return s.recordBy(ctx, tx, p, by, platform.OperatorDeletedToken, id.UUID())
	})
}

func (s *Service) recordBy(ctx context.Context, tx Tx, p ident.Platform, by person.Person, kind platform.OperatorActionKind,
	subject uuid.UUID) error {
	now := s.Clock.Now()
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: p, Kind: kind, Subject: subject, Actor: by.Email,
		At: now})
}
