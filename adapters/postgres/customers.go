package postgres

import (
	"context"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/ports"
)

// customers is the table customers. Fields that no query filters by are in details.
var customers = schema.New("customers", keyOfPlatform, func(c *customer.Customer) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Platform}, {Name: "id", Field: &c.ID}, {Name: "platform_customer_id", Field: &c.PlatformCustomerID},
		{Name: "customer_type", Field: &c.Type}, {Name: "region", Field: &c.Region},
		{Name: "currencies", Type: "text[]", Field: schema.Array(&c.Currencies)}, sealed.Text(sealed.CustomersEmail, &c.Email),
		{Name: "uma_address", Field: &c.UMAAddress}, {Name: "status", Field: &c.Status},
		sealed.JSON(sealed.CustomersDetails, func() customerDetails { return newCustomerDetails(*c) }, func(d customerDetails) { d.set(c) }),
		sealed.JSON(sealed.CustomersContacts, func() *contactsColumn { return newContactsColumn(*c) },
			func(column *contactsColumn) { column.set(c) }),
		{Name: "created_at", Field: &c.CreatedAt}, {Name: "updated_at", Field: &c.UpdatedAt},
		{Name: "deleted_at", Field: &c.DeletedAt}, {Name: "held_at", Field: &c.HeldAt},
		{Name: "on_hold_at", Field: &c.OnHoldSince},
	}
})

var (
	insertCustomer = customers.Insert("")
	// insertCustomers leaves out customers that violate a unique index, also one that another session is inserting.
	insertCustomers = customers.InsertAll("ON CONFLICT DO NOTHING RETURNING id")
	updateCustomer  = customers.Update("platform_customer_id", "currencies", "email", "uma_address", "status", "details", "contacts",
		"updated_at", "deleted_at", "held_at", "on_hold_at")
)

// customerDetails is the details column.
type customerDetails struct {
	FullName          string          `json:"fullName,omitempty"`
	BirthDate         string          `json:"birthDate,omitempty"`
	Nationality       string          `json:"nationality,omitempty"`
	IDType            string          `json:"idType,omitempty"`
	Identifier        string          `json:"identifier,omitempty"`
	CountryOfIssuance string          `json:"countryOfIssuance,omitempty"`
	Diligence         diligenceColumn `json:"diligence,omitzero"`
	Business          *businessColumn `json:"business,omitempty"`
	Address           *addressColumn  `json:"address,omitempty"`
	Consent           *consentColumn  `json:"endUserTermsConsent,omitempty"`
	// IdentityChangedAt is omitted if the identity did not change since the creation.
	IdentityChangedAt time.Time `json:"identityChangedAt,omitzero"`
	ErasedAt          time.Time `json:"erasedAt,omitzero"`
}

// contactsColumn is the contacts column; NULL if it is zero.
type contactsColumn struct {
	PhoneNumber string           `json:"phoneNumber,omitempty"`
	Required    bool             `json:"required,omitempty"`
	Email       *verifiedContact `json:"verifiedEmail,omitempty"`
	Phone       *verifiedContact `json:"verifiedPhone,omitempty"`
}

type verifiedContact struct {
	Address string    `json:"address"`
	At      time.Time `json:"at"`
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
	SourceOfFundsCategories          []string `json:"sourceOfFundsCategories,omitempty"`
	SourceOfFundsOtherDescription    string   `json:"sourceOfFundsOtherDescription,omitempty"`
	PurposeOfAccountOtherDescription string   `json:"purposeOfAccountOtherDescription,omitempty"`
	ExpectedCounterpartyCountries    []string `json:"expectedCounterpartyCountries,omitempty"`
	NAICSCode                        string   `json:"naicsCode,omitempty"`
	PrimaryContactFirstName          string   `json:"primaryContactFirstName,omitempty"`
	PrimaryContactLastName           string   `json:"primaryContactLastName,omitempty"`
}

type diligenceColumn struct {
	SourceOfFundsCategories          []string `json:"sourceOfFundsCategories,omitempty"`
	SourceOfFundsOtherDescription    string   `json:"sourceOfFundsOtherDescription,omitempty"`
	SourceOfWealthCategories         []string `json:"sourceOfWealthCategories,omitempty"`
	SourceOfWealthOtherDescription   string   `json:"sourceOfWealthOtherDescription,omitempty"`
	PurposeOfAccount                 string   `json:"purposeOfAccount,omitempty"`
	PurposeOfAccountOtherDescription string   `json:"purposeOfAccountOtherDescription,omitempty"`
	ExpectedMonthlyTransactionCount  string   `json:"expectedMonthlyTransactionCount,omitempty"`
	ExpectedMonthlyTransactionVolume string   `json:"expectedMonthlyTransactionVolume,omitempty"`
	AnnualIncomeRange                string   `json:"annualIncomeRange,omitempty"`
	NetWorthRange                    string   `json:"netWorthRange,omitempty"`
	PEPStatus                        string   `json:"pepStatus,omitempty"`
}

