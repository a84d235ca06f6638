package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/ports"
)

// externalRow is a row of external_accounts.
type externalRow struct {
	bun.BaseModel `bun:"table:external_accounts"`

	PlatformID        uuid.UUID       `bun:"platform_id,pk"`
	ID                uuid.UUID       `bun:"id,pk"`
	CustomerID        uuid.NullUUID   `bun:"customer_id"`
	PlatformAccountID string          `bun:"platform_account_id"`
	Currency          string          `bun:"currency"`
	Type              string          `bun:"account_type"`
	StoredFields      json.RawMessage `bun:"fields,type:jsonb"`
	StoredBeneficiary json.RawMessage `bun:"beneficiary,type:jsonb"`
	Rails             []string        `bun:"rails,array"`
	Status            string          `bun:"status"`
	DefaultUMADeposit bool            `bun:"default_uma_deposit"`
	Verification      string          `bun:"verification"`
	VerifiedName      string          `bun:"verified_name"`
	Fingerprint       string          `bun:"fingerprint"`
	Seal              string          `bun:"seal"` // of Digest
	CreatedAt         time.Time       `bun:"created_at"`
	UpdatedAt         time.Time       `bun:"updated_at"`
	DeletedAt         *time.Time      `bun:"deleted_at"`

	Fields      map[string]string  `bun:"-"`
	Beneficiary *beneficiaryColumn `bun:"-"`
}

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
func (u *unit) CreateExternalAccount(ctx context.Context, a account.External) error {
	row := newExternalRow(a)
	fingerprint := row.Fingerprint
	if err := row.seal(ctx, u.db); err != nil {
		return err
	}
	duplicate := false
	if row.Fingerprint != fingerprint {
		// The same account may have been stored before there was a data key.
		query, args := plainFingerprintOfPlatform, []any{pgID(row.PlatformID), fingerprint}
		if row.CustomerID.Valid {
			query, args = plainFingerprintOfCustomer, append(args, pgID(row.CustomerID.UUID))
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
		if _, err := u.db.bun.NewSelect().Conn(u.sqlConn).Model((*customerRow)(nil)).Column("id").For("NO KEY UPDATE").
			Where("platform_id = ? AND id = ?", a.Platform.UUID(), a.Customer.UUID()).Exec(ctx); err != nil {
			return err
		}
		if _, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model((*externalRow)(nil)).
			Set("default_uma_deposit = false").Set("updated_at = ?", a.CreatedAt).
			Where("platform_id = ? AND customer_id = ? AND default_uma_deposit", a.Platform.UUID(), a.Customer.UUID()).
			Exec(ctx); err != nil {
			return err
		}
	}
	return u.insert(ctx, row)
}

// The account of a customer with a plain fingerprint uses external_accounts_by_customer, and that
// of the platform external_accounts_by_platform.
const (
	plainFingerprintOfCustomer = `SELECT FROM external_accounts WHERE platform_id = $1 AND customer_id = $3 AND fingerprint = $2 AND deleted_at IS NULL`
	plainFingerprintOfPlatform = `SELECT FROM external_accounts WHERE platform_id = $1 AND customer_id IS NULL AND fingerprint = $2 AND deleted_at IS NULL`
)

func (row *externalRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

// seal sets the columns that are encrypted.
func (row *externalRow) seal(ctx context.Context, db *DB) (err error) {
	if row.StoredFields, err = db.sealJSON(ctx, row.sealedRow(), externalAccountsFields, row.Fields); err != nil {
		return err
	}
	if row.Beneficiary != nil {
		if row.StoredBeneficiary, err = db.sealJSON(ctx, row.sealedRow(), externalAccountsBeneficiary, row.Beneficiary); err != nil {
			return err
		}
	}
	if row.VerifiedName, err = db.sealText(ctx, row.sealedRow(), externalAccountsVerifiedName, row.VerifiedName); err != nil || db.cipher == nil {
		return err
	}
	if row.Fingerprint, err = db.cipher.Fingerprint(ctx, row.Fingerprint); err != nil {
		return err
	}
	row.Seal, err = db.cipher.Fingerprint(ctx, row.Seal)
	return err
}

func (row *externalRow) open(ctx context.Context, db *DB) (err error) {
	if err := db.openJSON(ctx, row.sealedRow(), externalAccountsFields, row.StoredFields, &row.Fields); err != nil {
		return err
	}
	if len(row.StoredBeneficiary) > 0 {
		if err := db.openJSON(ctx, row.sealedRow(), externalAccountsBeneficiary, row.StoredBeneficiary, &row.Beneficiary); err != nil {
			return err
		}
	}
	row.VerifiedName, err = db.openText(ctx, row.sealedRow(), externalAccountsVerifiedName, row.VerifiedName)
	return err
}

// DeleteExternalAccount uses the primary key.
func (u *unit) DeleteExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount, at time.Time) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model((*externalRow)(nil)).
		Set("deleted_at = ?", at).Set("updated_at = ?", at).
		Where("platform_id = ? AND id = ? AND deleted_at IS NULL", p.UUID(), id.UUID()).Exec(ctx)
	return checkRowChanged(result, err, externalAccountNotFound(id))
}

