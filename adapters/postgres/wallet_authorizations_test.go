package postgres_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/audit"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// newWalletPayment returns a quote of a wallet with its transaction, and what its owner signs.
func newWalletPayment(w ports.WalletID) (quote.Quote, transaction.Transaction) {
	amount := money.Amount{Minor: 25_000_000, Currency: money.USDB}
	q := quote.Quote{ID: ident.NewQuote(generator.New, noon), Platform: w.Platform, Transaction: ident.NewTransaction(generator.New, noon),
		Side: quote.Sending, LockedAmount: amount.Minor,
		Source: transaction.Endpoint{InternalAccount: w.Account, Currency: amount.Currency}, Pricing: transaction.AtPar(amount),
		Instructions: transaction.SigningInstructions(`{"address":"spark1secreta"}`), CreatedAt: noon, ExpiresAt: noon.Add(time.Minute)}
	return q, transaction.Transaction{ID: q.Transaction, Platform: w.Platform, Quote: q.ID, Type: transaction.Outgoing,
		State: transaction.Initial, Source: q.Source, SourceRail: corridor.Layer2,
		SourceAccount: ledger.Wallet(w.Account), DestinationRail: corridor.Layer2, DestinationAccount: "chains/LAYER2", Pricing: q.Pricing,
		Instructions: q.Instructions,
		Payload:      `{"address":"spark1secreta"}`, ExpiresAt: q.ExpiresAt, CreatedAt: noon, UpdatedAt: noon}
}

func TestWalletAuthorizations_RoundTrip(t *testing.T) {
	t.Parallel()
	// What the owner of a wallet signs is read with the quote as it was stored, and its evidence with or
	// without a session. The payload, which can name an address of a person, is encrypted in every table, and
	// again with a newer key. Who has no key still sees whether there is evidence.
	c := newWalletEnv(t)
	db, cipher := openWithCipher(t, c.env)
	if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
		t.Fatal(err)
	}
	session := newSession(newCredential(c.wallet, wallet.EmailOTP, noon), noon)
	var payments []transaction.Transaction
	var want []wallet.Authorization
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		payments, want = nil, nil
		for i := range 3 {
			q, p := newWalletPayment(c.wallet)
			if err := tx.CreateQuotes(ctx, []quote.Quote{q}, []transaction.Transaction{p}); err != nil {
				return err
			}
			payments = append(payments, p)
			signer := wallet.Session{}
			if i == 0 {
				signer = session
			}
			want = append(want, wallet.NewAuthorization(p.Platform, p.ID, c.wallet.Account, p.Payload, "signature", signer, noon.Add(time.Second)))
		}
		if err := tx.SaveWalletAuthorizations(ctx, want[:2]); err != nil {
			return err
		}
		for i := range payments[:2] {
			payments[i].State = transaction.State{Status: transaction.Processing}
		}
		// A refund to a wallet that failed, and was then assigned to an account: nobody has to sign it.
		assigned := payments[2]
		assigned.ID, assigned.Quote, assigned.Payload, assigned.Instructions = ident.NewTransaction(generator.New, noon), ident.Quote{}, "", nil
		assigned.Type, assigned.State = transaction.Incoming, transaction.State{Status: transaction.Completed, Stage: transaction.Delivered}
		assigned.Destination, assigned.DestinationAccount = assigned.Source, ledger.CustomerAccount(c.wallet.Account)
		assigned.Source, assigned.DestinationRail = transaction.Endpoint{Currency: money.USDB}, ""
		if err := tx.CreateTransactions(ctx, []transaction.Transaction{assigned}); err != nil {
			return err
		}
		return tx.UpdateTransactions(ctx, payments[:2])
	}); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		for i, p := range payments {
			key := ports.TransactionKey{Platform: p.Platform, ID: p.ID}
			if got, found, err := db.WalletAuthorization(t.Context(), key); err != nil || found != (i < 2) || found &&
				!reflect.DeepEqual(got, want[i]) {
				t.Errorf("evidence %d: %+v, %t, %v\nwant %+v", i, got, found, err, want[i])
			}
			q, read, err := db.Quote(t.Context(), p.Platform, p.Quote)
			if err != nil || read.Payload != p.Payload || !reflect.DeepEqual(q.Instructions, transaction.SigningInstructions(p.Payload)) {
				t.Errorf("quote %d: %+v, %v", i, q, err)
			}
		}
		conn := connect(t, c.url)
		var shown int
		if err := conn.QueryRow(
			t.Context(), `SELECT count(*) FROM (SELECT a::text AS row FROM wallet_authorizations a UNION ALL SELECT t::text FROM transactions t UNION ALL SELECT q::text FROM quotes q) rows
			WHERE strpos(row, 'secreta') > 0`).Scan(&shown); err != nil || shown > 0 {
			t.Errorf("%d rows show the address, %v", shown, err)
		}
		if err := cipher.Create(t.Context(), generator.New(noon)); err != nil {
			t.Fatal(err)
		}
		if err := db.ReencryptPersonalData(t.Context(), func(string, int, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	for name, reader := range map[string]audit.WalletPayments{"with the key": db, "without": c.DB} {
		executed := map[ident.Transaction]ports.WalletPayment{}
		if err := reader.EachWalletPayment(t.Context(), ident.Platform{}, func(p ports.WalletPayment) error {
			executed[p.Transaction.ID] = p
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, p := range payments[:2] {
			got := executed[p.ID]
			if len(executed) != 2 || got.Environment != platform.Sandbox || got.Transaction.Pricing.Sent != p.Pricing.Sent ||
				got.Authorization == nil || got.Authorization.Session != want[i].Session ||
				errors.Is(got.Unreadable, ports.ErrNoMasterKey) != (name == "without") || got.Unreadable == nil &&
				got.Authorization.Payload != p.Payload {
				t.Errorf("%s, %d of %d: %+v", name, i, len(executed), got)
			}
		}
	}
	for of, want := range map[ident.Platform]int{payments[0].Platform: 2, ident.NewPlatform(generator.New, noon): 0} {
		found := 0
		if err := c.EachWalletPayment(t.Context(), of, func(ports.WalletPayment) error { found++; return nil }); err != nil || found != want {
			t.Errorf("of %s: %d, %v, want %d", of, found, err, want)
		}
	}
	if _, err := connect(t, c.url).Exec(t.Context(), `UPDATE wallet_authorizations SET payload = E'\x01AAAA' WHERE id = $1`,
		payments[0].ID.UUID()); err != nil {
		t.Fatal(err)
	}
	if err := db.EachWalletPayment(t.Context(), ident.Platform{}, func(p ports.WalletPayment) error {
		if errors.Is(p.Unreadable, ports.ErrCannotDecrypt) != (p.Transaction.ID == payments[0].ID) {
			t.Errorf("with a payload that was overwritten: %+v", p)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	again := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveWalletAuthorizations(ctx, want[:1]) })
	if again == nil || !strings.Contains(again.Error(), "wallet_authorizations") {
		t.Errorf("stored twice: %v", again)
	}
}