type consentColumn struct {
	Version    string    `json:"termsVersion"`
	Method     string    `json:"acceptanceMethod"`
	IPAddress  string    `json:"ipAddress"`
	AcceptedAt time.Time `json:"acceptedAt"`
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
func (u *Unit) CreateCustomer(ctx context.Context, c customer.Customer) error {
	return writeNow(ctx, u, insertCustomer, c, nil)
}

// LockCustomer uses the primary key. Rows that refer to the customer can be added meanwhile.
func (u *Unit) LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	return selectExisting(ctx, u.db, u.query, customers, customerNotFound(id), `WHERE platform_id = $1 AND id = $2 FOR NO KEY UPDATE`, p, id)
}

// UpdateCustomer uses the primary key. The unique indexes give the fault of a conflict.
func (u *Unit) UpdateCustomer(ctx context.Context, c customer.Customer) error {
	return writeNow(ctx, u, updateCustomer, c, nil)
}

func customerNotFound(id ident.Customer) error {
	return fault.New(fault.UserNotFound, "There is no customer %s.", id)
}

func newCustomerDetails(c customer.Customer) customerDetails {
	return customerDetails{
		FullName: c.FullName, BirthDate: c.BirthDate, Nationality: c.Nationality, Diligence: diligenceColumn(c.Diligence),
		IDType: c.IDType, Identifier: c.Identifier, CountryOfIssuance: c.CountryOfIssuance,
		Business: (*businessColumn)(c.Business), Address: (*addressColumn)(c.Address), Consent: (*consentColumn)(c.Consent),
		IdentityChangedAt: c.IdentityChangedAt, ErasedAt: c.ErasedAt,
	}
}

func (d customerDetails) set(c *customer.Customer) {
	c.FullName, c.BirthDate, c.Nationality, c.Diligence = d.FullName, d.BirthDate, d.Nationality, customer.Diligence(d.Diligence)
	c.IDType, c.Identifier, c.CountryOfIssuance = d.IDType, d.Identifier, d.CountryOfIssuance
	c.Business, c.Address = (*customer.BusinessInfo)(d.Business), (*party.Address)(d.Address)
	c.Consent = (*customer.Consent)(d.Consent)
	c.IdentityChangedAt, c.ErasedAt = d.IdentityChangedAt, d.ErasedAt
}

func newContactsColumn(c customer.Customer) *contactsColumn {
	column := contactsColumn{PhoneNumber: c.PhoneNumber, Required: c.Contacts.Required}
	if v := verifiedContact(c.Contacts.Email); v != (verifiedContact{}) {
		column.Email = &v
	}
	if v := verifiedContact(c.Contacts.Phone); v != (verifiedContact{}) {
		column.Phone = &v
	}
	if column == (contactsColumn{}) {
		return nil
	}
	return &column
}

func (column *contactsColumn) set(c *customer.Customer) {
	c.PhoneNumber, c.Contacts = "", customer.Contacts{}
	if column == nil {
		return
	}
	c.PhoneNumber, c.Contacts.Required = column.PhoneNumber, column.Required
	if column.Email != nil {
		c.Contacts.Email = customer.VerifiedContact(*column.Email)
	}
	if column.Phone != nil {
		c.Contacts.Phone = customer.VerifiedContact(*column.Phone)
	}
}

// Customer uses the primary key. It finds deleted customers too.
func (db *DB) Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	return readByID(ctx, db, customers, customerNotFound(id), p, id)
}

// Customers uses customers_by_platform_customer_id, customers_by_uma_address, customers_by_type,
// customers_by_region, customers_by_updated_at or the primary key.
func (db *DB) Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	l := newList("customers", p)
	switch { // the further conditions allow the use of the partial indexes
	case f.PlatformCustomerID != "":
		l.byIndex("platform_customer_id = ? AND platform_customer_id <> ''", f.PlatformCustomerID)
		l.whereEqual("uma_address", f.UMAAddress)
	case f.UMAAddress != "":
		l.byIndex("uma_address = ? AND uma_address <> ''", f.UMAAddress)
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
	switch {
	case f.OnlyDeleted:
		l.where("deleted_at IS NOT NULL")
	case !f.IncludeDeleted:
		l.where("deleted_at IS NULL")
	}
	l.createdIn(f.Created)
	l.whereInInterval("updated_at", f.Updated)
	return selectPage(ctx, db, l, f.Paging, customers)
}

// CustomersAfter uses the primary key.
func (db *DB) CustomersAfter(ctx context.Context, p ident.Platform, after ident.Customer, limit int) ([]customer.Customer, error) {
	return selectRows(ctx, db, db.read, customers,
		`WHERE platform_id = $1 AND id > $2 AND deleted_at IS NULL ORDER BY id LIMIT $3`, p, after.UUID(), limit)
}

// CustomersByID uses the primary key.
func (db *DB) CustomersByID(ctx context.Context, p ident.Platform, ids []ident.Customer) ([]customer.Customer, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return selectRows(ctx, db, db.read, customers, `WHERE platform_id = $1 AND id = ANY($2) AND deleted_at IS NULL ORDER BY id`, p, ids)
}

// CustomersOnHold implements customers.Store. It uses customers_on_hold.
func (db *DB) CustomersOnHold(ctx context.Context, p ident.Platform, limit int) ([]customer.Customer, error) {
	return selectRows(ctx, db, db.read, customers, `WHERE platform_id = $1 AND on_hold_at IS NOT NULL AND deleted_at IS NULL
		ORDER BY on_hold_at, id LIMIT $2`, p, limit)
}