// ExternalAccount uses the primary key. A deleted account is not found.
func (db *DB) ExternalAccount(ctx context.Context, p ident.Platform, id ident.ExternalAccount) (account.External, error) {
	query := db.bun.NewSelect().Where("platform_id = ? AND id = ? AND deleted_at IS NULL", p.UUID(), id.UUID())
	return selectOne(ctx, db, query, (*externalRow).external, externalAccountNotFound(id))
}

// ExternalAccounts uses external_accounts_by_customer or external_accounts_by_platform, or the
// primary key for the accounts of all customers.
func (db *DB) ExternalAccounts(ctx context.Context, p ident.Platform, f ports.ExternalAccountFilter) (ports.Page[account.External], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	l.where("deleted_at IS NULL")
	switch {
	case f.PlatformOwned:
		l.query = l.query.Where("customer_id IS NULL")
	case !f.Customer.IsZero():
		l.query = l.query.Where("customer_id = ?", f.Customer.UUID())
	default:
		l.where("customer_id IS NOT NULL")
	}
	l.whereEqual("currency", string(f.Currency))
	return selectBunPage(ctx, db, l, f.Paging, (*externalRow).external)
}

// UMAForwardingAccount uses external_account_one_uma_default.
func (db *DB) UMAForwardingAccount(ctx context.Context, p ident.Platform, c ident.Customer) (account.External, bool, error) {
	var row externalRow
	err := db.bun.NewSelect().Model(&row).
		Where("platform_id = ? AND customer_id = ? AND default_uma_deposit AND deleted_at IS NULL", p.UUID(), c.UUID()).Scan(ctx)
	if isNoRows(err) {
		return account.External{}, false, nil
	}
	if err == nil {
		err = row.open(ctx, db)
	}
	return row.external(), err == nil, err
}

func externalAccountNotFound(id ident.ExternalAccount) error {
	return fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", id)
}

func newExternalRow(a account.External) *externalRow {
	row := &externalRow{
		PlatformID: a.Platform.UUID(), ID: a.ID.UUID(), CustomerID: nullID(a.Customer.UUID()),
		PlatformAccountID: a.PlatformAccountID, Currency: string(a.Currency), Type: string(a.Type), Fields: a.Fields,
		Rails: []string{}, Status: string(a.Status), DefaultUMADeposit: a.DefaultUMADeposit,
		Verification: string(a.Verification), VerifiedName: a.VerifiedName, Fingerprint: a.Fingerprint(), Seal: a.Digest(),
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, DeletedAt: nullTime(a.DeletedAt),
	}
	for _, rail := range a.Rails {
		row.Rails = append(row.Rails, string(rail))
	}
	row.Beneficiary = newBeneficiaryColumn(a.Beneficiary)
	return row
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

func (row *externalRow) external() account.External {
	a := account.External{
		PlatformAccountID: row.PlatformAccountID, Currency: money.Currency(row.Currency), Type: account.Type(row.Type), Fields: row.Fields,
		Status: account.Status(row.Status), DefaultUMADeposit: row.DefaultUMADeposit,
		Verification: account.VerificationStatus(row.Verification), VerifiedName: row.VerifiedName,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), DeletedAt: timeOrZero(row.DeletedAt),
	}
	a.ID.SetUUID(row.ID)
	a.Platform.SetUUID(row.PlatformID)
	a.Customer.SetUUID(row.CustomerID.UUID)
	for _, rail := range row.Rails {
		a.Rails = append(a.Rails, corridor.Rail(rail))
	}
	a.Beneficiary = row.Beneficiary.beneficiary()
	return a
}
