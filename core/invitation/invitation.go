// Package invitation defines the invitations by which a customer of one platform invites a person, who
// becomes a customer of any platform of the service.
//
// It knows when an invitation can be claimed and cancelled. The money that it names is not moved by it.
package invitation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/platform"
)

// Invitation is an invitation by a customer of a platform.
type Invitation struct {
	ID       uuid.UUID
	Platform ident.Platform
	// Code identifies the invitation to everyone who has it.
	Code string
	// URL is what the inviter sends: a page of the platform, with the code.
	URL        string
	Inviter    ident.Customer
	InviterUMA string
	// FirstName is that of the invited person; it may be empty.
	FirstName string
	// Amount is shown to the invited person, and sent by the inviter's platform when the invitation is
	// claimed; the zero Amount is none.
	Amount    money.Amount
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	// State is Pending also when the invitation has expired; see Status.
	State       Status
	ClaimedAt   time.Time // zero until claimed
	CancelledAt time.Time // zero until cancelled
	// InviteePlatform, Invitee and InviteeUMA are the customer who claimed it.
	InviteePlatform ident.Platform
	Invitee         ident.Customer
	InviteeUMA      string
}

// Status is the status of an invitation.
type Status string

// The statuses. Only a pending invitation changes: it is claimed or cancelled, or expires with time.
const (
	Pending   Status = "PENDING"
	Claimed   Status = "CLAIMED"
	Cancelled Status = "CANCELLED"
	Expired   Status = "EXPIRED"
)

// Statuses lists every status.
var Statuses = []Status{Pending, Claimed, Cancelled, Expired}

// Status returns the status at a time.
func (i Invitation) Status(now time.Time) Status {
	if i.State == Pending && !i.ExpiresAt.IsZero() && !now.Before(i.ExpiresAt) {
		return Expired
	}
	return i.State
}

// EndsAt returns when the invitation was claimed or cancelled, or expires; the zero time for never.
func (i Invitation) EndsAt() time.Time {
	switch i.State {
	case Claimed:
		return i.ClaimedAt
	case Cancelled:
		return i.CancelledAt
	default:
		return i.ExpiresAt
	}
}

// MaxValidity is the longest time from the creation of an invitation to its expiry, so that each is
// deleted some day.
const MaxValidity = 2 * 365 * 24 * time.Hour

// Request is a request to create an invitation. Amount is in minor units; nil for none.
type Request struct {
	InviterUMA string
	FirstName  string
	Amount     *int64
	ExpiresAt  time.Time
}

// New returns an invitation by the customer of a platform who has the address of the request; nil if
// nobody has. Its amount is in the first of the currencies of the inviter, or else of the platform.
// Faults: INVALID_INPUT with every invalid field, INVITATIONS_NOT_CONFIGURED.
func New(r Request, owner platform.Platform, inviter *customer.Customer, id uuid.UUID, code string, now time.Time) (Invitation, error) {
	if id == uuid.Nil || !isCode(code) || inviter != nil && inviter.Platform != owner.ID {
		return Invitation{}, fmt.Errorf("an invitation needs an id, a code and a customer of the platform as inviter")
	}
	if owner.InvitationURL == "" {
		return Invitation{}, fault.New(fault.InvitationsNotConfigured, "Your platform has no page for invitations. Set invitationUrl with "+
			"PATCH /config.")
	}
	i := Invitation{ID: id, Platform: owner.ID, Code: code, URL: owner.InvitationURL + "/" + code, FirstName: r.FirstName, CreatedAt: now,
		ExpiresAt: r.ExpiresAt, State: Pending}
	bad := party.Problems{Fields: checkYours("inviterUma", r.InviterUMA, inviter)}
	bad.PersonName("firstName", r.FirstName, party.Optional)
	switch {
	case r.ExpiresAt.IsZero():
	case !r.ExpiresAt.After(now):
		bad.Add("expiresAt", "must be in the future")
	case r.ExpiresAt.After(now.Add(MaxValidity)):
		bad.Add("expiresAt", "must be within two years; leave it out for an invitation that does not expire")
	}
	if r.Amount != nil && (*r.Amount < 1 || *r.Amount > money.MaxMinor) {
		bad.Add("amountToSend", fmt.Sprintf("must be from 1 to %d, in the smallest unit of the inviter's currency", money.MaxMinor))
	}
	if inviter == nil {
		return i, bad.Err()
	}
	i.Inviter, i.InviterUMA = inviter.ID, inviter.UMAAddress
	if r.Amount != nil {
		currencies := slices.Concat(inviter.Currencies, owner.CurrencyCodes())
		if len(currencies) == 0 {
			bad.Add("amountToSend", "needs a currency, and neither the inviter nor your platform has one")
			return i, bad.Err()
		}
		i.Amount = money.Amount{Minor: *r.Amount, Currency: currencies[0]}
	}
	return i, bad.Err()
}

