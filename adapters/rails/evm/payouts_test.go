package evm_test

import (
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"causeway/adapters/rails/evm/devnet"
	"causeway/core/account"
	"causeway/core/money"
	"causeway/ports"
)

func TestSend_DeliversOnceAfterConfirmations(t *testing.T) {
	t.Parallel()
	// A payout waits for its confirmations, is done with the hash of its transaction, and costs a fee that is reported
	// once. Repeated calls, also of another process, send nothing more.
	e := newEnv(t)
	e.fund(10_000_000)
	r, other := e.rail(), e.rail()
	to := e.payee()
	p := e.payout(to, 2_500_000)

	if o := e.send(r, p); o.Verdict != ports.Waiting || !o.Accepted || o.RetryAt.IsZero() {
		t.Fatalf("%+v", o)
	}
	e.send(other, p)
	e.chain.Mine(1)
	if o := e.send(r, p); o.Verdict != ports.Waiting {
		t.Fatalf("after one confirmation: %+v", o)
	}
	e.chain.Mine(2)
	report := e.poll(r)
	first, again := e.send(r, p), e.send(other, p)

	if first.Verdict != ports.Done || !strings.HasPrefix(first.PartnerID, "0x") || again.PartnerID != first.PartnerID ||
		first.TransactionHash != first.PartnerID || e.usdc.Balance(to) != 2_500_000 {
		t.Errorf("%+v, then %+v; the payee has %d", first, again, e.usdc.Balance(to))
	}
	if len(report.Changed) != 1 || report.Changed[0].Subject != p.Transaction.ID.UUID() || report.Changed[0].Platform != e.platform {
		t.Errorf("changed %+v", report.Changed)
	}
	spent := new(big.Int).Sub(big.NewInt(1_000_000_000_000_000_000), e.chain.Number("eth_getBalance", e.wallet(), "latest"))
	if len(report.Fees) != 1 || report.Fees[0].Amount != (money.Amount{Minor: spent.Div(spent, big.NewInt(1_000_000_000)).Int64(),
		Currency: "ETH"}) {
		t.Errorf("fees %+v, spent %s gwei", report.Fees, spent)
	}
	if status := r.Status(t.Context(), []ports.Payout{p, e.payout(to, 1)}); status[0].Verdict != ports.Done ||
		status[1].Verdict != ports.Unknown {
		t.Errorf("status %+v", status)
	}
}

func TestSend_RefusesWhatCanNeverArrive(t *testing.T) {
	t.Parallel()
	// Addresses at which money is lost, wrong checksums, other chains and currencies, and beneficiaries that the contract
	// blocks are refused, before anything is signed. A contract that is paused refuses nobody.
	e := newEnv(t)
	e.fund(10_000_000)
	r := e.rail()
	blocked := e.payee()
	e.usdc.SetBlocked(blocked)
	otherChain := e.payout(e.payee(), 1)
	otherChain.Account.Type = account.PolygonWallet
	otherCurrency := e.payout(e.payee(), 1)
	otherCurrency.Transaction.Pricing.Received.Currency = money.USDT
	for code, p := range map[string]ports.Payout{
		"INVALID_ADDRESS": e.payout("0x0000000000000000000000000000000000000000", 1), "INVALID_ADDRESS ": e.payout(e.usdc.Address, 1),
		"INVALID_ADDRESS  ": e.payout(e.wallet(), 1), "INVALID_ADDRESS   ": e.payout("0xAb5801a7D398351b8bE11C439e05C5B3259aeC9b", 1),
		"WRONG_CHAIN": otherChain, "UNSUPPORTED": otherCurrency, "REVERTED": e.payout(blocked, 1),
	} {
		if o := e.send(r, p); o.Verdict != ports.Refused || o.Code != strings.TrimSpace(code) || o.Reason == "" || o.Text == "" {
			t.Errorf("%s: %+v", code, o)
		}
	}
	e.usdc.SetPaused(1)
	if o := e.send(r, e.payout(e.payee(), 1)); o.Verdict != ports.Waiting {
		t.Errorf("paused: %+v", o)
	}
	if n := e.chain.Number("eth_getTransactionCount", e.wallet(), "pending"); n.Sign() != 0 {
		t.Errorf("%s transactions were sent", n)
	}
}

