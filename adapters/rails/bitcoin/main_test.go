package bitcoin_test

import (
	"os"
	"testing"

	"causeway/adapters/rails/bitcoin/devnet"
)

func TestMain(m *testing.M) {
	code := m.Run()
	devnet.RemoveNode()
	os.Exit(code)
}
