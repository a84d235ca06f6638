package payments_test

import (
	"context"
	"strings"
	"sync"
	"testing"

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
	// The payload names the transfer on the chain. What the chain is given is signed by the custody from that payload and its
	// evidence; a payment that waits for the chain is completed later, once, and the ledger agrees.
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
		if g.Signed == nil || g.Signed.Value != 25_000_000 || g.Signed.Transaction != q.Transaction || !g.Signed.IsVia(viaBase) ||
			g.Signed.ValidBefore != q.ExpiresAt.Add(wallet.SettlementTime).Unix() || len(g.Certificate.Signature) != 0 {
			t.Errorf("%+v, signed %+v", g, g.Signed)
		}
	}
	audittest.Check(t, env.Env)
}

func TestCreateQuote_WalletsOnAChainAreNotPaidOverUMA(t *testing.T) {
	t.Parallel()
	// What a wallet is paid has to move on its chain, which a payment to a UMA address does not. A chain that cannot be asked gives no
	// quote to wallets, and others are not held up.
	env := newWalletEnv(t)
	env.Chain.Via = &viaBase
	ben := env.NewCustomer("ben", func(c *customer.Customer) { c.FullName = "Ben Berg" })
	lookup := quote.Lookup{ID: ident.NewLookup(env.IDs.New, apptest.Noon), Platform: env.Platform.ID, Customer: env.Customer.ID,
		SenderUMA: env.Customer.UMAAddress, ReceiverUMA: ben.UMAAddress, Currencies: []money.Currency{money.USDB}, CreatedAt: apptest.Noon,
		ExpiresAt: apptest.Noon.Add(quote.LookupValidity)}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateLookup(ctx, lookup) })

	_, err := env.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: env.wallet.ID},
		Destination: quote.Destination{UMA: ben.UMAAddress}, Lookup: lookup.ID, Side: quote.Sending, Amount: 25_000_000}, nil)
	apptest.WantFault(t, "to a UMA address", err, fault.NotImplemented)

	unreachable := newService(env.Env, env.Store, env.approvals, func(c *payments.Config) {
		c.Chains = &apptest.Chain{Missing: fault.New(fault.ServiceUnavailable, "Later.")}
	})
	_, err = unreachable.CreateQuote(t.Context(), quote.Request{Platform: env.Platform.ID, Source: quote.Source{Internal: env.wallet.ID},
		Destination: env.bitcoin(), Side: quote.Sending, Amount: 25_000_000}, nil)
	apptest.WantFault(t, "unreachable", err, fault.ServiceUnavailable)
}
