package evm_test

import (
	"os"
	"testing"

	"causeway/adapters/rails/evm/devnet"
)

func TestMain(m *testing.M) {
	code := m.Run()
	devnet.StopNodes()
	os.Exit(code)
}
