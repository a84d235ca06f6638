package postgres_test

import (
	"context"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestIncomingPaymentParties_LoadsBatch(t *testing.T) {
	t.Parallel()
	// Each key returns the account with its instructions, its owner even if deleted, and the
	// payer unless deleted; nothing of another platform.
	c := newEnv(t)
	ana, gone := newCustomer(c.platform, "ana"), newCustomer(c.platform, "gone")
	gone.DeletedAt = noon.Add(time.Hour)
	c.createCustomers(t, ana, gone)
	open := func(p ident.Platform, owner ident.Customer) account.Internal {
		a, err := account.NewInternal(ident.NewInternalAccount(generator.New, noon), p, owner, "USD", noon)
		if err != nil {
			t.Fatal(err)
		}
		a.Instructions = []account.Instruction{{Notes: "pay in", Info: map[string]any{"reference": a.Reference}}}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			return tx.OpenInternalAccounts(ctx, []account.Internal{a})
		})
		return a
	}
	anas, gones, own, elsewhere := open(c.platform.ID, ana.ID), open(c.platform.ID, gone.ID), open(c.platform.ID, ident.Customer{}),
		open(c.otherPlatform.ID, ident.Customer{})
	payer, deleted := newWallet(c.platform, ana.ID, "spark1"), newWallet(c.platform, ana.ID, "spark2")
	c.createAccounts(t, payer, deleted)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteExternalAccount(ctx, c.platform.ID, deleted.ID, noon)
	})

	var found []transaction.IncomingParties
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
		found, err = tx.IncomingPaymentParties(ctx, []ports.IncomingPaymentKey{
			{Platform: c.platform.ID, To: own.ID}, {Platform: c.platform.ID, To: anas.ID, From: payer.ID},
			{Platform: c.platform.ID, To: gones.ID, From: deleted.ID},
			{Platform: c.platform.ID, To: elsewhere.ID, From: payer.ID}, {Platform: c.otherPlatform.ID, To: elsewhere.ID, From: payer.ID},
		})
		return err
	})

	if p := found[0]; p.To == nil || p.To.ID != own.ID || p.To.Type != account.InternalFiat || p.Owner != nil || p.From != nil {
		t.Errorf("the platform's own: %+v", p)
	}
	if p := found[1]; p.To == nil || p.To.Customer != ana.ID || p.To.Reference != anas.Reference || len(p.To.Instructions) != 1 ||
		p.To.Instructions[0].Notes != "pay in" ||
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