func TestSend_WaitsForTokensAndForGas(t *testing.T) {
	t.Parallel()
	// Payouts never exceed what the wallet has, together with those on their way out; without native currency nothing is
	// signed. Both go on when the wallet has it.
	e := newEnv(t)
	e.fund(1_000)
	r := e.rail()
	a, b := e.payout(e.payee(), 700), e.payout(e.payee(), 400)
	outcomes := r.Send(t.Context(), []ports.Payout{a, b})
	if outcomes[0].Verdict != ports.Waiting || !outcomes[0].Accepted || outcomes[1].Verdict != ports.Waiting || outcomes[1].Accepted {
		t.Fatalf("%+v", outcomes)
	}
	e.chain.Mine(3)
	e.fund(1_000)
	e.chain.Call("hardhat_setBalance", e.wallet(), "0x1")
	if o := e.send(r, b); o.Verdict != ports.Waiting || o.Accepted || !strings.Contains(o.Text, "of ETH") {
		t.Fatalf("without gas: %+v", o)
	}
	e.chain.Call("hardhat_setBalance", e.wallet(), "0xde0b6b3a7640000")
	e.send(r, b)
	e.chain.Mine(3)
	if outcomes = r.Send(t.Context(), []ports.Payout{a, b}); outcomes[0].Verdict != ports.Done || outcomes[1].Verdict != ports.Done {
		t.Errorf("%+v", outcomes)
	}
}

func TestSend_RevertedInABlockIsRefusedWithItsFee(t *testing.T) {
	t.Parallel()
	// The contract refuses a transfer after it was sent: refused after the confirmations, and the fee is reported.
	e := newEnv(t)
	e.fund(1_000)
	r := e.rail()
	p := e.payout(e.payee(), 700)
	// The block of the payee has the higher tip, so it comes first in the same block.
	e.send(r, p)
	e.usdc.Call("eth_sendTransaction", map[string]any{"from": devnet.Deployer, "to": e.usdc.Address, "gas": "0x40000",
		"maxPriorityFeePerGas": "0x174876e800", "maxFeePerGas": "0x2e90edd000",
		"data": "0x" + hexOf(devnet.Selector("setPaused(bool)"), devnet.Word(1))})
	e.chain.Mine(3)
	report := e.poll(r)

	if o := e.send(r, p); o.Verdict != ports.Refused || o.Code != "REVERTED" || !o.Accepted || o.PartnerID == "" {
		t.Errorf("%+v", o)
	}
	if len(report.Fees) != 1 || report.Fees[0].Amount.Minor <= 0 {
		t.Errorf("fees %+v", report.Fees)
	}
}

func TestSend_ProcessesTogetherSendOnce(t *testing.T) {
	t.Parallel()
	// Four processes send the same payouts at the same time: each moves once, and every nonce is used.
	e := newEnv(t)
	e.fund(1_000)
	var payouts []ports.Payout
	for range 6 {
		payouts = append(payouts, e.payout(e.payee(), 10))
	}
	var group sync.WaitGroup
	rails := []*recorded{e.rail(), e.rail(), e.rail(), e.rail()}
	for _, r := range rails {
		group.Go(func() { r.Send(t.Context(), payouts) })
	}
	group.Wait()
	e.send(rails[0], payouts[0])
	e.chain.Mine(3)

	for i, o := range rails[1].Send(t.Context(), payouts) {
		if o.Verdict != ports.Done || e.usdc.Balance(payouts[i].Account.Fields["address"]) != 10 {
			t.Errorf("payout %d: %+v, balance %d", i, o, e.usdc.Balance(payouts[i].Account.Fields["address"]))
		}
	}
	if n := e.chain.Number("eth_getTransactionCount", e.wallet(), "latest").Int64(); n != int64(len(payouts)) {
		t.Errorf("%d transactions", n)
	}
}

