package wallet

import (
	"crypto/sha256"
	"slices"
	"time"

	"causeway/core/fault"
)

// MoveCodes returns the change that sends codes to the new addresses of the customer, by the type of credential, and the type of the one
// whose new address the owner of the wallet has to sign; empty if none. Who receives the codes can spend; but before any credential
// was verified nobody can sign, and there is nothing to protect yet. A default credential that is not stored follows by itself. Fault:
// INVALID_INPUT for no address while codes are sent to one, and for two that have to be signed.
func (w Wallet) MoveCodes(to map[CredentialType]string, now time.Time) (change Change, toSign CredentialType, err error) {
	for _, t := range []CredentialType{EmailOTP, SMSOTP} {
		address, moves := to[t]
		tied, found := w.First(t)
		field := map[CredentialType]string{EmailOTP: "email", SMSOTP: "phoneNumber"}[t]
		switch {
		case !moves || !found || w.Implicit:
			continue
		case address == "":
			return Change{}, "", fault.Invalid(fault.Field{Field: field, Message: "cannot be removed, because the codes of the customer's " +
				"wallet are sent to it; revoke the " + string(t) + " credential first"})
		case toSign != "":
			return Change{}, "", fault.Invalid(fault.Field{Field: field, Message: "cannot change in the same request as email, because the " +
				"owner of the wallet signs each; send another request"})
		case w.Verified():
			toSign = t
		}
		tied.SentTo, tied.Nickname, tied.UpdatedAt = address, address, now
		change.Credentials = append(change.Credentials, tied)
	}
	return change, toSign, nil
}

// CredentialSet returns a hash of which credentials the wallet has.
func (w Wallet) CredentialSet() [sha256.Size]byte {
	var ids []string
	for _, c := range w.Credentials {
		ids = append(ids, c.ID.String())
	}
	slices.Sort(ids)
	hash := sha256.New()
	for _, id := range ids {
		hash.Write([]byte(id + "\n"))
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// CheckCredentialSet returns EMAIL_OTP_CREDENTIAL_SET_CHANGED if the wallet has other credentials than when
// the owner was asked to sign.
func (w Wallet) CheckCredentialSet(r SignedRequest) error {
	if w.CredentialSet() != r.Basis {
		return fault.New(fault.EmailOTPCredentialSetChanged, "The credentials of the customer's wallet have changed since the first request. "+
			"Nothing was changed. Send the request again without Request-Id and Service-Wallet-Signature, and sign the new payload.")
	}
	return nil
}

// EmailInUse returns the fault of an address to which the codes of another wallet are sent.
func EmailInUse() *fault.Error {
	return fault.New(fault.EmailOTPEmailAlreadyExists, "The codes of another customer's wallet are sent to this e-mail address. Use another "+
		"one, or change that customer's address first.")
}
