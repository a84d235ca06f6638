package account

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"causeway/core/corridor"
	"causeway/core/fault"
)

// Identifier returns the account's primary identifier: account number, IBAN, CLABE,
// phone number, wallet address and the like.
func (a External) Identifier() string {
	spec := byName[a.Type]
	for _, name := range spec.Identifiers {
		if value := a.Fields[name]; value != "" {
			return value
		}
	}
	return ""
}

// MaskedIdentifier returns the identifier with all but its last four characters hidden, for eyes
// that need not see it whole. An identifier of up to eight characters shows half.
func (a External) MaskedIdentifier() string {
	runes := []rune(a.Identifier())
	shown := min(4, len(runes)/2)
	return "****" + string(runes[len(runes)-shown:])
}

// IsCrypto reports whether the account is a wallet on a chain.
func (a External) IsCrypto() bool { return len(a.Rails) > 0 && a.Rails[0].IsChain() }

// Country returns where the account is, ISO 3166-1 alpha-2; empty for a wallet.
func (a External) Country() string {
	spec := byName[a.Type]
	if spec.CountryFrom == "" {
		return spec.Country
	}
	value := a.Fields[spec.CountryFrom]
	return value[:min(2, len(value))]
}

// RailFor returns the rail that a payment of minor units to the account takes.
// INVALID_CURRENCY when no corridor leads to it yet, AMOUNT_OUT_OF_RANGE when no
// rail of it carries that much.
func (a External) RailFor(minor int64) (corridor.Rail, error) {
	among, err := a.availableRails()
	if err != nil {
		return "", err
	}
	return corridor.Choose(among, a.Currency, minor)
}

// ResolveRail returns RailFor where the payer may name the rail (empty: the best one);
// INVALID_INPUT when the account cannot be paid by it.
func (a External) ResolveRail(wanted corridor.Rail, minor int64) (corridor.Rail, error) {
	if wanted == "" {
		return a.RailFor(minor)
	}
	among, err := a.availableRails()
	if err != nil {
		return "", err
	}
	if !slices.Contains(among, wanted) {
		return "", fault.Invalid(fault.Field{Field: "destination.paymentRail", Message: "this account is not paid by " + string(wanted) + "; leave it out, or choose one of enum",
			Constraint: map[string]any{"enum": among}})
	}
	return corridor.Choose([]corridor.Rail{wanted}, a.Currency, minor)
}

// availableRails returns the rails of the account that money can go by today.
func (a External) availableRails() ([]corridor.Rail, error) {
	among := a.Rails
	if !a.IsCrypto() {
		open, err := corridor.RailsTo(a.Currency, a.Country())
		if err != nil {
			return nil, err
		}
		among = slices.DeleteFunc(slices.Clone(among), func(r corridor.Rail) bool { return !slices.Contains(open, r) })
	}
	if len(among) == 0 {
		return nil, fault.New(fault.InvalidCurrency, "There is no corridor to accounts of the type %s yet.", a.Type)
	}
	return among, nil
}

// Fingerprint returns the same for two accounts exactly when they are the same account
// in the same currency, however they are written and whoever registered them.
func (a External) Fingerprint() string {
	hash := sha256.New()
	write := func(part string) { fmt.Fprintf(hash, "%d:%s,", len(part), part) }
	write(string(a.Type))
	write(string(a.Currency))
	spec := byName[a.Type]
	for _, field := range spec.Fields {
		value := a.Fields[field.Name]
		// An IBAN alone says which account it is; whatever stands beside it adds nothing.
		if !field.InFingerprint || value == "" || (a.Fields["iban"] != "" && field.Name != "iban") {
			continue
		}
		write(field.Name)
		write(field.canonical(value))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// canonical returns the value in the one spelling that all its spellings share.
func (f FieldSpec) canonical(value string) string {
	if f.CaseSensitive {
		return value
	}
	value = strings.ToUpper(strings.Join(strings.Fields(value), " "))
	if f.Name == "accountNumber" {
		value = strings.NewReplacer(" ", "", "-", "", "/", "").Replace(value)
	}
	return value
}
