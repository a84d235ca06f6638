package account

import (
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// Status is what can be done with an external account.
type Status string

// The statuses of an external account. Only an active one sends or receives.
const (
	Pending     Status = "PENDING"
	Active      Status = "ACTIVE"
	UnderReview Status = "UNDER_REVIEW"
	Inactive    Status = "INACTIVE"
)

// VerificationStatus is what the receiving side said of the beneficiary's name.
type VerificationStatus string

// The results of a name check; the empty text means that none was made.
const (
	NotVerified          VerificationStatus = ""
	Matched              VerificationStatus = "MATCHED"
	PartialMatch         VerificationStatus = "PARTIAL_MATCH"
	NotMatched           VerificationStatus = "NOT_MATCHED"
	VerificationPending  VerificationStatus = "PENDING"
	Unsupported          VerificationStatus = "UNSUPPORTED"
	CheckedByReceivingFI VerificationStatus = "CHECKED_BY_RECEIVING_FI"
)

// External is an account outside the service: at a bank, at a mobile operator, or
// a wallet. It is registered once and never changes but for its status.
type External struct {
	ID       ident.ExternalAccount
	Platform ident.Platform
	// Customer owns the account; zero when it is the platform's own.
	Customer          ident.Customer
	PlatformAccountID string
	Currency          money.Currency
	Type              Type
	// Fields are the type-specific fields as the caller wrote them; those it left
	// out are missing.
	Fields map[string]string
	// Beneficiary is who owns it; nil for wallets.
	Beneficiary *Beneficiary
	// Rails are those that reach the account, a wallet's chain included.
	Rails             []corridor.Rail
	Status            Status
	DefaultUMADeposit bool
	Verification      VerificationStatus
	// VerifiedName is the name the receiving side knows, where it says so.
	VerifiedName string
	CreatedAt    time.Time
	UpdatedAt    time.Time
	DeletedAt    time.Time
}

// BeneficiaryType says whether a person or a business owns an account.
type BeneficiaryType string

// The types of beneficiary.
const (
	Individual BeneficiaryType = "INDIVIDUAL"
	Business   BeneficiaryType = "BUSINESS"
)

// Beneficiary is the owner of a bank or mobile account. FullName, BirthDate and
// Nationality belong to individuals, LegalName and TaxID to businesses. Dates are
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
	// DocumentType and DocumentNumber are the identity document that Colombia asks for.
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

// Deleted reports whether the owner removed the account.
func (a External) Deleted() bool { return !a.DeletedAt.IsZero() }
