package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/verification"
	"causeway/ports"
)

// verificationRow is a row of verifications.
type verificationRow struct {
	bun.BaseModel `bun:"table:verifications"`

	PlatformID       uuid.UUID       `bun:"platform_id,pk"`
	ID               uuid.UUID       `bun:"id,pk"`
	CustomerID       uuid.UUID       `bun:"customer_id"`
	Status           string          `bun:"status"`
	ApplicationID    uuid.NullUUID   `bun:"application_id"`
	CustomerApproved bool            `bun:"customer_approved"`
	StoredDetails    json.RawMessage `bun:"details,type:jsonb"`
	CreatedAt        time.Time       `bun:"created_at"`
	UpdatedAt        time.Time       `bun:"updated_at"`

	Details verificationDetails `bun:"-"`
}

// verificationDetails is the details column.
type verificationDetails struct {
	Errors    []checkErrorColumn `json:"errors,omitempty"`
	Submitted *applicationColumn `json:"submitted,omitempty"`
	Decision  *decisionColumn    `json:"decision,omitempty"`
}

// applicationColumn is the data that was submitted.
type applicationColumn struct {
	SubmittedAt        time.Time              `json:"submittedAt"`
	PlatformCustomerID string                 `json:"platformCustomerId"`
	Type               customer.Type          `json:"type"`
	Region             string                 `json:"region,omitempty"`
	Email              string                 `json:"email,omitempty"`
	Customer           customerDetails        `json:"customer"`
	Owners             []submittedOwnerColumn `json:"owners,omitempty"`
	Files              []uuid.UUID            `json:"files,omitempty"`
}

type submittedOwnerColumn struct {
	ID         uuid.UUID            `json:"id"`
	Roles      []customer.OwnerRole `json:"roles"`
	Percentage int                  `json:"ownershipPercentage"`
	Status     customer.Status      `json:"status"`
	Person     personColumn         `json:"person"`
}

type decisionColumn struct {
	Application uuid.UUID            `json:"application"`
	Verdict     verification.Verdict `json:"verdict"`
	Errors      []checkErrorColumn   `json:"errors,omitempty"`
	Reason      string               `json:"reason,omitempty"`
	By          string               `json:"by,omitempty"`
	At          time.Time            `json:"at"`
}

// CreateVerification inserts one verification.
func (u *unit) CreateVerification(ctx context.Context, v verification.Verification) error {
	row, err := newVerificationRow(ctx, u.db, v)
	if err != nil {
		return err
	}
	return u.insert(ctx, row)
}

// UpdateVerification uses the primary key.
func (u *unit) UpdateVerification(ctx context.Context, v verification.Verification) error {
	row, err := newVerificationRow(ctx, u.db, v)
	if err != nil {
		return err
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).
		Column("status", "application_id", "customer_approved", "details", "updated_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, verificationNotFound(v.ID))
}

// VerificationsOf uses verifications_by_customer.
func (u *unit) VerificationsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Verification, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	query := u.db.bun.NewSelect().Conn(u.sqlConn).Where("platform_id = ? AND customer_id = ?", p.UUID(), c.UUID()).OrderExpr("id DESC")
	return selectAll(ctx, u.db, query, (*verificationRow).verification)
}

// Verification uses the primary key.
func (db *DB) Verification(ctx context.Context, p ident.Platform, id ident.Verification) (verification.Verification, error) {
	query := db.bun.NewSelect().Where("platform_id = ? AND id = ?", p.UUID(), id.UUID())
	return selectOne(ctx, db, query, (*verificationRow).verification, verificationNotFound(id))
}

// Verifications uses verifications_by_customer, verifications_by_status or the primary key.
func (db *DB) Verifications(ctx context.Context, p ident.Platform, f ports.VerificationFilter) (ports.Page[verification.Verification], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	switch {
	case !f.Customer.IsZero():
		l.query = l.query.Where("customer_id = ?", f.Customer.UUID())
		l.whereEqual("status", string(f.Status))
	case f.Status != "":
		l.query = l.query.Where("status = ?", string(f.Status))
	}
	return selectBunPage(ctx, db, l, f.Paging, (*verificationRow).verification)
}

func verificationNotFound(id ident.Verification) error {
	return fault.New(fault.VerificationNotFound, "There is no verification %s.", id)
}

func (row *verificationRow) sealedRow() sealedRow {
	return sealedRow{row.PlatformID, row.ID}
}

