package ports

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/invitation"
)

// InvitationWriter changes invitations.
type InvitationWriter interface {
	CreateInvitation(ctx context.Context, i invitation.Invitation) error
	// LockInvitation returns an invitation of a platform, or INVITATION_NOT_FOUND.
	LockInvitation(ctx context.Context, p ident.Platform, id uuid.UUID) (invitation.Invitation, error)
	UpdateInvitation(ctx context.Context, i invitation.Invitation) error
}

// InvitationReader reads invitations.
type InvitationReader interface {
	// InvitationByCode returns the invitation with a code, of any platform of the environment of the
	// caller, or INVITATION_NOT_FOUND.
	InvitationByCode(ctx context.Context, caller ident.Platform, code string) (invitation.Invitation, error)
}
