package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the program under test, built once for all tests.
var binary string

// binaryEnv names a program that is built already.
const binaryEnv = "CAUSEWAY_BIN"

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	if binary = os.Getenv(binaryEnv); binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "causeway-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "causeway")
	build := exec.Command("go", "build", "-o", binary, "causeway/app/causeway")
	if said, err := build.CombinedOutput(); err != nil {
		fmt.Fprintln(os.Stderr, errors.Join(errors.New("the program does not build"), err), "\n"+string(said))
		return 1
	}
	return m.Run()
}
