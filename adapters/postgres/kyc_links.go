package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
)

// kycLinks is the table kyc_links.
var kycLinks = schema.New("kyc_links", keyOfPlatform, func(l *verification.Link) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &l.Platform}, {Name: "id", Field: &l.ID}, {Name: "customer_id", Field: &l.Customer},
		{Name: "redirect_uri", Field: &l.RedirectURI}, {Name: "token_hash", Field: &l.TokenHash},
		{Name: "created_at", Field: &l.CreatedAt}, {Name: "expires_at", Field: &l.ExpiresAt}, {Name: "opened_at", Field: &l.OpenedAt},
		{Name: "session_hash", Field: schema.Optional(&l.SessionHash)}, {Name: "session_expires_at", Field: &l.SessionExpiresAt},
	}
})

var (
	insertKYCLink = kycLinks.Insert("")
	updateKYCLink = kycLinks.Update("opened_at", "session_hash", "session_expires_at")
)

// CreateKYCLink inserts one link.
func (u *Unit) CreateKYCLink(ctx context.Context, l verification.Link) error {
	return writeNow(ctx, u, insertKYCLink, l, nil)
}

// LockKYCLink uses kyc_link_token_unique.
func (u *Unit) LockKYCLink(ctx context.Context, p ident.Platform, token verification.SecretHash) (verification.Link, error) {
	return selectExisting(ctx, u.db, u.query, kycLinks, errNoKYCLink,
		`WHERE platform_id = $1 AND token_hash = $2 AND `+isOpen+` FOR UPDATE`, p, token[:])
}

// UpdateKYCLink uses the primary key.
func (u *Unit) UpdateKYCLink(ctx context.Context, l verification.Link) error {
	return writeNow(ctx, u, updateKYCLink, l, errNoKYCLink)
}

// KYCLinkOfSession uses kyc_link_session_unique.
func (db *DB) KYCLinkOfSession(ctx context.Context, p ident.Platform, session verification.SecretHash) (verification.Link, error) {
	return selectExisting(ctx, db, db.read, kycLinks, errNoKYCLink,
		`WHERE platform_id = $1 AND session_hash = $2 AND `+isOpen, p, session[:])
}

var errNoKYCLink = fault.New(fault.NotFound, "This link is not valid. Ask for a new one.")
