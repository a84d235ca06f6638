package evm_test

import (
	"math/big"
	"strings"
	"sync"
	"testing"

	"causeway/adapters/rails/evm"
	"causeway/adapters/rails/evm/devnet"
	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/ports"
)

// counted are the tokens whose transfers have nonces that count.
var counted = []string{"TestPermitToken", "TestTether"}

// inCounted runs a test for each of these tokens with a wallet that holds 100.
func inCounted(t *testing.T, run func(t *testing.T, e *walletEnv, r *recorded, o *owner)) {
	t.Parallel()
	for _, contract := range counted {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			e := newWalletEnvIn(t, contract)
			r, o := e.holding(100)
			run(t, e, r, o)
		})
	}
}

func (e *walletEnv) allowance(o *owner) *big.Int {
	data := hexOf(devnet.Selector("allowance(address,address)"), devnet.AddressWord(o.address), devnet.AddressWord(e.env.wallet()))
	return e.chain.Number("eth_call", map[string]any{"to": e.usdc.Address, "data": "0x" + data}, "latest")
}

func TestWalletSteps_PermitMovesItsAmount(t *testing.T) {
	t.Parallel()
	// The wallet of the connection sends the permit and the transfer, and pays for both; nothing is left of the allowance, and the wallet
	// needs no gas.
	e := newWalletEnvIn(t, "TestPermitToken")
	r, o := e.holding(100)
	pays := o.pays(r, 60, 36_000)
	if got := e.debit(r, pays); got.Verdict != ports.Waiting || got.Accepted || len(e.transactions(evm.WalletPermit, pays)) != 1 ||
		len(e.transactions(evm.WalletDebit, pays)) != 0 {
		t.Fatalf("%+v", got)
	}
	if got := e.settle(r, pays); got[0].Verdict != ports.Done || got[0].TransactionHash == "" || e.allowance(o).Sign() != 0 {
		t.Errorf("%+v; the allowance is %s", got, e.allowance(o))
	}
	e.wantBalances(40, 60, o)
	e.wantTotal(r, 100)
	if n := e.chain.Number("eth_getBalance", o.address, "latest"); n.Sign() != 0 {
		t.Errorf("the address of the wallet has %s wei", n)
	}
}

func TestWalletSteps_PermitThatAnotherHasSent(t *testing.T) {
	t.Parallel()
	// Somebody else sends the permit first, so that ours fails: the allowance is there, and the transfer follows.
	e := newWalletEnvIn(t, "TestPermitToken")
	r, o := e.holding(100)
	pays := o.pays(r, 60, 36_000)
	e.debit(r, pays)
	permit := e.transactions(evm.WalletPermit, pays)[0]
	e.chain.Call("hardhat_dropTransaction", eth.FormatHash(permit.Attempts[0].Hash))
	e.chain.Send(e.usdc.Address, permit.Data)
	e.chain.Mine(1)

	if got := e.settle(r, pays); got[0].Verdict != ports.Done || e.allowance(o).Sign() != 0 {
		t.Errorf("%+v; the allowance is %s", got, e.allowance(o))
	}
	e.wantBalances(40, 60, o)
	for range 2 {
		e.mine(r, 3)
	}
	if got := e.transactions(evm.WalletPermit, pays)[0].State; got != evm.Reverted {
		t.Errorf("our permit is %s", got)
	}
}

