package evm_test

import (
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/evm/devnet"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// newTetherEnv returns an env whose token is one like Tether's.
func newTetherEnv(t *testing.T) *env {
	e := newEnv(t)
	e.usdc = e.chain.DeployContract("TestTether")
	e.currency = money.USDT
	return e
}

func TestTether_PaysAndSweepsWithoutReturnValue(t *testing.T) {
	t.Parallel()
	// The contract returns nothing from a transfer: deposits are credited and swept, and payouts done, from the event alone.
	e := newTetherEnv(t)
	e.extra["sweepFrom"] = "5"
	r := e.rail()
	address, to := e.address(r, e.newAccount(money.USDT)), e.payee()
	e.poll(r)
	e.usdc.Mint(address, 6_000_000)
	if got := e.mine(r, 3); len(got.Receipts) != 1 || got.Receipts[0].Amount != (money.Amount{Minor: 6_000_000, Currency: money.USDT}) {
		t.Fatalf("%+v", got)
	}
	for range 3 {
		e.mine(r, 3)
	}
	p := e.payout(to, 1_000_000)
	e.send(r, p)
	e.chain.Mine(3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 1_000_000 || e.usdc.Balance(e.wallet()) != 5_000_000 {
		t.Errorf("%+v; the payee has %d, the wallet %d", o, e.usdc.Balance(to), e.usdc.Balance(e.wallet()))
	}
}

func TestTether_KeepsAFee(t *testing.T) {
	t.Parallel()
	// The contract begins to keep one hundredth: what arrives is credited, not what was sent. A payout is done, and what was sent, what has
	// arrived and what has left the wallet are reported once, for a person to decide who bears the fee; so is a sweep.
	e := newTetherEnv(t)
	e.extra["sweepFrom"] = "1"
	e.fund(1_000_000)
	r := e.rail()
	address, to := e.address(r, e.newAccount(money.USDT)), e.payee()
	e.poll(r)
	e.usdc.Mint(devnet.Deployer, 2_000_000)
	whole := e.payout(e.payee(), 100_000)
	e.send(r, whole)
	if got := e.mine(r, 3); len(got.Contradictions) != 0 || e.send(r, whole).Verdict != ports.Done {
		t.Fatalf("without a fee: %+v", got)
	}
	e.usdc.SetFee(100)
	e.chain.Send(e.usdc.Address, append(append(devnet.Selector("transfer(address,uint256)"), devnet.AddressWord(address)...),
		devnet.Word(2_000_000)...))
	p := e.payout(to, 500_000)
	e.send(r, p)
	e.chain.Mine(3)

	got := e.poll(r)

	if len(got.Receipts) != 1 || got.Receipts[0].Amount.Minor != 1_980_000 {
		t.Errorf("%+v", got)
	}
	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 495_000 {
		t.Errorf("%+v; the payee has %d", o, e.usdc.Balance(to))
	}
	found := got.Contradictions
	for range 4 { // the address gets its fee, and is swept
		e.chain.Mine(3)
		found = append(found, e.poll(r).Contradictions...)
	}
	if len(found) != 2 {
		t.Fatalf("reported: %+v", found)
	}
	if c := found[0]; c.Platform != e.platform || c.Kind != rail.Payout || c.Subject != p.Transaction.ID.UUID() ||
		c.Recorded.Amount != (money.Amount{Minor: 500_000, Currency: money.USDT}) ||
		c.Reported.Amount.Minor != 495_000 || !strings.HasPrefix(c.Reported.PartnerID, "0x") ||
		!strings.Contains(c.Problem, "0.495000 USDT and taken 0.500000 USDT") {
		t.Errorf("of the payout: %+v", c)
	}
	if c := found[1]; c.Kind != "" || c.Recorded.Amount.Minor != 1_980_000 || c.Reported.Amount.Minor != 1_960_200 {
		t.Errorf("of the sweep: %+v", c)
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
	e.usdc.SetPaused(1)
	if o := e.send(r, p); o.Verdict != ports.Waiting || o.Accepted {
		t.Errorf("paused: %+v", o)
	}
	e.usdc.SetPaused(0)
	e.usdc.SetFrozen(e.wallet())
	if o := e.send(r, p); o.Verdict != ports.Waiting || o.Accepted {
		t.Errorf("frozen: %+v", o)
	}
	if n := e.chain.Number("eth_getTransactionCount", e.wallet(), "pending"); n.Sign() != 0 {
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
	if first[0].Info["address"] != again[0].Info["address"] || first[0].Info["address"] == other[0].Info["address"] ||
		first[0].Info["address"] == account[0].Info["address"] {
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
	e.usdc.Mint(to, 5)
	e.chain.Mine(1)
	e.chain.Call("hardhat_impersonateAccount", to)
	e.chain.Call("hardhat_setBalance", to, "0xde0b6b3a7640000")
	r := e.rail()
	p := e.payout(to, 10)
	before := e.chain.Call("evm_snapshot")
	e.send(r, p)
	e.chain.Call("evm_revert", before) // the node forgets the payout, and the recipient is first
	e.chain.Call("hardhat_impersonateAccount", to)
	e.chain.Call("eth_sendTransaction", map[string]any{"from": to, "to": e.usdc.Address, "gas": "0x40000",
		"data": "0x" + hexOf(devnet.Selector("transfer(address,uint256)"), devnet.AddressWord(devnet.Deployer), devnet.Word(5))})
	e.chain.Mine(1)
	e.send(r, p)
	e.chain.Mine(3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 10 {
		t.Errorf("%+v; the recipient has %d", o, e.usdc.Balance(to))
	}
}
