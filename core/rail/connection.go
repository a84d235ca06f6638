// Package rail holds the rules on connections to partners: which one a payment takes, what each may carry, and
// what waits for money or for an operator.
package rail

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// Adapter is a way to reach a partner.
type Adapter string

// The adapters.
const (
	BankFile  Adapter = "BANK_FILE" // files of a bank in a folder or on an SFTP server
	Partner   Adapter = "PARTNER"   // a provider behind the HTTP contract of partners
	EVM       Adapter = "EVM"       // an Ethereum-like chain over JSON-RPC
	Bitcoin   Adapter = "BITCOIN"   // a Bitcoin wallet over its RPC
	Lightning Adapter = "LIGHTNING" // a node of the Lightning network over its HTTP interface
)

// Connection is one account at a partner, or one wallet on a chain, as the operator has set it up.
type Connection struct {
	// Name identifies the connection: lower-case letters, digits and hyphens, such as "bank-eur".
	Name    string
	Adapter Adapter
	// Version numbers the settings of the connection, from 1.
	Version int
	// Rails, Currencies and Countries (of the beneficiary's account, ISO 3166-1 alpha-2) are what it carries, and
	// Platforms whose payments. No country and no platform means every one.
	Rails      []corridor.Rail
	Currencies []money.Currency
	Countries  []string
	Platforms  []ident.Platform
	// Priority orders the connections that serve the same payment: the lowest first, then by name.
	Priority int
	// Limits are above which amounts payments wait for the review of an operator.
	Limits []Limit
	// Schedules say when the partner executes and settles payments of a rail, where it differs from the schedule of the rail.
	Schedules []Schedule
	// Unmatched is the platform of money whose reference no platform knows; zero if there is only one platform.
	Unmatched ident.Platform
	// Settings are those of the adapter. A secret is a reference to it, as of ports.Secrets.
	Settings map[string]string
	// Exclusive is what no other connection may work with, as the adapter names it, such as "the wallet 0x… on chain 1"; nil
	// if it was not asked.
	Exclusive []string
	SetAt     time.Time
	// Untested: no test of this version has passed, nor of one before it. Retired: an operator has retired the connection, at
	// SetAt. Neither takes new payments.
	Untested, Retired bool
}

// NeedsTest reports whether a version has to be tested beside one that was: what adapters work with has changed.
func (c Connection) NeedsTest(tested Connection) bool {
	return c.Adapter != tested.Adapter || !slices.Equal(c.Rails, tested.Rails) || !slices.Equal(c.Currencies, tested.Currencies) ||
		!maps.Equal(c.Settings, tested.Settings)
}

// NeedsFourEyes reports whether a change of a connection, as it is before and after, needs a second person: if it serves one of the
// platforms whose changes do.
func NeedsFourEyes(platforms []ident.Platform, served ...Connection) bool {
	return slices.ContainsFunc(platforms, func(p ident.Platform) bool {
		return slices.ContainsFunc(served, func(c Connection) bool { return len(c.Platforms) == 0 || slices.Contains(c.Platforms, p) })
	})
}

// EndToEndID returns the id under which a payment travels: partners, statements and beneficiaries name the payment
// by it. It is the id of the transaction or receipt, in 32 upper-case hexadecimal digits, so that it fits into the 35
// characters of ISO 20022.
func EndToEndID(id uuid.UUID) string { return strings.ToUpper(hex.EncodeToString(id[:])) }

// SubjectOf returns the id of which EndToEndID is the text, and false for a text that is none.
func SubjectOf(endToEndID string) (uuid.UUID, bool) {
	var id uuid.UUID
	if len(endToEndID) != hex.EncodedLen(len(id)) {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(endToEndID))
	return id, err == nil && id != uuid.Nil
}

// ShortID returns the text by which a payment is named where there is no room for its end-to-end id, as in ACH files:
// 15 characters derived from it. Two of a billion payments have the same one with a probability of 1 in 75,000.
func ShortID(endToEndID string) string {
	sum := sha256.Sum256([]byte(endToEndID))
	return shortEncoding.EncodeToString(sum[:])[:shortLength]
}

const shortLength = 15

// shortEncoding has no I, L, O and U, which persons mistake for others.
var shortEncoding = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)