func TestPoll_ReplacesAStuckTransaction(t *testing.T) {
	t.Parallel()
	// The base fee rises above what a transaction offers. After a while another version with the same nonce replaces it,
	// and the payee gets the money once.
	e := newEnv(t)
	e.fund(1_000)
	r := e.rail()
	to := e.payee()
	p := e.payout(to, 700)
	e.send(r, p)
	e.poll(r)
	e.chain.Call("hardhat_setNextBlockBaseFeePerGas", "0xba43b7400") // 50 gwei
	e.chain.Call("evm_mine")
	if e.usdc.Balance(to) != 0 {
		t.Fatal("the transaction is not stuck")
	}
	e.extra["maxFeeGwei"] = "1000"
	r = e.rail()
	e.poll(r)
	e.clock.Advance(2 * time.Minute)
	e.poll(r)
	e.chain.Mine(3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 700 {
		t.Errorf("%+v; the payee has %d", o, e.usdc.Balance(to))
	}
	if n := e.chain.Number("eth_getTransactionCount", e.wallet(), "latest").Int64(); n != 1 {
		t.Errorf("%d transactions", n)
	}
}

func TestPoll_SendsAgainWhatVanished(t *testing.T) {
	t.Parallel()
	// The block of a delivered payout vanishes, and the node has forgotten the transaction: it is sent again with the same
	// nonce, is still done, and the payee has the money once.
	e := newEnv(t)
	e.fund(1_000)
	r := e.rail()
	to := e.payee()
	p := e.payout(to, 700)
	before := e.chain.Call("evm_snapshot")
	e.send(r, p)
	e.mine(r, 3)
	if o := e.send(r, p); o.Verdict != ports.Done {
		t.Fatalf("%+v", o)
	}
	e.chain.Call("evm_revert", before)
	e.usdc.Mint(e.payee(), 1)
	if got := e.mine(r, 6); len(got.Changed) != 1 || e.usdc.Balance(to) != 0 {
		t.Fatalf("%+v", got)
	}
	if o := e.send(r, p); o.Verdict != ports.Done || o.RetryAt.IsZero() {
		t.Fatalf("after the reorganisation: %+v", o)
	}
	e.mine(r, 3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 700 {
		t.Errorf("%+v; the payee has %d", o, e.usdc.Balance(to))
	}
}

func TestPoll_ForeignTransactionTakesTheNonce(t *testing.T) {
	t.Parallel()
	// Another program with the same key uses the nonce of a payout: it can never be delivered, so it is refused before it
	// was delivered, and returned after.
	for name, delivered := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.fund(1_000)
			r := e.rail()
			to := e.payee()
			p := e.payout(to, 700)
			before := e.chain.Call("evm_snapshot")
			e.send(r, p)
			if delivered {
				e.mine(r, 3)
			}
			e.chain.Call("evm_revert", before)
			e.chain.Call("hardhat_impersonateAccount", e.wallet())
			e.chain.Call("eth_sendTransaction", map[string]any{"from": e.wallet(), "to": devnet.Deployer, "value": "0x1"})
			e.mine(r, 6)
			e.poll(r)

			want := map[bool]ports.Verdict{false: ports.Refused, true: ports.Returned}[delivered]
			if o := r.Status(t.Context(), []ports.Payout{p})[0]; o.Verdict != want || o.Code != "NONCE_USED" || e.usdc.Balance(to) != 0 {
				t.Errorf("%+v; the payee has %d", o, e.usdc.Balance(to))
			}
		})
	}
}

func TestPoll_FillsANonceThatNobodyHas(t *testing.T) {
	t.Parallel()
	// Another program used a nonce before a payout, and its transaction vanished: a transaction of nothing takes its place.
	e := newEnv(t)
	e.fund(1_000)
	before := e.chain.Call("evm_snapshot")
	e.chain.Call("hardhat_impersonateAccount", e.wallet())
	e.chain.Call("eth_sendTransaction", map[string]any{"from": e.wallet(), "to": devnet.Deployer, "value": "0x1"})
	e.chain.Mine(1)
	r := e.rail()
	to := e.payee()
	p := e.payout(to, 700)
	e.send(r, p)
	e.chain.Call("evm_revert", before)
	e.mine(r, 2)
	e.mine(r, 3)

	if o := e.send(r, p); o.Verdict != ports.Done || e.usdc.Balance(to) != 700 {
		t.Errorf("%+v; the payee has %d", o, e.usdc.Balance(to))
	}
}

