package payments_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/adapters/signin"
	"causeway/app/internal/apptest"
	"causeway/app/internal/strongauth"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

// passkeys accept one signature.
type passkeys struct{ apptest.Signatures }

func (passkeys) AcceptsSCATestCode(string) bool { return false }

func (passkeys) RelyingParty(platform.Platform) (wallet.RelyingParty, error) {
	return wallet.RelyingParty{ID: "localhost", Origins: []string{origin}}, nil
}

func (passkeys) CheckPasskey(_ context.Context, _ platform.Platform, key wallet.PasskeyKey, _ []byte, a wallet.Assertion) (
	wallet.PasskeyKey, error) {
	if key.UserVerified = true; a.Signature != "right" {
		return key, fault.Invalid(fault.Field{Field: "passkeyAssertion", Message: "is wrong"})
	}
	return key, nil
}

const origin = "https://app.example.com"

// right is the proof of a payer, and wrong none.
var (
	right = sca.Proof{Factor: sca.Passkey, Origin: origin, Assertion: wallet.Assertion{Signature: "right", ClientDataJSON: clientData}}
	wrong = sca.Proof{Factor: sca.Passkey, Origin: origin, Assertion: wallet.Assertion{Signature: "wrong", ClientDataJSON: clientData}}
)

// clientData names the origin.
const clientData = "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiQUEiLCJvcmlnaW4iOiJodHRwczovL2FwcC5leGFtcGxlLmNvbSJ9"

// payerEnv is an environment whose payer is a customer in Germany with a passkey and a session.
type payerEnv struct {
	*env
	payer   customer.Customer
	dollars account.Internal
	bank    account.External
}

func newPayerEnv(t testing.TB, exemptions sca.Exemptions, opts ...apptest.Option) *payerEnv {
	t.Helper()
	e := &payerEnv{env: newIdleEnv(t, opts...)}
	e.Service = newService(e.Env, e.Store, e.approvals, withPasskeys(e.Env))
	e.Env.Run(e.Service.Run)
	e.payer = e.NewCustomer("ben", func(c *customer.Customer) { c.FullName, c.Region = "Ben Berg", "DE" })
	e.dollars = e.account(e.payer.ID, "USD", 1_000_00)
	e.bank = e.bankOf(e.payer, "123456789", time.Time{})
	now := e.Clock.Now()
	e.Platform.SCAPaymentsSince, e.Platform.SCAExemptions = now.Add(-time.Hour), exemptions
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.UpdatePlatform(ctx, e.Platform); err != nil {
			return err
		}
		if err := tx.SaveSCACredential(ctx, sca.Credential{ID: ident.NewSCACredential(e.IDs.New, now), Platform: e.Platform.ID,
			Customer: e.payer.ID, Factor: sca.Passkey, Passkey: &wallet.PasskeyKey{CredentialID: []byte("key"), PublicKey: []byte("public")},
			CreatedAt: now}); err != nil {
			return err
		}
		return tx.CreateSCASession(ctx, sca.Session{ID: ident.NewSCASession(e.IDs.New, now), Platform: e.Platform.ID, Customer: e.payer.ID,
			Factor: sca.Passkey, CreatedAt: now, ExpiresAt: now.Add(sca.SessionLifetime)})
	})
	return e
}

func withPasskeys(e *apptest.Env) func(*payments.Config) {
	return func(c *payments.Config) {
		c.Auth = strongauth.New(strongauth.Config{Proofs: ports.WalletProofsByEnvironment{platform.Sandbox: passkeys{}},
			TOTP: signin.Verifier{}, IDs: e.IDs})
	}
}

func (e *payerEnv) bankOf(owner customer.Customer, number string, trusted time.Time) account.External {
	return e.NewExternalAccount(account.External{Customer: owner.ID, Currency: "USD", Type: account.USAccount, TrustedAt: trusted,
		Fields: map[string]string{"accountNumber": number, "routingNumber": "021000021"}, Rails: []corridor.Rail{corridor.RTP, corridor.ACH}})
}

