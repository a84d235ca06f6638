package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"causeway/ledger"
)

func TestChart_ContainsEveryConstructedPath(t *testing.T) {
	t.Parallel()
	// Every path that a function or constant of the package returns has its line.
	for _, c := range []struct {
		path, line  string
		class       ledger.Class
		noOverdraft bool
	}{
		{ledger.CustomerAccount(alice), "customers/<InternalAccount>", ledger.Liability, true},
		{ledger.PlatformAccount(alice), "platform/<InternalAccount>", ledger.Liability, true},
		{ledger.Wallet(alice), "wallets/<InternalAccount>", ledger.Liability, true},
		{ledger.FundingJIT, "funding/jit", ledger.Liability, false},
		{ledger.FundingUnmatched, "funding/unmatched", ledger.Liability, false},
		{ledger.TransitPayouts, "transit/payouts", ledger.Liability, false},
		{ledger.TransitRefunds, "transit/refunds", ledger.Liability, false},
		{ledger.TransitInternal, "transit/internal", ledger.Liability, false},
		{ledger.Rail("FASTER_PAYMENTS"), "rails/<RAIL>", ledger.Asset, false},
		{ledger.Chain("LAYER2"), "chains/<network>", ledger.Asset, false},
		{ledger.Own("OPERATING"), "own/<NAME>", ledger.Asset, false},
		{ledger.TransitClientMoney, "transit/client-money", ledger.Asset, false},
		{ledger.TransitTreasury, "transit/treasury", ledger.Asset, false},
		{ledger.PlatformFeesPending, "platform/fees-pending", ledger.Liability, false},
		{ledger.PlatformFees, "platform/fees", ledger.Liability, false},
		{ledger.FXPosition, "fx/position", ledger.Trading, false},
		{ledger.IncomeFees, "income/fees", ledger.Income, false},
		{ledger.IncomeRounding, "income/rounding", ledger.Income, false},
		{ledger.ExpenseRails, "expense/rails", ledger.Expense, false},
		{ledger.FXValuation, "fx/valuation", ledger.Trading, false},
		{ledger.IncomeExchangeGains, "income/exchange-gains", ledger.Income, false},
		{ledger.IncomeUnrealisedExchangeGains, "income/unrealised-exchange-gains", ledger.Income, false},
		{ledger.ExpenseExchangeLosses, "expense/exchange-losses", ledger.Expense, false},
		{ledger.ExpenseUnrealisedExchangeLosses, "expense/unrealised-exchange-losses", ledger.Expense, false},
		{ledger.ExpenseChargebacks, "expense/chargebacks", ledger.Expense, false},
		{ledger.ExpenseWriteOffs, "expense/write-offs", ledger.Expense, false},
		{ledger.ExpenseTaxes, "expense/taxes", ledger.Expense, false},
		{ledger.PartnerReceivable("RTP"), "partner-receivables/<RAIL>", ledger.Asset, false},
		{ledger.CustomerReceivable(alice), "customer-receivables/<InternalAccount>", ledger.Asset, false},
		{ledger.AllowanceReceivables, "allowance/receivables", ledger.Asset, false},
		{ledger.PartnerPayable("RTP"), "partner-payables/<RAIL>", ledger.Liability, false},
		{ledger.AssetTaxes, "asset/taxes", ledger.Asset, false},
		{ledger.LiabilityTaxes, "liability/taxes", ledger.Liability, false},
		{ledger.LiabilityDeferredFees, "liability/deferred-fees", ledger.Liability, false},
		{ledger.EquityCapital, "equity/capital", ledger.Equity, false},
		{ledger.EquityRetainedEarnings, "equity/retained-earnings", ledger.Equity, false},
		{ledger.EquityBroughtForward, "equity/brought-forward", ledger.Equity, false},
		{"asset/bank-of-the-company", "asset/<name>", ledger.Asset, false},
		{"liability/loan-2", "liability/<name>", ledger.Liability, false},
		{"equity/share-premium", "equity/<name>", ledger.Equity, false},
		{"income/interest", "income/<name>", ledger.Income, false},
		{"expense/salaries", "expense/<name>", ledger.Expense, false},
	} {
		line, err := ledger.FindChartLine(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if line.Path != c.line || line.Class != c.class || line.NoOverdraft != c.noOverdraft || line.Description == "" {
			t.Errorf("%s: found %+v, want %s, %s, no overdraft %t", c.path, line, c.line, c.class, c.noOverdraft)
		}
	}
	if n := len(ledger.Chart()); n != 42 {
		t.Errorf("the chart has %d lines and this table 42", n)
	}
}

func TestChart_UnknownPath(t *testing.T) {
	t.Parallel()
	// A path outside the chart, or another spelling of one in it, is refused.
	id := alice.String()
	for _, path := range []string{
		"", "/", "customers", "customers/", "customers/" + strings.ToUpper(id), "customers/" + id + "/x", "customers/" + id + " ",
		"customers/InternalAccount:00000000-0000-0000-0000-000000000000",
		"customers/Customer:01900000-0000-7000-8000-00000000000a", "Customers/" + id, "customer/" + id,
		"customers/<InternalAccount>", "funding", "funding/", "funding/jit/", "funding/JIT", " funding/jit", "funding/jit\x00",
		"rails/", "rails/rtp", "rails/R T P", "rails/RTP/USD", "rails/<RAIL>", "rails/" + strings.Repeat("A", 41),
		"chains/", "chains/layer2", "fx/", "fx/position/USD", "fx/other", "expense", "trading/other", "partner-payables/",
		"partner-receivables/rtp",
		"income/", "income/Other", "income/other-", "income/-other", "income/other--fees", "income/2nd", "income/über",
		"income/a_b", "income/a/b",
		"income/<name>", "income/" + strings.Repeat("a", 41), "equity/opening-balances",
	} {
		if line, err := ledger.FindChartLine(path); !errors.Is(err, ledger.ErrNotInChart) {
			t.Errorf("%q: found %+v, %v; want ErrNotInChart", path, line, err)
		}
	}
}

func TestChart_ReturnsCopy(t *testing.T) {
	t.Parallel()
	// A caller that changes the returned list does not change the chart.
	ledger.Chart()[0].NoOverdraft = false
	if !ledger.Chart()[0].NoOverdraft {
		t.Error("changing the returned chart changed the chart")
	}
}

func TestIsAdded(t *testing.T) {
	t.Parallel()
	// Only accounts that finance adds are added.
	for path, want := range map[string]bool{
		"income/interest": true, "asset/deposits": true, ledger.IncomeFees: false, ledger.EquityCapital: false, ledger.Rail("RTP"): false,
		"income/Interest": false, "": false,
	} {
		if got := ledger.IsAdded(path); got != want {
			t.Errorf("%q: %t, want %t", path, got, want)
		}
	}
}

func FuzzFindChartLine(f *testing.F) {
	for _, p := range paths {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		// Every path of the chart is plain and has two parts, so it is safe in files and SQL.
		line, err := ledger.FindChartLine(path)
		if err != nil {
			return
		}
		if strings.Count(path, "/") != 1 || len(path) > 80 || strings.ContainsAny(path, " \t\n\r\"'<>\\\x00") {
			t.Errorf("%q was accepted as %s", path, line.Path)
		}
	})
}
