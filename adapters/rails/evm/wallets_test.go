package evm_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

func TestWallets_DepositPaymentAndCredit(t *testing.T) {
	t.Parallel()
	// Tokens at the address of a wallet are reported and stay there. What its owner signs moves to the wallet of the connection, which
	// pays the gas; what is paid to it comes from there, and is no deposit. Each happens once, however often it is called.
	e := newWalletEnv(t)
	e.extra["sweepFrom"] = "1"
	r, o := e.holding(50_000_000)
	if got := e.mine(r, 3); len(got.Receipts) != 0 {
		t.Errorf("reported again: %+v", got)
	}

	pays := o.pays(r, 20_000_000, 3600)
	for range 3 {
		if got := e.debit(r, pays); got.Verdict != ports.Waiting || !got.Accepted {
			t.Fatalf("%+v", got)
		}
	}
	e.mine(e.rail(), 3)
	for range 2 {
		if got := e.debit(e.rail(), pays); got.Verdict != ports.Done || !got.RetryAt.IsZero() || got.PartnerID == "" {
			t.Fatalf("%+v", got)
		}
	}
	e.wantBalances(30_000_000, 20_000_000, o)
	e.wantTotal(r, 50_000_000)
	if n := e.chain.Number("eth_getBalance", o.address, "latest"); n.Sign() != 0 {
		t.Errorf("the address of the wallet has %s wei", n)
	}

	paid := ports.WalletCredit{Wallet: o.id, Amount: money.Amount{Minor: 5_000_000, Currency: money.USDB}}
	paid.Transaction.ID = ident.NewTransaction(e.ids.New, noon)
	refund := ports.WalletCredit{Wallet: o.id, Amount: money.Amount{Minor: 1_000_000, Currency: money.USDB}, Refunded: &ports.Payout{}}
	refund.Transaction.ID = pays.Transaction
	credit := func() []ports.Outcome { return r.Credit(t.Context(), []ports.WalletCredit{paid, refund}) }
	credit()
	e.chain.Mine(3)
	reported := e.poll(r)
	if got := credit(); got[0].Verdict != ports.Done || got[1].Verdict != ports.Done {
		t.Fatalf("%+v", got)
	}
	if len(reported.Receipts)+len(reported.Contradictions) != 0 {
		t.Errorf("%+v", reported)
	}
	e.wantBalances(36_000_000, 14_000_000, o)
	e.wantTotal(r, 50_000_000)
}

func TestWallets_PaymentMovesOnceAfterACrashAtAnyStep(t *testing.T) {
	t.Parallel()
	// A process ends before or after any call of the node and write to the store: also between the permit and the transfer, and between
	// the gas and the transaction. Another one completes the payment, once.
	for _, contract := range walletContracts {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			e := newWalletEnvIn(t, contract)
			first := e.rail()
			o := e.newOwner(first)
			o.deposit(first, 1_000_000)
			spent := int64(0)
			for _, after := range []bool{false, true} {
				for call := 1; ; call++ {
					e.chain.Call("hardhat_setBalance", o.address, "0x0") // so that it needs gas each time, which its owner has not spent
					if _, err := e.db.Pool().Exec(t.Context(), "UPDATE evm_holdings SET received = sent WHERE currency = 'ETH'"); err != nil {
						t.Fatal(err)
					}
					pays := o.pays(first, 10, 36_000)
					c := &crash{call: call, after: after}
					fault := c.node
					e.proxy.fault.Store(&fault)
					crashed := e.open(crashingPool{e.db.Pool(), c.at})
					for range 3 {
						if got := e.debit(crashed, pays); got.Verdict == ports.Refused {
							t.Fatalf("call %d: %+v", call, got)
						}
						e.chain.Mine(3)
						_, _ = crashed.Poll(t.Context(), e.cursor)
					}
					e.proxy.fault.Store(nil)
					got := e.settle(e.rail(), pays)
					spent += 10
					if got[0].Verdict != ports.Done || e.usdc.Balance(o.address) != 1_000_000-spent {
						t.Fatalf("call %d, after %t: %+v; the wallet has %d, want %d", call, after, got, e.usdc.Balance(o.address), 1_000_000-spent)
					}
					if c.calls < call {
						break
					}
				}
			}
			e.wantBalances(1_000_000-spent, spent, o)
		})
	}
}

