package account

import (
	"regexp"
	"slices"

	"causeway/core/corridor"
	"causeway/core/money"
)

// Type names a kind of external account in the catalogue.
type Type string

// The types that code names. All others come from the catalogue.
const (
	USAccount      Type = "US_ACCOUNT"
	SWIFTAccount   Type = "SWIFT_ACCOUNT"
	Layer2Wallet   Type = "LAYER2_WALLET"
	AltchainWallet Type = "ALTCHAIN_WALLET"
	BaseWallet     Type = "BASE_WALLET"
	PolygonWallet  Type = "POLYGON_WALLET"
	EthereumWallet Type = "ETHEREUM_WALLET"
	TronWallet     Type = "TRON_WALLET"
	LightningType  Type = "LIGHTNING"
)

// TypeSpec is everything there is to know of a type of account.
type TypeSpec struct {
	Type Type
	// Aliases are other names taken on input; answers always say Type.
	Aliases []Type
	// Description says in a sentence what kind of account this is.
	Description string
	// Currencies are those an account of the type can hold, the usual one first.
	Currencies []money.Currency
	// Country is where the account is (ISO 3166-1 alpha-2); empty when CountryFrom
	// tells it, and for wallets.
	Country string
	// CountryFrom names the field whose first two letters are the country.
	CountryFrom string
	// Fields are the type-specific ones, in the order people write them.
	Fields []FieldSpec
	// AnyOf names fields of which at least one must be there; with ExactlyOne, one
	// and no more. Empty when Fields alone says what is required.
	AnyOf      []string
	ExactlyOne bool
	// Identifiers name the fields that can be the primary identifier, the first one
	// present being it.
	Identifiers []string
	// Individual and Business are what a beneficiary must say of itself beyond its
	// name. A wallet has no beneficiary, and both are nil.
	Individual *BeneficiarySpec
	Business   *BeneficiarySpec

	// rails are those that reach the account, by the identifier they need.
	rails []railOption
	// rule checks what concerns several fields at once; nil for none.
	rule rule
}

// FieldSpec is one type-specific field. It is always a text.
type FieldSpec struct {
	Name        string
	Description string
	Example     string
	Required    bool
	// Pattern is an anchored regular expression; empty for none.
	Pattern string
	// MinLength and MaxLength count characters; zero for no bound.
	MinLength, MaxLength int
	// Enum lists the values allowed; empty for any.
	Enum []string
	// InFingerprint says that the field is part of what makes two accounts the same.
	InFingerprint bool
	// Masked says that the field is shown in part only where people look on: pages,
	// logs, exports.
	Masked bool

	// CaseSensitive says that capital and small letters differ in it.
	CaseSensitive bool

	// compiled is Pattern, ready for use.
	compiled *regexp.Regexp
	// check finds what a pattern cannot, such as a wrong check digit; nil for none.
	check check
}

// BeneficiarySpec is what an account type asks of a beneficiary beyond its name.
type BeneficiarySpec struct {
	// Required names the fields that must be there.
	Required []string
	// Optional names the others that may be.
	Optional []string
}

// railOption is a rail and the field without which it does not lead to the account;
// an empty field means that it always does.
type railOption struct {
	rail          corridor.Rail
	requiredField string
}

// check answers what is wrong with one value, or nothing. A waiver lets through
// values that are chosen for how they end, where the caller allows it.
type check func(value string) string

// rule notes what is wrong with several fields together. A field that is bad
// already is not noted twice.
type rule func(a External, waived func(value string) bool, bad func(field, message string))

// Rails returns every rail that can reach an account of the type.
func (s TypeSpec) Rails() []corridor.Rail {
	rails := make([]corridor.Rail, len(s.rails))
	for i, r := range s.rails {
		rails[i] = r.rail
	}
	return rails
}

// IsWallet reports whether accounts of the type live on a chain.
func (s TypeSpec) IsWallet() bool { return len(s.rails) > 0 && s.rails[0].rail.IsChain() }

// Live reports whether money can be sent to accounts of the type today. The others
// can be registered, and wait for their corridor.
func (s TypeSpec) Live() bool {
	if s.IsWallet() {
		return true
	}
	// A type whose country comes from a field is refused there when no corridor reaches it.
	return s.Type != SWIFTAccount && corridor.Live(s.Currencies[0], s.Country)
}

// Field finds a field by name.
func (s TypeSpec) Field(name string) (FieldSpec, bool) {
	i := slices.IndexFunc(s.Fields, func(f FieldSpec) bool { return f.Name == name })
	if i < 0 {
		return FieldSpec{}, false
	}
	return s.Fields[i], true
}

// Catalogue returns every type, in alphabetical order. Treat it as read-only.
func Catalogue() []TypeSpec { return slices.Clone(catalogue) }

// Spec finds a type by its name or by an alias.
func Spec(name Type) (TypeSpec, bool) {
	spec, ok := byName[name]
	return spec, ok
}
