package payments_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletEnv is an environment in which the wallet of Customer holds 100 USDB and has an active session.
type walletEnv struct {
	*env
	wallet  account.Internal
	session apptest.WalletSession
	// coins is a Bitcoin wallet outside.
	coins account.External
}

func newWalletEnv(t testing.TB, opts ...apptest.Option) *walletEnv {
	t.Helper()
	e := &walletEnv{env: newEnv(t, opts...)}
	e.wallet = e.account(e.Customer.ID, money.USDB, 100_000_000)
	e.session, e.coins = e.NewWalletSession(e.wallet), e.NewWallet("spark1good")
	return e
}

// walletQuote creates a quote that sends 25 USDB from the wallet.
func (e *walletEnv) walletQuote(t testing.TB, to quote.Destination) quote.Quote {
	t.Helper()
	return e.quoteFrom(t, quote.Source{Internal: e.wallet.ID}, 25_000_000, to)
}

func payloadOf(q quote.Quote) string {
	payload, _ := q.Instructions[0].Info["payloadToSign"].(string)
	return payload
}

func (e *walletEnv) executeSigned(service *payments.Service, q quote.Quote, signature string) (quote.WithStatus, error) {
	return service.ExecuteSignedQuote(context.Background(), e.Platform.ID, q.ID,
		payments.Signature{Text: signature, Environment: platform.Sandbox}, "", nil)
}

func (e *walletEnv) mustExecuteSigned(t testing.TB, q quote.Quote) quote.WithStatus {
	t.Helper()
	executed, err := e.executeSigned(e.Service, q, e.session.Sign(t, payloadOf(q)))
	if err != nil {
		t.Fatal(err)
	}
	return executed
}