func TestWallets_TwoProcessesPayOnce(t *testing.T) {
	t.Parallel()
	// Two processes are called at the same time about one payment.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	pays := o.pays(r, 60, 3600)
	var calling sync.WaitGroup
	for range 4 {
		other := e.rail()
		calling.Go(func() { e.debit(other, pays) })
	}
	calling.Wait()
	e.mine(r, 3)

	if got := e.debit(r, pays); got.Verdict != ports.Done {
		t.Errorf("%+v", got)
	}
	e.wantBalances(40, 60, o)
	if n := e.chain.Number("eth_getTransactionCount", e.env.wallet(), "latest").Int64(); n != 1 {
		t.Errorf("the wallet of the connection has sent %d transactions", n)
	}
}

func TestWallets_ForgottenPaymentIsNotSentAgain(t *testing.T) {
	t.Parallel()
	// The database knows nothing of the transaction of a payment that was made: it is not sent again.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	pays := o.pays(r, 60, 3600)
	e.debit(r, pays)
	e.chain.Mine(3)
	e.openDatabase() // an earlier one, restored

	if got := e.debit(e.rail(), pays); got.Verdict != ports.Done {
		t.Errorf("%+v", got)
	}
	e.wantBalances(40, 60, o)
}

func TestWallets_PaymentIsRefusedOnlyOnceItCannotMove(t *testing.T) {
	t.Parallel()
	// A payment of what is not there waits, and is refused when its time is over as of a final block; from then on it moves nothing,
	// also if the tokens arrive. One whose transaction fails on the chain is refused then too, and not before.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	missing, fails := o.pays(r, 500, 600), o.pays(r, 80, 600)
	if got := e.debit(r, missing); got.Verdict != ports.Waiting || got.Accepted {
		t.Errorf("%+v", got)
	}
	if got := e.debit(r, fails); got.Verdict != ports.Waiting || !got.Accepted {
		t.Errorf("%+v", got)
	}
	e.usdc.SetFrozen(o.address) // in the same block or before, so that the transaction fails
	e.mine(r, 3)
	for _, late := range []bool{false, true} {
		if late {
			e.chain.Call("evm_increaseTime", 700)
			e.chain.Mine(4)
		}
		for name, pays := range map[string]ports.WalletTransfer{"missing": missing, "fails": fails} {
			want := ports.Waiting
			if late {
				want = ports.Refused
			}
			if got := e.debit(r, pays); name == "missing" && got.Verdict != want {
				t.Errorf("%s, late %t: %+v", name, late, got)
			}
		}
	}
	e.usdc.Mint(o.address, 1000)
	e.chain.Mine(3)
	if got := e.debit(r, missing); got.Verdict != ports.Refused || got.Code != "AUTHORIZATION_EXPIRED" {
		t.Errorf("%+v", got)
	}
	e.chain.Mine(3)
	if e.usdc.Balance(o.address) < 1000 {
		t.Error("a payment that was refused has moved")
	}
}