func TestPoll_SweepsDepositsAndBalancesAddUp(t *testing.T) {
	t.Parallel()
	// A deposit above the threshold gets the fee from the wallet and goes there; a smaller one stays. The balances are
	// what both hold together, and fees are all that was spent.
	e := newEnv(t)
	e.extra["sweepFrom"] = "5"
	r := e.rail()
	large, small := e.address(r, e.newAccount(money.USDC)), e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	e.usdc.Mint(large, 6_000_000)
	e.usdc.Mint(small, 4_000_000)
	e.chain.Mine(3)
	var fees int64
	for range 3 { // the address gets the fee, is swept, and is empty; no time passes
		for _, f := range e.poll(r).Fees {
			fees += f.Amount.Minor
		}
		e.chain.Mine(3)
	}

	if e.usdc.Balance(e.wallet()) != 6_000_000 || e.usdc.Balance(large) != 0 || e.usdc.Balance(small) != 4_000_000 {
		t.Errorf("wallet %d, large %d, small %d", e.usdc.Balance(e.wallet()), e.usdc.Balance(large), e.usdc.Balance(small))
	}
	e.poll(r)
	balances, err := r.Balances(t.Context())
	if err != nil || len(balances) != 2 || balances[1].Amount != (money.Amount{Minor: 10_000_000, Currency: "USDC"}) ||
		balances[0].Amount.Currency != "ETH" || 1_000_000_000-balances[0].Amount.Minor-fees < 0 ||
		1_000_000_000-balances[0].Amount.Minor-fees > 1 {
		t.Errorf("%+v, %v; fees %d", balances, err, fees)
	}
}

func TestRefund_GoesToThePayer(t *testing.T) {
	t.Parallel()
	// Money goes back to the address that it came from; without one there is nowhere to send it.
	e := newEnv(t)
	e.fund(1_000)
	r := e.rail()
	to := external(e.payee())
	refund := ports.Refund{ID: e.payout("", 1).Transaction.ID.UUID(), Platform: e.platform, Rail: "BASE",
		Amount: money.Amount{Minor: 300, Currency: money.USDC}, Original: ports.Original{Payer: &to}}
	unknown := refund
	unknown.ID, unknown.Original.Payer = e.payout("", 1).Transaction.ID.UUID(), nil
	internal := unknown
	internal.ID, internal.Internal = e.payout("", 1).Transaction.ID.UUID(), true
	r.Refund(t.Context(), []ports.Refund{refund})
	e.chain.Mine(3)

	got := r.Refund(t.Context(), []ports.Refund{refund, unknown, internal})

	if got[0].Verdict != ports.Done || got[1].Verdict != ports.Refused || got[1].Code != "NO_PAYER" || got[2].Verdict != ports.Done ||
		e.usdc.Balance(to.Fields["address"]) != 300 {
		t.Errorf("%+v", got)
	}
}

func TestRefund_NotToContracts(t *testing.T) {
	t.Parallel()
	// Money that a contract has paid is not sent back to it, because nobody may own what arrives there; the other refunds
	// are sent. A refund of which the node does not say whether its payer is a contract is tried again.
	e := newEnv(t)
	e.fund(1_000)
	r := e.rail()
	refund := func(to string) ports.Refund {
		payer := external(to)
		return ports.Refund{ID: e.payout("", 1).Transaction.ID.UUID(), Platform: e.platform, Rail: "BASE",
			Amount: money.Amount{Minor: 300, Currency: money.USDC}, Original: ports.Original{Payer: &payer}}
	}
	contract, person, delegated := refund(e.chain.Deploy("OTHER", 6).Address), refund(e.payee()), refund(e.payee())
	e.chain.Call("hardhat_setCode", delegated.Original.Payer.Fields["address"], "0xef0100"+strings.Repeat("ab", 20))
	refunds := []ports.Refund{contract, person, delegated}
	unanswered := func(methods []string) (before, after bool) { return slices.Contains(methods, "eth_getCode"), false }
	e.proxy.fault.Store(&unanswered)
	for i, o := range r.Refund(t.Context(), refunds) {
		if o.Verdict != ports.Unknown {
			t.Errorf("refund %d without an answer of the node: %+v", i, o)
		}
	}
	e.proxy.fault.Store(nil)
	r.Refund(t.Context(), refunds)
	e.chain.Mine(3)

	got := r.Refund(t.Context(), refunds)

	if got[0].Verdict != ports.Refused || got[0].Code != "CONTRACT_PAYER" || got[1].Verdict != ports.Done || got[2].Verdict != ports.Done {
		t.Errorf("%+v", got)
	}
	for i, want := range []int64{0, 300, 300} {
		if balance := e.usdc.Balance(refunds[i].Original.Payer.Fields["address"]); balance != want {
			t.Errorf("payer %d has %d, want %d", i, balance, want)
		}
	}
}
