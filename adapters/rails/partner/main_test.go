package partner_test

import (
	"flag"
	"os"
	"testing"

	_ "pgregory.net/rapid" // the flag
)

func TestMain(m *testing.M) {
	// Each draw is a partner with its whole history, which takes the race detector long. make faults draws 1000.
	_ = flag.Set("rapid.checks", "20")
	flag.Parse() // a flag of the command counts
	os.Exit(m.Run())
}
