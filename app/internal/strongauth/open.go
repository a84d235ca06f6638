package strongauth

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/sca"
)

// Reads finds what was asked, in a unit of work or outside of one.
type Reads interface {
	SCACredentials(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error)
	// LatestSCAChallenge returns the latest challenge of a customer for a purpose and subject, or false.
	LatestSCAChallenge(ctx context.Context, p ident.Platform, id ident.Customer, purpose sca.Purpose,
		subject sca.Digest) (sca.Challenge, bool, error)
}

// Open returns what a customer was asked about a subject, and false if that cannot be answered any more.
func (a *Auth) Open(ctx context.Context, from Reads, s Subject, now time.Time) (asked sca.Asked, open bool, err error) {
	asked.Challenge, open, err = from.LatestSCAChallenge(ctx, s.Platform.ID, s.Customer.ID, s.Purpose, s.Digest)
	if err != nil || !open || !asked.Challenge.Open(now) {
		return sca.Asked{}, false, err
	}
	credentials, err := from.SCACredentials(ctx, s.Platform.ID, s.Customer.ID)
	if err != nil {
		return sca.Asked{}, false, err
	}
	if asked.Available, err = sca.Available(s.Customer.VerifiedPhone() != "", credentials, s.Purpose); err != nil {
		return sca.Asked{}, false, err
	}
	if key, enrolled := sca.Find(credentials, sca.Passkey); enrolled && asked.Factor == sca.Passkey {
		rp, err := a.relyingParty(s.Platform)
		if err != nil {
			return sca.Asked{}, false, err
		}
		asked.Passkey = asked.AskToSign(rp, *key.Passkey)
	}
	return asked, true, nil
}
