package evm_test

import (
	"slices"
	"testing"

	"causeway/core/money"
)

// BenchmarkPoll_ThousandDeposits measures the time from a final block with 1,000 deposits to their reports.
func BenchmarkPoll_ThousandDeposits(b *testing.B) {
	e := newEnv(b)
	r := e.rail()
	e.chain.Call("evm_setBlockGasLimit", "0x3b9aca00")
	const deposits, perCall = 1000, 250
	var addresses []string
	for range deposits {
		addresses = append(addresses, e.address(r, e.newAccount(money.USDC)))
	}
	e.poll(r)
	for b.Loop() {
		b.StopTimer()
		for some := range slices.Chunk(addresses, perCall) {
			e.usdc.MintMany(some, 1_000_000)
		}
		e.chain.Mine(3)
		b.StartTimer()
		if got := e.poll(r); len(got.Receipts) != deposits {
			b.Fatalf("%d receipts", len(got.Receipts))
		}
	}
}