func TestWalletSteps_AllowanceOfAFailedPayment(t *testing.T) {
	t.Parallel()
	// The wallet is frozen after its permit: the payment fails at the end of its time and leaves an allowance, of which the next payment
	// takes nothing: its own permit replaces it.
	e := newWalletEnvIn(t, "TestPermitToken")
	r, o := e.holding(100)
	fails := o.pays(r, 60, 3600)
	e.debit(r, fails)
	e.usdc.SetFrozen(o.address)
	e.mine(r, 3)
	if got := e.debit(r, fails); got.Verdict != ports.Waiting || got.Accepted || !strings.Contains(got.Text, "frozen") {
		t.Errorf("%+v", got)
	}
	e.chain.Call("evm_increaseTime", 4000)
	e.mine(r, 4)
	if got := e.debit(r, fails); got.Verdict != ports.Refused || got.Code != "AUTHORIZATION_EXPIRED" || e.allowance(o).Int64() != 60 {
		t.Fatalf("%+v; the allowance is %s", got, e.allowance(o))
	}
	thaw := append(devnet.Selector("setFrozen(address,bool)"), devnet.AddressWord(o.address)...)
	e.chain.Send(e.usdc.Address, append(thaw, devnet.Word(0)...))
	e.chain.Mine(1)
	next := o.pays(r, 10, 36_000)
	if got := e.settle(r, next); got[0].Verdict != ports.Done || e.allowance(o).Sign() != 0 {
		t.Errorf("%+v; the allowance is %s", got, e.allowance(o))
	}
	if got := e.debit(r, fails); got.Verdict != ports.Refused {
		t.Errorf("the payment that has failed: %+v", got)
	}
	e.wantBalances(90, 10, o)
}

func TestWalletSteps_GasStaysTheCompanys(t *testing.T) {
	t.Parallel()
	// The address of the wallet gets gas, waits for it, and pays. What is left stays for the next payment. All fees are reported, and what
	// the addresses hold is what the connection had, less the fees.
	e := newWalletEnvIn(t, "TestTether")
	r, o := e.holding(100)
	native := func() int64 {
		balances, err := r.Balances(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range balances {
			if b.Amount.Currency == money.ETH {
				return b.Amount.Minor
			}
		}
		t.Fatal("the connection has no native currency")
		return 0
	}
	before := native()
	fees := int64(0)
	for range 2 {
		pays := o.pays(r, 30, 36_000)
		e.debit(r, pays)
		for range 6 {
			e.chain.Mine(3)
			for _, f := range e.poll(r).Fees {
				fees += f.Amount.Minor
			}
			e.debit(r, pays)
		}
		if got := e.debit(r, pays); got.Verdict != ports.Done {
			t.Fatalf("%+v", got)
		}
	}
	left := e.chain.Number("eth_getBalance", o.address, "latest")
	if after := native(); fees == 0 || left.Sign() <= 0 || after < before-fees-1 || after > before-fees+1 {
		t.Errorf("%d gwei before, %d after, and fees of %d; the address has %s wei", before, after, fees, left)
	}
	if n := e.chain.Number("eth_getTransactionCount", e.env.wallet(), "latest").Int64(); n < 1 || n > 2 {
		t.Errorf("the wallet of the connection has sent %d transactions for the gas of two payments", n)
	}
	e.wantBalances(40, 60, o)
	e.wantTotal(r, 100)
}

func TestWalletSteps_PaymentsOfOneWalletGoOneAfterTheOther(t *testing.T) {
	// Three payments of one wallet at once, of which two processes are called at the same time: each moves once.
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		payments := []ports.WalletTransfer{o.pays(r, 10, 36_000), o.pays(r, 20, 36_000), o.pays(r, 30, 36_000)}
		for range 12 {
			var calling sync.WaitGroup
			for range 2 {
				other := e.rail()
				calling.Go(func() { other.Debit(t.Context(), payments) })
			}
			calling.Wait()
			e.mine(r, 3)
		}
		for i, got := range e.settle(r, payments...) {
			if got.Verdict != ports.Done {
				t.Errorf("payment %d: %+v", i, got)
			}
		}
		e.wantBalances(40, 60, o)
	})
}

func TestWalletSteps_ReorganisationAfterThePayment(t *testing.T) {
	// Every block of a payment vanishes after its confirmations: it is sent again, moves once, and stays done.
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		pays := o.pays(r, 60, 36_000)
		before := e.chain.Call("evm_snapshot")
		e.wantDone(r, pays)
		e.chain.Call("evm_revert", before)
		e.usdc.Mint(e.payee(), 1)
		e.chain.Mine(40)
		for range 8 {
			if got := e.debit(r, pays); got.Verdict != ports.Done {
				t.Fatalf("after the reorganisation: %+v", got)
			}
			if got := e.poll(r); len(got.Contradictions) != 0 {
				t.Errorf("%+v", got.Contradictions)
			}
			e.chain.Mine(3)
		}
		e.wantBalances(40, 60, o)
		e.wantTotal(r, 100)
	})
}

