package evm_test

import (
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/devnet"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// failures have the transfer of a credit fail for good, after it was sent.
var failures = map[string]func(e *walletEnv, sent evm.Attempt){
	"reverted": func(e *walletEnv, sent evm.Attempt) {
		e.chain.Call("hardhat_dropTransaction", eth.FormatHash(sent.Hash))
		e.usdc.SetPaused(1)
		e.chain.Call("eth_sendRawTransaction", fmt.Sprintf("0x%x", sent.Raw))
		e.chain.Mine(1)
		e.usdc.SetPaused(0)
	},
	"lost": func(e *walletEnv, sent evm.Attempt) {
		e.chain.Call("hardhat_dropTransaction", eth.FormatHash(sent.Hash))
		e.asHotWallet(devnet.Deployer, nil)
		e.chain.Mine(1)
	},
}

// asHotWallet sends a call from the wallet of the connection, as another program with its key can.
func (e *walletEnv) asHotWallet(to string, data []byte) {
	e.t.Helper()
	e.chain.Call("hardhat_impersonateAccount", e.env.wallet())
	e.chain.Call("eth_sendTransaction", map[string]any{"from": e.env.wallet(), "to": to, "gas": "0x40000", "data": "0x" + hexOf(data)})
	e.chain.Call("hardhat_stopImpersonatingAccount", e.env.wallet())
}

// credit returns a payment of 5 to a wallet.
func (o *owner) credit(credited bool) ports.WalletCredit {
	c := ports.WalletCredit{Wallet: o.id, Amount: money.Amount{Minor: 5, Currency: money.USDB}, Credited: credited}
	c.Transaction.ID = ident.NewTransaction(o.ids.New, noon)
	return c
}

func (e *walletEnv) pay(r *recorded, c ports.WalletCredit) ports.Outcome {
	return r.Credit(e.t.Context(), []ports.WalletCredit{c})[0]
}

// paysByHand transfers an amount to the address of a wallet, which no record has.
func (o *owner) paysByHand(amount int64) {
	o.t.Helper()
	to, err := eth.ParseAddress(o.address)
	if err != nil {
		o.t.Fatal(err)
	}
	o.asHotWallet(o.usdc.Address, eth.TransferCall(to, big.NewInt(amount)))
}

// onlyPending returns the version of the only transaction that is not concluded.
func (e *walletEnv) onlyPending() evm.Attempt {
	e.t.Helper()
	pending, err := e.store().PendingTransactions(e.t.Context(), "base-main", eth.Address{}, 0, 10)
	if err != nil || len(pending) != 1 {
		e.t.Fatalf("%d transactions are pending, %v", len(pending), err)
	}
	return pending[0].Attempts[0]
}

func (e *walletEnv) sentByHotWallet() int64 {
	return e.chain.Number("eth_getTransactionCount", e.env.wallet(), "latest").Int64()
}

func TestWallets_CreditedPaymentIsMadeAgainAfterItHasFailed(t *testing.T) {
	t.Parallel()
	// The ledger shows a payment in its wallet, and its transfer fails for good, twice. Each time another one is sent, by one of several
	// processes, some time after that is final; the wallet gets the amount once. A payment that is not in the ledger yet is refused.
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newWalletEnv(t)
			r, o := e.holding(100)
			e.usdc.Mint(e.env.wallet(), 50)
			e.chain.Mine(3)
			paid := o.credit(true)
			for times := range 2 {
				if got := e.pay(r, paid); got.Verdict != ports.Waiting || !got.Accepted {
					t.Fatalf("sent %d times: %+v", times, got)
				}
				fail(e, e.onlyPending())
				e.mine(r, 4)
				e.poll(r)
				for range 2 {
					if got := e.pay(r, paid); got.Verdict != ports.Waiting || got.Accepted || !strings.Contains(got.Text, "has failed") {
						t.Errorf("failed %d times: %+v", times+1, got)
					}
				}
				e.clock.Advance(time.Duration(times+1) * 11 * time.Minute)
			}
			before := e.sentByHotWallet()
			var paying sync.WaitGroup
			for range 4 {
				other := e.rail()
				paying.Go(func() { e.pay(other, paid) })
			}
			paying.Wait()
			e.mine(r, 4)
			for range 2 {
				if got := e.pay(e.rail(), paid); got.Verdict != ports.Done || !got.RetryAt.IsZero() || got.TransactionHash == "" {
					t.Errorf("%+v", got)
				}
			}
			e.wantBalances(105, 45, o)
			if n := e.sentByHotWallet() - before; n != 1 {
				t.Errorf("%d transactions were sent", n)
			}

			refused := o.credit(false)
			e.pay(r, refused)
			fail(e, e.onlyPending())
			e.mine(r, 4)
			e.poll(r)
			e.clock.Advance(time.Hour)
			if got := e.pay(r, refused); got.Verdict != ports.Refused || !got.Accepted {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestWallets_CreditIsNotMadeAgainIfItMayBePaid(t *testing.T) {
	t.Parallel()
	// A transfer of the amount has left for the wallet since the first one has failed, and no record has it: a person has paid it, or the
	// database has lost it. Then no other one is made, whether its block was read or not.
	for _, read := range []bool{false, true} {
		t.Run(fmt.Sprint("read ", read), func(t *testing.T) {
			t.Parallel()
			e := newWalletEnv(t)
			r, o := e.holding(100)
			e.usdc.Mint(e.env.wallet(), 50)
			e.chain.Mine(3)
			paid := o.credit(true)
			e.pay(r, paid)
			failures["reverted"](e, e.onlyPending())
			e.mine(r, 4)
			o.paysByHand(5)
			e.chain.Mine(4)
			if read {
				e.poll(r)
			}
			e.clock.Advance(time.Hour)
			for range 2 {
				if got := e.pay(r, paid); got.Verdict != ports.Waiting || got.Accepted || !strings.Contains(got.Text, "no record") {
					t.Errorf("%+v", got)
				}
				e.mine(r, 3)
			}
			e.wantBalances(105, 45, o)
		})
	}
}

func TestWallets_EarlierTransferOfTheAmountKeepsNoCreditFromBeingMadeAgain(t *testing.T) {
	t.Parallel()
	// A person has paid the amount to the wallet by hand, long before a payment was made: whichever way that fails, it is made again.
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newWalletEnv(t)
			r, o := e.holding(100)
			e.usdc.Mint(e.env.wallet(), 50)
			e.chain.Mine(3)
			o.paysByHand(5)
			e.mine(r, 4)
			e.chain.Call("evm_increaseTime", 4000)
			e.mine(r, 4)
			e.clock.Advance(time.Unix(e.now(), 0).Sub(e.clock.Now()))
			paid := o.credit(true)
			paid.Transaction.ID = ident.NewTransaction(o.ids.New, e.clock.Now())
			paid.Transaction.CreatedAt = e.clock.Now()
			for range 2 { // the second one has an id that does not say when it was made
				e.pay(r, paid)
				fail(e, e.onlyPending())
				e.mine(r, 4)
				e.poll(r)
				e.clock.Advance(time.Hour)
			}
			e.pay(r, paid)
			e.chain.Mine(4)

			if got := e.pay(r, paid); got.Verdict != ports.Done {
				t.Errorf("%+v", got)
			}
			e.wantBalances(110, 40, o)
		})
	}
}

