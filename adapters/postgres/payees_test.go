package postgres_test

import (
	"context"
	"testing"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestPayouts_PayeeIsComparedWithItsKeyedSeal(t *testing.T) {
	t.Parallel()
	// The seal of a payee is keyed: neither one that is computed without the key nor encrypted details that were copied
	// from another account, which cannot be decrypted, make a payment to a thief possible. Other payments go on.
	c := newEnv(t)
	db, cipher := openWithCipher(t, c)
	if err := cipher.Create(t.Context(), ids.New().New(noon.Add(-2*time.Hour))); err != nil {
		t.Fatal(err)
	}
	payee, thief := newWallet(c.platform, ident.Customer{}, "spark1payee"), newWallet(c.platform, ident.Customer{}, "spark1thief")
	payment := func(to account.External) transaction.Transaction {
		amount := money.Amount{Minor: 5, Currency: to.Currency}
		p := transaction.Transaction{ID: ident.NewTransaction(generator.New, noon), Platform: c.platform.ID, Type: transaction.Outgoing,
			State:       transaction.TransferInitial,
			Destination: transaction.Endpoint{ExternalAccount: to.ID}, Pricing: transaction.AtPar(amount), CreatedAt: noon, UpdatedAt: noon}
		p.Payee = p.PayeeDigest(&to)
		return p
	}
	paid, other := payment(payee), payment(thief)
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		for _, a := range []account.External{payee, thief} {
			if err := tx.CreateExternalAccount(ctx, a); err != nil {
				return err
			}
		}
		return tx.CreateTransactions(ctx, []transaction.Transaction{paid, other})
	}); err != nil {
		t.Fatal(err)
	}
	wantChanged := func(edit string, want bool) {
		t.Helper()
		payouts, err := db.Payouts(t.Context(), []ports.TransactionKey{{Platform: c.platform.ID, ID: paid.ID},
			{Platform: c.platform.ID, ID: other.ID}})
		if err != nil || len(payouts) != 2 {
			t.Fatalf("%s: %d payouts, %v", edit, len(payouts), err)
		}
		for _, p := range payouts {
			if p.Transaction.PayeeChanged != (want && p.Transaction.ID == paid.ID) {
				t.Errorf("%s: the payee of %s (%s) is changed: %t", edit, p.Transaction.ID, p.Account.Identifier(), p.Transaction.PayeeChanged)
			}
		}
	}
	wantChanged("none", false)
	owner := connect(t, c.url)
	forged := paid
	forged.Destination.ExternalAccount = thief.ID

	exec(t, owner, "UPDATE transactions SET destination_external = $2, payee_seal = $3 WHERE id = $1", paid.ID.UUID(), thief.ID.UUID(),
		forged.PayeeDigest(&thief))
	wantChanged("a forged seal", true)

	exec(t, owner, "UPDATE transactions SET destination_external = $2, payee_seal = (SELECT payee_seal FROM transactions WHERE id = $3) "+
		"WHERE id = $1",
		paid.ID.UUID(), thief.ID.UUID(), other.ID.UUID())
	wantChanged("the seal of another payment", true)

	exec(t, owner, "UPDATE external_accounts SET fields = (SELECT fields FROM external_accounts WHERE id = $2) WHERE id = $1",
		payee.ID.UUID(), thief.ID.UUID())
	exec(t, owner, "UPDATE transactions SET destination_external = $2 WHERE id = $1", paid.ID.UUID(), payee.ID.UUID())
	wantChanged("details of another account", true)
}
