package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/ports"
)

// customerRow is a row of customers. Fields that no query filters by are in details.
type customerRow struct {
	bun.BaseModel `bun:"table:customers"`

	PlatformID         uuid.UUID       `bun:"platform_id,pk"`
	ID                 uuid.UUID       `bun:"id,pk"`
	PlatformCustomerID string          `bun:"platform_customer_id"`
	Type               string          `bun:"customer_type"`
	Region             string          `bun:"region"`
	Currencies         []string        `bun:"currencies,array"`
	Email              string          `bun:"email"`
	UMAAddress         string          `bun:"uma_address"`
	Status             string          `bun:"status"`
	StoredDetails      json.RawMessage `bun:"details,type:jsonb"`
	CreatedAt          time.Time       `bun:"created_at"`
	UpdatedAt          time.Time       `bun:"updated_at"`
	DeletedAt          *time.Time      `bun:"deleted_at"`
	HeldAt             *time.Time      `bun:"held_at"`

	Details customerDetails `bun:"-"`
}

// customerDetails is the details column.
type customerDetails struct {
	FullName    string          `json:"fullName,omitempty"`
	BirthDate   string          `json:"birthDate,omitempty"`
	Nationality string          `json:"nationality,omitempty"`
	Business    *businessColumn `json:"business,omitempty"`
	Address     *addressColumn  `json:"address,omitempty"`
	// IdentityChangedAt is omitted if the identity did not change since the creation.
	IdentityChangedAt time.Time `json:"identityChangedAt,omitzero"`
	ErasedAt          time.Time `json:"erasedAt,omitzero"`
}

type businessColumn struct {
	LegalName                        string   `json:"legalName"`
	DoingBusinessAs                  string   `json:"doingBusinessAs,omitempty"`
	Country                          string   `json:"country,omitempty"`
	RegistrationNumber               string   `json:"registrationNumber,omitempty"`
	IncorporatedOn                   string   `json:"incorporatedOn,omitempty"`
	EntityType                       string   `json:"entityType,omitempty"`
	TaxID                            string   `json:"taxId,omitempty"`
	CountriesOfOperation             []string `json:"countriesOfOperation,omitempty"`
	BusinessType                     string   `json:"businessType,omitempty"`
	PurposeOfAccount                 string   `json:"purposeOfAccount,omitempty"`
	SourceOfFunds                    string   `json:"sourceOfFunds,omitempty"`
	ExpectedMonthlyTransactionCount  string   `json:"expectedMonthlyTransactionCount,omitempty"`
	ExpectedMonthlyTransactionVolume string   `json:"expectedMonthlyTransactionVolume,omitempty"`
	ExpectedRecipientJurisdictions   []string `json:"expectedRecipientJurisdictions,omitempty"`
}

type addressColumn struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

// CreateCustomer inserts one customer. The unique indexes give the fault of a conflict.
func (u *unit) CreateCustomer(ctx context.Context, c customer.Customer) error {
	row, err := newCustomerRow(ctx, u.db, c)
	if err != nil {
		return err
	}
	return u.insert(ctx, row)
}

// LockCustomer uses the primary key. Rows that refer to the customer can be added meanwhile.
func (u *unit) LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	if err := u.flush(ctx); err != nil {
		return customer.Customer{}, err
	}
	return selectCustomer(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn).For("NO KEY UPDATE"), p, id)
}

// UpdateCustomer uses the primary key. The unique indexes give the fault of a conflict.
func (u *unit) UpdateCustomer(ctx context.Context, c customer.Customer) error {
	row, err := newCustomerRow(ctx, u.db, c)
	if err != nil {
		return err
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	_, err = u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).
		Column("platform_customer_id", "currencies", "email", "uma_address", "status", "details", "updated_at", "deleted_at", "held_at").WherePK().Exec(ctx)
	return translate(err)
}

// newCustomerRow returns the row of a customer, with its encrypted columns.
func newCustomerRow(ctx context.Context, db *DB, c customer.Customer) (*customerRow, error) {
	row := &customerRow{
		PlatformID: c.Platform.UUID(), ID: c.ID.UUID(), PlatformCustomerID: c.PlatformCustomerID,
		Type: string(c.Type), Region: c.Region, Currencies: []string{}, Email: c.Email, UMAAddress: c.UMAAddress, Status: string(c.Status),
		Details: newCustomerDetails(c), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, DeletedAt: nullTime(c.DeletedAt), HeldAt: nullTime(c.HeldAt),
	}
	for _, currency := range c.Currencies {
		row.Currencies = append(row.Currencies, string(currency))
	}
	return row, row.seal(ctx, db)
}