func TestWallets_CreditIsMadeAgainOnceAllNodesSayThatItHasFailed(t *testing.T) {
	t.Parallel()
	// A node does not say that the block of a transfer that has failed is final by the rules of the chain, or has another block there: until
	// it does, no other one is made.
	e := newWalletEnv(t)
	fakes, urls := e.fakeNodes(2)
	r := e.openAt(e.db.Pool(), urls)
	o := e.newOwner(r)
	e.usdc.Mint(e.env.wallet(), 50)
	e.chain.Mine(3)
	paid := o.credit(true)
	e.pay(r, paid)
	failures["reverted"](e, e.onlyPending())
	e.mine(r, 4)
	e.clock.Advance(time.Hour)
	before := e.sentByHotWallet()
	block := func(number string, change func(map[string]any)) (any, bool) {
		b, _ := e.chain.Call("eth_getBlockByNumber", number, false).(map[string]any)
		change(b)
		return b, true
	}
	failed := e.height() - 5 // as mined before the pause has ended
	for name, answer := range map[string]func(c rpcCall) (any, bool){
		"not final": func(c rpcCall) (any, bool) {
			if c.Method != "eth_getBlockByNumber" || c.param(0) != "finalized" {
				return nil, false
			}
			return block(fmt.Sprintf("0x%x", failed-1), func(map[string]any) {})
		},
		"none final": func(c rpcCall) (any, bool) {
			return nil, c.Method == "eth_getBlockByNumber" && c.param(0) == "finalized"
		},
		"another block": func(c rpcCall) (any, bool) {
			if c.Method != "eth_getBlockByNumber" || number(c.param(0)) != failed {
				return nil, false
			}
			return block(c.param(0), func(b map[string]any) { b["hash"] = eth.FormatHash(eth.Hash{1}) })
		},
		"no answer": func(c rpcCall) (any, bool) {
			return rpcFailure{-32005, "limit exceeded"}, c.Method == "eth_getBlockByNumber" && number(c.param(0)) == failed
		},
	} {
		fakes[1].set(answer)
		if got := e.pay(r, paid); got.Verdict != ports.Waiting || got.Accepted || !strings.Contains(got.Text, "not all nodes") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	fakes[1].set(nil)
	e.pay(r, paid)
	e.chain.Mine(3)

	if got := e.pay(r, paid); got.Verdict != ports.Done || e.sentByHotWallet()-before != 1 {
		t.Errorf("%+v", got)
	}
}
