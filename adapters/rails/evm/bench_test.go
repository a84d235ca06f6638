package evm_test

import (
	"bytes"
	"testing"

	"causeway/adapters/rails/evm/devnet"
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
		for i := 0; i < deposits; i += perCall {
			parts := [][]byte{devnet.Selector("mintMany(address[],uint256)"), devnet.Word(64), devnet.Word(1_000_000), devnet.Word(perCall)}
			for _, a := range addresses[i : i+perCall] {
				parts = append(parts, devnet.AddressWord(a))
			}
			e.chain.Call("eth_sendTransaction", map[string]any{"from": devnet.Deployer, "to": e.usdc.Address, "gas": "0xf42400", "data": "0x" + hexOf(bytes.Join(parts, nil))})
		}
		e.chain.Mine(3)
		b.StartTimer()
		if got := e.poll(r); len(got.Receipts) != deposits {
			b.Fatalf("%d receipts", len(got.Receipts))
		}
	}
}
