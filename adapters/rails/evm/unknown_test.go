package evm_test

import (
	"math/big"
	"strings"
	"testing"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/rail"
	"causeway/ports"
)

func TestPoll_TransferThatNoRecordKnows(t *testing.T) {
	t.Parallel()
	// Money that has left the wallet by a transaction that the database does not have, because it has lost it, is reported once, with
	// its amount and where it went. What the database has is not, whether its transaction is concluded or not, nor are sweeps.
	e := newEnv(t)
	e.fund(1_000)
	later := *e // another database, as it was before the payout
	later.openDatabase()
	e.extra["sweepFrom"] = "1"
	r, restored := e.rail(), later.rail()
	account := e.newAccount(e.currency)
	e.poll(r)
	later.poll(restored)
	e.usdc.Mint(e.address(r, account), 50)
	to := e.payee()
	e.send(r, e.payout(to, 700))
	for range 4 {
		e.chain.Mine(3)
		if found := e.poll(r).Contradictions; len(found) > 0 {
			t.Fatalf("of the database that has it: %+v", found)
		}
	}

	found := later.poll(restored).Contradictions

	if len(found) != 1 || found[0].Reported.Amount.Minor != 700 || found[0].Reported.Amount.Currency != e.currency ||
		!strings.Contains(found[0].Problem, to) || found[0].Kind != rail.Kind("") || found[0].Reported.At.IsZero() {
		t.Fatalf("%+v", found)
	}
	if again := later.poll(restored).Contradictions; len(again) > 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestPoll_LostVersionOfAPaymentIsNotRefunded(t *testing.T) {
	t.Parallel()
	// The nonce of a payout was used by a transaction that the database does not have, and that pays the same: a version that was lost. The
	// payout is not refused, because the beneficiary was paid; the transfer is reported.
	e := newEnv(t)
	e.fund(2_000)
	r := e.rail()
	e.poll(r)
	to := e.payee()
	p := e.payout(to, 700)
	before := e.chain.Call("evm_snapshot")
	e.send(r, p)
	e.chain.Call("evm_revert", before)
	e.chain.Call("hardhat_impersonateAccount", e.wallet())
	recipient, err := eth.ParseAddress(to)
	if err != nil {
		t.Fatal(err)
	}
	e.chain.Call("eth_sendTransaction", map[string]any{"from": e.wallet(), "to": e.usdc.Address,
		"data": "0x" + hexOf(eth.TransferCall(recipient, big.NewInt(700)))})
	e.chain.Mine(6)

	found := e.poll(r).Contradictions
	found = append(found, e.poll(r).Contradictions...)

	if o := r.Status(t.Context(), []ports.Payout{p})[0]; o.Verdict != ports.Waiting || e.usdc.Balance(to) != 700 {
		t.Errorf("%+v; the payee has %d", o, e.usdc.Balance(to))
	}
	if len(found) != 1 || found[0].Reported.Amount.Minor != 700 {
		t.Errorf("%+v", found)
	}
}
