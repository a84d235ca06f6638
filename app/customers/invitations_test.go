package customers_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// invitationEnv has the platform of the inviter, ana, and another one with the customer maya.
type invitationEnv struct {
	*apptest.Env
	invitations *customers.Invitations
	inviter     platform.Platform
	other       platform.Principal
	maya        customer.Customer
}

func newInvitationEnv(t *testing.T) *invitationEnv {
	t.Helper()
	e := &invitationEnv{Env: apptest.New(t, apptest.EditPlatform(func(p *platform.Platform) { p.InvitationURL = "https://acme.test/join" }))}
	e.invitations = customers.NewInvitations(customers.InvitationsConfig{
		Store: e.Store, Clock: e.Clock, IDs: e.IDs})
	other := e.NewPlatform()
	e.inviter, e.other = e.Platform, e.NewPrincipal(other)
	e.maya = e.NewCustomer("maya", func(c *customer.Customer) { c.Platform = other.ID })
	return e
}

func (e *invitationEnv) create(t *testing.T, r invitation.Request) customers.StatedInvitation {
	t.Helper()
	r.InviterUMA = e.Customer.UMAAddress
	created, err := e.invitations.Create(t.Context(), e.inviter.ID, nil, r)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func TestInvitations_ClaimedByCustomerOfOtherPlatform(t *testing.T) {
	t.Parallel()
	// Another platform reads an invitation by its code and claims it for its customer, and the
	// platform of the inviter gets the event. The scope of each call is its platform.
	env := newInvitationEnv(t)
	amount := int64(1250)
	created := env.create(t, invitation.Request{FirstName: "Maya", Amount: &amount, ExpiresAt: apptest.Noon.Add(time.Hour)})
	caller := ports.ForPlatform(t.Context(), env.other.Platform)

	read, err := env.invitations.Get(caller, env.other.Platform, strings.ToLower(created.Code))
	if err != nil || read != created || read.Status != invitation.Pending || read.FirstName != "Maya" ||
		read.Amount != (money.Amount{Minor: 1250, Currency: "USD"}) || read.URL != "https://acme.test/join/"+created.Code {
		t.Fatalf("read %+v, %v", read, err)
	}
	request := apptest.IdempotentRequest(env.other, "key",
		func(result any) string { return string(result.(customers.StatedInvitation).Status) })
	claimed, err := env.invitations.Claim(caller, env.other.Platform, request, created.Code, strings.ToUpper(env.maya.UMAAddress))

	if err != nil || claimed.Status != invitation.Claimed || claimed.Invitee != env.maya.ID || claimed.InviteePlatform != env.other.Platform {
		t.Fatalf("claimed %+v, %v", claimed, err)
	}
	if again, err := env.invitations.Get(t.Context(), env.inviter.ID, created.Code); err != nil || again != claimed {
		t.Errorf("read by the inviter's platform %+v, %v", again, err)
	}
	env.Events.Want(created.ID, event.InvitationClaimed)
	if e := env.Events.About(created.ID)[0]; e.Platform != env.inviter.ID || e.Resource != claimed.Invitation {
		t.Errorf("event %+v", e)
	}
	stored, err := env.Store.StoredResponses(t.Context(), []ports.IdempotencyKey{request.IdempotencyKey()})
	if err != nil || stored[0] == nil || string(stored[0].Body) != "CLAIMED" {
		t.Errorf("stored response %+v, %v", stored, err)
	}
}

func TestInvitations_ConcurrentClaimsOneWins(t *testing.T) {
	t.Parallel()
	// Of many who claim an invitation at once, or cancel it, one succeeds, and a claim is one event.
	env := newInvitationEnv(t)
	created := env.create(t, invitation.Request{})
	errs := make([]error, 8)
	var running sync.WaitGroup
	for i := range errs {
		running.Go(func() {
			if i%2 == 0 {
				_, errs[i] = env.invitations.Claim(t.Context(), env.other.Platform, nil, created.Code, env.maya.UMAAddress)
			} else {
				_, errs[i] = env.invitations.Cancel(t.Context(), env.inviter.ID, nil, created.Code)
			}
		})
	}
	running.Wait()

	won := slices.IndexFunc(errs, func(err error) bool { return err == nil })
	if won < 0 {
		t.Fatal(errors.Join(errs...))
	}
	want, events := fault.InvitationCancelled, 0
	if won%2 == 0 {
		want, events = fault.InvitationAlreadyClaimed, 1
	}
	for i, err := range errs {
		if i != won && !fault.Is(err, want) {
			t.Errorf("%d: %v, want %s", i, err, want)
		}
	}
	if stored := env.QueryStrings("SELECT count(*)::text FROM webhook_events WHERE name = 'INVITATION.CLAIMED'"); stored[0] != []string{"0",
		"1"}[events] {
		t.Errorf("%s events, want %d", stored[0], events)
	}
}

func TestInvitations_Refusals(t *testing.T) {
	t.Parallel()
	// Who is not a customer neither invites nor claims; an invitation ends when it expires; only the
	// platform of the inviter cancels; and one of another environment does not exist.
	env := newInvitationEnv(t)
	production := env.NewPlatform(func(p *platform.Platform) { p.Environment, p.InvitationURL = platform.Production, "" })
	created := env.create(t, invitation.Request{ExpiresAt: apptest.Noon.Add(time.Hour)})
	unknown := customers.StatedInvitation{}
	unknown.Code = "000000000000"
	create := func(p ident.Platform, uma string) error {
		_, err := env.invitations.Create(t.Context(), p, nil, invitation.Request{InviterUMA: uma})
		return err
	}
	claim := func(p ident.Platform, code, uma string) error {
		_, err := env.invitations.Claim(t.Context(), p, nil, code, uma)
		return err
	}
	cancel := func(p ident.Platform, code string) error {
		_, err := env.invitations.Cancel(t.Context(), p, nil, code)
		return err
	}
	get := func(p ident.Platform, code string) error {
		_, err := env.invitations.Get(t.Context(), p, code)
		return err
	}
	apptest.WantFault(t, "another's customer as inviter", create(env.inviter.ID, "$nobody@uma.test"), fault.InvalidInput, "inviterUma")
	apptest.WantFault(t, "no page", create(env.other.Platform, env.maya.UMAAddress), fault.InvitationsNotConfigured)
	apptest.WantFault(t, "another's customer as invitee", claim(env.inviter.ID, created.Code, "$nobody@uma.test"),
		fault.InvalidInput, "inviteeUma")
	apptest.WantFault(t, "no address", claim(env.other.Platform, created.Code, "maya"), fault.InvalidInput, "inviteeUma")
	apptest.WantFault(t, "the inviter", claim(env.inviter.ID, created.Code, env.Customer.UMAAddress), fault.InvalidInput, "inviteeUma")
	apptest.WantFault(t, "cancelled by another", cancel(env.other.Platform, created.Code), fault.Forbidden)
	for name, code := range map[string]string{"other environment": created.Code, "unknown": unknown.Code, "no code": "x"} {
		p := env.other.Platform
		if name == "other environment" {
			p = production.ID
		}
		for kind, err := range map[string]error{"get": get(p, code), "claim": claim(p, code, env.maya.UMAAddress), "cancel": cancel(p, code)} {
			if !fault.Is(err, fault.InvitationNotFound) || err.Error() != invitation.NotFound().Error() {
				t.Errorf("%s %s: %v", kind, name, err)
			}
		}
	}

	env.Clock.Advance(time.Hour)
	if read, err := env.invitations.Get(t.Context(), env.other.Platform, created.Code); err != nil || read.Status != invitation.Expired {
		t.Errorf("read %+v, %v", read, err)
	}
	apptest.WantFault(t, "expired", claim(env.other.Platform, created.Code, env.maya.UMAAddress), fault.InvitationExpired)
	apptest.WantFault(t, "expired", cancel(env.inviter.ID, created.Code), fault.InvitationExpired)
	open := env.create(t, invitation.Request{})
	if got, err := env.invitations.Cancel(t.Context(), env.inviter.ID, nil, open.Code); err != nil || got.Status != invitation.Cancelled {
		t.Errorf("cancelled %+v, %v", got, err)
	}
	apptest.WantFault(t, "cancelled", claim(env.other.Platform, open.Code, env.maya.UMAAddress), fault.InvitationCancelled)
	apptest.WantFault(t, "cancelled twice", cancel(env.inviter.ID, open.Code), fault.InvitationCancelled)
}

func TestInvitations_GuessingIsLimited(t *testing.T) {
	t.Parallel()
	// A platform that asks for unknown codes is refused after some, in every operation, and asked to
	// wait. Others are not concerned, and neither are those who know the code they ask for.
	env := newInvitationEnv(t)
	created := env.create(t, invitation.Request{})
	get := func(p ident.Platform, code string) error {
		_, err := env.invitations.Get(t.Context(), p, code)
		return err
	}
	for range 100 {
		if err := get(env.inviter.ID, created.Code); err != nil {
			t.Fatal(err)
		}
	}
	guesses := 0
	for ; guesses < 1000; guesses++ {
		if err := get(env.other.Platform, ident.ShortCode(env.IDs.New(apptest.Noon))); fault.Is(err, fault.RateLimited) {
			break
		}
	}
	if guesses != 20 {
		t.Errorf("%d guesses were possible", guesses)
	}
	_, claiming := env.invitations.Claim(t.Context(), env.other.Platform, nil, created.Code, env.maya.UMAAddress)
	apptest.WantFault(t, "claim", claiming, fault.RateLimited)
	if err := get(env.inviter.ID, created.Code); err != nil {
		t.Errorf("another platform: %v", err)
	}

	refused, _ := fault.As(get(env.other.Platform, created.Code))
	env.Clock.Advance(refused.RetryAfter)
	if err := get(env.other.Platform, created.Code); err != nil {
		t.Errorf("after the wait: %v", err)
	}
}
