package postgres

import (
	"context"
	"time"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/core/screening"
)

// screeningHits is the table screening_hits.
var screeningHits = schema.New("screening_hits", keyOfPlatform, func(h *screening.Hit) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &h.Platform}, {Name: "id", Field: &h.ID}, {Name: "customer_id", Field: &h.Customer},
		{Name: "owner_id", Field: &h.Owner}, {Name: "list", Field: &h.List}, {Name: "ref", Field: &h.Ref}, {Name: "list_id", Field: &h.ListID},
		{Name: "status", Field: &h.Status}, {Name: "score", Field: &h.Score},
		sealed.JSON(sealed.ScreeningHitsDetails,
			func() screeningHitDetails { return newScreeningHitDetails(*h) },
			func(d screeningHitDetails) { d.set(h) }),
		{Name: "found_at", Field: &h.FoundAt},
	}
})

var (
	insertScreeningHits = screeningHits.InsertAll("")
	updateScreeningHit  = screeningHits.Update("list_id", "status", "score", "details", "found_at")
)

// screeningHitDetails is the details column.
type screeningHitDetails struct {
	EntryVersion   string    `json:"entryVersion"`
	SubjectVersion string    `json:"subjectVersion"`
	SubjectName    string    `json:"subjectName"`
	EntryName      string    `json:"entryName"`
	Reasons        []string  `json:"reasons"`
	By             string    `json:"by,omitempty"`
	Reason         string    `json:"reason,omitempty"`
	DecidedAt      time.Time `json:"decidedAt,omitzero"`
}

func newScreeningHitDetails(h screening.Hit) screeningHitDetails {
	return screeningHitDetails{EntryVersion: h.EntryVersion, SubjectVersion: h.SubjectVersion,
		SubjectName: h.SubjectName, EntryName: h.EntryName, Reasons: h.Reasons, By: h.By, Reason: h.Reason, DecidedAt: h.DecidedAt}
}

func (d screeningHitDetails) set(h *screening.Hit) {
	h.EntryVersion, h.SubjectVersion, h.SubjectName, h.EntryName = d.EntryVersion, d.SubjectVersion, d.SubjectName, d.EntryName
	h.Reasons, h.By, h.Reason, h.DecidedAt = d.Reasons, d.By, d.Reason, d.DecidedAt.UTC()
}

// CreateScreeningHits inserts rows.
func (u *Unit) CreateScreeningHits(ctx context.Context, hits []screening.Hit) error {
	if err := writeAll(ctx, u, insertScreeningHits, hits); err != nil {
		return err
	}
	return translate(u.flush(ctx))
}

// UpdateScreeningHit uses the primary key.
func (u *Unit) UpdateScreeningHit(ctx context.Context, h screening.Hit) error {
	return writeNow(ctx, u, updateScreeningHit, h, nil)
}

const hitsOfCustomer = `WHERE platform_id = $1 AND customer_id = $2 ORDER BY id`

// ScreeningHitsOf uses screening_hit_once.
func (u *Unit) ScreeningHitsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error) {
	return selectRows(ctx, u.db, u.query, screeningHits, hitsOfCustomer, p, c)
}

// CustomerScreeningHits uses screening_hit_once.
func (db *DB) CustomerScreeningHits(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error) {
	return selectRows(ctx, db, db.read, screeningHits, hitsOfCustomer, p, c)
}

// OpenScreeningHits uses screening_hits_open.
func (db *DB) OpenScreeningHits(ctx context.Context, p ident.Platform, limit int) ([]screening.Hit, error) {
	return selectRows(ctx, db, db.read, screeningHits, `h WHERE platform_id = $1 AND status = 'OPEN' AND EXISTS (
		SELECT FROM customers c WHERE c.platform_id = h.platform_id AND c.id = h.customer_id AND c.deleted_at IS NULL AND c.status <> 'REJECTED')
		ORDER BY found_at, id LIMIT $2`, p, limit)
}