func (row *verificationRow) seal(ctx context.Context, db *DB) (err error) {
	row.StoredDetails, err = db.sealJSON(ctx, row.sealedRow(), verificationsDetails, row.Details)
	return err
}

func (row *verificationRow) open(ctx context.Context, db *DB) error {
	return db.openJSON(ctx, row.sealedRow(), verificationsDetails, row.StoredDetails, &row.Details)
}

// newVerificationRow returns the row of a verification, with its encrypted column.
func newVerificationRow(ctx context.Context, db *DB, v verification.Verification) (*verificationRow, error) {
	row := &verificationRow{
		PlatformID: v.Platform.UUID(), ID: v.ID.UUID(), CustomerID: v.Customer.UUID(), Status: string(v.Status),
		CustomerApproved: v.CustomerApproved, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		Details: verificationDetails{Errors: newCheckErrorColumns(v.Errors)},
	}
	if v.Submitted != nil {
		row.ApplicationID, row.Details.Submitted = nullID(v.Submitted.ID), newApplicationColumn(*v.Submitted)
	}
	if d := v.LastDecision; d.Verdict != "" {
		row.Details.Decision = &decisionColumn{
			Application: d.Application, Verdict: d.Verdict, Errors: newCheckErrorColumns(d.Errors), Reason: d.Reason, By: d.By, At: d.At,
		}
	}
	return row, row.seal(ctx, db)
}

func newApplicationColumn(a verification.Application) *applicationColumn {
	c := a.Customer
	column := &applicationColumn{
		SubmittedAt: a.SubmittedAt, PlatformCustomerID: c.PlatformCustomerID, Type: c.Type, Region: c.Region, Email: c.Email, Customer: newCustomerDetails(c), Files: a.Files,
	}
	for _, o := range a.Owners {
		column.Owners = append(column.Owners, submittedOwnerColumn{
			ID: o.ID.UUID(), Roles: o.Roles, Percentage: o.OwnershipPercentage, Status: o.Status, Person: newPersonColumn(o.Person),
		})
	}
	return column
}

func (row *verificationRow) verification() verification.Verification {
	v := verification.Verification{
		Status: verification.Status(row.Status), Errors: checkErrors(row.Details.Errors), CustomerApproved: row.CustomerApproved,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
	}
	v.ID.SetUUID(row.ID)
	v.Platform.SetUUID(row.PlatformID)
	v.Customer.SetUUID(row.CustomerID)
	if s := row.Details.Submitted; s != nil {
		v.Submitted = s.application(row.ApplicationID.UUID, v)
	}
	if d := row.Details.Decision; d != nil {
		v.LastDecision = verification.Decision{Application: d.Application, By: d.By, At: d.At.UTC(),
			Outcome: verification.Outcome{Verdict: d.Verdict, Errors: checkErrors(d.Errors), Reason: d.Reason}}
	}
	return v
}

func (c *applicationColumn) application(id uuid.UUID, v verification.Verification) *verification.Application {
	submitted := customer.Customer{
		ID: v.Customer, Platform: v.Platform, PlatformCustomerID: c.PlatformCustomerID, Type: c.Type, Region: c.Region, Email: c.Email,
		FullName: c.Customer.FullName, BirthDate: c.Customer.BirthDate, Nationality: c.Customer.Nationality,
		Business: (*customer.BusinessInfo)(c.Customer.Business), Address: (*party.Address)(c.Customer.Address),
	}
	a := &verification.Application{ID: id, Platform: v.Platform, Verification: v.ID, Customer: submitted, Files: c.Files, SubmittedAt: c.SubmittedAt.UTC()}
	for _, column := range c.Owners {
		owner := customer.BeneficialOwner{Platform: v.Platform, Customer: v.Customer, Roles: column.Roles,
			OwnershipPercentage: column.Percentage, Status: column.Status, Person: column.Person.person()}
		owner.ID.SetUUID(column.ID)
		a.Owners = append(a.Owners, owner)
	}
	return a
}

// SaveDecisionMessage uses the primary key.
func (u *unit) SaveDecisionMessage(ctx context.Context, p ident.Platform, id string, receivedAt time.Time) (isNew bool, err error) {
	const insert = `INSERT INTO identity_messages (platform_id, id, received_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING true`
	err = u.query(ctx, insert, []any{pgID(p.UUID()), id, receivedAt}, func(rows pgx.Rows) error { return rows.Scan(&isNew) })
	return isNew, err
}
