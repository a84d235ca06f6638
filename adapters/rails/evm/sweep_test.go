package evm_test

import (
	"testing"
	"time"

	"causeway/adapters/rails/evm"
	"causeway/core/money"
)

func TestSweep_GoesOnAfterItsFeeHasRisen(t *testing.T) {
	t.Parallel()
	// The base fee rises after a sweep was signed. Its next version costs more than the address has, so the address gets
	// the rest too.
	e := newEnv(t)
	e.extra["sweepFrom"], e.extra["maxFeeGwei"] = "5", "1000"
	r := e.rail()
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	e.usdc.Mint(address, 6_000_000)
	e.mine(r, 3)
	e.chain.Mine(3)
	before := e.chain.Call("evm_snapshot")
	e.poll(r) // signs the sweep
	e.chain.Call("evm_revert", before)
	for range 4 {
		e.chain.Call("hardhat_setNextBlockBaseFeePerGas", "0xba43b7400") // 50 gwei
		e.chain.Mine(1)
		e.clock.Advance(3 * time.Minute)
		e.poll(r)
	}
	for range 4 {
		e.mine(r, 3)
	}

	if e.usdc.Balance(e.wallet()) != 6_000_000 || e.usdc.Balance(address) != 0 {
		t.Errorf("the wallet has %d, the address %d", e.usdc.Balance(e.wallet()), e.usdc.Balance(address))
	}
}

func TestSweep_AddressThatTheContractRefusesStopsNoOther(t *testing.T) {
	t.Parallel()
	// The contract freezes one deposit address; what others hold is swept.
	e := newEnv(t)
	e.extra["sweepFrom"] = "5"
	r := e.rail()
	var addresses []string
	for range 4 {
		addresses = append(addresses, e.address(r, e.newAccount(money.USDC)))
	}
	e.poll(r)
	for _, a := range addresses {
		e.usdc.Mint(a, 6_000_000)
	}
	e.chain.Mine(3)
	e.usdc.SetFrozen(addresses[0])
	e.usdc.SetFrozen(addresses[2])
	for range 3 {
		e.poll(r)
		e.chain.Mine(3)
	}

	if e.usdc.Balance(addresses[1])+e.usdc.Balance(addresses[3]) != 0 || e.usdc.Balance(e.wallet()) != 12_000_000 ||
		e.usdc.Balance(addresses[0]) != 6_000_000 {
		t.Errorf("the wallet has %d, the addresses %d, %d, %d, %d", e.usdc.Balance(e.wallet()), e.usdc.Balance(addresses[0]),
			e.usdc.Balance(addresses[1]), e.usdc.Balance(addresses[2]), e.usdc.Balance(addresses[3]))
	}
}

func TestSweep_AfterItsDepositHasVanished(t *testing.T) {
	t.Parallel()
	// A reorganisation takes back a deposit, the fee of its sweep and the sweep. Nothing of it is paid twice: when the
	// deposit is back, it is swept, and the balances are what both hold.
	e := newEnv(t)
	e.extra["sweepFrom"] = "5"
	r := e.rail()
	address := e.address(r, e.newAccount(money.USDC))
	e.poll(r)
	before := e.chain.Call("evm_snapshot")
	e.usdc.Mint(address, 6_000_000)
	e.chain.Mine(3)
	for range 3 {
		e.poll(r)
		e.chain.Mine(3)
	}
	if e.poll(r); e.usdc.Balance(e.wallet()) != 6_000_000 {
		t.Fatal("not swept")
	}
	e.chain.Call("evm_revert", before)
	e.usdc.Mint(e.payee(), 1)
	if got := e.mine(r, 12); len(got.Reversals) != 1 || e.usdc.Balance(e.wallet()) != 0 {
		t.Fatalf("not reversed: %+v", got)
	}
	e.usdc.Mint(address, 6_000_000)
	for range 8 {
		e.chain.Mine(3)
		e.clock.Advance(3 * time.Minute)
		e.poll(r)
	}

	if e.usdc.Balance(e.wallet()) != 6_000_000 || e.usdc.Balance(address) != 0 {
		t.Errorf("the wallet has %d, the address %d", e.usdc.Balance(e.wallet()), e.usdc.Balance(address))
	}
	balances, err := r.Balances(t.Context())
	if err != nil || len(balances) != 2 || balances[1].Amount.Minor != 6_000_000 {
		t.Errorf("%+v, %v", balances, err)
	}
	holdings, err := e.store().Holdings(t.Context(), "base-main", evm.Holding{}, 10)
	for _, h := range holdings {
		if err != nil || h.Currency == money.USDC {
			t.Errorf("the address holds %+v, %v", h, err)
		}
	}
}