func newCustomerDetails(c customer.Customer) customerDetails {
	return customerDetails{
		FullName: c.FullName, BirthDate: c.BirthDate, Nationality: c.Nationality,
		Business: (*businessColumn)(c.Business), Address: (*addressColumn)(c.Address),
		IdentityChangedAt: c.IdentityChangedAt, ErasedAt: c.ErasedAt,
	}
}

func (row *customerRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

// seal sets the columns that are encrypted.
func (row *customerRow) seal(ctx context.Context, db *DB) (err error) {
	if row.Email, err = db.sealText(ctx, row.sealedRow(), customersEmail, row.Email); err != nil {
		return err
	}
	row.StoredDetails, err = db.sealJSON(ctx, row.sealedRow(), customersDetails, row.Details)
	return err
}

func (row *customerRow) open(ctx context.Context, db *DB) (err error) {
	if row.Email, err = db.openText(ctx, row.sealedRow(), customersEmail, row.Email); err != nil {
		return err
	}
	return db.openJSON(ctx, row.sealedRow(), customersDetails, row.StoredDetails, &row.Details)
}

// Customer uses the primary key. It finds deleted customers too.
func (db *DB) Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	return selectCustomer(ctx, db, db.bun.NewSelect(), p, id)
}

func selectCustomer(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	query = query.Where("platform_id = ? AND id = ?", p.UUID(), id.UUID())
	return selectOne(ctx, db, query, (*customerRow).customer, fault.New(fault.UserNotFound, "There is no customer %s.", id))
}

// Customers uses customers_by_platform_customer_id, customers_by_uma_address, customers_by_type,
// customers_by_region, customers_by_updated_at or the primary key.
func (db *DB) Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	switch { // the further conditions allow the use of the partial indexes
	case f.PlatformCustomerID != "":
		l.query = l.query.Where("platform_customer_id = ? AND platform_customer_id <> ''", f.PlatformCustomerID)
		l.whereEqual("uma_address", f.UMAAddress)
	case f.UMAAddress != "":
		l.query = l.query.Where("uma_address = ? AND uma_address <> ''", f.UMAAddress)
	}
	if f.Type != "" {
		l.where("customer_type = ? AND customer_type <> ''", string(f.Type))
	}
	if f.Region != "" {
		l.where("region = ? AND region <> ''", f.Region)
	}
	if f.Currency != "" {
		l.where("? = ANY(currencies)", string(f.Currency))
	}
	if !f.IncludeDeleted {
		l.where("deleted_at IS NULL")
	}
	l.createdIn(f.Created)
	l.whereInInterval("updated_at", f.Updated)
	return selectBunPage(ctx, db, l, f.Paging, (*customerRow).customer)
}

// CustomersAfter uses the primary key.
func (db *DB) CustomersAfter(ctx context.Context, p ident.Platform, after ident.Customer, limit int) ([]customer.Customer, error) {
	query := db.bun.NewSelect().Where("platform_id = ? AND id > ? AND deleted_at IS NULL", p.UUID(), after.UUID()).
		OrderExpr("id").Limit(int64(limit))
	return selectAll(ctx, db, query, (*customerRow).customer)
}

// CustomersByID uses the primary key.
func (db *DB) CustomersByID(ctx context.Context, p ident.Platform, ids []ident.Customer) ([]customer.Customer, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	keys := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		keys[i] = id.UUID()
	}
	query := db.bun.NewSelect().Where("platform_id = ? AND id IN (?) AND deleted_at IS NULL", p.UUID(), bun.List(keys)).OrderExpr("id")
	return selectAll(ctx, db, query, (*customerRow).customer)
}

func (row *customerRow) customer() customer.Customer {
	c := customer.Customer{
		PlatformCustomerID: row.PlatformCustomerID, Type: customer.Type(row.Type), Region: row.Region,
		Email: row.Email, UMAAddress: row.UMAAddress, Status: customer.Status(row.Status),
		FullName: row.Details.FullName, BirthDate: row.Details.BirthDate, Nationality: row.Details.Nationality,
		Business: (*customer.BusinessInfo)(row.Details.Business), Address: (*party.Address)(row.Details.Address),
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), IdentityChangedAt: row.Details.IdentityChangedAt,
		DeletedAt: timeOrZero(row.DeletedAt), HeldAt: timeOrZero(row.HeldAt), ErasedAt: row.Details.ErasedAt,
	}
	c.ID.SetUUID(row.ID)
	c.Platform.SetUUID(row.PlatformID)
	for _, currency := range row.Currencies {
		c.Currencies = append(c.Currencies, money.Currency(currency))
	}
	return c
}
