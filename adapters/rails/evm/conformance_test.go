package evm_test

import (
	"testing"

	"causeway/adapters/rails/evm/devnet"
	"causeway/ports/portstest"
	"causeway/ports/railtest"
)

func TestRailPort(t *testing.T) {
	t.Parallel()
	// The checks of every rail, with a crash after each effect, on one chain with a wallet for each check.
	chain := devnet.Start(t, "node")
	account := uint32(0)
	portstest.Rail(t, func(t *testing.T) railtest.Fixture {
		account++
		return newFixture(t, chain, account)
	})
}