func (e *walletEnv) authorization(t testing.TB, id ident.Transaction) (wallet.Authorization, bool) {
	t.Helper()
	a, found, err := e.Store.WalletAuthorization(t.Context(), ports.TransactionKey{Platform: e.Platform.ID, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return a, found
}

func (e *walletEnv) bitcoin() quote.Destination {
	return quote.Destination{External: e.coins.ID}
}

func TestExecute_WalletPaysWithSignature(t *testing.T) {
	t.Parallel()
	// A wallet pays once its owner has signed the payload of the quote: it is debited at once, the transfer
	// settles on the chain, and the payment goes on as any other. The evidence proves it with the key of the
	// wallet alone.
	env := newWalletEnv(t)
	q := env.walletQuote(t, env.bitcoin())
	read, err := env.GetQuote(t.Context(), env.Platform.ID, q.ID)
	if err != nil || payloadOf(read.Quote) != payloadOf(q) || !strings.Contains(payloadOf(q), `"address":"spark1good"`) {
		t.Fatalf("read %+v, %v", read, err)
	}

	executed := env.mustExecuteSigned(t, q)

	if executed.Status != quote.Processing {
		t.Errorf("executed %+v", executed)
	}
	env.waitForStatus(q.Transaction, transaction.Completed)
	p := q.Pricing
	env.WantBalances(map[string]int64{"rails/WIRE USDB": 100_000_000, env.wallet.LedgerPath() + " USDB": -75_000_000,
		"income/fees USDB": -p.Fees, "income/rounding USDB": -p.RoundingSent,
		"fx/position USDB": -(25_000_000 - p.Fees - p.RoundingSent), "fx/position BTC": p.Received.Minor, "chains/LAYER2 BTC": -p.Received.Minor})
	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
	env.wantNotifiedBalances(t, env.wallet, 75_000_000)
	a, _ := env.authorization(t, q.Transaction)
	key, err := env.Custody.WalletKey(t.Context(), ports.WalletID{Platform: env.Platform.ID, Account: env.wallet.ID})
	if err != nil || a.Payload != payloadOf(q) || a.Session != env.session.ID {
		t.Fatalf("the evidence is %+v, %v", a, err)
	}
	if err := a.Verify(key); err != nil {
		t.Error(err)
	}
}

func TestExecute_WalletNeedsValidSignature(t *testing.T) {
	t.Parallel()
	// Without a valid signature over exactly this payload by an active session of the wallet nothing
	// happens, and each fault has its reason. The quote can still be executed afterwards. Other quotes
	// ignore a signature.
	env := newWalletEnv(t)
	q, other := env.walletQuote(t, env.bitcoin()), env.walletQuote(t, env.bitcoin())
	revoked := env.NewWalletSession(env.wallet)
	env.Revoke(revoked)
	stranger := env.NewWalletSession(env.account(env.NewCustomer("ben").ID, money.USDB, 0))
	const missing, invalid = "Missing Service-Wallet-Signature", "Invalid Service-Wallet-Signature"

	for name, c := range map[string]struct{ signature, reason string }{
		"none":                  {"", missing},
		"malformed":             {"c2lnbmF0dXJl", invalid},
		"over another payload":  {env.session.Sign(t, payloadOf(other)), invalid},
		"over a changed one":    {env.session.Sign(t, payloadOf(q)+" "), invalid},
		"of a revoked session":  {revoked.Sign(t, payloadOf(q)), invalid},
		"of another wallet":     {stranger.Sign(t, payloadOf(q)), invalid},
		"the sandbox's, if not": {"sandbox-valid-signature", invalid},
	} {
		_, err := env.executeSigned(env.Service, q, c.signature)
		if refused, _ := fault.As(err); refused == nil || refused.Code != fault.Unauthorized || refused.Reason != c.reason {
			t.Errorf("%s: %v, want %s", name, err, c.reason)
		}
	}
	if _, found := env.authorization(t, q.Transaction); found || env.Transaction(q.Transaction).State != transaction.Initial {
		t.Errorf("after invalid signatures: evidence %t", found)
	}
	env.mustExecuteSigned(t, q)
	env.waitForStatus(q.Transaction, transaction.Completed)
	if _, err := env.executeSigned(env.Service, q, env.session.Sign(t, payloadOf(q))); !fault.Is(err, fault.QuoteAlreadyExecuted) {
		t.Errorf("executed again: %v", err)
	}
	dollars := env.quoteFrom(t, quote.Source{Internal: env.account(env.Customer.ID, "USD", 10050).ID}, 10050, env.bitcoin())
	if _, err := env.executeSigned(env.Service, dollars, "nonsense"); err != nil {
		t.Errorf("a quote of another account: %v", err)
	}
}

func TestExecute_ChangedInTheDatabaseMovesNothing(t *testing.T) {
	t.Parallel()
	// A payment that is changed in the database after its owner signed is not executed; after the execution,
	// the key of the wallet does not sign its transfer, until it is again what was signed.
	env := &walletEnv{env: newIdleEnv(t)}
	env.wallet = env.account(env.Customer.ID, money.USDB, 100_000_000)
	env.session, env.coins = env.NewWalletSession(env.wallet), env.NewWallet("spark1good")
	runDue := func(q quote.Quote) transaction.State {
		t.Helper()
		env.Clock.Advance(time.Minute)
		if err := env.RunDue(ports.ForAllPlatforms(t.Context())); err != nil {
			t.Fatal(err)
		}
		return env.Transaction(q.Transaction).State
	}
	set := func(account account.External, q quote.Quote) {
		t.Helper()
		if err := env.Exec(fmt.Sprintf("UPDATE transactions SET destination_external = '%s' WHERE id = '%s'", account.ID.UUID(),
			q.Transaction.UUID())); err != nil {
			t.Fatal(err)
		}
	}
	thief := env.NewWallet("spark1thief")
	q := env.walletQuote(t, env.bitcoin())
	set(thief, q)

	if _, err := env.executeSigned(env.Service, q, env.session.Sign(t, payloadOf(q))); !fault.Is(err, fault.QuoteNotExecutable) {
		t.Errorf("executed: %v", err)
	}
	set(env.coins, q)
	env.mustExecuteSigned(t, q)
	set(thief, q)
	if state := runDue(q); state.Status != transaction.Processing || state.Stage != transaction.NoFundsMoved {
		t.Errorf("the wallet paid another account: %s", state)
	}
	set(env.coins, q)
	runDue(q)
	if state := runDue(q); state.Status != transaction.Completed {
		t.Errorf("the payment is %s", state)
	}
}

func TestExecute_ExpiredWalletQuoteSaysSo(t *testing.T) {
	t.Parallel()
	// A quote that has expired says so also with a signature of a session that has ended meanwhile.
	env := newWalletEnv(t)
	q := env.walletQuote(t, env.bitcoin())
	signature := env.session.Sign(t, payloadOf(q))

	env.Clock.Advance(time.Hour)

	if _, err := env.executeSigned(env.Service, q, signature); !fault.Is(err, fault.QuoteExpired) {
		t.Errorf("got %v", err)
	}
}

// revokingStore ends a session after it was found to be active.
type revokingStore struct {
	payments.Store
	revoke func()
}

func (s revokingStore) ActiveWalletSessions(ctx context.Context, w ports.WalletID, now time.Time) ([]wallet.Session, error) {
	sessions, err := s.Store.ActiveWalletSessions(ctx, w, now)
	s.revoke()
	return sessions, err
}

func TestExecute_SessionRevokedMeanwhileDoesNotPay(t *testing.T) {
	t.Parallel()
	// A session that is revoked after its signature was checked, and before the commit, does not pay.
	env := newWalletEnv(t)
	q := env.walletQuote(t, env.bitcoin())
	service := newService(env.Env, revokingStore{env.Store, func() { env.Revoke(env.session) }}, env.approvals)

	_, err := env.executeSigned(service, q, env.session.Sign(t, payloadOf(q)))

	if refused, _ := fault.As(err); refused == nil || refused.Reason != "Invalid Service-Wallet-Signature" {
		t.Errorf("got %v", err)
	}
	if state := env.Transaction(q.Transaction).State; state != transaction.Initial {
		t.Errorf("the quote is %s", state)
	}
}

func TestExecute_OneSignatureMovesMoneyOnce(t *testing.T) {
	t.Parallel()
	// Of 200 concurrent executions with one signature one debits the wallet.
	env := newWalletEnv(t)
	q := env.walletQuote(t, env.bitcoin())
	signature := env.session.Sign(t, payloadOf(q))
	var executed atomic.Int32
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			switch _, err := env.executeSigned(env.Service, q, signature); {
			case err == nil:
				executed.Add(1)
			case !fault.Is(err, fault.QuoteAlreadyExecuted):
				t.Error(err)
			}
		})
	}
	all.Wait()

	env.waitForStatus(q.Transaction, transaction.Completed)
	if executed.Load() != 1 {
		t.Errorf("executed %d times", executed.Load())
	}
	if got := env.QueryStrings(`SELECT kind FROM ledger_postings WHERE transaction_id = $1 ORDER BY seq`, q.Transaction.UUID()); strings.Join(
		got, " ") != "wallet_debit converted delivered" {
		t.Errorf("postings %v", got)
	}
}

