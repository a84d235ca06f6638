package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/ident"
	"causeway/core/screening"
)

// screeningHitRow is a row of screening_hits.
type screeningHitRow struct {
	bun.BaseModel `bun:"table:screening_hits"`

	PlatformID    uuid.UUID       `bun:"platform_id,pk"`
	ID            uuid.UUID       `bun:"id,pk"`
	CustomerID    uuid.UUID       `bun:"customer_id"`
	OwnerID       uuid.NullUUID   `bun:"owner_id"`
	List          string          `bun:"list"`
	Ref           string          `bun:"ref"`
	ListID        uuid.UUID       `bun:"list_id"`
	Status        string          `bun:"status"`
	Score         int             `bun:"score"`
	StoredDetails json.RawMessage `bun:"details,type:jsonb"`
	FoundAt       time.Time       `bun:"found_at"`

	Details screeningHitDetails `bun:"-"`
}

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

func (row *screeningHitRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

func (row *screeningHitRow) open(ctx context.Context, db *DB) error {
	return db.openJSON(ctx, row.sealedRow(), screeningHitsDetails, row.StoredDetails, &row.Details)
}

func newScreeningHitRow(ctx context.Context, db *DB, h screening.Hit) (*screeningHitRow, error) {
	row := &screeningHitRow{
		PlatformID: h.Platform.UUID(), ID: h.ID, CustomerID: h.Customer.UUID(), OwnerID: nullID(h.Owner.UUID()), List: string(h.List), Ref: h.Ref,
		ListID: h.ListID, Status: string(h.Status), Score: h.Score, FoundAt: h.FoundAt,
		Details: screeningHitDetails{EntryVersion: h.EntryVersion, SubjectVersion: h.SubjectVersion, SubjectName: h.SubjectName, EntryName: h.EntryName,
			Reasons: h.Reasons, By: h.By, Reason: h.Reason, DecidedAt: h.DecidedAt},
	}
	var err error
	row.StoredDetails, err = db.sealJSON(ctx, row.sealedRow(), screeningHitsDetails, row.Details)
	return row, err
}

func (row *screeningHitRow) hit() screening.Hit {
	d := row.Details
	h := screening.Hit{ID: row.ID, ListID: row.ListID, Status: screening.HitStatus(row.Status), Score: row.Score,
		Clearance:   screening.Clearance{List: screening.List(row.List), Ref: row.Ref, EntryVersion: d.EntryVersion, SubjectVersion: d.SubjectVersion},
		SubjectName: d.SubjectName, EntryName: d.EntryName, Reasons: d.Reasons, FoundAt: row.FoundAt.UTC(), By: d.By, Reason: d.Reason, DecidedAt: d.DecidedAt.UTC()}
	h.Platform.SetUUID(row.PlatformID)
	h.Customer.SetUUID(row.CustomerID)
	h.Owner.SetUUID(row.OwnerID.UUID)
	return h
}

// CreateScreeningHits inserts rows one by one: a customer resembles few entries.
func (u *unit) CreateScreeningHits(ctx context.Context, hits []screening.Hit) error {
	for _, h := range hits {
		row, err := newScreeningHitRow(ctx, u.db, h)
		if err != nil {
			return err
		}
		if err := u.insert(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

// UpdateScreeningHit uses the primary key.
func (u *unit) UpdateScreeningHit(ctx context.Context, h screening.Hit) error {
	row, err := newScreeningHitRow(ctx, u.db, h)
	if err != nil {
		return err
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	_, err = u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).Column("list_id", "status", "score", "details", "found_at").WherePK().Exec(ctx)
	return translate(err)
}

// ScreeningHitsOf uses screening_hit_once.
func (u *unit) ScreeningHitsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	return selectScreeningHits(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn), p, c)
}

// CustomerScreeningHits uses screening_hit_once.
func (db *DB) CustomerScreeningHits(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error) {
	return selectScreeningHits(ctx, db, db.bun.NewSelect(), p, c)
}

func selectScreeningHits(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform, c ident.Customer) ([]screening.Hit, error) {
	query = query.Where("platform_id = ? AND customer_id = ?", p.UUID(), c.UUID()).OrderExpr("id")
	return selectAll(ctx, db, query, (*screeningHitRow).hit)
}

// OpenScreeningHits uses screening_hits_open.
func (db *DB) OpenScreeningHits(ctx context.Context, p ident.Platform, limit int) ([]screening.Hit, error) {
	query := db.bun.NewSelect().Where("platform_id = ? AND status = 'OPEN'", p.UUID()).
		Where("EXISTS (SELECT FROM customers c WHERE c.platform_id = screening_hit_row.platform_id AND c.id = screening_hit_row.customer_id AND c.deleted_at IS NULL AND c.status <> 'REJECTED')").
		OrderExpr("found_at, id").Limit(int64(limit))
	return selectAll(ctx, db, query, (*screeningHitRow).hit)
}
