package payments_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/internal/audittest"
	"causeway/app/payments"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

var viaBase = wallet.Settlement{Network: "BASE", ChainID: 8453, Contract: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
	TokenName: "USD Coin", TokenVersion: "2", To: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}

func TestDebitWallet_OnAChainMovesWhatTheOwnerSigned(t *testing.T) {
	t.Parallel()
	// The payload names the transfer on the chain, which has it signed by its evidence, and needs no certificate. A payment that waits for
	// the chain is completed later, once, and the ledger agrees.
	env := newWalletEnv(t)
	env.Chain.Via = &viaBase
	var mu sync.Mutex
	var given []ports.WalletTransfer
	env.Chain.OnDebit = func(_ context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
		mu.Lock()
		defer mu.Unlock()
		given = append(given, transfers...)
		outcomes := make([]ports.Outcome, len(transfers))
		for i := range outcomes {
			if outcomes[i].Verdict = ports.Done; len(given) == 1 {
				outcomes[i] = ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: env.Clock.Now()}
			}
		}
		return outcomes
	}
	q := env.walletQuote(t, env.bitcoin())
	if payload := payloadOf(q); !strings.Contains(payload, `"version":2`) || !strings.Contains(payload, `"to":"`+viaBase.To+`"`) {
		t.Fatal(payload)
	}

	env.mustExecuteSigned(t, q)

	env.waitForStatus(q.Transaction, transaction.Completed)
	mu.Lock()
	defer mu.Unlock()
	if len(given) != 2 {
		t.Fatalf("the chain was called %d times", len(given))
	}
	for _, g := range given {
		said, err := wallet.ParseChainTransfer(g.Payload)
		if err != nil || said.Value != 25_000_000 || said.Transaction != q.Transaction || !said.IsVia(viaBase) ||
			said.ValidBefore != q.ExpiresAt.Add(wallet.SettlementTime).Unix() || len(g.Certificate.Signature) != 0 {
			t.Errorf("%+v says %+v, %v", g, said, err)
		}
	}
	audittest.Check(t, env.Env)
}

func TestSettleWallet_PaymentToAnotherWalletMovesOnTheChain(t *testing.T) {
	t.Parallel()
	// A payment from a wallet to the UMA address of another customer leaves the first wallet and reaches the second on the chain, each
	// once, although the ledger settles both sides at once. What the chain does not take is repeated until it does.
	env := newWalletEnv(t)
	env.approvals.set(200, "{}")
	env.Chain.Via = &viaBase
	var mu sync.Mutex
	env.Chain.OnDebit = apptest.AllOutcomes[ports.WalletTransfer](ports.Outcome{Verdict: ports.Done})
	var credited []ports.WalletCredit
	env.Chain.OnCredit = func(_ context.Context, credits []ports.WalletCredit) []ports.Outcome {
		mu.Lock()
		defer mu.Unlock()
		credited = append(credited, credits...)
		outcomes := make([]ports.Outcome, len(credits))
		for i := range outcomes {
			outcomes[i].Verdict = []ports.Verdict{ports.Unknown, ports.Waiting, ports.Refused, ports.Done}[min(len(credited)-1, 3)]
		}
		return outcomes
	}
	ben := env.NewCustomer("ben", func(c *customer.Customer) { c.FullName = "Ben Berg" })
	to := env.account(ben.ID, money.USDB, 0)
	lookup := quote.Lookup{ID: ident.NewLookup(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: env.Customer.ID,
		SenderUMA: env.Customer.UMAAddress, ReceiverUMA: ben.UMAAddress, Currencies: []money.Currency{money.USDB}, CreatedAt: apptest.Noon,
		ExpiresAt: apptest.Noon.Add(quote.LookupValidity)}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateLookup(ctx, lookup) })
	created, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: env.wallet.ID},
		Destination: quote.Destination{UMA: ben.UMAAddress}, Lookup: lookup.ID, Side: quote.Sending, Amount: 25_000_000}, nil)
	if err != nil {
		t.Fatal(err)
	}

	env.mustExecuteSigned(t, created.Quote)
	received := transaction.CounterpartID(created.Quote.Transaction)
	env.waitForStatus(created.Quote.Transaction, transaction.Completed)
	for env.CountJobs(transaction.StepSettleWallet) > 0 { // the test ends with its time limit
		env.Clock.Advance(time.Minute)
		time.Sleep(time.Millisecond)
	}

	mu.Lock()
	defer mu.Unlock()
	if len(credited) != 4 {
		t.Errorf("the chain was called %d times", len(credited))
	}
	for _, c := range credited {
		if c.Wallet.Account != to.ID || c.Amount != (money.Amount{Minor: 25_000_000, Currency: money.USDB}) || c.Transaction.ID != received ||
			!c.Credited {
			t.Errorf("%+v", c)
		}
	}
	env.WantBalances(map[string]int64{"rails/WIRE USDB": 100_000_000, env.wallet.LedgerPath() + " USDB": -75_000_000,
		to.LedgerPath() + " USDB": -25_000_000})
	audittest.Check(t, env.Env)
}

func TestCreateQuote_WalletsNeedTheirChain(t *testing.T) {
	t.Parallel()
	// A chain that cannot be asked gives no quote from or to wallets, also not over UMA.
	env := newWalletEnv(t)
	unreachable := newService(env.Env, env.Store, env.approvals, func(c *payments.Config) {
		c.Chains = &apptest.Chain{Missing: fault.New(fault.ServiceUnavailable, "Later.")}
	})
	_, err := unreachable.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: env.wallet.ID},
		Destination: env.bitcoin(), Side: quote.Sending, Amount: 25_000_000}, nil)
	apptest.WantFault(t, "unreachable", err, fault.ServiceUnavailable)
}
