package platforms

import (
	"context"
	"crypto/rand"
	"time"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// IssuedToken is a token and, where it was just made, its secret. Of what is read back
// the secret is empty.
type IssuedToken struct {
	Token  platform.Token
	Secret string
}

// CreateToken returns a token for the caller's platform. The secret is in the first
// answer alone: what is remembered for a repeated request lacks it.
func (p *Service) CreateToken(ctx context.Context, who platform.Principal, claim *ports.IdempotentRequest, name string, permissions []platform.Permission) (IssuedToken, error) {
	if err := who.CheckPermission(platform.Manage); err != nil {
		return IssuedToken{}, err
	}
	made, err := p.newToken(who.Platform, name, permissions, p.Clock.Now())
	if err != nil {
		return IssuedToken{}, err
	}
	err = p.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreateToken(ctx, made.Token); err != nil {
			return err
		}
		return tx.SaveResponse(ctx, claim, IssuedToken{Token: made.Token}, nil)
	})
	if err == nil && claim != nil {
		claim.Render(made, nil) // what is sent now
	}
	return made, err
}

// newToken returns a token with a secret of 256 random bits.
func (p *Service) newToken(of ident.Platform, name string, permissions []platform.Permission, now time.Time) (IssuedToken, error) {
	var clientID [16]byte
	var secret [32]byte
	_, _ = rand.Read(clientID[:]) // never fails
	_, _ = rand.Read(secret[:])
	token, text, err := platform.NewToken(ident.NewToken(p.IDs.New, now), of, name, permissions, clientID, secret, now)
	return IssuedToken{token, text}, err
}

// Token reads one token of the caller's platform.
func (p *Service) Token(ctx context.Context, who platform.Principal, id ident.Token) (IssuedToken, error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return IssuedToken{}, err
	}
	token, err := p.Store.Token(ctx, who.Platform, id)
	return IssuedToken{Token: token}, err
}

// Tokens returns the tokens of the caller's platform.
func (p *Service) Tokens(ctx context.Context, who platform.Principal, f ports.TokenFilter) (ports.Page[platform.Token], error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return ports.Page[platform.Token]{}, err
	}
	return p.Store.Tokens(ctx, who.Platform, f)
}

// DeleteToken ends a token at once, also the one that asks for it. The last one
// with MANAGE stays: CONFLICT.
func (p *Service) DeleteToken(ctx context.Context, who platform.Principal, id ident.Token) error {
	if err := who.CheckPermission(platform.Manage); err != nil {
		return err
	}
	return p.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		tokens, err := tx.LockTokens(ctx, who.Platform)
		if err != nil {
			return err
		}
		if err := platform.CheckRevocable(tokens, id); err != nil {
			return err
		}
		return tx.DeleteToken(ctx, who.Platform, id)
	})
}
