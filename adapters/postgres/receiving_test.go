package postgres_test

import (
	"context"
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lookup"
	"causeway/ports"
)

func TestInflowPartiesAreLoadedTogether(t *testing.T) {
	t.Parallel()
	// Each key gets its own answer: the account with how it is paid into, its owner also
	// when deleted, and the payer unless deleted; nothing of another platform.
	c := newTown(t)
	ana, gone := newCustomer(c.here, "ana"), newCustomer(c.here, "gone")
	gone.DeletedAt = noon.Add(time.Hour)
	c.createCustomers(t, ana, gone)
	open := func(p ident.Platform, owner ident.Customer) account.Internal {
		a, err := account.NewInternal(ident.NewInternalAccount(generator.New, noon), p, owner, "USD", noon)
		if err != nil {
			t.Fatal(err)
		}
		a.Instructions = []account.Instruction{{Notes: "pay in", Info: map[string]any{"reference": a.Reference}}}
		c.do(t, func(ctx context.Context, tx ports.Tx) error {
			return tx.OpenInternalAccounts(ctx, []account.Internal{a})
		})
		return a
	}
	anas, gones, own, elsewhere := open(c.here.ID, ana.ID), open(c.here.ID, gone.ID), open(c.here.ID, ident.Customer{}), open(c.there.ID, ident.Customer{})
	payer, deleted := newWallet(c.here, ana.ID, "spark1"), newWallet(c.here, ana.ID, "spark2")
	c.createAccounts(t, payer, deleted)
	c.do(t, func(ctx context.Context, tx ports.Tx) error {
		return tx.DeleteExternalAccount(ctx, c.here.ID, deleted.ID, noon)
	})

	var found []ports.IncomingPaymentParties
	c.do(t, func(ctx context.Context, tx ports.Tx) (err error) {
		found, err = tx.IncomingPaymentParties(ctx, []ports.IncomingPaymentKey{
			{Platform: c.here.ID, To: own.ID}, {Platform: c.here.ID, To: anas.ID, From: payer.ID}, {Platform: c.here.ID, To: gones.ID, From: deleted.ID},
			{Platform: c.here.ID, To: elsewhere.ID, From: payer.ID}, {Platform: c.there.ID, To: elsewhere.ID, From: payer.ID},
		})
		return err
	})

	if p := found[0]; p.To == nil || p.To.ID != own.ID || p.To.Type != account.InternalFiat || p.Owner != nil || p.From != nil {
		t.Errorf("the platform's own: %+v", p)
	}
	if p := found[1]; p.To == nil || p.To.Customer != ana.ID || p.To.Reference != anas.Reference || len(p.To.Instructions) != 1 || p.To.Instructions[0].Notes != "pay in" ||
		p.Owner == nil || p.Owner.ID != ana.ID || p.Owner.PlatformCustomerID != "ana" || p.Owner.Deleted() ||
		p.From == nil || p.From.ID != payer.ID || p.From.Identifier() != payer.Identifier() || p.From.Status != payer.Status {
		t.Errorf("Ana's: %+v", p)
	}
	if p := found[2]; p.To == nil || p.Owner == nil || !p.Owner.Deleted() || p.From != nil {
		t.Errorf("of a deleted customer, from a deleted account: %+v", p)
	}
	if p := found[3]; p.To != nil || p.Owner != nil || p.From == nil {
		t.Errorf("to another platform: %+v", p)
	}
	if p := found[4]; p.To == nil || p.From != nil {
		t.Errorf("at the other platform: %+v", p)
	}
}

func TestOldLookupsAreForgotten(t *testing.T) {
	t.Parallel()
	// Those made before the moment are gone, and no others; a second time there is nothing
	// to do.
	c := newTown(t)
	made := func(at time.Time) ident.Lookup {
		l := lookup.Lookup{ID: ident.NewLookup(generator.New, at), Platform: c.here.ID, SenderUMA: "$ana@uma.test", ReceiverUMA: "$bo@uma.test",
			CreatedAt: at, ExpiresAt: noon.Add(24 * time.Hour)}
		c.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateLookup(ctx, l) })
		return l.ID
	}
	old, fresh := made(noon.Add(-time.Millisecond)), made(noon)

	for _, want := range []int64{1, 0} {
		if n, err := c.ForgetLookups(t.Context(), noon); err != nil || n != want {
			t.Errorf("%d forgotten, %v; want %d", n, err, want)
		}
	}
	if _, err := c.Lookup(t.Context(), c.here.ID, old); !fault.Is(err, fault.LookupRequestNotFound) {
		t.Errorf("the old one: %v", err)
	}
	if kept, err := c.Lookup(t.Context(), c.here.ID, fresh); err != nil || kept.ReceiverUMA != "$bo@uma.test" {
		t.Errorf("the fresh one: %+v, %v", kept, err)
	}
}
