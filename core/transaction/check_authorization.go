package transaction

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/sca"
	"causeway/ledger"
)

// protectionGrace is how long after a platform began to ask for authorizations a payment may have been created without.
const protectionGrace = time.Minute

// checkAuthorizations returns an error if money has moved that its payer had to authorise, and neither has nor is exempt, or has
// authorised something else.
func (t Transaction) checkAuthorizations(e Evidence) error {
	moved := slices.ContainsFunc(e.Posted, func(p Posted) bool {
		return p.Kind == t.Flow().conversionKind() || p.Kind == ledger.KindWalletDebit
	})
	if t.Type != Outgoing || !moved || t.Authorization == AuthorizationNotNeeded && !t.needsAuthorization(e) {
		return nil
	}
	var proven []sca.Purpose
	for _, a := range e.Authorizations {
		// The name of a person at a UMA address may have been erased since.
		if a.Digest != t.AuthorizationDigest() && !strings.HasPrefix(t.Destination.UMA, "$erased@") {
			return fmt.Errorf("its payer has authorised something else at %s: its amounts, currencies or payee were others", formatTime(a.At))
		}
		if a.Exemption != "" {
			return nil
		}
		proven = append(proven, a.Purpose)
	}
	if missing := t.NextPurpose(proven); missing != "" {
		return fmt.Errorf("its payer had to authorise it, and there is neither a proof for %s nor an exemption", missing)
	}
	if t.Authorization != Authorized {
		return errors.New("its payer has authorised it, and it does not say so")
	}
	return nil
}

// needsAuthorization reports whether the transaction must have an authorization whatever it says itself: an account of its customer
// has paid it. Just in time, also the platform may have.
func (t Transaction) needsAuthorization(e Evidence) bool {
	own := e.FromInternal != nil && !e.FromInternal.Customer.IsZero() || e.FromExternal != nil && !e.FromExternal.Customer.IsZero()
	return own && !e.ProtectedSince.IsZero() && t.CreatedAt.After(e.ProtectedSince.Add(protectionGrace))
}
