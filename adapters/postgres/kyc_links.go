package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
)

// kycLinkRow is a row of kyc_links.
type kycLinkRow struct {
	bun.BaseModel `bun:"table:kyc_links"`

	PlatformID       uuid.UUID  `bun:"platform_id,pk"`
	ID               uuid.UUID  `bun:"id,pk"`
	CustomerID       uuid.UUID  `bun:"customer_id"`
	RedirectURI      string     `bun:"redirect_uri"`
	TokenHash        []byte     `bun:"token_hash"`
	CreatedAt        time.Time  `bun:"created_at"`
	ExpiresAt        time.Time  `bun:"expires_at"`
	OpenedAt         *time.Time `bun:"opened_at"`
	SessionHash      []byte     `bun:"session_hash"`
	SessionExpiresAt *time.Time `bun:"session_expires_at"`
}

// CreateKYCLink inserts one link.
func (u *unit) CreateKYCLink(ctx context.Context, l verification.Link) error {
	return u.insert(ctx, newKYCLinkRow(l))
}

// LockKYCLink uses kyc_link_token_unique.
func (u *unit) LockKYCLink(ctx context.Context, p ident.Platform, token verification.SecretHash) (verification.Link, error) {
	if err := u.flush(ctx); err != nil {
		return verification.Link{}, err
	}
	return selectKYCLink(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn).Where("token_hash = ?", token[:]).For("UPDATE"), p)
}

// UpdateKYCLink uses the primary key.
func (u *unit) UpdateKYCLink(ctx context.Context, l verification.Link) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(newKYCLinkRow(l)).
		Column("opened_at", "session_hash", "session_expires_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, errNoKYCLink)
}

// KYCLinkOfSession uses kyc_link_session_unique.
func (db *DB) KYCLinkOfSession(ctx context.Context, p ident.Platform, session verification.SecretHash) (verification.Link, error) {
	return selectKYCLink(ctx, db, db.bun.NewSelect().Where("session_hash = ?", session[:]), p)
}

var errNoKYCLink = fault.New(fault.NotFound, "This link is not valid. Ask for a new one.")

func selectKYCLink(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform) (verification.Link, error) {
	return selectOne(ctx, db, query.Where("platform_id = ?", p.UUID()), (*kycLinkRow).link, errNoKYCLink)
}

func newKYCLinkRow(l verification.Link) *kycLinkRow {
	row := &kycLinkRow{
		PlatformID: l.Platform.UUID(), ID: l.ID, CustomerID: l.Customer.UUID(), RedirectURI: l.RedirectURI, TokenHash: l.TokenHash[:],
		CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt, OpenedAt: nullTime(l.OpenedAt), SessionExpiresAt: nullTime(l.SessionExpiresAt),
	}
	if !l.OpenedAt.IsZero() {
		row.SessionHash = l.SessionHash[:]
	}
	return row
}

func (row *kycLinkRow) link() verification.Link {
	l := verification.Link{
		ID: row.ID, RedirectURI: row.RedirectURI, CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
		OpenedAt: timeOrZero(row.OpenedAt), SessionExpiresAt: timeOrZero(row.SessionExpiresAt),
	}
	l.Platform.SetUUID(row.PlatformID)
	l.Customer.SetUUID(row.CustomerID)
	copy(l.TokenHash[:], row.TokenHash)
	copy(l.SessionHash[:], row.SessionHash)
	return l
}
