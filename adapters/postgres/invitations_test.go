package postgres_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

func newInvitation(inviter customer.Customer, code string) invitation.Invitation {
	return invitation.Invitation{ID: generator.New(noon), Platform: inviter.Platform, Code: code, URL: "https://acme.test/" + code,
		Inviter: inviter.ID, InviterUMA: inviter.UMAAddress,
		FirstName: "Maya", Amount: money.Amount{Minor: 5, Currency: "USD"}, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour),
		State: invitation.Pending}
}

func TestInvitations_ReadByCodeAcrossPlatforms(t *testing.T) {
	t.Parallel()
	// A session of one platform reads an invitation of another by its code, and in no other way; not
	// one of another environment, and not in the name of another platform.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	created := newInvitation(ana, "AAAAAAAAAAAA")
	production, err := platform.New(ident.NewPlatform(generator.New, noon), "Production", platform.Production, true, noon)
	if err != nil {
		t.Fatal(err)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreatePlatform(ctx, production); err != nil {
			return err
		}
		return tx.CreateInvitation(ctx, created)
	})
	db := openWith(t, postgres.Options{URL: c.url, MaxConnections: 2, Clock: portstest.NewFakeClock(noon), IDs: generator})
	scoped := func(p platform.Platform) context.Context { return ports.ForPlatform(t.Context(), p.ID) }

	for name, c := range map[string]struct {
		ctx    context.Context
		caller platform.Platform
		found  bool
	}{
		"its platform":            {scoped(c.platform), c.platform, true},
		"another platform":        {scoped(c.otherPlatform), c.otherPlatform, true},
		"another environment":     {scoped(production), production, false},
		"in the name of another":  {scoped(production), c.otherPlatform, false},
		"without a scope":         {t.Context(), c.platform, false},
		"a worker":                {ports.ForAllPlatforms(t.Context()), c.platform, true},
		"a worker of another one": {ports.ForAllPlatforms(t.Context()), production, false},
	} {
		got, err := db.InvitationByCode(c.ctx, c.caller.ID, created.Code)
		if c.found && (err != nil || !reflect.DeepEqual(got, created)) || !c.found && !fault.Is(err, fault.InvitationNotFound) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	err = db.Do(scoped(c.otherPlatform), func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.LockInvitation(ctx, c.platform.ID, created.ID)
		return err
	})
	if !fault.Is(err, fault.InvitationNotFound) {
		t.Errorf("locked by another platform: %v", err)
	}
}

func TestInvitations_UpdateAndEncrypt(t *testing.T) {
	t.Parallel()
	// An invitation is read as it was last stored. The name in it is stored encrypted.
	c := newEnv(t)
	db := openEncrypting(t, c)
	ana, maya := newCustomer(c.platform, "ana"), newCustomer(c.otherPlatform, "maya")
	c.createCustomers(t, ana, maya)
	created := newInvitation(ana, "AAAAAAAAAAAA")
	do := func(fn func(context.Context, *postgres.Unit) error) {
		t.Helper()
		if err := db.Do(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateInvitation(ctx, created) })
	claimed, err := created.Claim(ana, maya, noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	do(func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateInvitation(ctx, claimed) })
	do(func(ctx context.Context, tx *postgres.Unit) error {
		locked, err := tx.LockInvitation(ctx, c.platform.ID, created.ID)
		if !reflect.DeepEqual(locked, claimed) {
			t.Errorf("locked %+v, want %+v", locked, claimed)
		}
		return err
	})
	var name string
	if err := connect(t, c.url).QueryRow(t.Context(), "SELECT first_name FROM invitations").Scan(&name); err != nil || name == "" ||
		strings.Contains(name, "Maya") {
		t.Errorf("stored %q, %v", name, err)
	}
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		same := newInvitation(ana, created.Code)
		return tx.CreateInvitation(ctx, same)
	}); err == nil {
		t.Error("two invitations have one code")
	}
}

func TestDeleteOld_Invitations(t *testing.T) {
	t.Parallel()
	// Invitations that ended long ago are deleted. Those without an end are deleted long after their
	// creation, and stay until then.
	c := newRetentionEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	for code, expires := range map[string]time.Time{"OLD": noon.Add(-2 * time.Hour), "YOUNG": noon, "ENDLESS": {}} {
		i := newInvitation(ana, code)
		i.ExpiresAt = expires
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateInvitation(ctx, i) })
	}
	forgotten := newInvitation(ana, "FORGOTTEN")
	forgotten.CreatedAt, forgotten.ExpiresAt = noon.Add(-3*time.Hour), time.Time{}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateInvitation(ctx, forgotten) })
	cancelled := newInvitation(ana, "CANCELLED")
	cancelled.State, cancelled.CancelledAt = invitation.Cancelled, noon.Add(-2*time.Hour)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateInvitation(ctx, cancelled) })

	if err := c.DeleteOld(t.Context(), postgres.RetentionCutoffs{Invitations: noon.Add(-time.Hour),
		EndlessInvitations: noon.Add(-2 * time.Hour)}, func(string, int) {}); err != nil {
		t.Fatal(err)
	}

	if n := c.count(t, "invitations WHERE code IN ('YOUNG', 'ENDLESS')"); n != 2 || c.count(t, "invitations") != 2 {
		t.Errorf("%d of %d are left", n, c.count(t, "invitations"))
	}
}
