package platforms

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// IssuedToken is a token and its secret. The secret is empty except in the result of the
// call that created the token.
type IssuedToken struct {
	Token  platform.Token
	Secret string
}

// CreateToken creates a token of a platform. The secret is in the first response only: the
// response that is stored for a repeated request does not contain it.
//
// The token is that of a service. The person who makes it, or stands behind the token that does, is kept with it. Faults: INVALID_INPUT,
// TOKEN_NOT_FOUND, CONFLICT for a closed platform and for one with platform.MaxTokens.
func (s *Service) CreateToken(ctx context.Context, platformID ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	name string,
	permissions []platform.Permission) (IssuedToken, error) {
	issued, err := s.newToken(platformID, name, permissions, s.Clock.Now())
	if err != nil {
		return IssuedToken{}, err
	}
	maker, err := s.Store.Token(ctx, platformID, by.Token)
	if err != nil {
		return IssuedToken{}, err
	}
	issued.Token.Creator = maker.Behind()
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := lockRoom(ctx, tx, platformID, false); err != nil {
			return err
		}
		if err := tx.CreateToken(ctx, issued.Token); err != nil {
			return err
		}
		if err := s.recordToken(ctx, tx, by, platform.OperatorCreatedToken, issued.Token); err != nil {
			return err
		}
		return tx.SaveResponse(ctx, request, IssuedToken{Token: issued.Token}, nil)
	})
	if err == nil && request != nil {
		request.Render(issued, nil) // the response to this request has the secret
	}
	return issued, err
}

// lockOpen returns CONFLICT for a closed platform: a token of it would open nothing. The lock keeps it open until the unit of work
// ends.
func lockOpen(ctx context.Context, tx Tx, p ident.Platform) error {
	locked, err := tx.LockPlatformShared(ctx, p)
	if err != nil {
		return err
	}
	return locked.CheckOpen()
}

// lockRoom returns CONFLICT for a closed platform, and for one that has as many tokens of services, or of people, as it may have. Every
// unit of work calls it before it locks a person, so that no two wait for each other.
func lockRoom(ctx context.Context, tx Tx, p ident.Platform, ofPeople bool) error {
	if err := lockOpen(ctx, tx, p); err != nil {
		return err
	}
	current, err := tx.LockTokenCount(ctx, p, ofPeople)
	if err != nil {
		return err
	}
	return platform.CheckTokenRoom(current, ofPeople)
}

// newToken returns a token with a secret of 256 random bits.
func (s *Service) newToken(platformID ident.Platform, name string, permissions []platform.Permission, now time.Time) (IssuedToken, error) {
	var clientID [16]byte
	var secret [32]byte
	_, _ = rand.Read(clientID[:]) // never fails
	_, _ = rand.Read(secret[:])
	token, text, err := platform.NewToken(ident.NewToken(s.IDs.New, now), platformID, name, permissions, clientID, secret, now)
	return IssuedToken{token, text}, err
}

// TokenOf returns the token with which a person acts on a platform without one of its own: one that it has, or a new one, whose
// secret nobody knows. There are no more of these than people, so no maximum keeps one from acting.
func (s *Service) TokenOf(ctx context.Context, platformID ident.Platform, p person.Person) (id ident.Token, err error) {
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := lockOpen(ctx, tx, platformID); err != nil {
			return err
		}
		tokens, err := tx.LockTokens(ctx, platformID)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(tokens, func(t platform.Token) bool { return t.Person == p.ID }); i >= 0 {
			id = tokens[i].ID
			return nil
		}
		issued, err := s.newToken(platformID, p.Email, []platform.Permission{platform.View}, s.Clock.Now())
		if err != nil {
			return err
		}
		issued.Token.Person, id = p.ID, issued.Token.ID
		return tx.CreateToken(ctx, issued.Token)
	})
	return id, err
}

// Token returns a token of a platform, or TOKEN_NOT_FOUND.
func (s *Service) Token(ctx context.Context, platformID ident.Platform, id ident.Token) (IssuedToken, error) {
	token, err := s.Store.Token(ctx, platformID, id)
	return IssuedToken{Token: token}, err
}

// Tokens returns the tokens of a platform.
func (s *Service) Tokens(ctx context.Context, platformID ident.Platform, f ports.TokenFilter) (ports.Page[platform.Token], error) {
	return s.Store.Tokens(ctx, platformID, f)
}

// NameTokens writes into texts that name tokens, such as authors of changes, what these are called and whom they belong to, also of
// those that were deleted since.
func (s *Service) NameTokens(ctx context.Context, p ident.Platform, texts ...*string) error {
	return s.Store.NameTokens(ctx, p, texts...)
}

// DeleteToken deletes a token; it may be the token of the request itself. The last token
// with MANAGE cannot be deleted: CONFLICT. Who deletes it is recorded.
func (s *Service) DeleteToken(ctx context.Context, platformID ident.Platform, by platform.Author, id ident.Token) error {
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error { return s.deleteToken(ctx, tx, platformID, by, id) })
}

func (s *Service) deleteToken(ctx context.Context, tx Tx, platformID ident.Platform, by platform.Author, id ident.Token) error {
	tokens, err := tx.LockTokens(ctx, platformID)
	if err != nil {
		return err
	}
	if err := platform.CheckRevocable(tokens, id); err != nil {
		return err
	}
	if err := tx.DeleteToken(ctx, platformID, id); err != nil {
		return err
	}
	i := slices.IndexFunc(tokens, func(t platform.Token) bool { return t.ID == id })
	return s.recordToken(ctx, tx, by, platform.OperatorDeletedToken, tokens[i])
}

// recordToken records that a token was created or deleted, with what it may do.
func (s *Service) recordToken(ctx context.Context, tx Tx, by platform.Author, kind platform.OperatorActionKind, t platform.Token) error {
	before, after := platform.Token{}, t
	if kind == platform.OperatorDeletedToken {
		before, after = after, before
	}
	now := s.Clock.Now()
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: t.Platform, Kind: kind, Subject: t.ID.UUID(),
		Actor: by.Name(), Person: by.Person, At: now, Changes: platform.ChangedToken(before, after)})
}
