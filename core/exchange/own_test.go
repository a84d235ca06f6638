package exchange_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

func TestOwnAccounts_AreThoseOfTheChart(t *testing.T) {
	t.Parallel()
	// Every account of income, expense and equity is translated at the rates of its entries, as are the platform's
	// own balances and deferred fees. All that is money, or owed in money, is not.
	for _, line := range ledger.Chart() {
		want := line.Class == ledger.Income || line.Class == ledger.Expense || line.Class == ledger.Equity ||
			strings.HasPrefix(line.Path, "platform/") || line.Path == ledger.LiabilityDeferredFees
		got := slices.ContainsFunc(exchange.OwnAccounts(), func(own string) bool {
			return line.Path == own || strings.HasSuffix(own, "/") && strings.HasPrefix(line.Path, own)
		})
		if got != want {
			t.Errorf("%s: %t, want %t", line.Path, got, want)
		}
	}
}

func TestNewTrade_OwnAccounts(t *testing.T) {
	t.Parallel()
	// Entries on own accounts are added up by account, in order, with the origin of the account; the platform's
	// balances are one. In opening balances all are of earlier books.
	var a, b ident.InternalAccount
	a.SetUUID([16]byte{6: 0x70, 8: 0x80, 15: 1})
	b.SetUUID([16]byte{6: 0x70, 8: 0x80, 15: 2})
	entries := []exchange.OwnLeg{
		{Account: ledger.PlatformAccount(a), Leg: exchange.Leg{"EUR", 5}}, {Account: ledger.IncomeFees, Leg: exchange.Leg{"EUR", 7}},
		{Account: ledger.PlatformAccount(b), Leg: exchange.Leg{"EUR", 6}}, {Account: ledger.ExpenseRails, Leg: exchange.Leg{"BTC", -1}},
		{Account: ledger.EquityCapital, Leg: exchange.Leg{"BTC", 3}}, {Account: ledger.EquityCapital, Leg: exchange.Leg{"BTC", -3}},
	}
	leg := func(origin exchange.Origin, account string, currency money.Currency, quantity int64) exchange.OwnLeg {
		return exchange.OwnLeg{Origin: origin, Account: account, Leg: exchange.Leg{Currency: currency, Quantity: quantity}}
	}
	for origin, want := range map[exchange.Origin][]exchange.OwnLeg{
		exchange.Adjustment: {leg(exchange.IncomeAndExpense, ledger.ExpenseRails, "BTC", -1), leg(exchange.IncomeAndExpense, ledger.IncomeFees,
			"EUR", 7), leg(exchange.OwnFunds, "platform/<InternalAccount>", "EUR", 11)},
		exchange.Opening: {leg(exchange.Opening, ledger.ExpenseRails, "BTC", -1), leg(exchange.Opening, ledger.IncomeFees, "EUR", 7),
			leg(exchange.Opening, "platform/<InternalAccount>", "EUR", 11)},
	} {
		if got := must[exchange.Trade](t)(exchange.NewTrade(origin, nil, entries)); got.IsZero() || !slices.Equal(got.Own, want) {
			t.Errorf("%s: %+v, want %+v", origin, got.Own, want)
		}
	}
}
