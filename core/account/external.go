package account

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// Status is the status of an external account.
type Status string

// The statuses of an external account. Only an active one sends, and receives any amount.
const (
	Pending Status = "PENDING"
	Active  Status = "ACTIVE"
	// PendingOwnershipVerification and Unverified: the owner of the wallet has not proven that it is theirs, or has failed to.
	PendingOwnershipVerification Status = "PENDING_OWNERSHIP_VERIFICATION"
	Unverified                   Status = "UNVERIFIED"
	UnderReview                  Status = "UNDER_REVIEW"
	Inactive                     Status = "INACTIVE"
)

// VerificationStatus is the result of comparing the beneficiary's name with the owner's name
// at the receiving institution.
type VerificationStatus string

// The results; empty if no comparison was made.
const (
	NotVerified          VerificationStatus = ""
	Matched              VerificationStatus = "MATCHED"
	PartialMatch         VerificationStatus = "PARTIAL_MATCH"
	NotMatched           VerificationStatus = "NOT_MATCHED"
	VerificationPending  VerificationStatus = "PENDING"
	Unsupported          VerificationStatus = "UNSUPPORTED"
	CheckedByReceivingFI VerificationStatus = "CHECKED_BY_RECEIVING_FI"
)

// External is an account outside the service: at a bank, at a mobile money operator, or a
// wallet. After its registration only its status changes, with the challenge and the proof of its ownership.
type External struct {
	ID       ident.ExternalAccount
	Platform ident.Platform
	// Customer owns the account; zero if the platform does.
	Customer          ident.Customer
	PlatformAccountID string
	Currency          money.Currency
	Type              Type
	// Fields are the type-specific fields as the caller wrote them, without omitted ones.
	Fields map[string]string
	// Beneficiary is the owner; a wallet may have none.
	Beneficiary *Beneficiary
	// Ownership is empty but for wallets that were registered with it.
	Ownership OwnershipType
	// Challenge and Proof are of the owner of a wallet; nil for none.
	Challenge *Challenge
	Proof     *Proof
	// Rails are the rails that reach the account; for a wallet, its chain.
	Rails             []corridor.Rail
	Status            Status
	DefaultUMADeposit bool
	Verification      VerificationStatus
	// VerifiedName is the owner's name at the receiving institution, if it discloses it.
	VerifiedName string
	// UnverifiedReason says why the name was not checked though it should have been. It is not stored.
	UnverifiedReason string
	CreatedAt        time.Time
	UpdatedAt        time.Time
	DeletedAt        time.Time
	// TrustedAt is when the customer has said that it trusts the account, with strong customer authentication; zero if it does not.
	TrustedAt time.Time
}

// BeneficiaryType is the type of a beneficiary: person or business.
type BeneficiaryType string

// The types of beneficiary.
const (
	Individual BeneficiaryType = "INDIVIDUAL"
	Business   BeneficiaryType = "BUSINESS"
)

// Beneficiary is the owner of an account. FullName, BirthDate and
// Nationality are for individuals, LegalName and TaxID for businesses. Dates are
// YYYY-MM-DD, countries ISO 3166-1 alpha-2, phone numbers E.164.
type Beneficiary struct {
	Type               BeneficiaryType
	FullName           string
	LegalName          string
	BirthDate          string
	Nationality        string
	Email              string
	PhoneNumber        string
	CountryOfResidence string
	Address            *party.Address
	RegistrationNumber string
	TaxID              string
	// DocumentType and DocumentNumber identify an identity document, for Colombia.
	DocumentType   string
	DocumentNumber string
}

// Name returns the name of the person or business.
func (b Beneficiary) Name() string {
	if b.Type == Business {
		return b.LegalName
	}
	return b.FullName
}

// ExternalOf returns the account if it belongs to the customer, or nil.
func ExternalOf(c ident.Customer, a *External) *External {
	if a == nil || c.IsZero() || a.Customer != c {
		return nil
	}
	return a
}

// Deleted reports whether the account is deleted.
func (a External) Deleted() bool { return !a.DeletedAt.IsZero() }

// Identifier returns the account's primary identifier: an account number, IBAN, CLABE, phone
// number or wallet address.
func (a External) Identifier() string {
	spec := byName[a.Type]
	for _, name := range spec.Identifiers {
		if value := a.Fields[name]; value != "" {
			return value
		}
	}
	return ""
}

