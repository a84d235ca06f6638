package customers

import (
	"context"

	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/ports"
)

// InvitationsConfig holds what the use cases of invitations need.
type InvitationsConfig struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
}

// Invitations implements the use cases of invitations.
type Invitations struct {
	InvitationsConfig
	guesses *guessLimiter
}

// NewInvitations returns Invitations.
func NewInvitations(c InvitationsConfig) *Invitations {
	return &Invitations{InvitationsConfig: c, guesses: newGuessLimiter()}
}

// StatedInvitation is an invitation with its status at the time of a call.
type StatedInvitation struct {
	invitation.Invitation
	Status invitation.Status
}

func (s *Invitations) stated(i invitation.Invitation) StatedInvitation {
	return StatedInvitation{i, i.Status(s.Clock.Now())}
}

// Create creates an invitation by a customer of the platform. Faults: INVALID_INPUT,
// INVITATIONS_NOT_CONFIGURED.
func (s *Invitations) Create(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest,
	r invitation.Request) (StatedInvitation, error) {
	now := s.Clock.Now()
	owner, err := s.Store.Platform(ctx, p)
	if err != nil {
		return StatedInvitation{}, err
	}
	inviter, err := s.customerByUMA(ctx, p, r.InviterUMA)
	if err != nil {
		return StatedInvitation{}, err
	}
	// The id and the code are of different random numbers, so that none follows from the other.
	created, err := invitation.New(r, owner, inviter, s.IDs.New(now), ident.ShortCode(s.IDs.New(now)), now)
	if err != nil {
		return StatedInvitation{}, err
	}
	result := s.stated(created)
	return result, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, result, nil); err != nil {
			return err
		}
		return tx.CreateInvitation(ctx, created)
	})
}

// Get returns the invitation with a code, of any platform of the environment of the caller. Faults:
// INVITATION_NOT_FOUND, RATE_LIMITED after many unknown codes.
func (s *Invitations) Get(ctx context.Context, caller ident.Platform, code string) (StatedInvitation, error) {
	found, err := s.find(ctx, caller, code)
	return s.stated(found), err
}

// Claim claims the invitation with a code for a customer of the caller, and emits an event for the
// platform of the inviter. Faults: those of Get and of invitation.Claim.
func (s *Invitations) Claim(ctx context.Context, caller ident.Platform, request *ports.IdempotentRequest, code,
	inviteeUMA string) (StatedInvitation, error) {
	found, err := s.find(ctx, caller, code)
	if err != nil {
		return StatedInvitation{}, err
	}
	invitee, err := s.customerByUMA(ctx, caller, inviteeUMA)
	if err == nil {
		err = invitation.CheckInvitee(inviteeUMA, invitee)
	}
	if err != nil {
		return StatedInvitation{}, err
	}
	var result StatedInvitation
	// One commit concerns two platforms: the invitation and the event of the inviter's, and the customer
	// and the stored response of the caller.
	err = ports.Do(ports.ForAllPlatforms(ctx), s.Store, func(ctx context.Context, tx Tx) error {
		now := s.Clock.Now()
		locked, err := tx.LockInvitation(ctx, found.Platform, found.ID)
		if err != nil {
			return err
		}
		inviter, err := tx.LockCustomer(ctx, locked.Platform, locked.Inviter)
		if err != nil {
			return err
		}
		by, err := tx.LockCustomer(ctx, caller, invitee.ID)
		if err != nil {
			return err
		}
		claimed, err := locked.Claim(inviter, by, now)
		if err != nil {
			return err
		}
		result = s.stated(claimed)
		if err := tx.SaveResponse(ctx, request, result, nil); err != nil {
			return err
		}
		if err := tx.UpdateInvitation(ctx, claimed); err != nil {
			return err
		}
		return tx.Emit(ctx, []event.Event{claimed.ClaimedEvent(ident.NewWebhook(s.IDs.New, now))})
	})
	return result, err
}

// Cancel cancels the invitation with a code. Faults: those of Get and of invitation.Cancel.
func (s *Invitations) Cancel(ctx context.Context, caller ident.Platform, request *ports.IdempotentRequest,
	code string) (StatedInvitation, error) {
	found, err := s.find(ctx, caller, code)
	if err != nil {
		return StatedInvitation{}, err
	}
	if _, err := found.Cancel(caller, s.Clock.Now()); err != nil { // also of another platform, whose row cannot be locked
		return StatedInvitation{}, err
	}
	var result StatedInvitation
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockInvitation(ctx, caller, found.ID)
		if err != nil {
			return err
		}
		cancelled, err := locked.Cancel(caller, s.Clock.Now())
		if err != nil {
			return err
		}
		result = s.stated(cancelled)
		if err := tx.SaveResponse(ctx, request, result, nil); err != nil {
			return err
		}
		return tx.UpdateInvitation(ctx, cancelled)
	})
	return result, err
}

// find returns the invitation with a code, unless the caller has asked for too many unknown ones.
func (s *Invitations) find(ctx context.Context, caller ident.Platform, code string) (invitation.Invitation, error) {
	parsed, ok := invitation.ParseCode(code)
	if !ok {
		return invitation.Invitation{}, invitation.NotFound()
	}
	if err := s.guesses.check(caller, s.Clock.Now()); err != nil {
		return invitation.Invitation{}, err
	}
	found, err := s.Store.InvitationByCode(ctx, caller, parsed)
	if fault.Is(err, fault.InvitationNotFound) {
		s.guesses.count(caller, s.Clock.Now())
	}
	return found, err
}

// customerByUMA returns the customer of a platform who has an address, or nil.
func (s *Invitations) customerByUMA(ctx context.Context, p ident.Platform, text string) (*customer.Customer, error) {
	address, ok := customer.ParseUMAAddress(text)
	if !ok {
		return nil, nil
	}
	found, err := s.Store.Customers(ctx, p, ports.CustomerFilter{Paging: ports.Paging{Limit: 1}, UMAAddress: address})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}
