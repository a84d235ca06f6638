package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/ports"
)

// externalAccounts is the table external_accounts.
var externalAccounts = schema.New("external_accounts", keyOfPlatform, func(a *account.External) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "id", Field: &a.ID}, {Name: "customer_id", Field: &a.Customer},
		{Name: "platform_account_id", Field: &a.PlatformAccountID}, {Name: "currency", Field: &a.Currency},
		{Name: "account_type", Field: &a.Type},
		sealed.JSON(sealed.ExternalAccountsFields,
			func() map[string]string { return a.Fields },
			func(fields map[string]string) { a.Fields = fields }),
		sealed.JSON(sealed.ExternalAccountsBeneficiary,
			func() *beneficiaryColumn { return newBeneficiaryColumn(a.Beneficiary) },
			func(b *beneficiaryColumn) { a.Beneficiary = b.beneficiary() }),
		{Name: "rails", Type: "text[]", Field: schema.Array(&a.Rails)}, {Name: "status", Field: &a.Status},
		{Name: "default_uma_deposit", Field: &a.DefaultUMADeposit}, {Name: "verification", Field: &a.Verification},
		sealed.Text(sealed.ExternalAccountsVerifiedName, &a.VerifiedName),
		sealed.KeyedHash("fingerprint", func() string { return a.Fingerprint() }, nil),
		sealed.KeyedHash("seal", func() string { return a.Digest() }, nil),
		{Name: "ownership_type", Field: &a.Ownership},
		{Name: "vasp_name", Field: schema.Converted(func() string { return a.VASP() }, func(string) error { return nil })}, // the fields have it
		sealed.JSON(sealed.ExternalAccountsOwnership, func() *ownershipColumn { return newOwnershipColumn(a) },
			func(c *ownershipColumn) { c.read(a) }),
		{Name: "created_at", Field: &a.CreatedAt}, {Name: "updated_at", Field: &a.UpdatedAt}, {Name: "deleted_at", Field: &a.DeletedAt},
		{Name: "trusted_at", Field: &a.TrustedAt},
	}
})

var (
	insertExternalAccount = externalAccounts.Insert("")
	// updateOwnership uses the primary key.
	updateOwnership = externalAccounts.Update("status", "ownership", "updated_at")
)

// beneficiaryColumn is the beneficiary column.
type beneficiaryColumn struct {
	Type               string         `json:"type"`
	FullName           string         `json:"fullName,omitempty"`
	LegalName          string         `json:"legalName,omitempty"`
	BirthDate          string         `json:"birthDate,omitempty"`
	Nationality        string         `json:"nationality,omitempty"`
	Email              string         `json:"email,omitempty"`
	PhoneNumber        string         `json:"phoneNumber,omitempty"`
	CountryOfResidence string         `json:"countryOfResidence,omitempty"`
	Address            *addressColumn `json:"address,omitempty"`
	RegistrationNumber string         `json:"registrationNumber,omitempty"`
	TaxID              string         `json:"taxId,omitempty"`
	DocumentType       string         `json:"documentType,omitempty"`
	DocumentNumber     string         `json:"documentNumber,omitempty"`
}

// CreateExternalAccount inserts one account. A new default for UMA deposits replaces
// the customer's previous one.
func (u *Unit) CreateExternalAccount(ctx context.Context, a account.External) error {
	columns, err := sealed.ToWrite(ctx, u.db.sealed, insertExternalAccount, &a)
	if err != nil {
		return err
	}
	duplicate := false
	if plain := a.Fingerprint(); columns.Field("fingerprint") != plain {
		// The same account may have been stored before there was a data key.
		query, args := plainFingerprintOfPlatform, []any{a.Platform, plain}
		if !a.Customer.IsZero() {
			query, args = plainFingerprintOfCustomer, append(args, a.Customer)
		}
		u.queueQuery(query, args, func(pgx.Rows) error {
			duplicate = true
			return nil
		})
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	if duplicate {
		return externalAccountExists()
	}
	if a.DefaultUMADeposit {
		// One new default at a time, so that each replaces the previous one.
		u.queueExec(`SELECT FROM customers WHERE platform_id = $1 AND id = $2 FOR NO KEY UPDATE`, a.Platform, a.Customer)
		u.queueExec(
			`UPDATE external_accounts SET default_uma_deposit = false, updated_at = $3 WHERE platform_id = $1 AND customer_id = $2 AND default_uma_deposit`,
			a.Platform, a.Customer, a.CreatedAt)
	}
	u.queueExec(insertExternalAccount.SQL, columns.Fields()...)
	return translate(u.flush(ctx))
}

// The account of a customer with a plain fingerprint uses external_accounts_by_customer, and that
// of the platform external_accounts_by_platform.
const (
	plainFingerprintOfCustomer = `SELECT FROM external_accounts WHERE platform_id = $1 AND customer_id = $3 AND fingerprint = $2 AND deleted_at IS NULL`
	plainFingerprintOfPlatform = `SELECT FROM external_accounts WHERE platform_id = $1 AND customer_id IS NULL AND fingerprint = $2 AND deleted_at IS NULL`
)

// LockExternalAccount uses the primary key. A deleted account is not found.
func (u *Unit) LockExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error) {
	return selectExisting(ctx, u.db, u.query, externalAccounts, externalAccountNotFound(id),
		`WHERE platform_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`, p, id)
}