// CheckInvitee returns INVALID_INPUT unless a customer of the caller has the address with which an
// invitation is to be claimed; nil if nobody has.
func CheckInvitee(address string, invitee *customer.Customer) error {
	bad := party.Problems{Fields: checkYours("inviteeUma", address, invitee)}
	return bad.Err()
}

// checkYours returns what is wrong with the address of a field; holder is the customer of the caller
// who has it, nil for none.
func checkYours(field, address string, holder *customer.Customer) []fault.Field {
	var bad party.Problems
	if _, ok := customer.ParseUMAAddress(address); !ok {
		bad.AddRule(field, customer.UMAAddressRule, "pattern", customer.UMAAddressPattern)
	} else if holder == nil || holder.Deleted() {
		bad.Add(field, "must be the UMA address of one of your customers who is not deleted")
	}
	return bad.Fields
}

// Claim returns the invitation claimed by a customer, who may be one of any platform. Faults:
// INVITATION_ALREADY_CLAIMED, INVITATION_CANCELLED also if the inviter was deleted, INVITATION_EXPIRED,
// INVALID_INPUT for the inviter and deleted customers.
func (i Invitation) Claim(inviter, invitee customer.Customer, now time.Time) (Invitation, error) {
	if err := i.checkPending(now); err != nil {
		return i, err
	}
	switch {
	case inviter.Deleted():
		return i, fault.New(fault.InvitationCancelled, "The inviter is no customer any more.")
	case invitee.Platform == i.Platform && invitee.ID == i.Inviter:
		return i, fault.Invalid(fault.Field{Field: "inviteeUma", Message: "must not be that of the inviter"})
	}
	if err := CheckInvitee(invitee.UMAAddress, &invitee); err != nil {
		return i, err
	}
	i.State, i.ClaimedAt = Claimed, now
	i.InviteePlatform, i.Invitee, i.InviteeUMA = invitee.Platform, invitee.ID, invitee.UMAAddress
	return i, nil
}

// Cancel returns the invitation cancelled. Faults: FORBIDDEN for another platform than the inviter's,
// INVITATION_ALREADY_CLAIMED, INVITATION_CANCELLED, INVITATION_EXPIRED.
func (i Invitation) Cancel(by ident.Platform, now time.Time) (Invitation, error) {
	if by != i.Platform {
		return i, &fault.Error{Code: fault.Forbidden, Reason: "Not the inviter's platform", Message: "Only the platform of the inviter can " +
			"cancel an invitation."}
	}
	if err := i.checkPending(now); err != nil {
		return i, err
	}
	i.State, i.CancelledAt = Cancelled, now
	return i, nil
}

func (i Invitation) checkPending(now time.Time) error {
	switch i.Status(now) {
	case Claimed:
		return fault.New(fault.InvitationAlreadyClaimed, "The invitation has been claimed. Each can be claimed once.")
	case Cancelled:
		return fault.New(fault.InvitationCancelled, "The invitation was cancelled by the inviter.")
	case Expired:
		return fault.New(fault.InvitationExpired, "The invitation expired at %s. Ask the inviter for another one.",
			i.ExpiresAt.UTC().Format(time.RFC3339))
	default:
		return nil
	}
}

// ClaimedEvent returns the event that tells the platform of the inviter who claimed the invitation.
func (i Invitation) ClaimedEvent(id ident.Webhook) event.Event {
	return event.Event{ID: id, Platform: i.Platform, Type: event.Invitation, Name: event.InvitationClaimed, Subject: i.ID,
		OccurredAt: i.ClaimedAt, Resource: i}
}

// NotFound returns the fault for a code of no invitation.
func NotFound() error {
	return fault.New(fault.InvitationNotFound, "There is no invitation with this code.")
}

// lookalikes replaces letters that a code does not have by the digits that they look like.
var lookalikes = strings.NewReplacer("O", "0", "I", "1", "L", "1")

// ParseCode returns the code that a person typed, or false for what cannot be one.
func ParseCode(text string) (string, bool) {
	code := lookalikes.Replace(strings.ToUpper(text))
	return code, isCode(code)
}

// isCode reports whether a text has the form of ident.ShortCode.
func isCode(text string) bool {
	return len(text) == 12 && strings.Trim(text, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}
