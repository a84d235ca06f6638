package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/core/verification"
)

// verificationReviews is the table verification_reviews.
var verificationReviews = schema.New("verification_reviews", keyOfPlatform, func(r *verification.Review) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "id", Field: &r.ID}, {Name: "customer_id", Field: &r.Customer},
		{Name: "verification_id", Field: &r.Subject.Verification}, {Name: "owner_id", Field: &r.Subject.Owner},
		{Name: "application_id", Field: &r.Application}, {Name: "verdict", Field: &r.Verdict}, {Name: "actor", Field: &r.By},
		{Name: "person_id", Field: &r.Person},
		sealed.JSON(sealed.VerificationReviewsDetails, func() reviewDetails { return newReviewDetails(*r) }, func(d reviewDetails) { d.set(r) }),
		{Name: "reviewed_at", Field: &r.At},
	}
})

var insertReview = verificationReviews.Insert("")

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

func newReviewDetails(r verification.Review) reviewDetails {
	return reviewDetails{Reason: r.Reason, Screened: r.Screened, Errors: newCheckErrorColumns(r.Errors),
		Cleared: mapped(r.Cleared, func(c screening.Clearance) clearanceColumn { return clearanceColumn(c) })}
}

func (d reviewDetails) set(r *verification.Review) {
	r.Reason, r.Screened, r.Errors = d.Reason, d.Screened, checkErrors(d.Errors)
	r.Cleared = mapped(d.Cleared, func(c clearanceColumn) screening.Clearance { return screening.Clearance(c) })
}

// CreateReview inserts one row.
func (u *Unit) CreateReview(ctx context.Context, r verification.Review) error {
	return writeNow(ctx, u, insertReview, r, nil)
}

const reviewsOfCustomer = `WHERE platform_id = $1 AND customer_id = $2 ORDER BY id`

// ReviewsOf uses verification_reviews_by_customer.
func (db *DB) ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error) {
	return selectRows(ctx, db, db.read, verificationReviews, reviewsOfCustomer, p, c)
}

// ReviewsOf uses verification_reviews_by_customer.
func (u *Unit) ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error) {
	return selectRows(ctx, u.db, u.query, verificationReviews, reviewsOfCustomer, p, c)
}
