package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
	"causeway/ports"
)

// verificationRow is a row of verifications: the id of what was submitted has a column of its own.
type verificationRow struct {
	verification.Verification
	applicationID uuid.UUID
}

// verifications is the table verifications.
var verifications = schema.New("verifications", keyOfPlatform, func(row *verificationRow) schema.Columns {
	v := &row.Verification
	return schema.Columns{
		{Name: "platform_id", Field: &v.Platform}, {Name: "id", Field: &v.ID}, {Name: "customer_id", Field: &v.Customer},
		{Name: "status", Field: &v.Status}, {Name: "application_id", Field: schema.Optional(&row.applicationID)},
		{Name: "customer_approved", Field: &v.CustomerApproved},
		sealed.JSON(sealed.VerificationsDetails,
			func() verificationDetails { return newVerificationDetails(*v) },
			func(d verificationDetails) { d.set(row) }),
		{Name: "created_at", Field: &v.CreatedAt}, {Name: "updated_at", Field: &v.UpdatedAt},
	}
})

var (
	insertVerification = verifications.Insert("")
	updateVerification = verifications.Update("status", "application_id", "customer_approved", "details", "updated_at")
)

func newVerificationRow(v verification.Verification) verificationRow {
	row := verificationRow{Verification: v}
	if v.Submitted != nil {
		row.applicationID = v.Submitted.ID
	}
	return row
}

func verificationsOf(rows []verificationRow, err error) ([]verification.Verification, error) {
	var list []verification.Verification
	for _, row := range rows {
		list = append(list, row.Verification)
	}
	return list, err
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
func (u *Unit) CreateVerification(ctx context.Context, v verification.Verification) error {
	return writeNow(ctx, u, insertVerification, newVerificationRow(v), nil)
}

// UpdateVerification uses the primary key.
func (u *Unit) UpdateVerification(ctx context.Context, v verification.Verification) error {
	return writeNow(ctx, u, updateVerification, newVerificationRow(v), verificationNotFound(v.ID))
}

// VerificationsOf uses verifications_by_customer.
func (u *Unit) VerificationsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Verification, error) {
	return verificationsOf(selectRows(ctx, u.db, u.query, verifications, `WHERE platform_id = $1 AND customer_id = $2 ORDER BY id DESC`, p, c))
}

// Verification uses the primary key.
func (db *DB) Verification(ctx context.Context, p ident.Platform, id ident.Verification) (verification.Verification, error) {
	row, err := readByID(ctx, db, verifications, verificationNotFound(id), p, id)
	return row.Verification, err
}

// Verifications uses verifications_by_customer, verifications_by_status or the primary key.
func (db *DB) Verifications(ctx context.Context, p ident.Platform,
	f ports.VerificationFilter) (ports.Page[verification.Verification], error) {
	l := newList("verifications", p)
	switch {
	case !f.Customer.IsZero():
		l.byIndex("customer_id = ?", f.Customer)
		l.whereEqual("status", string(f.Status))
	case f.Status != "":
		l.byIndex("status = ?", string(f.Status))
	}
	page, err := selectPage(ctx, db, l, f.Paging, verifications)
	found, err := verificationsOf(page.Items, err)
	return ports.PageOf(found, page), err
}

func verificationNotFound(id ident.Verification) error {
	return fault.New(fault.VerificationNotFound, "There is no verification %s.", id)
}

func newVerificationDetails(v verification.Verification) verificationDetails {
	details := verificationDetails{Errors: newCheckErrorColumns(v.Errors)}
	if v.Submitted != nil {
		details.Submitted = newApplicationColumn(*v.Submitted)
	}
	if d := v.LastDecision; d.Verdict != "" {
		details.Decision = &decisionColumn{
			Application: d.Application, Verdict: d.Verdict, Errors: newCheckErrorColumns(d.Errors), Reason: d.Reason, By: d.By, At: d.At,
		}
	}
	return details
}

func (c verificationDetails) set(row *verificationRow) {
	row.Errors = checkErrors(c.Errors)
	if c.Submitted != nil {
		row.Submitted = c.Submitted.application(row.applicationID, row.Verification)
	}
	if d := c.Decision; d != nil {
		row.LastDecision = verification.Decision{Application: d.Application, By: d.By, At: d.At.UTC(),
			Outcome: verification.Outcome{Verdict: d.Verdict, Errors: checkErrors(d.Errors), Reason: d.Reason}}
	}
}

func newApplicationColumn(a verification.Application) *applicationColumn {
	c := a.Customer
	column := &applicationColumn{
		SubmittedAt: a.SubmittedAt, PlatformCustomerID: c.PlatformCustomerID, Type: c.Type, Region: c.Region, Email: c.Email,
		Customer: newCustomerDetails(c), Files: a.Files,
	}
	for _, o := range a.Owners {
		column.Owners = append(column.Owners, submittedOwnerColumn{
			ID: o.ID.UUID(), Roles: o.Roles, Percentage: o.OwnershipPercentage, Status: o.Status, Person: newPersonColumn(o.Person),
		})
	}
	return column
}

func (c *applicationColumn) application(id uuid.UUID, v verification.Verification) *verification.Application {
	submitted := customer.Customer{ID: v.Customer, Platform: v.Platform, PlatformCustomerID: c.PlatformCustomerID, Type: c.Type,
		Region: c.Region, Email: c.Email}
	c.Customer.set(&submitted)
	a := &verification.Application{ID: id, Platform: v.Platform, Verification: v.ID, Customer: submitted, Files: c.Files,
		SubmittedAt: c.SubmittedAt.UTC()}
	for _, column := range c.Owners {
		owner := customer.BeneficialOwner{Platform: v.Platform, Customer: v.Customer, Roles: column.Roles,
			OwnershipPercentage: column.Percentage, Status: column.Status, Person: column.Person.person()}
		owner.ID.SetUUID(column.ID)
		a.Owners = append(a.Owners, owner)
	}
	return a
}

// SaveDecisionMessage uses the primary key.
func (u *Unit) SaveDecisionMessage(ctx context.Context, p ident.Platform, id string, receivedAt time.Time) (isNew bool, err error) {
	const insert = `INSERT INTO identity_messages (platform_id, id, received_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING true`
	err = u.query(ctx, insert, []any{p, id, receivedAt}, func(rows pgx.Rows) error { return rows.Scan(&isNew) })
	return isNew, err
}
