package api

import (
	"encoding/json"
	"testing"

	core "causeway/core/financials"
	"causeway/core/money"
)

func TestRenderFinancialAccounts(t *testing.T) {
	t.Parallel()
	// Balances have the sign of their line, those of the income statement are 0, and changes in equity have no accounts.
	account := core.AccountFigure{Key: core.Key{Path: "expense/rent", Currency: "USD"}, Quantity: money.TotalOf(500), Value: -500}
	for want, row := range map[string]core.Row{
		`[{"path":"expense/rent","currency":"USD","balance":-500,"amount":-500}]`: {Statement: core.BalanceSheet, Section: core.Equity},
		`[{"path":"expense/rent","currency":"USD","balance":0,"amount":-500}]`:    {Statement: core.IncomeStatement, Section: core.Expense},
		`[{"path":"expense/rent","currency":"USD","balance":500,"amount":-500}]`:  {Statement: core.CashFlow, Section: core.Operating},
		`[]`: {Statement: core.EquityChanges, Section: core.Equity},
	} {
		row.Accounts = []core.AccountFigure{account}
		if got, err := json.Marshal(renderFinancialAccounts(row)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", row.Statement, got, err, want)
		}
	}
}
