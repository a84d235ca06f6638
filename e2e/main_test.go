package e2e

import (
	"fmt"
	"os"
	"testing"

	"causeway/adapters/rails/bitcoin/devnet"
	evmnet "causeway/adapters/rails/evm/devnet"
	"causeway/e2e/kit"
)

// binary is the program under test, built once for all tests.
var binary string

// started is the data folder of newStartedFolder.
var started kit.StartedFolder

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	path, remove, err := kit.Prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer remove()
	defer devnet.RemoveNode()
	defer evmnet.StopNodes()
	defer started.Remove()
	binary, started.Program = path, path
	status := m.Run()
	if err := closeSharedService(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}
