package invitation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/money"
	"causeway/core/platform"
)

var (
	now         = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	acme, _     = ident.ParsePlatform("PlatformConfig:019542f5-b3e7-7d02-8000-000000000001")
	other, _    = ident.ParsePlatform("PlatformConfig:019542f5-b3e7-7d02-8000-000000000002")
	anaID, _    = ident.ParseCustomer("Customer:019542f5-b3e7-7d02-8000-000000000003")
	mayaID, _   = ident.ParseCustomer("Customer:019542f5-b3e7-7d02-8000-000000000004")
	ana         = customer.Customer{ID: anaID, Platform: acme, UMAAddress: "$ana@acme.test", Currencies: []money.Currency{"EUR", "USD"}}
	maya        = customer.Customer{ID: mayaID, Platform: other, UMAAddress: "$maya@other.test"}
	inviterHome = platform.Platform{ID: acme, InvitationURL: "https://acme.test/join", Currencies: []platform.Currency{{Code: "USD"}}}
	webhookID   = ident.NewWebhook(func(time.Time) uuid.UUID { return uuid.Max }, now)
)

const code = "7KQ2M9XD4RTB"

func create(r invitation.Request, owner platform.Platform, inviter *customer.Customer) (invitation.Invitation, error) {
	return invitation.New(r, owner, inviter, uuid.Max, code, now)
}