func (e *payerEnv) ask(t testing.TB, from quote.Source, to quote.Destination, minor int64) quote.WithStatus {
	t.Helper()
	created, err := e.CreateQuote(t.Context(), quote.Request{Platform: e.Platform.ID, Source: from, Destination: to, Side: quote.Sending,
		Amount: minor}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func (e *payerEnv) authorize(q quote.Quote, p sca.Proof) (quote.WithStatus, error) {
	return e.AuthorizeQuote(context.Background(), e.Platform.ID, q.ID, ident.SCAChallenge{}, p, nil)
}

func TestAuthorize_JustInTime(t *testing.T) {
	t.Parallel()
	// A payer who pays just in time is shown how only after the proof for each purpose. Until then no money moves.
	e := newPayerEnv(t, sca.Exemptions{})
	coins := e.NewExternalAccount(account.External{Customer: e.payer.ID, Currency: "BTC", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2}})
	asked := e.ask(t, quote.Source{Customer: e.payer.ID, Currency: "USD"}, quote.Destination{External: coins.ID}, 10_000)
	if asked.Status != quote.PendingAuthorization || asked.Quote.Instructions != nil || asked.Challenge == nil ||
		asked.Challenge.Purpose != sca.CurrencyConversion || !asked.Challenge.ExpiresAt.Equal(asked.Quote.ExpiresAt) {
		t.Fatalf("created %+v", asked)
	}
	if read := e.Transaction(asked.Quote.Transaction); read.HowToPay() != nil {
		t.Errorf("the transaction says how to pay: %v", read.HowToPay())
	}
	_, err := e.authorize(asked.Quote, wrong)
	apptest.WantFault(t, "a wrong proof", err, fault.InvalidInput, "passkeyAssertion")
	next, err := e.authorize(asked.Quote, right)
	if err != nil || next.Status != quote.PendingAuthorization || next.Challenge.Purpose != sca.Payout || next.Quote.Instructions != nil {
		t.Fatalf("after the first proof: %+v, %v", next, err)
	}
	if read, err := e.GetQuote(t.Context(), e.Platform.ID, asked.Quote.ID); err != nil || read.Challenge == nil ||
		read.Challenge.ID != next.Challenge.ID {
		t.Errorf("read %+v, %v", read, err)
	}
	done, err := e.authorize(asked.Quote, right)
	if err != nil || done.Status != quote.Pending || len(done.Quote.Instructions) == 0 || done.Challenge != nil {
		t.Fatalf("after the last proof: %+v, %v", done, err)
	}
	_, err = e.authorize(asked.Quote, right)
	apptest.WantFault(t, "again", err, fault.Conflict)
	if _, err := e.Receive(t.Context(), e.receipt(done.Quote, corridor.RTP, 10_000), nil); err != nil {
		t.Fatal(err)
	}
	e.waitForStatus(asked.Quote.Transaction, transaction.Completed)
	e.wantOutgoingEvents(asked.Quote.Transaction, "PENDING_AUTHORIZATION", "PENDING", "PROCESSING", "COMPLETED")
	e.checkLedger(t)
}

func TestAuthorize_FromAccount(t *testing.T) {
	t.Parallel()
	// A quote that an account pays is challenged when it is executed, any number of times, and executed with the proof. Of many
	// proofs at once one counts.
	e := newPayerEnv(t, sca.Exemptions{})
	asked := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 10_000)
	if asked.Status != quote.Pending || asked.Challenge != nil {
		t.Fatalf("created %+v", asked)
	}
	var challenge ident.SCAChallenge
	for range 2 {
		executed := e.execute(t, asked.Quote)
		if executed.Status != quote.PendingAuthorization || executed.Challenge.Purpose != sca.Payout ||
			!challenge.IsZero() && executed.Challenge.ID != challenge {
			t.Fatalf("executed %+v", executed)
		}
		challenge = executed.Challenge.ID
	}
	e.WantEntries(asked.Quote.Transaction)
	var wg sync.WaitGroup
	succeeded := make(chan quote.WithStatus, 4)
	for range cap(succeeded) {
		wg.Go(func() {
			if done, err := e.authorize(asked.Quote, right); err == nil {
				succeeded <- done
			} else if !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	if wg.Wait(); len(succeeded) != 1 {
		t.Fatalf("%d proofs have succeeded", len(succeeded))
	}
	e.waitForStatus(asked.Quote.Transaction, transaction.Completed)
	e.wantOutgoingEvents(asked.Quote.Transaction, "PENDING", "PENDING_AUTHORIZATION", "PROCESSING", "COMPLETED")
	e.checkLedger(t)
}

func TestAuthorize_RefusedPaymentsChangeNothing(t *testing.T) {
	t.Parallel()
	// Without the balance the proof is not used up.
	e := newPayerEnv(t, sca.Exemptions{})
	asked := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 2_000_00)
	e.execute(t, asked.Quote)
	_, err := e.authorize(asked.Quote, right)
	apptest.WantFault(t, "without balance", err, fault.InsufficientBalance)
	if _, err := e.Fund(t.Context(), e.Platform.ID, e.dollars.ID, 2_000_00, nil); err != nil {
		t.Fatal(err)
	}
	if done, err := e.authorize(asked.Quote, right); err != nil || done.Status != quote.Processing {
		t.Errorf("with balance: %+v, %v", done, err)
	}
}

func TestAuthorize_NotInTime(t *testing.T) {
	t.Parallel()
	// What the payer has not authorised when the quote expires has failed without a posting; a payment that arrives before is
	// sent back.
	e := newPayerEnv(t, sca.Exemptions{})
	jit := e.ask(t, quote.Source{Customer: e.payer.ID, Currency: "USD"}, quote.Destination{External: e.bank.ID}, 10_000)
	paid := e.ask(t, quote.Source{Customer: e.payer.ID, Currency: "USD"}, quote.Destination{External: e.bank.ID}, 20_000)
	balance := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 10_000)
	e.execute(t, balance.Quote)
	if _, err := e.Receive(t.Context(), e.receipt(paid.Quote, corridor.RTP, 20_000), nil); err != nil {
		t.Fatal(err)
	}
	refunded := e.waitForStatus(paid.Quote.Transaction, transaction.Failed)
	if refunded.State.Reason != transaction.SCANotCompleted || refunded.State.Refund == transaction.NoRefund {
		t.Errorf("a payment that was not authorised is %+v", refunded.State)
	}
	e.Clock.Advance(jit.Quote.ExpiresAt.Sub(e.Clock.Now()))
	_, err := e.authorize(jit.Quote, right)
	apptest.WantFault(t, "too late", err, fault.QuoteExpired)
	for _, q := range []quote.WithStatus{jit, balance} {
		failed := e.waitForStatus(q.Quote.Transaction, transaction.Failed)
		if failed.State.Reason != transaction.SCANotCompleted {
			t.Errorf("failed with %s", failed.State.Reason)
		}
		e.WantEntries(q.Quote.Transaction)
		_, err := e.authorize(q.Quote, right)
		apptest.WantFault(t, "after it failed", err, fault.QuoteExpired)
	}
	e.checkLedger(t)
}

func TestAuthorize_NobodyGoesAround(t *testing.T) {
	t.Parallel()
	// Without a session nothing is asked; a locked payer pays nothing; a transfer has no proof. Customers elsewhere are not asked.
	e := newPayerEnv(t, sca.Exemptions{})
	_, err := e.TransferOut(t.Context(), transaction.TransferOut{Platform: e.Platform.ID, From: e.dollars.ID, To: e.bank.ID, Amount: 100}, nil)
	apptest.WantFault(t, "a transfer", err, fault.Conflict)
	asked := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 10_000)
	e.execute(t, asked.Quote)
	for range 5 {
		_, err = e.authorize(asked.Quote, wrong)
		apptest.WantFault(t, "a wrong proof", err, fault.InvalidInput, "passkeyAssertion")
	}
	_, err = e.authorize(asked.Quote, right)
	apptest.WantFault(t, "locked", err, fault.AccountLocked)
	_, err = e.ExecuteQuote(t.Context(), e.Platform.ID, asked.Quote.ID, nil)
	apptest.WantFault(t, "locked", err, fault.AccountLocked)
	_, err = e.CreateQuote(t.Context(), quote.Request{Platform: e.Platform.ID, Source: quote.Source{Customer: e.payer.ID, Currency: "USD"},
		Destination: quote.Destination{External: e.bank.ID}, Side: quote.Sending, Amount: 100}, nil)
	apptest.WantFault(t, "locked", err, fault.AccountLocked)

	carl := e.NewCustomer("carl", func(c *customer.Customer) { c.FullName, c.Region = "Carl Cron", "FR" })
	bank := e.bankOf(carl, "223456789", time.Time{})
	_, err = e.CreateQuote(t.Context(), quote.Request{Platform: e.Platform.ID, Source: quote.Source{Customer: carl.ID, Currency: "USD"},
		Destination: quote.Destination{External: bank.ID}, Side: quote.Sending, Amount: 10_000}, nil)
	apptest.WantFault(t, "without a session", err, fault.SCASessionRequired)

	elsewhere := e.NewBankAccount("323456789")
	if q := e.ask(t, quote.Source{Customer: e.Customer.ID, Currency: "USD"}, quote.Destination{External: elsewhere.ID},
		10_000); q.Status != quote.Pending {
		t.Errorf("a customer without a region: %s", q.Status)
	}
	if _, err := e.TransferOut(t.Context(), transaction.TransferOut{Platform: e.Platform.ID,
		From: e.account(ident.Customer{}, money.USD, 10_000).ID, To: e.bank.ID, Amount: 100}, nil); err != nil {
		t.Errorf("a transfer of the platform: %v", err)
	}
	e.checkLedger(t)
}

