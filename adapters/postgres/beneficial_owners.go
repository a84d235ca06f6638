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

// beneficialOwners is the table beneficial_owners.
var beneficialOwners = schema.New("beneficial_owners", keyOfPlatform, func(o *customer.BeneficialOwner) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &o.Platform}, {Name: "id", Field: &o.ID}, {Name: "customer_id", Field: &o.Customer},
		{Name: "roles", Type: "text[]", Field: schema.Array(&o.Roles)}, {Name: "ownership_percentage", Field: &o.OwnershipPercentage},
		{Name: "status", Field: &o.Status}, {Name: "application_id", Field: schema.Optional(&o.Check.Application)},
		sealed.JSON(sealed.BeneficialOwnersDetails,
			func() beneficialOwnerDetails { return newBeneficialOwnerDetails(*o) },
			func(d beneficialOwnerDetails) { d.set(o) }),
		{Name: "created_at", Field: &o.CreatedAt}, {Name: "updated_at", Field: &o.UpdatedAt},
	}
})

var (
	insertBeneficialOwner = beneficialOwners.Insert("")
	updateBeneficialOwner = beneficialOwners.Update("roles", "ownership_percentage", "status", "application_id", "details", "updated_at")
)

// beneficialOwnerDetails is the details column.
type beneficialOwnerDetails struct {
	Person personColumn `json:"person"`
	Check  checkColumn  `json:"check"`
}

type checkColumn struct {
	Submitted bool               `json:"submitted,omitempty"`
	Errors    []checkErrorColumn `json:"errors,omitempty"`
	By        string             `json:"by,omitempty"`
	At        time.Time          `json:"at,omitzero"`
	Reason    string             `json:"reason,omitempty"`
}

type personColumn struct {
	FirstName         string        `json:"firstName"`
	MiddleName        string        `json:"middleName,omitempty"`
	LastName          string        `json:"lastName"`
	BirthDate         string        `json:"birthDate"`
	Nationality       string        `json:"nationality"`
	Email             string        `json:"email,omitempty"`
	PhoneNumber       string        `json:"phoneNumber,omitempty"`
	Address           addressColumn `json:"address"`
	IDType            string        `json:"idType"`
	Identifier        string        `json:"identifier"`
	CountryOfIssuance string        `json:"countryOfIssuance,omitempty"`
}

type checkErrorColumn struct {
	Resource          string                  `json:"resource"`
	Type              customer.CheckErrorType `json:"type"`
	Field             string                  `json:"field,omitempty"`
	AcceptedDocuments []string                `json:"acceptedDocuments,omitempty"`
	Reason            string                  `json:"reason"`
}

// CreateBeneficialOwner inserts one owner.
func (u *Unit) CreateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error {
	return writeNow(ctx, u, insertBeneficialOwner, o, nil)
}

// UpdateBeneficialOwner uses the primary key.
func (u *Unit) UpdateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error {
	return writeNow(ctx, u, updateBeneficialOwner, o, beneficialOwnerNotFound(o.ID))
}

// BeneficialOwnersOf uses beneficial_owners_by_customer.
func (u *Unit) BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error) {
	return selectRows(ctx, u.db, u.query, beneficialOwners, ownersOfCustomers, p, customers)
}

// BeneficialOwnersOf uses beneficial_owners_by_customer.
func (db *DB) BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error) {
	return selectRows(ctx, db, db.read, beneficialOwners, ownersOfCustomers, p, customers)
}

const ownersOfCustomers = `WHERE platform_id = $1 AND customer_id = ANY($2) ORDER BY id`

// BeneficialOwner uses the primary key.
func (db *DB) BeneficialOwner(ctx context.Context, p ident.Platform, id ident.BeneficialOwner) (customer.BeneficialOwner, error) {
	return readByID(ctx, db, beneficialOwners, beneficialOwnerNotFound(id), p, id)
}

// ListBeneficialOwners uses beneficial_owners_by_customer.
func (db *DB) ListBeneficialOwners(ctx context.Context, p ident.Platform,
	f ports.BeneficialOwnerFilter) (ports.Page[customer.BeneficialOwner], error) {
	l := newList("beneficial_owners", p)
	l.byIndex("customer_id = ?", f.Customer.UUID())
	return selectPage(ctx, db, l, f.Paging, beneficialOwners)
}

func beneficialOwnerNotFound(id ident.BeneficialOwner) error {
	return fault.New(fault.BeneficialOwnerNotFound, "There is no beneficial owner %s.", id)
}

func newBeneficialOwnerDetails(o customer.BeneficialOwner) beneficialOwnerDetails {
	return beneficialOwnerDetails{Person: newPersonColumn(o.Person), Check: checkColumn{
		Submitted: o.Check.Submitted, Errors: newCheckErrorColumns(o.Check.Errors), By: o.Check.By, At: o.Check.At, Reason: o.Check.Reason}}
}

func (d beneficialOwnerDetails) set(o *customer.BeneficialOwner) {
	o.Person = d.Person.person()
	o.Check = customer.Check{Application: o.Check.Application, Submitted: d.Check.Submitted, Errors: checkErrors(d.Check.Errors),
		By: d.Check.By, At: d.Check.At.UTC(), Reason: d.Check.Reason}
}

func newPersonColumn(p customer.PersonalInfo) personColumn {
	return personColumn{
		FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, BirthDate: p.BirthDate, Nationality: p.Nationality,
		Email: p.Email, PhoneNumber: p.PhoneNumber, Address: addressColumn(p.Address), IDType: p.IDType, Identifier: p.Identifier,
		CountryOfIssuance: p.CountryOfIssuance,
	}
}

func (c personColumn) person() customer.PersonalInfo {
	return customer.PersonalInfo{
		FirstName: c.FirstName, MiddleName: c.MiddleName, LastName: c.LastName, BirthDate: c.BirthDate, Nationality: c.Nationality,
		Email: c.Email, PhoneNumber: c.PhoneNumber, Address: party.Address(c.Address), IDType: c.IDType, Identifier: c.Identifier,
		CountryOfIssuance: c.CountryOfIssuance,
	}
}

func newCheckErrorColumns(list []customer.CheckError) []checkErrorColumn {
	return mapped(list, func(e customer.CheckError) checkErrorColumn { return checkErrorColumn(e) })
}

func checkErrors(columns []checkErrorColumn) []customer.CheckError {
	return mapped(columns, func(c checkErrorColumn) customer.CheckError { return customer.CheckError(c) })
}
