package wallet

import (
	"crypto/sha256"
	"slices"
	"time"

	"causeway/core/fault"
)

// EmailNeedsSignature reports whether the owner of the wallet has to sign a change of the customer's e-mail
// address: who receives the codes can spend. Before any credential was verified nobody can sign, and
// there is nothing to protect yet.
func (w Wallet) EmailNeedsSignature() bool {
	_, found := w.EmailOTP()
	return found && w.Verified()
}

// ChangeEmail returns the change that sends codes to the customer's new e-mail address. A default credential
// that is not stored follows by itself. Fault: INVALID_INPUT for no address while codes are sent to one.
func (w Wallet) ChangeEmail(email string, now time.Time) (Change, error) {
	tied, found := w.EmailOTP()
	switch {
	case !found || w.Implicit:
		return Change{}, nil
	case email == "":
		return Change{}, fault.Invalid(fault.Field{Field: "email", Message: "cannot be removed, because the codes of the customer's wallet are " +
			"sent to it; revoke the EMAIL_OTP credential first"})
	}
	tied.Email, tied.Nickname, tied.UpdatedAt = email, email, now
	return w.Update(tied), nil
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
