package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/money"
)

// invitationRow is a row of invitations.
type invitationRow struct {
	bun.BaseModel `bun:"table:invitations"`

	PlatformID        uuid.UUID     `bun:"platform_id,pk"`
	ID                uuid.UUID     `bun:"id,pk"`
	Code              string        `bun:"code"`
	URL               string        `bun:"url"`
	InviterID         uuid.UUID     `bun:"inviter_id"`
	InviterUMA        string        `bun:"inviter_uma"`
	FirstName         string        `bun:"first_name"`
	AmountMinor       int64         `bun:"amount_minor"`
	AmountCurrency    string        `bun:"amount_currency"`
	Status            string        `bun:"status"`
	CreatedAt         time.Time     `bun:"created_at"`
	ExpiresAt         *time.Time    `bun:"expires_at"`
	ClaimedAt         *time.Time    `bun:"claimed_at"`
	CancelledAt       *time.Time    `bun:"cancelled_at"`
	EndsAt            *time.Time    `bun:"ends_at"`
	InviteePlatformID uuid.NullUUID `bun:"invitee_platform_id"`
	InviteeID         uuid.NullUUID `bun:"invitee_id"`
	InviteeUMA        string        `bun:"invitee_uma"`
}

// CreateInvitation inserts one invitation.
func (u *unit) CreateInvitation(ctx context.Context, i invitation.Invitation) error {
	row := &invitationRow{
		PlatformID: i.Platform.UUID(), ID: i.ID, Code: i.Code, URL: i.URL, InviterID: i.Inviter.UUID(), InviterUMA: i.InviterUMA,
		AmountMinor: i.Amount.Minor, AmountCurrency: string(i.Amount.Currency), CreatedAt: i.CreatedAt, ExpiresAt: nullTime(i.ExpiresAt),
	}
	row.setState(i)
	var err error
	if row.FirstName, err = u.db.sealText(ctx, row.sealedRow(), invitationsFirstName, i.FirstName); err != nil {
		return err
	}
	return u.insert(ctx, row)
}

func (row *invitationRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

// setState sets the columns that change.
func (row *invitationRow) setState(i invitation.Invitation) {
	row.Status, row.ClaimedAt, row.CancelledAt, row.EndsAt = string(i.State), nullTime(i.ClaimedAt), nullTime(i.CancelledAt), nullTime(i.EndsAt())
	row.InviteePlatformID, row.InviteeID, row.InviteeUMA = nullID(i.InviteePlatform.UUID()), nullID(i.Invitee.UUID()), i.InviteeUMA
}

// LockInvitation uses the primary key.
func (u *unit) LockInvitation(ctx context.Context, p ident.Platform, id uuid.UUID) (invitation.Invitation, error) {
	if err := u.flush(ctx); err != nil {
		return invitation.Invitation{}, err
	}
	var row invitationRow
	err := u.db.bun.NewSelect().Conn(u.sqlConn).Model(&row).Where("platform_id = ? AND id = ?", p.UUID(), id).For("UPDATE").Scan(ctx)
	return row.invitation(ctx, u.db, err)
}

// UpdateInvitation uses the primary key.
func (u *unit) UpdateInvitation(ctx context.Context, i invitation.Invitation) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	row := &invitationRow{PlatformID: i.Platform.UUID(), ID: i.ID}
	row.setState(i)
	_, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).
		Column("status", "claimed_at", "cancelled_at", "ends_at", "invitee_platform_id", "invitee_id", "invitee_uma").WherePK().Exec(ctx)
	return err
}

// InvitationByCode uses invitation_code_unique, in a function that may read the rows of all platforms.
func (db *DB) InvitationByCode(ctx context.Context, caller ident.Platform, code string) (invitation.Invitation, error) {
	var row invitationRow
	err := db.bun.NewSelect().Model(&row).ModelTableExpr("invitation_by_code(?, ?) AS invitation_row", code, caller.UUID()).Scan(ctx)
	return row.invitation(ctx, db, err)
}

// invitation returns the invitation of a row that was read, unless there was an error.
func (row *invitationRow) invitation(ctx context.Context, db *DB, err error) (invitation.Invitation, error) {
	if isNoRows(err) {
		return invitation.Invitation{}, invitation.NotFound()
	}
	if err != nil {
		return invitation.Invitation{}, err
	}
	i := invitation.Invitation{
		ID: row.ID, Code: row.Code, URL: row.URL, InviterUMA: row.InviterUMA, InviteeUMA: row.InviteeUMA, State: invitation.Status(row.Status),
		Amount:    money.Amount{Minor: row.AmountMinor, Currency: money.Currency(row.AmountCurrency)},
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: timeOrZero(row.ExpiresAt), ClaimedAt: timeOrZero(row.ClaimedAt), CancelledAt: timeOrZero(row.CancelledAt),
	}
	i.Platform.SetUUID(row.PlatformID)
	i.Inviter.SetUUID(row.InviterID)
	i.InviteePlatform.SetUUID(row.InviteePlatformID.UUID)
	i.Invitee.SetUUID(row.InviteeID.UUID)
	i.FirstName, err = db.openText(ctx, row.sealedRow(), invitationsFirstName, row.FirstName)
	return i, err
}