func TestExecute_LostCommitOfWalletsIsFound(t *testing.T) {
	t.Parallel()
	// The answer to the commit of a batch of signed executions is lost. The batch runs again in halves, which
	// find what is executed: each caller gets its result, and each payment has moved money once.
	const executions = 6
	env := newWalletEnv(t)
	quotes := make([]quote.Quote, executions)
	for i := range quotes {
		quotes[i] = env.quoteFrom(t, quote.Source{Internal: env.wallet.ID}, 10_000_000, env.bitcoin())
	}
	store := &lostCommitStore{Store: env.Store, firstBlocked: make(chan struct{}), release: make(chan struct{})}
	waiting := &waitingCommands{}
	service := newService(env.Env, store, env.approvals, func(c *payments.Config) { c.Batches.Observer = waiting })
	var all sync.WaitGroup
	execute := func(q quote.Quote) {
		if executed, err := env.executeSigned(service, q, env.session.Sign(t, payloadOf(q))); err != nil || executed.Quote.ID != q.ID {
			t.Errorf("executed %+v, %v", executed, err)
		}
	}
	all.Go(func() { execute(quotes[0]) })
	<-store.firstBlocked
	for _, q := range quotes[1:] {
		all.Go(func() { execute(q) })
	}
	for waiting.Load() < executions-1 {
		runtime.Gosched() // until all wait for the first commit
	}

	close(store.release)
	all.Wait()

	for _, q := range quotes {
		if got := env.QueryStrings(`SELECT kind FROM ledger_postings WHERE transaction_id = $1 AND kind LIKE 'wallet%'`,
			q.Transaction.UUID()); len(got) != 1 {
			t.Errorf("postings %v", got)
		}
	}
	if got := env.QueryStrings(`SELECT count(*)::text FROM wallet_authorizations`); got[0] != "6" {
		t.Errorf("evidence of %s payments", got)
	}
}

func TestDebitWallet_RefusedByChain(t *testing.T) {
	t.Parallel()
	// If the chain refuses the transfer the wallet has its money again, and nothing is refunded.
	env := newWalletEnv(t)
	env.Chain.OnDebit = apptest.AllOutcomes[ports.WalletTransfer](ports.Outcome{Verdict: ports.Refused,
		Reason: transaction.QuoteExecutionFailed})
	q := env.walletQuote(t, env.bitcoin())

	env.mustExecuteSigned(t, q)

	env.WaitForState(q.Transaction, "FAILED")
	env.WantBalances(map[string]int64{"rails/WIRE USDB": 100_000_000, env.wallet.LedgerPath() + " USDB": -100_000_000})
	env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "FAILED")
	env.wantNotifiedBalances(t, env.wallet, 75_000_000, 100_000_000)
}

