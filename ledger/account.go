package ledger

import (
	"cmp"
	"fmt"
	"strings"

	"causeway/core/ident"
	"causeway/core/money"
)

// Account is one account of one platform in one currency. The chart of accounts gives
// every path its class, and says whether the balance may go below zero.
type Account struct {
	Platform ident.Platform
	Path     string
	Currency money.Currency
}

// String returns a text for messages: "funding/jit USD of PlatformConfig:0190…".
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

// InternalAccount returns the id of the internal account whose balance is stored at the
// path, or false for any other path.
func (a Account) InternalAccount() (ident.InternalAccount, bool) {
	_, name, _ := strings.Cut(a.Path, "/")
	id, err := ident.ParseInternalAccount(name)
	return id, err == nil
}

// Class is the class of an account, as in any chart of accounts.
type Class string

// The classes.
const (
	Asset     Class = "asset"
	Liability Class = "liability"
	Income    Class = "income"
	Expense   Class = "expense"
	Equity    Class = "equity"
	// Trading is the class of the accounts through which conversions pass. Above zero,
	// the service has bought more of the currency than it has sold; below zero, less.
	Trading Class = "trading"
)

// IsDebitNormal reports whether debits increase the balance of accounts of the class.
// They do for assets and expenses; credits increase liabilities, equity, income and
// trading positions. So funds at a partner, a customer's balance and a fee earned are all
// above zero.
func (c Class) IsDebitNormal() bool { return c == Asset || c == Expense }

// Balance returns the balance of an account of the class after these debits and credits.
func (c Class) Balance(debits, credits money.Total) money.Total {
	if c.IsDebitNormal() {
		return debits.Sub(credits)
	}
	return credits.Sub(debits)
}

// Known reports whether c is one of the classes.
func (c Class) Known() bool {
	return c == Asset || c == Liability || c == Income || c == Expense || c == Equity || c == Trading
}
