package account

import (
	"regexp"
	"slices"

	"causeway/core/corridor"
	"causeway/core/money"
)

// Type is the name of a type of external account.
type Type string

// The types that the program names; the catalogue has all.
const (
	USAccount      Type = "US_ACCOUNT"
	SWIFTAccount   Type = "SWIFT_ACCOUNT"
	Layer2Wallet   Type = "LAYER2_WALLET"
	AltchainWallet Type = "ALTCHAIN_WALLET"
	BaseWallet     Type = "BASE_WALLET"
	PolygonWallet  Type = "POLYGON_WALLET"
	EthereumWallet Type = "ETHEREUM_WALLET"
	PlasmaWallet   Type = "PLASMA_WALLET"
	TronWallet     Type = "TRON_WALLET"
	LightningType  Type = "LIGHTNING"
	BitcoinAddress Type = "BITCOIN_L1"
)

// TypeSpec describes a type of external account.
type TypeSpec struct {
	Type Type
	// Aliases are other names that requests may use; responses always have Type.
	Aliases []Type
	// Description is a sentence for people.
	Description string
	// Currencies are the possible currencies of an account, the usual one first.
	Currencies []money.Currency
	// Country is the country of the account (ISO 3166-1 alpha-2); empty if CountryFrom is
	// set, and for wallets.
	Country string
	// CountryFrom names the field whose first two letters are the country.
	CountryFrom string
	// Fields are the type-specific fields, in their usual order.
	Fields []FieldSpec
	// AnyOf names fields of which at least one is required or, with ExactlyOne, exactly
	// one.
	AnyOf      []string
	ExactlyOne bool
	// Identifiers names the fields that can be the primary identifier; the first one that
	// is set is used.
	Identifiers []string
	// Individual and Business describe the fields of a beneficiary. Both are nil if accounts of the type have none. That of a wallet
	// may be left out.
	Individual *BeneficiarySpec
	Business   *BeneficiarySpec

	// rails are the rails that reach accounts of the type.
	rails []railOption
	// rule checks several fields together; nil for none.
	rule rule
}

// FieldSpec describes one type-specific field, which is a string.
type FieldSpec struct {
	Name        string
	Description string
	Example     string
	Required    bool
	// Pattern is an anchored regular expression; empty for none.
	Pattern string
	// MinLength and MaxLength are in characters; zero for no limit.
	MinLength, MaxLength int
	// Enum lists the allowed values; empty for any.
	Enum []string
	// InFingerprint: the field is part of the account's identity.
	InFingerprint bool
	// Masked: pages, logs and exports show only a part of the field.
	Masked bool

	// CaseSensitive: upper and lower case letters differ.
	CaseSensitive bool
	// spelling returns one spelling for all spellings of a value; nil if CaseSensitive says enough.
	spelling func(value string) string

	// compiled is the compiled Pattern.
	compiled *regexp.Regexp
	// check checks what a pattern cannot, such as check digits; nil for none.
	check check
	// explain returns a better reason than that the pattern does not match; nil for none.
	explain check
	// normalize removes what people write for legibility, before the checks; nil for nothing.
	normalize func(value string) string
}

// BeneficiarySpec describes the fields of a beneficiary beside the name.
type BeneficiarySpec struct {
	// Required names the required fields.
	Required []string
	// Optional names the optional fields.
	Optional []string
}

// railOption is a rail and the fields that it requires to reach the account, separated by blanks; empty for none. Of two ways to reach
// it, ! before a field says that the account must not have it.
type railOption struct {
	rail           corridor.Rail
	requiredFields string
}

// check returns what is wrong with a value, or the empty string. Errors of test values are
// ignored.
type check func(value string) string

// rule calls bad for each error in a combination of fields. A field that has an error
// already does not get another. waives reports whether the check digits of a value do not
// matter.
type rule func(a External, waives func(value string) bool, bad func(field, message string))

// Rails returns every rail that can reach accounts of the type.
func (s TypeSpec) Rails() []corridor.Rail {
	rails := make([]corridor.Rail, len(s.rails))
	for i, r := range s.rails {
		rails[i] = r.rail
	}
	return rails
}

// IsWallet reports whether accounts of the type are wallets on a chain.
func (s TypeSpec) IsWallet() bool { return len(s.rails) > 0 && s.rails[0].rail.IsChain() }

// Field returns the field with a name.
func (s TypeSpec) Field(name string) (FieldSpec, bool) {
	i := slices.IndexFunc(s.Fields, func(f FieldSpec) bool { return f.Name == name })
	if i < 0 {
		return FieldSpec{}, false
	}
	return s.Fields[i], true
}

// Catalogue returns every type, in alphabetical order. The caller must not change it.
func Catalogue() []TypeSpec { return slices.Clone(catalogue) }

// Spec returns a type by its name or by an alias.
func Spec(name Type) (TypeSpec, bool) {
	spec, ok := byName[name]
	return spec, ok
}