func TestWalletSteps_OwnerPaysTheTokensAway(t *testing.T) {
	// While a payment is on its way, the owner moves the tokens with the exported key: the payment fails at the end of its time, moves
	// nothing, and what the owner has moved is reported. The wallet can pay again.
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		pays := o.pays(r, 60, 3600)
		e.debit(r, pays) // the permit, or the gas
		o.movesTokens(70)
		e.chain.Mine(3)
		moved := e.poll(r).Contradictions
		for range 3 {
			if got := e.debit(r, pays); got.Verdict != ports.Waiting {
				t.Errorf("%+v", got)
			}
			e.chain.Mine(3)
			moved = append(moved, e.poll(r).Contradictions...)
		}
		if len(moved) != 1 || moved[0].Reported.Amount.Minor != 70 {
			t.Errorf("reported: %+v", moved)
		}
		e.wantExpired(r, pays)
		e.wantDone(r, o.pays(r, 20, 36_000))
		e.wantBalances(10, 20, o)
	})
}

func TestWalletSteps_OwnerUsesTheNonce(t *testing.T) {
	t.Parallel()
	// The transaction of a payment is signed, and its owner sends another one with its nonce: the payment fails at the end of its time.
	e := newWalletEnvIn(t, "TestTether")
	r, o := e.holding(100)
	pays := o.pays(r, 60, 3600)
	e.signAndDrop(r, pays)
	o.asOwner(e.payee(), nil)
	e.chain.Mine(1)
	for range 3 {
		e.mine(r, 3)
	}
	if got := e.transactions(evm.WalletDebit, pays)[0].State; got != evm.Lost {
		t.Errorf("the transaction is %s", got)
	}
	if got := e.debit(r, pays); got.Verdict != ports.Waiting {
		t.Errorf("%+v", got)
	}
	e.wantExpired(r, pays)
	e.wantBalances(100, 0, o)
}

func TestWalletSteps_PauseHoldsPermitsAndGas(t *testing.T) {
	// While the connection is paused, nothing is sent of a payment: no permit, no gas, and no transfer after them.
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		pays := o.pays(r, 60, 36_000)
		for step := range 2 {
			e.pause("base-main", true)
			sent := e.chain.Number("eth_getTransactionCount", e.env.wallet(), "latest").Int64()
			for range 2 {
				if got := e.debit(r, pays); got.Verdict != ports.Waiting || got.Accepted || !strings.Contains(got.Text, "paused") {
					t.Errorf("step %d: %+v", step, got)
				}
				e.chain.Mine(1)
			}
			if n := e.chain.Number("eth_getTransactionCount", e.env.wallet(), "latest").Int64(); n != sent {
				t.Errorf("step %d: %d transactions were sent", step, n-sent)
			}
			e.pause("base-main", false)
			e.debit(r, pays)
			e.chain.Mine(1)
		}
		e.wantDone(r, pays)
		e.wantBalances(40, 60, o)
	})
}

func TestWalletSteps_AnotherConnectionGoesOn(t *testing.T) {
	// The connection is replaced by one with another name and seed: the wallet pays over it.
	inCounted(t, func(t *testing.T, e *walletEnv, r *recorded, o *owner) {
		e.wantDone(r, o.pays(r, 10, 36_000))
		c := e.connection()
		e.account, e.cursor = 7, ""
		c.Name, c.Settings["account"] = "base-next", "7"
		next, err := e.tryOpen(e.db.Pool(), c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = next.Close() })
		e.chain.Call("hardhat_setBalance", e.env.wallet(), "0xde0b6b3a7640000")
		e.poll(next)
		e.wantDone(next, o.pays(next, 20, 36_000))
		e.wantBalances(70, 20, o)
	})
}