// MaskedIdentifier returns the identifier with all but its last four characters hidden. Of an
// identifier with up to eight characters it shows half.
func (a External) MaskedIdentifier() string { return Mask(a.Identifier()) }

// Mask returns the masked form of an identifier.
func Mask(identifier string) string {
	runes := []rune(identifier)
	shown := min(4, len(runes)/2)
	return "****" + string(runes[len(runes)-shown:])
}

// IsCrypto reports whether the account is a wallet on a chain.
func (a External) IsCrypto() bool { return len(a.Rails) > 0 && a.Rails[0].IsChain() }

// Country returns the country of the account, ISO 3166-1 alpha-2; empty for a wallet.
func (a External) Country() string {
	spec := byName[a.Type]
	if spec.CountryFrom == "" {
		return spec.Country
	}
	value := a.Fields[spec.CountryFrom]
	return value[:min(2, len(value))]
}

// Fingerprint returns a hash that is equal for two accounts exactly if they are the same
// account in the same currency, in any spelling and registered by anyone.
func (a External) Fingerprint() string {
	hash := sha256.New()
	write := func(part string) { fmt.Fprintf(hash, "%d:%s,", len(part), part) }
	write(string(a.Type))
	write(string(a.Currency))
	spec := byName[a.Type]
	for _, field := range spec.Fields {
		value := a.Fields[field.Name]
		// An IBAN identifies an account by itself; the other fields add nothing.
		// So does the UPI address, unless the bank account beside it is paid too.
		upi := a.Fields["vpa"] != "" && (a.Fields["accountNumber"] == "" || a.Fields["ifsc"] == "")
		alone := (a.Fields["iban"] != "" && field.Name != "iban") || (upi && field.Name != "vpa")
		if !field.InFingerprint || value == "" || alone {
			continue
		}
		write(field.Name)
		write(field.canonical(value))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Digest returns a hash of what is registered of the account and never changes: its owner, its details, and how the name of
// its beneficiary was verified.
func (a External) Digest() string {
	hash := sha256.New()
	write := func(part string) { fmt.Fprintf(hash, "%d:%s,", len(part), part) }
	for _, part := range []string{"causeway account 1", a.Platform.String(), a.ID.String(), a.Customer.String(), string(a.Verification),
		a.VerifiedName} {
		write(part)
	}
	for _, part := range a.PaymentDetails() {
		write(part)
	}
	if a.Ownership != "" {
		write(string(a.Ownership))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// PaymentDetails returns all that a payment to the account takes from it, as names and values in a fixed order. Empty values
// are left out.
func (a External) PaymentDetails() []string {
	var details []string
	add := func(name, value string) {
		if value != "" {
			details = append(details, name, value)
		}
	}
	add("type", string(a.Type))
	add("currency", string(a.Currency))
	for _, name := range slices.Sorted(maps.Keys(a.Fields)) {
		add("field "+name, a.Fields[name])
	}
	b := a.Beneficiary
	if b == nil {
		return details
	}
	for _, v := range [][2]string{{"type", string(b.Type)}, {"fullName", b.FullName}, {"legalName", b.LegalName}, {"birthDate", b.BirthDate},
		{"nationality", b.Nationality}, {"email", b.Email}, {"phoneNumber", b.PhoneNumber}, {"countryOfResidence", b.CountryOfResidence},
		{"registrationNumber", b.RegistrationNumber}, {"taxId", b.TaxID}, {"documentType", b.DocumentType},
		{"documentNumber", b.DocumentNumber}} {
		add("beneficiary "+v[0], v[1])
	}
	if p := b.Address; p != nil {
		for _, v := range [][2]string{{"line1", p.Line1}, {"line2", p.Line2}, {"city", p.City}, {"state", p.State}, {"postalCode", p.PostalCode},
			{"country", p.Country}} {
			add("address "+v[0], v[1])
		}
	}
	return details
}

// canonical returns one spelling for all spellings of a value.
func (f FieldSpec) canonical(value string) string {
	if f.spelling != nil {
		return f.spelling(value)
	}
	if f.CaseSensitive {
		return value
	}
	value = strings.ToUpper(strings.Join(strings.Fields(value), " "))
	if f.Name == "accountNumber" {
		value = strings.NewReplacer(" ", "", "-", "", "/", "").Replace(value)
	}
	return value
}