// failingCustody fails a number of times.
type failingCustody struct {
	ports.Custody
	failures atomic.Int32
}

func (c *failingCustody) Sign(ctx context.Context, w ports.WalletID, statement string) (wallet.Certificate, error) {
	switch c.failures.Add(-1) {
	case 1:
		return wallet.Certificate{}, errors.New("the keys are not available")
	case 0:
		panic("the keys are broken")
	}
	return c.Custody.Sign(ctx, w, statement)
}

func TestDebitWallet_RepeatedUntilCustodySigns(t *testing.T) {
	t.Parallel()
	// A transfer that cannot be signed now is tried again, whatever goes wrong, and the chain accepts only
	// what the key of the wallet signed for this payment.
	env := &walletEnv{env: newIdleEnv(t)}
	env.wallet = env.account(env.Customer.ID, money.USDB, 100_000_000)
	env.session, env.coins = env.NewWalletSession(env.wallet), env.NewWallet("spark1good")
	custody := &failingCustody{Custody: env.Custody}
	custody.failures.Store(2)
	service := newService(env.Env, env.Store, env.approvals, func(c *payments.Config) { c.Custody = custody })
	q := env.walletQuote(t, env.bitcoin())
	if _, err := env.executeSigned(service, q, env.session.Sign(t, payloadOf(q))); err != nil {
		t.Fatal(err)
	}

	for range 10 {
		env.Clock.Advance(time.Minute)
		if err := service.RunDue(ports.ForAllPlatforms(t.Context())); err != nil {
			t.Fatal(err)
		}
	}

	if state := env.Transaction(q.Transaction).State; state.Status != transaction.Completed || custody.failures.Load() >= 0 {
		t.Errorf("the payment is %s after %d failures", state, 2-custody.failures.Load())
	}
}

func TestRefund_WalletGetsItsMoneyBack(t *testing.T) {
	t.Parallel()
	// A payment that fails after the transfer is refunded to the wallet itself, whose owner can spend it.
	env := newWalletEnv(t)
	var refunds atomic.Int32
	env.Chain.OnCredit = func(_ context.Context, credits []ports.WalletCredit) []ports.Outcome {
		for _, c := range credits {
			if c.Refunded != nil && c.Amount == (money.Amount{Minor: 25_000_000, Currency: money.USDB}) && c.Key != (wallet.Key{}) {
				refunds.Add(1)
			}
		}
		return apptest.AllOutcomes[ports.WalletCredit](ports.Outcome{Verdict: ports.Done})(t.Context(), credits)
	}
	q := env.walletQuote(t, quote.Destination{External: env.NewWallet("spark1bad004").ID})

	env.mustExecuteSigned(t, q)

	env.WaitForState(q.Transaction, "FAILED (refund COMPLETED)")
	env.WantBalances(map[string]int64{"rails/WIRE USDB": 100_000_000, env.wallet.LedgerPath() + " USDB": -100_000_000})
	if refunds.Load() != 1 {
		t.Errorf("%d refunds reached the chain", refunds.Load())
	}
	again := env.quoteFrom(t, quote.Source{Internal: env.wallet.ID}, 100_000_000, env.bitcoin())
	env.mustExecuteSigned(t, again)
	env.waitForStatus(again.Transaction, transaction.Completed)
}

func TestDeliver_ToWalletSettlesOnChain(t *testing.T) {
	t.Parallel()
	// A payment to a wallet is credited when its chain has settled it, from any payer.
	env := newWalletEnv(t)
	just := env.quoteFrom(t, quote.Source{Customer: env.Customer.ID, Currency: "USD"}, 10050, quote.Destination{Internal: env.wallet.ID})
	if _, err := env.Receive(t.Context(), env.receipt(just, "RTP", 10050), nil); err != nil {
		t.Fatal(err)
	}
	dollars := env.account(env.Customer.ID, "USD", 10050)
	prefunded := env.quoteFrom(t, quote.Source{Internal: dollars.ID}, 10050, quote.Destination{Internal: env.wallet.ID})
	env.execute(t, prefunded)

	for _, q := range []quote.Quote{just, prefunded} {
		env.waitForStatus(q.Transaction, transaction.Completed)
		env.wantOutgoingEvents(q.Transaction, "PENDING", "PROCESSING", "COMPLETED")
		if got := env.QueryStrings(`SELECT kind FROM ledger_postings WHERE transaction_id = $1 ORDER BY seq DESC LIMIT 1`,
			q.Transaction.UUID()); got[0] != "wallet_credit" {
			t.Errorf("postings %v", got)
		}
	}
	want := 100_000_000 + just.Pricing.Received.Minor + prefunded.Pricing.Received.Minor
	if balances := env.Events.Balances(env.wallet.ID); balances[len(balances)-1] != want {
		t.Errorf("balances %v, want %d", balances, want)
	}
}