func TestAuthorize_Exemptions(t *testing.T) {
	t.Parallel()
	// Up to five small payments, and up to 100 euros, go on without a proof since the last one; and any to a trusted account.
	e := newPayerEnv(t, sca.Exemptions{LowValue: true, TrustedBeneficiaries: true})
	pay := func(minor int64) quote.Status {
		return e.execute(t, e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, minor).Quote).Status
	}
	for n := range 4 {
		if got := pay(20_00); got != quote.Processing {
			t.Fatalf("payment %d is %s", n, got)
		}
	}
	if got := pay(500_00); got != quote.PendingAuthorization {
		t.Errorf("a large payment is %s", got)
	}
	if _, err := e.TransferOut(t.Context(), transaction.TransferOut{Platform: e.Platform.ID, From: e.dollars.ID, To: e.bank.ID, Amount: 5_00},
		nil); err != nil {
		t.Errorf("a small transfer: %v", err)
	}
	small := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: e.bank.ID}, 5_00)
	if got := e.execute(t, small.Quote).Status; got != quote.PendingAuthorization {
		t.Errorf("the sixth payment is %s", got)
	}
	if done, err := e.authorize(small.Quote, right); err != nil || done.Status != quote.Processing {
		t.Errorf("authorised %+v, %v", done, err)
	}
	if got := pay(5_00); got != quote.Processing {
		t.Errorf("after a proof a small payment is %s", got)
	}
	trusted := e.bankOf(e.payer, "223456789", e.Clock.Now())
	large := e.ask(t, quote.Source{Internal: e.dollars.ID}, quote.Destination{External: trusted.ID}, 300_00)
	if got := e.execute(t, large.Quote).Status; got != quote.Processing {
		t.Errorf("a payment to a trusted account is %s", got)
	}
	e.waitForStatus(large.Quote.Transaction, transaction.Completed)
	e.checkLedger(t)
}
