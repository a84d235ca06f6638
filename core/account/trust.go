package account

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"causeway/core/fault"
	"causeway/core/sca"
)

// TrustDigest returns a hash of the account that a customer says it trusts, with its details.
func (a External) TrustDigest() sca.Digest {
	var text strings.Builder
	for _, part := range append([]string{"causeway trust 1", a.Platform.String(), a.Customer.String(), a.ID.String()}, a.PaymentDetails()...) {
		fmt.Fprintf(&text, "%d:%s,", len(part), part)
	}
	return sha256.Sum256([]byte(text.String()))
}

// PayeeName returns the name of the beneficiary or, of a wallet, the end of its address.
func (a External) PayeeName() string {
	if a.Beneficiary != nil {
		return a.Beneficiary.Name()
	}
	return a.MaskedIdentifier()
}

// CheckDeletable returns BENEFICIARY_TRUSTED if the customer trusts the account.
func (a External) CheckDeletable() error {
	if a.TrustedAt.IsZero() {
		return nil
	}
	return fault.New(fault.BeneficiaryTrusted, "The customer trusts the account %s. Let it withdraw its trust first: POST "+
		"/customers/external-accounts/{externalAccountId}/untrust.", a.ID)
}