func TestCreateQuote_WalletWithinOneCurrency(t *testing.T) {
	t.Parallel()
	// A wallet cannot use transfers, and the fault says how it pays within its currency: by a quote, to an
	// account of the customer or to a wallet outside, without a fee.
	env := newWalletEnv(t)
	outside := env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: money.USDB, Type: account.Layer2Wallet,
		Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2}})
	_, err := env.TransferOut(t.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: env.wallet.ID, To: outside.ID,
		Amount: 25_000_000}, nil)
	if refused, _ := fault.As(err); refused == nil || refused.Code != fault.InvalidInput ||
		!strings.Contains(refused.Fields[0].Message, "POST /quotes") {
		t.Errorf("a transfer: %v", err)
	}

	q := env.walletQuote(t, quote.Destination{External: outside.ID})
	env.mustExecuteSigned(t, q)

	env.waitForStatus(q.Transaction, transaction.Completed)
	env.WantBalances(map[string]int64{"rails/WIRE USDB": 100_000_000, env.wallet.LedgerPath() + " USDB": -75_000_000,
		"chains/LAYER2 USDB": -25_000_000})
}

func TestCreateQuote_WalletFaults(t *testing.T) {
	t.Parallel()
	// A wallet that holds too little gets no quote, nor does one whose chain is not connected, and it never
	// pays without a signature. A wallet that was emptied meanwhile cannot pay.
	env := newWalletEnv(t)
	request := quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: env.wallet.ID}, Destination: env.bitcoin(),
		Side: quote.Sending, Amount: 100_000_001}
	_, err := env.CreateQuote(t.Context(), request, nil)
	apptest.WantFault(t, "too little", err, fault.InsufficientFunds)
	request.Amount = 100_000_000
	immediately := request
	immediately.ExecuteImmediately = true
	_, err = env.CreateQuote(t.Context(), immediately, nil)
	apptest.WantFault(t, "at once", err, fault.InvalidInput, "immediatelyExecute")

	first, second := env.quoteFrom(t, request.Source, 100_000_000, request.Destination), env.quoteFrom(t, request.Source, 100_000_000,
		request.Destination)
	env.mustExecuteSigned(t, first)
	_, err = env.executeSigned(env.Service, second, env.session.Sign(t, payloadOf(second)))
	apptest.WantFault(t, "emptied", err, fault.InsufficientBalance)
	if _, found := env.authorization(t, second.Transaction); found {
		t.Error("there is evidence of a payment that was not made")
	}

	unconnected := newService(env.Env, env.Store, env.approvals, func(c *payments.Config) {
		c.Chains = &apptest.Chain{Missing: fault.New(fault.NotImplemented, "No chain.")}
	})
	_, err = unconnected.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID,
		Source:      quote.Source{Customer: env.Customer.ID, Currency: "USD"},
		Destination: quote.Destination{Internal: env.wallet.ID}, Side: quote.Sending, Amount: 10050}, nil)
	apptest.WantFault(t, "no chain", err, fault.NotImplemented)
}

func TestDatabase_DebitsWalletOnlyWithEvidence(t *testing.T) {
	t.Parallel()
	// The database itself refuses to execute a payment of a wallet that nobody has signed, and no evidence
	// can be changed or deleted.
	env := newWalletEnv(t)
	unsigned, signed := env.walletQuote(t, env.bitcoin()), env.walletQuote(t, env.bitcoin())
	env.mustExecuteSigned(t, signed)

	for statement, want := range map[string]string{
		`UPDATE transactions SET status = 'PROCESSING' WHERE id = '` + unsigned.Transaction.UUID().String() + `'`: "nobody has signed",
		`UPDATE wallet_authorizations SET signature = 'x'`:                                                        "wallet_authorizations",
		`UPDATE wallet_authorizations SET payload = 'x'`:                                                          "wallet_authorizations",
		`DELETE FROM wallet_authorizations`:                                                                       "wallet_authorizations",
	} {
		if err := env.Exec(statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