func pending(t *testing.T, expires time.Time) invitation.Invitation {
	t.Helper()
	i, err := create(invitation.Request{InviterUMA: ana.UMAAddress, ExpiresAt: expires}, inviterHome, &ana)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestNew(t *testing.T) {
	t.Parallel()
	// An invitation has the page of the platform with its code, and its amount is in the first currency
	// of the inviter, or else of the platform.
	amount := int64(1250)
	got, err := create(invitation.Request{InviterUMA: "$ANA@acme.test", FirstName: "Maya", Amount: &amount, ExpiresAt: now.Add(time.Hour)},
		inviterHome, &ana)
	want := invitation.Invitation{ID: uuid.Max, Platform: acme, Code: code, URL: "https://acme.test/join/" + code, Inviter: anaID,
		InviterUMA: "$ana@acme.test",
		FirstName:  "Maya", Amount: money.Amount{Minor: 1250, Currency: "EUR"}, CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		State: invitation.Pending}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	poor := ana
	poor.Currencies = nil
	if got, err := create(invitation.Request{InviterUMA: ana.UMAAddress, Amount: &amount}, inviterHome, &poor); err != nil ||
		got.Amount.Currency != "USD" || !got.ExpiresAt.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := create(invitation.Request{InviterUMA: ana.UMAAddress}, inviterHome, &ana); err != nil || got.Amount != (money.Amount{}) {
		t.Errorf("without an amount: %+v, %v", got, err)
	}
	latest := now.Add(invitation.MaxValidity)
	if got, err := create(invitation.Request{InviterUMA: ana.UMAAddress, ExpiresAt: latest}, inviterHome, &ana); err != nil ||
		!got.ExpiresAt.Equal(latest) {
		t.Errorf("with the latest expiry: %+v, %v", got, err)
	}
}

func TestNew_RefusesEachInvalidField(t *testing.T) {
	t.Parallel()
	// Every invalid field is named, and a platform without a page has no invitations.
	zero, huge, one := int64(0), money.MaxMinor+1, int64(1)
	deleted := ana
	deleted.DeletedAt = now
	noCurrency := ana
	noCurrency.Currencies = nil
	for name, c := range map[string]struct {
		request invitation.Request
		inviter *customer.Customer
		want    []string
	}{
		"malformed address": {invitation.Request{InviterUMA: "ana"}, nil, []string{"inviterUma"}},
		"unknown address":   {invitation.Request{InviterUMA: "$ana@acme.test"}, nil, []string{"inviterUma"}},
		"deleted inviter":   {invitation.Request{InviterUMA: "$ana@acme.test"}, &deleted, []string{"inviterUma"}},
		"no amount":         {invitation.Request{InviterUMA: "$ana@acme.test", Amount: &zero}, &ana, []string{"amountToSend"}},
		"large amount":      {invitation.Request{InviterUMA: "$ana@acme.test", Amount: &huge}, &ana, []string{"amountToSend"}},
		"expired":           {invitation.Request{InviterUMA: "$ana@acme.test", ExpiresAt: now}, &ana, []string{"expiresAt"}},
		"late expiry": {invitation.Request{InviterUMA: "$ana@acme.test", ExpiresAt: now.Add(invitation.MaxValidity + time.Second)}, &ana,
			[]string{"expiresAt"}},
		"name": {invitation.Request{InviterUMA: "$ana@acme.test", FirstName: "<b>"}, &ana, []string{"firstName"}},
		"all": {invitation.Request{InviterUMA: "x", FirstName: "<b>", ExpiresAt: now.Add(-time.Hour), Amount: &zero}, nil,
			[]string{"inviterUma", "firstName", "expiresAt", "amountToSend"}},
		"no currency": {invitation.Request{InviterUMA: "$ana@acme.test", Amount: &one}, &noCurrency, []string{"amountToSend"}},
	} {
		owner := inviterHome
		if name == "no currency" {
			owner.Currencies = nil
		}
		_, err := create(c.request, owner, c.inviter)
		refused, _ := fault.As(err)
		if refused == nil || refused.Code != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, f := range refused.Fields {
			got = append(got, f.Field)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if _, err := create(invitation.Request{InviterUMA: ana.UMAAddress}, platform.Platform{ID: acme}, &ana); !fault.Is(err,
		fault.InvitationsNotConfigured) {
		t.Errorf("without a page: %v", err)
	}
	if _, err := create(invitation.Request{}, inviterHome, &maya); err == nil {
		t.Error("a customer of another platform invited")
	}
}

func TestInvitation_EveryTransition(t *testing.T) {
	t.Parallel()
	// Only a pending invitation can be claimed or cancelled; any other one says what it is.
	expiring := pending(t, now.Add(time.Hour))
	claimed, err := expiring.Claim(ana, maya, now)
	if err != nil {
		t.Fatal(err)
	}
	cancelled, err := expiring.Cancel(acme, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	late := now.Add(time.Hour)
	for _, c := range []struct {
		from   invitation.Invitation
		at     time.Time
		status invitation.Status
		ends   time.Time
		want   fault.Code
	}{
		{expiring, now, invitation.Pending, late, ""},
		{expiring, late.Add(-1), invitation.Pending, late, ""},
		{pending(t, time.Time{}), now.AddDate(100, 0, 0), invitation.Pending, time.Time{}, ""},
		{expiring, late, invitation.Expired, late, fault.InvitationExpired},
		{claimed, late, invitation.Claimed, now, fault.InvitationAlreadyClaimed},
		{cancelled, late, invitation.Cancelled, now.Add(time.Minute), fault.InvitationCancelled},
	} {
		if got := c.from.Status(c.at); got != c.status || !slices.Contains(invitation.Statuses, got) || !c.from.EndsAt().Equal(c.ends) {
			t.Errorf("status %s, want %s; ends at %s, want %s", got, c.status, c.from.EndsAt(), c.ends)
		}
		_, claiming := c.from.Claim(ana, maya, c.at)
		_, cancelling := c.from.Cancel(acme, c.at)
		for name, err := range map[string]error{"claim": claiming, "cancel": cancelling} {
			if (c.want == "") != (err == nil) || c.want != "" && !fault.Is(err, c.want) {
				t.Errorf("%s of a %s invitation: %v, want %s", name, c.status, err, c.want)
			}
		}
	}
	if claimed.InviteeUMA != maya.UMAAddress || claimed.Invitee != mayaID || claimed.InviteePlatform != other ||
		!claimed.ClaimedAt.Equal(now) {
		t.Errorf("claimed %+v", claimed)
	}
	if e := claimed.ClaimedEvent(webhookID); e.Platform != acme || e.Type != event.Invitation || e.Name != "INVITATION.CLAIMED" ||
		e.Resource != claimed || !e.OccurredAt.Equal(now) {
		t.Errorf("event %+v", e)
	}
}

func TestInvitation_WhoMayClaimAndCancel(t *testing.T) {
	t.Parallel()
	// Neither the inviter nor a deleted customer claims; an invitation of a deleted inviter is as good as
	// cancelled; and no other platform than the inviter's cancels, whatever the status.
	open := pending(t, time.Time{})
	deletedAna, deletedMaya := ana, maya
	deletedAna.DeletedAt, deletedMaya.DeletedAt = now, now
	sameBank := customer.Customer{ID: mayaID, Platform: acme, UMAAddress: "$bea@acme.test"}
	for name, c := range map[string]struct {
		inviter, invitee customer.Customer
		want             fault.Code
	}{
		"the inviter":         {ana, ana, fault.InvalidInput},
		"a deleted customer":  {ana, deletedMaya, fault.InvalidInput},
		"of a deleted person": {deletedAna, maya, fault.InvitationCancelled},
		"of one platform":     {ana, sameBank, ""},
	} {
		_, err := open.Claim(c.inviter, c.invitee, now)
		if (c.want == "") != (err == nil) || c.want != "" && !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	claimed, _ := open.Claim(ana, maya, now)
	for _, i := range []invitation.Invitation{open, claimed} {
		if _, err := i.Cancel(other, now); !fault.Is(err, fault.Forbidden) {
			t.Errorf("another platform cancelled: %v", err)
		}
	}
	for address, invitee := range map[string]*customer.Customer{"maya": nil, "$maya@other.test": nil, "$maya@other.test ": &maya} {
		if err := invitation.CheckInvitee(address, invitee); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestParseCode(t *testing.T) {
	t.Parallel()
	// A code is accepted in small letters, with letters that look like digits, and in no other form.
	for text, want := range map[string]string{
		code: code, strings.ToLower(code): code, "O1IL00000000": "011100000000", "oil000000000": "011000000000",
		"": "", code[1:]: "", code + "0": "", "7KQ2-M9XD-4RT": "", "7KQ2M9XD4RTU": "", "7KQ2M9XD4RT\xff": "", "7KQ2M9XD4RÜ": "",
	} {
		got, ok := invitation.ParseCode(text)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		short := ident.ShortCode(uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "random")))
		if got, ok := invitation.ParseCode(strings.ToLower(short)); !ok || got != short {
			t.Errorf("%s: %q, %v", short, got, ok)
		}
	})
}
