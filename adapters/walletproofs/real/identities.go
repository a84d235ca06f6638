package real

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/wallet"
)

// tokenAlgorithms are the signatures of ID tokens that are accepted. A shared secret (HS256) or no signature
// (none) would let anybody make one.
var tokenAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

// RegisterIdentity checks an ID token for one of the platform's apps.
func (p *Proofs) RegisterIdentity(ctx context.Context, owner platform.Platform, token string, now time.Time) (wallet.Identity, error) {
	unverified, err := wallet.ParseIDToken(token)
	if err == nil && p.issuers[unverified.Issuer] == nil {
		err = fmt.Errorf("must have an issuer (iss) of %s", strings.Join(p.sortedIssuers(), ", "))
	}
	if err != nil {
		return wallet.Identity{}, fault.Invalid(fault.Field{Field: "oidcToken", Message: err.Error()})
	}
	_, identity, err := p.identify(ctx, owner, token, now)
	return identity, err
}

// CheckIdentity checks an ID token for the person, the app and the client's key.
func (p *Proofs) CheckIdentity(ctx context.Context, owner platform.Platform, known wallet.Identity, token string, client wallet.ClientKey,
	now time.Time) error {
	verified, identity, err := p.identify(ctx, owner, token, now)
	switch {
	case err != nil:
		return err
	case !identity.Same(known):
		return wallet.InvalidIdentity("The ID token names another person, or is for another app, than that of the credential (iss, aud, sub).")
	}
	return verified.CheckNonce(client)
}

// TokensAreSingleUse reports true.
func (p *Proofs) TokensAreSingleUse() bool { return true }

// identify checks the signature of a token, and that it is a fresh one for the platform.
func (p *Proofs) identify(ctx context.Context, owner platform.Platform, token string,
	now time.Time) (wallet.IDToken, wallet.Identity, error) {
	clientIDs := owner.WalletSettings().OAuthClientIDs
	if len(clientIDs) == 0 {
		return wallet.IDToken{}, wallet.Identity{}, notConfigured("oauthClientIds", "ID tokens")
	}
	verified, err := p.verify(ctx, token, now)
	if err != nil {
		return wallet.IDToken{}, wallet.Identity{}, err
	}
	identity, err := verified.Identify(clientIDs, now)
	return verified, identity, err
}

// verify returns the claims of a token that its issuer signed.
func (p *Proofs) verify(ctx context.Context, token string, now time.Time) (wallet.IDToken, error) {
	unverified, err := wallet.ParseIDToken(token)
	if err != nil {
		return wallet.IDToken{}, wallet.InvalidIdentity("oidcToken %v.", err)
	}
	issuer := p.issuers[unverified.Issuer]
	if issuer == nil {
		return wallet.IDToken{}, wallet.InvalidIdentity("The issuer (iss) of the ID token is not known.")
	}
	signed, err := jose.ParseSignedCompact(token, tokenAlgorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return wallet.IDToken{}, wallet.InvalidIdentity("The ID token must be signed with RS256 or ES256.")
	}
	header := signed.Signatures[0].Protected
	key, err := issuer.key(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm), now)
	if err != nil {
		return wallet.IDToken{}, err
	}
	claims, err := signed.Verify(key)
	if err != nil {
		return wallet.IDToken{}, wallet.InvalidIdentity("The signature of the ID token is not that of its issuer.")
	}
	verified, err := wallet.ParseIDTokenClaims(claims)
	if err != nil || verified.Issuer != issuer.url {
		return wallet.IDToken{}, wallet.InvalidIdentity("The claims of the ID token are not those of its issuer.")
	}
	return verified, nil
}