func TestWallets_ReorganisationAfterThePayment(t *testing.T) {
	t.Parallel()
	// The block of a payment vanishes after its confirmations: it is sent again, moves once, and stays done. If the tokens are gone by
	// then, a report waits for a person.
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprint("gone ", gone), func(t *testing.T) {
			t.Parallel()
			e := newWalletEnv(t)
			r, o := e.holding(100)
			pays := o.pays(r, 60, 3600)
			before := e.chain.Call("evm_snapshot")
			e.debit(r, pays)
			e.mine(r, 3)
			if got := e.debit(r, pays); got.Verdict != ports.Done {
				t.Fatalf("%+v", got)
			}
			e.chain.Call("evm_revert", before)
			if gone {
				e.usdc.SetFrozen(o.address)
			}
			e.usdc.Mint(e.payee(), 1)
			e.mine(r, 6)
			if got := e.debit(r, pays); got.Verdict != ports.Done {
				t.Errorf("after the reorganisation: %+v", got)
			}
			e.chain.Mine(4)

			reported := e.poll(r)

			if gone {
				if len(reported.Contradictions) != 1 || reported.Contradictions[0].Platform != e.platform ||
					!strings.Contains(reported.Contradictions[0].Problem, pays.Transaction.String()) {
					t.Errorf("%+v", reported.Contradictions)
				}
				e.wantBalances(100, 0, o)
				return
			}
			if got := e.debit(r, pays); got.Verdict != ports.Done || len(reported.Contradictions) != 0 {
				t.Errorf("%+v, %+v", got, reported.Contradictions)
			}
			e.wantBalances(40, 60, o)
		})
	}
}

func TestWallets_ExportedKeyMovesTokens(t *testing.T) {
	t.Parallel()
	// The owner moves tokens with the exported key, beside the service. It is reported once, to be posted by a person, with the wallet
	// and the amount; a payment of what is no longer there waits.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	to := o.movesTokens(70)
	e.chain.Mine(3)

	got := e.poll(r)

	if len(got.Contradictions) != 1 || got.Contradictions[0].Platform != e.platform ||
		got.Contradictions[0].Reported.Amount != (money.Amount{Minor: 70, Currency: money.USDB}) ||
		!strings.Contains(got.Contradictions[0].Problem, o.account.ID.String()) || !strings.Contains(got.Contradictions[0].Problem, to) {
		t.Errorf("%+v", got)
	}
	if again := e.poll(r); len(again.Contradictions) != 0 {
		t.Errorf("reported again: %+v", again)
	}
	if got := e.debit(r, o.pays(r, 60, 3600)); got.Verdict != ports.Waiting || got.Accepted {
		t.Errorf("%+v", got)
	}
	e.wantTotal(r, 30)
}

func TestUnsettled_NamesWhatMayStillEndEitherWay(t *testing.T) {
	t.Parallel()
	// A connection says what it has sent until that is final.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	for sent, want := range []string{"", "WALLET_DEBIT", ""} {
		switch sent {
		case 1:
			e.debit(r, o.pays(r, 10, 3600))
		case 2:
			e.mine(r, 3)
		}
		if what, err := r.Unsettled(t.Context()); err != nil || (what == "") != (want == "") || !strings.Contains(what, want) {
			t.Errorf("%q, %v, want %q", what, err, want)
		}
	}
}

func TestWallets_PauseHoldsPayments(t *testing.T) {
	t.Parallel()
	// While the connection or its rail is paused nothing is signed, from or to a wallet. What was sent before is completed.
	e := newWalletEnv(t)
	r, o := e.holding(100)
	e.usdc.Mint(e.env.wallet(), 50)
	sent, held := o.pays(r, 10, 3600), o.pays(r, 20, 3600)
	e.debit(r, sent)
	credit := ports.WalletCredit{Wallet: o.id, Amount: money.Amount{Minor: 5, Currency: money.USDB}}
	credit.Transaction.ID = ident.NewTransaction(e.ids.New, noon)
	e.mine(r, 3)
	for _, name := range []string{"base-main", "BASE"} {
		e.pause(name, true)
		if got := e.debit(r, held); got.Verdict != ports.Waiting || got.Accepted {
			t.Errorf("%s: %+v", name, got)
		}
		if got := r.Credit(t.Context(), []ports.WalletCredit{credit})[0]; got.Verdict != ports.Waiting || got.Accepted {
			t.Errorf("%s: %+v", name, got)
		}
		if got := e.debit(r, sent); got.Verdict != ports.Done {
			t.Errorf("%s: sent before: %+v", name, got)
		}
		e.pause(name, false)
	}
	e.debit(r, held)
	r.Credit(t.Context(), []ports.WalletCredit{credit})
	e.mine(r, 3)
	e.wantBalances(100-10-20+5, 50+10+20-5, o)
}
