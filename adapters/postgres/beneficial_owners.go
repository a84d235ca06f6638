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
	"causeway/core/party"
	"causeway/ports"
)

// beneficialOwnerRow is a row of beneficial_owners.
type beneficialOwnerRow struct {
	bun.BaseModel `bun:"table:beneficial_owners"`

	PlatformID    uuid.UUID       `bun:"platform_id,pk"`
	ID            uuid.UUID       `bun:"id,pk"`
	CustomerID    uuid.UUID       `bun:"customer_id"`
	Roles         []string        `bun:"roles,array"`
	Percentage    int             `bun:"ownership_percentage"`
	Status        string          `bun:"status"`
	ApplicationID uuid.NullUUID   `bun:"application_id"`
	StoredDetails json.RawMessage `bun:"details,type:jsonb"`
	CreatedAt     time.Time       `bun:"created_at"`
	UpdatedAt     time.Time       `bun:"updated_at"`

	Details beneficialOwnerDetails `bun:"-"`
}

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
func (u *unit) CreateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error {
	row, err := newBeneficialOwnerRow(ctx, u.db, o)
	if err != nil {
		return err
	}
	return u.insert(ctx, row)
}

// UpdateBeneficialOwner uses the primary key.
func (u *unit) UpdateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error {
	row, err := newBeneficialOwnerRow(ctx, u.db, o)
	if err != nil {
		return err
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).
		Column("roles", "ownership_percentage", "status", "application_id", "details", "updated_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, beneficialOwnerNotFound(o.ID))
}

// BeneficialOwnersOf uses beneficial_owners_by_customer.
func (u *unit) BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	return selectBeneficialOwners(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn), p, customers)
}

// BeneficialOwnersOf uses beneficial_owners_by_customer.
func (db *DB) BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error) {
	return selectBeneficialOwners(ctx, db, db.bun.NewSelect(), p, customers)
}

func selectBeneficialOwners(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform, customers []ident.Customer) ([]customer.BeneficialOwner, error) {
	ids := make([]uuid.UUID, len(customers))
	for i, c := range customers {
		ids[i] = c.UUID()
	}
	query = query.Where("platform_id = ? AND customer_id IN (?)", p.UUID(), bun.List(ids)).OrderExpr("id")
	return selectAll(ctx, db, query, (*beneficialOwnerRow).owner)
}

// BeneficialOwner uses the primary key.
func (db *DB) BeneficialOwner(ctx context.Context, p ident.Platform, id ident.BeneficialOwner) (customer.BeneficialOwner, error) {
	query := db.bun.NewSelect().Where("platform_id = ? AND id = ?", p.UUID(), id.UUID())
	return selectOne(ctx, db, query, (*beneficialOwnerRow).owner, beneficialOwnerNotFound(id))
}

// ListBeneficialOwners uses beneficial_owners_by_customer.
func (db *DB) ListBeneficialOwners(ctx context.Context, p ident.Platform, f ports.BeneficialOwnerFilter) (ports.Page[customer.BeneficialOwner], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ? AND customer_id = ?", p.UUID(), f.Customer.UUID())}
	return selectBunPage(ctx, db, l, f.Paging, (*beneficialOwnerRow).owner)
}

func beneficialOwnerNotFound(id ident.BeneficialOwner) error {
	return fault.New(fault.BeneficialOwnerNotFound, "There is no beneficial owner %s.", id)
}

func (row *beneficialOwnerRow) sealedRow() sealedRow {
	return sealedRow{row.PlatformID, row.ID}
}

func (row *beneficialOwnerRow) seal(ctx context.Context, db *DB) (err error) {
	row.StoredDetails, err = db.sealJSON(ctx, row.sealedRow(), beneficialOwnersDetails, row.Details)
	return err
}

func (row *beneficialOwnerRow) open(ctx context.Context, db *DB) error {
	return db.openJSON(ctx, row.sealedRow(), beneficialOwnersDetails, row.StoredDetails, &row.Details)
}

// newBeneficialOwnerRow returns the row of an owner, with its encrypted column.
func newBeneficialOwnerRow(ctx context.Context, db *DB, o customer.BeneficialOwner) (*beneficialOwnerRow, error) {
	row := &beneficialOwnerRow{
		PlatformID: o.Platform.UUID(), ID: o.ID.UUID(), CustomerID: o.Customer.UUID(), Percentage: o.OwnershipPercentage,
		Status: string(o.Status), ApplicationID: nullID(o.Check.Application), CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
		Details: beneficialOwnerDetails{Person: newPersonColumn(o.Person), Check: checkColumn{
			Submitted: o.Check.Submitted, Errors: newCheckErrorColumns(o.Check.Errors), By: o.Check.By, At: o.Check.At, Reason: o.Check.Reason}},
	}
	for _, role := range o.Roles {
		row.Roles = append(row.Roles, string(role))
	}
	return row, row.seal(ctx, db)
}

func (row *beneficialOwnerRow) owner() customer.BeneficialOwner {
	check := row.Details.Check
	o := customer.BeneficialOwner{
		OwnershipPercentage: row.Percentage, Person: row.Details.Person.person(), Status: customer.Status(row.Status),
		Check: customer.Check{Application: row.ApplicationID.UUID, Submitted: check.Submitted, Errors: checkErrors(check.Errors),
			By: check.By, At: check.At.UTC(), Reason: check.Reason},
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
	}
	o.Platform.SetUUID(row.PlatformID)
	o.ID.SetUUID(row.ID)
	o.Customer.SetUUID(row.CustomerID)
	for _, role := range row.Roles {
		o.Roles = append(o.Roles, customer.OwnerRole(role))
	}
	return o
}

func newPersonColumn(p customer.PersonalInfo) personColumn {
	return personColumn{
		FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, BirthDate: p.BirthDate, Nationality: p.Nationality,
		Email: p.Email, PhoneNumber: p.PhoneNumber, Address: addressColumn(p.Address), IDType: p.IDType, Identifier: p.Identifier, CountryOfIssuance: p.CountryOfIssuance,
	}
}

func (c personColumn) person() customer.PersonalInfo {
	return customer.PersonalInfo{
		FirstName: c.FirstName, MiddleName: c.MiddleName, LastName: c.LastName, BirthDate: c.BirthDate, Nationality: c.Nationality,
		Email: c.Email, PhoneNumber: c.PhoneNumber, Address: party.Address(c.Address), IDType: c.IDType, Identifier: c.Identifier, CountryOfIssuance: c.CountryOfIssuance,
	}
}

func newCheckErrorColumns(list []customer.CheckError) []checkErrorColumn {
	var columns []checkErrorColumn
	for _, e := range list {
		columns = append(columns, checkErrorColumn(e))
	}
	return columns
}

func checkErrors(columns []checkErrorColumn) []customer.CheckError {
	var list []customer.CheckError
	for _, c := range columns {
		list = append(list, customer.CheckError(c))
	}
	return list
}
