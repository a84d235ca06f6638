package evm_test

import (
	"context"
	"fmt"
	"testing"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/evm/devnet"
	"causeway/core/account"
	"causeway/core/money"
)

func TestPoll_CreditsDepositAfterItsConfirmations(t *testing.T) {
	t.Parallel()
	// A transfer to the address of an account is reported once it has three confirmations, with its payer, and once.
	// Transfers of nothing, of another token and to addresses of nobody are not.
	e := newEnv(t)
	r := e.rail()
	a := e.newAccount(money.USDC)
	address := e.address(r, a)
	e.poll(r)

	hash := e.usdc.Mint(address, 12_345_678)
	e.usdc.Mint(address, 0)
	e.usdc.Mint(e.payee(), 5)
	e.chain.Deploy("USDC", 6).Mint(address, 99)
	for confirmations := 1; confirmations < 3; confirmations++ {
		if got := e.poll(r); len(got.Receipts) != 0 {
			t.Fatalf("after %d confirmations: %+v", confirmations, got)
		}
		e.chain.Mine(1)
	}

	got := e.poll(r)

	if len(got.Receipts) != 1 {
		t.Fatalf("%+v", got)
	}
	receipt := got.Receipts[0]
	if receipt.Platform != e.platform || receipt.Rail != "BASE" || receipt.Reference != a.Reference ||
		receipt.Amount != (money.Amount{Minor: 12_345_678, Currency: "USDC"}) ||
		receipt.PartnerID != hash+":0" || receipt.TransactionHash != hash ||
		receipt.Originator.Account != "****0000" || receipt.At.IsZero() ||
		receipt.Payer.Fields["address"] != "0x0000000000000000000000000000000000000000" {
		t.Errorf("%+v, payer %+v", receipt, receipt.Payer)
	}
	e.chain.Mine(5)
	if again := e.poll(r); len(again.Receipts) != 0 {
		t.Errorf("reported again: %+v", again)
	}
}

func TestPoll_RepeatedCursorReturnsTheSamePiece(t *testing.T) {
	t.Parallel()
	// After a crash the caller continues with an earlier cursor, also from another process.
	e := newEnv(t)
	r := e.rail()
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	e.usdc.Mint(address, 1)
	e.chain.Mine(3)

	first, err := r.Poll(t.Context(), "")
	if err != nil || len(first.Receipts) != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := e.rail().Poll(t.Context(), "")

	if err != nil || len(again.Receipts) != 1 || again.Receipts[0].PartnerID != first.Receipts[0].PartnerID || again.Cursor != first.Cursor {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := r.Poll(t.Context(), "x"); err == nil {
		t.Error("a cursor of another kind is accepted")
	}
}

func TestPoll_ReorganisationBeforeAndAfterTheCredit(t *testing.T) {
	t.Parallel()
	// What vanishes before its confirmations is never reported. What was reported and vanishes is reversed, and reported
	// with another id when it comes back; what never comes back stays reversed.
	e := newEnv(t)
	r := e.rail()
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)

	before := e.chain.Call("evm_snapshot")
	e.usdc.Mint(address, 111)
	e.mine(r, 2)
	e.chain.Call("evm_revert", before)
	if got := e.mine(r, 6); len(got.Receipts)+len(got.Reversals) != 0 {
		t.Fatalf("vanished before its confirmations: %+v", got)
	}

	credited := e.chain.Call("evm_snapshot")
	hash := e.usdc.Mint(address, 222)
	if got := e.mine(r, 4); len(got.Receipts) != 1 || got.Receipts[0].PartnerID != hash+":0" {
		t.Fatalf("not credited: %+v", got)
	}
	e.chain.Call("evm_revert", credited)
	e.usdc.Mint(e.payee(), 1) // so that the new blocks differ
	e.chain.Mine(8)
	got := e.poll(r)
	if len(got.Reversals) != 1 || got.Reversals[0].Receipt != hash+":0" || got.Reversals[0].Platform != e.platform || len(got.Receipts) != 0 {
		t.Fatalf("not reversed: %+v", got)
	}

	again := e.chain.Call("evm_snapshot")
	hash = e.usdc.Mint(address, 333)
	if got := e.mine(r, 4); len(got.Receipts) != 1 {
		t.Fatalf("not credited: %+v", got)
	}
	e.chain.Call("evm_revert", again)
	e.chain.Call("evm_increaseTime", 100)
	if mined := e.usdc.Mint(address, 333); mined != hash {
		t.Fatalf("the same transaction has the hash %s, before %s", mined, hash)
	}
	e.chain.Mine(8)
	got = e.poll(r)
	if len(got.Reversals) != 1 || len(got.Receipts) != 1 || got.Receipts[0].PartnerID != hash+":0#2" || got.Receipts[0].Amount.Minor != 333 {
		t.Fatalf("after the same transaction is in another block: %+v", got)
	}
}

func TestPoll_IssuesAddressesOfEarlierAccounts(t *testing.T) {
	t.Parallel()
	// Accounts that exist before the connection are known at once, in any number; one that is committed late too.
	e := newEnv(t)
	var addresses []string
	r := e.rail()
	late := e.unstoredAccount(money.USDC)
	for range 30 {
		addresses = append(addresses, e.address(r, e.newAccount(money.USDC)))
	}
	e.newAccount("EUR")
	e.poll(r)
	e.do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{late})
	})
	addresses = append(addresses, e.address(r, late))

	for i, a := range addresses {
		e.usdc.Mint(a, int64(i+1))
	}
	e.chain.Mine(3)

	if got := e.poll(r); len(got.Receipts) != len(addresses) {
		t.Errorf("%d of %d deposits", len(got.Receipts), len(addresses))
	}
}

func TestPoll_OversizedDepositIsKeptAside(t *testing.T) {
	t.Parallel()
	// An amount that no account can hold is not cut: it is kept aside, and Test names it.
	e := newEnv(t)
	r := e.rail()
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	data := append(append(devnet.Selector("mint(address,uint256)"), devnet.AddressWord(address)...), devnet.Word(1)...)
	data[36] = 1 // 2^248 more
	hash := e.chain.Send(e.usdc.Address, data)
	e.chain.Mine(3)

	if got := e.poll(r); len(got.Receipts) != 0 {
		t.Errorf("%+v", got)
	}

	checked, err := r.Test(t.Context())
	if err != nil || len(checked) == 0 || checked[len(checked)-1] != fmt.Sprintf("kept aside, larger than an amount can be: "+
		"452312848583266388373324160190187140051835877600158453279131187530910662657 of USDC in %s:0", hash) {
		t.Errorf("%q, %v", checked, err)
	}
}
