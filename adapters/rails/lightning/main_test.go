package lightning_test

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	// Each draw of a property runs many calls on a database.
	_ = flag.Set("rapid.checks", "15")
	flag.Parse()
	os.Exit(m.Run())
}
