package wallet

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// The default credential of a wallet sends codes to the customer's e-mail address. It exists without being
// stored as long as no credential is: so it costs nothing when customers are created, and follows their
// address. Everything that changes a credential stores it.

// defaultMask changes the random part of the id of an account to that of its default credential, and back.
// The times in both ids are equal.
var defaultMask = [6]byte{0x6f, 0x74, 0x70, 0x2d, 0x69, 0x64}

func masked(id uuid.UUID) uuid.UUID {
	for i, mask := range defaultMask {
		id[len(id)-len(defaultMask)+i] ^= mask
	}
	return id
}

// DefaultCredentialID returns the id of the default credential of an account.
func DefaultCredentialID(account ident.InternalAccount) (id ident.AuthMethod) {
	id.SetUUID(masked(account.UUID()))
	return id
}

// AccountOfDefault returns the account whose default credential has an id.
func AccountOfDefault(id ident.AuthMethod) (account ident.InternalAccount) {
	account.SetUUID(masked(id.UUID()))
	return account
}

// WithDefault returns a wallet, opened at a time, with its default credential if no credential is stored and
// the customer has an e-mail address.
func (w Wallet) WithDefault(email string, openedAt time.Time) Wallet {
	if len(w.Credentials) > 0 || email == "" {
		return w
	}
	w.Implicit = true
	w.Credentials = []Credential{{
		ID: DefaultCredentialID(w.Account), Platform: w.Platform, Account: w.Account, Type: EmailOTP, Nickname: email, SentTo: email,
		CreatedAt: openedAt, UpdatedAt: openedAt,
	}}
	return w
}