// UpdateOwnership implements accounts.Tx.
func (u *Unit) UpdateOwnership(ctx context.Context, a account.External) error {
	return writeNow(ctx, u, updateOwnership, a, nil)
}

// DeleteExternalAccount uses the primary key.
func (u *Unit) DeleteExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount, at time.Time) error {
	return u.execOne(ctx, externalAccountNotFound(id),
		`UPDATE external_accounts SET deleted_at = $3, updated_at = $3 WHERE platform_id = $1 AND id = $2 AND deleted_at IS NULL`, p, id, at)
}

var updateTrusted = externalAccounts.Update("trusted_at")

// SetTrusted uses the primary key.
func (u *Unit) SetTrusted(ctx context.Context, a account.External) error {
	return writeNow(ctx, u, updateTrusted, a, externalAccountNotFound(a.ID))
}

// ExternalAccount uses the primary key. A deleted account is not found.
func (db *DB) ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error) {
	return selectExisting(ctx, db, db.read, externalAccounts, externalAccountNotFound(id),
		`WHERE platform_id = $1 AND id = $2 AND deleted_at IS NULL`, p, id)
}

// ExternalAccounts uses external_accounts_by_customer or external_accounts_by_platform, or the
// primary key for the accounts of all customers.
func (db *DB) ExternalAccounts(ctx context.Context, p ident.Platform, f ports.ExternalAccountFilter) (ports.Page[account.External], error) {
	l := newList("external_accounts", p)
	l.where("deleted_at IS NULL")
	switch {
	case f.PlatformOwned:
		l.byIndex("customer_id IS NULL")
	case !f.Customer.IsZero():
		l.byIndex("customer_id = ?", f.Customer)
	default:
		l.where("customer_id IS NOT NULL")
	}
	l.whereEqual("currency", string(f.Currency))
	return selectPage(ctx, db, l, f.Paging, externalAccounts)
}

// UMAForwardingAccount uses external_account_one_uma_default.
func (db *DB) UMAForwardingAccount(ctx context.Context, p ident.Platform, c ident.Customer) (account.External, bool, error) {
	return selectRow(ctx, db, db.read, externalAccounts,
		`WHERE platform_id = $1 AND customer_id = $2 AND default_uma_deposit AND deleted_at IS NULL`, p, c)
}

func externalAccountNotFound(id ident.ExternalAccount) error {
	return fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", id)
}

func newBeneficiaryColumn(b *account.Beneficiary) *beneficiaryColumn {
	if b == nil {
		return nil
	}
	return &beneficiaryColumn{
		Type: string(b.Type), FullName: b.FullName, LegalName: b.LegalName, BirthDate: b.BirthDate,
		Nationality: b.Nationality, Email: b.Email, PhoneNumber: b.PhoneNumber, CountryOfResidence: b.CountryOfResidence,
		Address: (*addressColumn)(b.Address), RegistrationNumber: b.RegistrationNumber, TaxID: b.TaxID,
		DocumentType: b.DocumentType, DocumentNumber: b.DocumentNumber,
	}
}

func (b *beneficiaryColumn) beneficiary() *account.Beneficiary {
	if b == nil {
		return nil
	}
	return &account.Beneficiary{
		Type: account.BeneficiaryType(b.Type), FullName: b.FullName, LegalName: b.LegalName, BirthDate: b.BirthDate,
		Nationality: b.Nationality, Email: b.Email, PhoneNumber: b.PhoneNumber, CountryOfResidence: b.CountryOfResidence,
		Address: (*party.Address)(b.Address), RegistrationNumber: b.RegistrationNumber, TaxID: b.TaxID,
		DocumentType: b.DocumentType, DocumentNumber: b.DocumentNumber,
	}
}
