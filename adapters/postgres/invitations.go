package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/core/invitation"
)

// invitations is the table invitations.
var invitations = schema.New("invitations", keyOfPlatform, func(i *invitation.Invitation) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &i.Platform}, {Name: "id", Field: &i.ID}, {Name: "code", Field: &i.Code}, {Name: "url", Field: &i.URL},
		{Name: "inviter_id", Field: &i.Inviter}, {Name: "inviter_uma", Field: &i.InviterUMA},
		sealed.Text(sealed.InvitationsFirstName, &i.FirstName),
		{Name: "amount_minor", Field: &i.Amount.Minor}, {Name: "amount_currency", Field: &i.Amount.Currency}, {Name: "status", Field: &i.State},
		{Name: "created_at", Field: &i.CreatedAt}, {Name: "expires_at", Field: &i.ExpiresAt}, {Name: "claimed_at", Field: &i.ClaimedAt},
		{Name: "cancelled_at", Field: &i.CancelledAt},
		{Name: "ends_at", Field: schema.Converted(func() time.Time { return i.EndsAt() }, func(time.Time) error { return nil })},
		{Name: "invitee_platform_id", Field: &i.InviteePlatform}, {Name: "invitee_id", Field: &i.Invitee},
		{Name: "invitee_uma", Field: &i.InviteeUMA},
	}
})

var (
	insertInvitation = invitations.Insert("")
	updateInvitation = invitations.Update("status", "claimed_at", "cancelled_at", "ends_at", "invitee_platform_id", "invitee_id",
		"invitee_uma")
	// invitationByCode uses invitation_code_unique, in a function that may read the rows of all platforms.
	invitationByCode = invitations.From("invitation_by_code($1, $2)")
)

// CreateInvitation inserts one invitation.
func (u *Unit) CreateInvitation(ctx context.Context, i invitation.Invitation) error {
	return writeNow(ctx, u, insertInvitation, i, nil)
}

// LockInvitation uses the primary key.
func (u *Unit) LockInvitation(ctx context.Context, p ident.Platform, id uuid.UUID) (invitation.Invitation, error) {
	return lockByID(ctx, u, invitations, invitation.NotFound(), p, id)
}

// UpdateInvitation uses the primary key.
func (u *Unit) UpdateInvitation(ctx context.Context, i invitation.Invitation) error {
	return writeNow(ctx, u, updateInvitation, i, nil)
}

// InvitationByCode implements customers.Store.
func (db *DB) InvitationByCode(ctx context.Context, caller ident.Platform, code string) (invitation.Invitation, error) {
	return selectExisting(ctx, db, db.read, invitationByCode, invitation.NotFound(), ``, code, caller)
}
