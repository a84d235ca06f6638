package evm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/evm"
	"causeway/ports"
)

func TestWalletGas_TooLittle(t *testing.T) {
	t.Parallel()
	// After a transaction was signed, a unit of gas costs fifty times as much. The wallet gets what is missing, the transaction a higher
	// fee, and the payment is made once.
	e := newWalletEnvIn(t, "TestTether")
	e.extra["maxFeeGwei"] = "500"
	r, o := e.holding(100)
	pays := o.pays(r, 60, 360_000)
	e.signAndDrop(r, pays)
	for range 6 {
		e.chain.Call("hardhat_setNextBlockBaseFeePerGas", "0xba43b7400") // 50 gwei
		e.chain.Mine(1)
		e.clock.Advance(5 * time.Minute)
		e.poll(r)
	}
	e.wantDone(r, pays)
	if n := len(e.transactions(evm.WalletDebit, pays)[0].Attempts); n < 2 {
		t.Errorf("signed %d times", n)
	}
	e.wantBalances(40, 60, o)
}

// spendsGas sends most of what the address has to nobody, as its owner can after an export.
func (o *owner) spendsGas() {
	o.t.Helper()
	o.chain.Call("hardhat_impersonateAccount", o.address)
	price := o.chain.Number("eth_gasPrice").Int64() * 2
	left := o.chain.Number("eth_getBalance", o.address, "latest").Int64() - 21_000*price
	if left <= 0 {
		return
	}
	o.chain.Call("eth_sendTransaction", map[string]any{"from": o.address, "to": o.payee(), "gas": "0x5208", "value": fmt.Sprintf("%#x", left),
		"maxFeePerGas": fmt.Sprintf("%#x", price), "maxPriorityFeePerGas": fmt.Sprintf("%#x", price)})
}

func TestWalletGas_OwnerSpendsIt(t *testing.T) {
	t.Parallel()
	// The owner spends the gas of a payment each time that some is there: the payment gets it once, later ones none, until what is missing
	// is there again.
	e := newWalletEnvIn(t, "TestTether")
	r, o := e.holding(100)
	sent := func() int64 { return e.chain.Number("eth_getTransactionCount", e.env.wallet(), "latest").Int64() }
	step := func(pays ports.WalletTransfer) ports.Outcome {
		got := e.debit(r, pays)
		for range 4 {
			e.chain.Mine(3)
			o.spendsGas()
			e.mine(r, 3)
			got = e.debit(r, pays)
		}
		return got
	}
	first := o.pays(r, 30, 3600)
	if got := step(first); got.Verdict != ports.Waiting || sent() != 1 {
		t.Fatalf("%d transactions were sent; %+v", sent(), got)
	}
	e.wantExpired(r, first)
	second := o.pays(r, 30, 36_000)
	if got := step(second); got.Verdict != ports.Waiting || sent() != 1 || !strings.Contains(got.Text, "spent by its owner") {
		t.Errorf("%d transactions were sent; %+v", sent(), got)
	}
	e.chain.Call("hardhat_setBalance", o.address, "0xde0b6b3a7640000")
	if got := e.settle(r, second); got[0].Verdict != ports.Done || sent() != 1 {
		t.Errorf("%d transactions were sent; %+v", sent(), got)
	}
	e.wantBalances(70, 30, o)
}

func TestWalletGas_OwnersTransactionVanishes(t *testing.T) {
	t.Parallel()
	// The owner has sent a transaction, which vanishes in a reorganisation before it is final: the payment is signed after no gap, and made.
	e := newWalletEnvIn(t, "TestTether")
	r, o := e.holding(100)
	e.chain.Call("hardhat_setBalance", o.address, "0xde0b6b3a7640000")
	before := e.chain.Call("evm_snapshot")
	o.asOwner(o.payee(), nil)
	e.chain.Mine(1)
	pays := o.pays(r, 60, 36_000)
	if got := e.debit(r, pays); got.Verdict != ports.Waiting || !strings.Contains(got.Text, "not final yet") {
		t.Errorf("%+v", got)
	}
	e.chain.Call("evm_revert", before)
	e.chain.Mine(5)
	e.wantDone(r, pays)
	e.wantBalances(40, 60, o)
}
