package evm_test

import (
	"testing"
	"time"

	"causeway/core/money"
	"causeway/ports"
)

// newTetherEnv returns an env whose token is one like Tether's.
func newTetherEnv(t *testing.T) *env {
	e := newEnv(t)
	e.usdc = e.chain.deployContract("TestTether")
	e.currency = money.USDT
	return e
}

func TestTether_PaysAndSweepsWithoutReturnValue(t *testing.T) {
	t.Parallel()
	// The contract returns nothing from a transfer: deposits are credited and swept, and payouts done, from the event alone.
	e := newTetherEnv(t)
	e.extra["sweep_from"] = "5"
	r := e.rail()
	address, to := e.address(r, e.newAccount(money.USDT)), e.payee()
	e.poll(r)
	e.usdc.mint(address, 6_000_000)
	e.chain.mine(3)
	if got := e.poll(r); len(got.Receipts) != 1 || got.Receipts[0].Amount != (money.Amount{Minor: 6_000_000, Currency: money.USDT}) {
		t.Fatalf("%+v", got)
	}
	for range 3 {
		e.chain.mine(3)
		e.poll(r)
	}
	p := e.payout(to, 1_000_000)
	e.send(r, p)
	e.chain.mine(3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.balance(to) != 1_000_000 || e.usdc.balance(e.wallet()) != 5_000_000 {
		t.Errorf("%+v; the payee has %d, the wallet %d", o, e.usdc.balance(to), e.usdc.balance(e.wallet()))
	}
}

func TestTether_KeepsAFee(t *testing.T) {
	t.Parallel()
	// The contract begins to keep one hundredth: what arrives is credited, not what was sent, and a payout is done.
	e := newTetherEnv(t)
	e.fund(1_000_000)
	r := e.rail()
	address, to := e.address(r, e.newAccount(money.USDT)), e.payee()
	e.poll(r)
	e.usdc.mint(deployer, 2_000_000)
	e.usdc.setFee(100)
	e.chain.send(e.usdc.address, append(append(selector("transfer(address,uint256)"), addressWord(address)...), word(1_000_000)...))
	p := e.payout(to, 500_000)
	e.send(r, p)
	e.chain.mine(3)

	if got := e.poll(r); len(got.Receipts) != 1 || got.Receipts[0].Amount.Minor != 990_000 {
		t.Errorf("%+v", got)
	}
	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.balance(to) != 495_000 || e.usdc.balance(e.wallet()) != 500_000 {
		t.Errorf("%+v; the payee has %d", o, e.usdc.balance(to))
	}
}

func TestTether_FrozenWalletAndPauseWait(t *testing.T) {
	t.Parallel()
	// The contract refuses every transfer of the wallet, without a reason: that is no fault of a beneficiary, so nothing is
	// refused or signed.
	e := newTetherEnv(t)
	e.fund(1_000)
	r := e.rail()
	p := e.payout(e.payee(), 10)
	e.usdc.setPaused(1)
	if o := e.send(r, p); o.Verdict != ports.Waiting || o.Accepted {
		t.Errorf("paused: %+v", o)
	}
	e.usdc.setPaused(0)
	e.usdc.setFrozen(e.wallet())
	if o := e.send(r, p); o.Verdict != ports.Waiting || o.Accepted {
		t.Errorf("frozen: %+v", o)
	}
	if n := e.chain.number("eth_getTransactionCount", e.wallet(), "pending"); n.Sign() != 0 {
		t.Errorf("%s transactions were sent", n)
	}
}

func TestFunding_AddressIsForOneReferenceOfOnePlatform(t *testing.T) {
	t.Parallel()
	// The address of a quote is that of its reference alone, on every process and after any time; a currency or network of
	// another connection has none.
	e := newEnv(t)
	r, later := e.rail(), e.rail()
	e.clock.Advance(1000 * time.Hour)
	first, err := r.Instructions(e.platform, "QUOTE-A", money.USDC, "BASE")
	again, errAgain := later.Instructions(e.platform, "QUOTE-A", money.USDC, "")
	other, errOther := r.Instructions(e.platform, "QUOTE-B", money.USDC, "")
	account, errAccount := r.Funding(e.platform, "Ana Silva", "FUND-A", money.USDC)
	if err != nil || errAgain != nil || errOther != nil || errAccount != nil {
		t.Fatal(err, errAgain, errOther, errAccount)
	}
	if first[0].Info["address"] != again[0].Info["address"] || first[0].Info["address"] == other[0].Info["address"] || first[0].Info["address"] == account[0].Info["address"] {
		t.Errorf("%v, %v, %v, %v", first, again, other, account)
	}
	for _, network := range []string{"ETHEREUM", "POLYGON", "x"} {
		if got, err := r.Instructions(e.platform, "QUOTE-A", money.USDC, network); err == nil {
			t.Errorf("on %s: %v", network, got)
		}
	}
	if got, err := r.Instructions(e.platform, "QUOTE-A", money.USDT, ""); err == nil {
		t.Errorf("USDT: %v", got)
	}
}

func TestSend_RecipientThatSpendsEverythingMeanwhile(t *testing.T) {
	t.Parallel()
	// A transfer to an address that has nothing costs more gas than one to an address that has something. A recipient that
	// empties its address after the gas was estimated does not make the payout fail.
	e := newEnv(t)
	e.fund(1_000)
	to := e.payee()
	e.usdc.mint(to, 5)
	e.chain.mine(1)
	e.chain.call("hardhat_impersonateAccount", to)
	e.chain.call("hardhat_setBalance", to, "0xde0b6b3a7640000")
	r := e.rail()
	p := e.payout(to, 10)
	before := e.chain.call("evm_snapshot")
	e.send(r, p)
	e.chain.call("evm_revert", before) // the node forgets the payout, and the recipient is first
	e.chain.call("hardhat_impersonateAccount", to)
	e.chain.call("eth_sendTransaction", map[string]any{"from": to, "to": e.usdc.address, "gas": "0x40000", "data": "0x" + hexOf(selector("transfer(address,uint256)"), addressWord(deployer), word(5))})
	e.chain.mine(1)
	e.send(r, p)
	e.chain.mine(3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.balance(to) != 10 {
		t.Errorf("%+v; the recipient has %d", o, e.usdc.balance(to))
	}
}
