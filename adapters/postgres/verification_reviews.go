package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/core/verification"
)

// verificationReviewRow is a row of verification_reviews.
type verificationReviewRow struct {
	bun.BaseModel `bun:"table:verification_reviews"`

	PlatformID     uuid.UUID       `bun:"platform_id,pk"`
	ID             uuid.UUID       `bun:"id,pk"`
	CustomerID     uuid.UUID       `bun:"customer_id"`
	VerificationID uuid.NullUUID   `bun:"verification_id"`
	OwnerID        uuid.NullUUID   `bun:"owner_id"`
	ApplicationID  uuid.UUID       `bun:"application_id"`
	Verdict        string          `bun:"verdict"`
	Actor          string          `bun:"actor"`
	StoredDetails  json.RawMessage `bun:"details,type:jsonb"`
	ReviewedAt     time.Time       `bun:"reviewed_at"`
}

// reviewDetails is the details column.
type reviewDetails struct {
	Reason string             `json:"reason"`
	Errors []checkErrorColumn `json:"errors,omitempty"`
	// Screened is empty in decisions of versions before, and in those that do not accept.
	Screened string            `json:"screened,omitempty"`
	Cleared  []clearanceColumn `json:"cleared,omitempty"`
}

// clearanceColumn is an element of the details column of verification_reviews.
type clearanceColumn struct {
	List           screening.List `json:"list"`
	Ref            string         `json:"ref"`
	EntryVersion   string         `json:"entryVersion"`
	SubjectVersion string         `json:"subjectVersion"`
}

// CreateReview inserts one row.
func (u *unit) CreateReview(ctx context.Context, r verification.Review) error {
	row := &verificationReviewRow{
		PlatformID: r.Platform.UUID(), ID: r.ID, CustomerID: r.Customer.UUID(), ApplicationID: r.Application, Verdict: string(r.Verdict), Actor: r.By, ReviewedAt: r.At,
		VerificationID: nullID(r.Subject.Verification.UUID()), OwnerID: nullID(r.Subject.Owner.UUID()),
	}
	details := reviewDetails{Reason: r.Reason, Screened: r.Screened, Errors: newCheckErrorColumns(r.Errors)}
	for _, c := range r.Cleared {
		details.Cleared = append(details.Cleared, clearanceColumn(c))
	}
	var err error
	if row.StoredDetails, err = u.db.sealJSON(ctx, sealedRow{row.PlatformID, row.ID}, verificationReviewsDetails, details); err != nil {
		return err
	}
	return u.insert(ctx, row)
}

// ReviewsOf uses verification_reviews_by_customer.
func (db *DB) ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error) {
	return selectReviews(ctx, db, db.bun.NewSelect(), p, c)
}

// ReviewsOf uses verification_reviews_by_customer.
func (u *unit) ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	return selectReviews(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn), p, c)
}

func selectReviews(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform, c ident.Customer) ([]verification.Review, error) {
	var rows []verificationReviewRow
	if err := query.Model(&rows).Where("platform_id = ? AND customer_id = ?", p.UUID(), c.UUID()).OrderExpr("id").Scan(ctx); err != nil {
		return nil, err
	}
	reviews := make([]verification.Review, len(rows))
	for i, row := range rows {
		var details reviewDetails
		if err := db.openJSON(ctx, sealedRow{row.PlatformID, row.ID}, verificationReviewsDetails, row.StoredDetails, &details); err != nil {
			return nil, err
		}
		reviews[i] = verification.Review{ID: row.ID, Platform: p, Customer: c, Screened: details.Screened, Decision: verification.Decision{
			Application: row.ApplicationID, By: row.Actor, At: row.ReviewedAt.UTC(),
			Outcome: verification.Outcome{Verdict: verification.Verdict(row.Verdict), Reason: details.Reason, Errors: checkErrors(details.Errors)},
		}}
		for _, c := range details.Cleared {
			reviews[i].Cleared = append(reviews[i].Cleared, screening.Clearance(c))
		}
		reviews[i].Subject.Verification.SetUUID(row.VerificationID.UUID)
		reviews[i].Subject.Owner.SetUUID(row.OwnerID.UUID)
	}
	return reviews, nil
}
