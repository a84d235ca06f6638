package ledger

import (
	"cmp"
	"fmt"
	"strings"

	"causeway/core/ident"
	"causeway/core/money"
)

// Account is one account of one platform in one currency. Its path says, through
// the chart, of what class it is and whether it may go below zero.
type Account struct {
	Platform ident.Platform
	Path     string
	Currency money.Currency
}

// String is for messages: "funding/jit USD of PlatformConfig:0190…".
func (a Account) String() string {
	return fmt.Sprintf("%s %s of %s", a.Path, a.Currency, a.Platform)
}

// Compare orders accounts by platform, path and currency.
func (a Account) Compare(b Account) int {
	return cmp.Or(
		a.Platform.Compare(b.Platform),
		strings.Compare(a.Path, b.Path),
		strings.Compare(string(a.Currency), string(b.Currency)),
	)
}
