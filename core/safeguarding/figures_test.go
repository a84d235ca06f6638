package safeguarding_test

import (
	"testing"

	"pgregory.net/rapid"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/safeguarding"
	"causeway/ledger"
)

var customer = func() ident.InternalAccount {
	id, err := ident.ParseInternalAccount("InternalAccount:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e12")
	if err != nil {
		panic(err)
	}
	return id
}()

// paths has an account of every line of the chart.
func paths(t interface{ Fatal(...any) }) []string {
	names := map[string]string{"<InternalAccount>": customer.String(), "<RAIL>": "RTP", "<network>": "LAYER2", "<NAME>": "OPERATING",
		"<name>": "other"}
	var all []string
	for _, line := range ledger.Chart() {
		path := line.Path
		for placeholder, name := range names {
			if group, found := cutSuffix(path, placeholder); found {
				path = group + name
			}
		}
		if _, err := ledger.FindChartLine(path); err != nil {
			t.Fatal(err)
		}
		all = append(all, path)
	}
	return append(all, "rails/ACH", "chains/SOLANA", "own/RESERVE")
}

func cutSuffix(text, suffix string) (string, bool) {
	if len(text) < len(suffix) || text[len(text)-len(suffix):] != suffix {
		return text, false
	}
	return text[:len(text)-len(suffix)], true
}

func TestCounter_DifferenceIsOwnFundsInClientAccounts(t *testing.T) {
	t.Parallel()
	// Whatever is posted between whichever accounts, and whichever purposes they have: in each currency
	// what is held less what is owed is the company's own money in the accounts of customers, which is
	// computed from all other accounts with the other signs.
	accounts := paths(t)
	rapid.Check(t, func(t *rapid.T) {
		purposes := safeguarding.Purposes{}
		for _, path := range []string{"rails/RTP", "rails/ACH", "chains/LAYER2", "chains/SOLANA"} {
			if rapid.Bool().Draw(t, path) {
				purposes[path] = rapid.SampledFrom([]safeguarding.Purpose{safeguarding.Client, safeguarding.Own}).Draw(t, "purpose of "+path)
			}
		}
		balances := map[ledger.Account]money.Total{}
		for range rapid.IntRange(0, 60).Draw(t, "entries") {
			currency := rapid.SampledFrom([]money.Currency{"USD", "BTC"}).Draw(t, "currency")
			amount := money.TotalOf(rapid.Int64Range(1, ledger.MaxAmount).Draw(t, "amount"))
			for i, side := range []string{"debit", "credit"} {
				path := rapid.SampledFrom(accounts).Draw(t, side)
				line, err := ledger.FindChartLine(path)
				if err != nil {
					t.Fatal(err)
				}
				change := line.Class.Balance(amount, money.Total{})
				if i == 1 {
					change = change.Neg()
				}
				key := ledger.Account{Path: path, Currency: currency}
				balances[key] = balances[key].Add(change)
			}
		}

		counter := safeguarding.NewCounter(purposes)
		for account, balance := range balances {
			if err := counter.Add(account.Path, account.Currency, balance); err != nil {
				t.Fatal(err)
			}
		}

		for _, f := range counter.Figures() {
			if !f.Explained() {
				t.Fatalf("%s: %s held, %s owed, own funds %s", f.Currency, f.Resource, f.Requirement, f.OwnFunds)
			}
			var lines money.Total
			for _, l := range f.Lines {
				switch l.Section {
				case safeguarding.Requirement:
					lines = lines.Sub(l.Amount)
				case safeguarding.Resource:
					lines = lines.Add(l.Amount)
				}
			}
			if !lines.Equal(f.OwnFunds) {
				t.Fatalf("%s: the lines differ by %s, not %s", f.Currency, lines, f.OwnFunds)
			}
		}
	})
}

func TestCounter_OwnFundsPrefixesSuffice(t *testing.T) {
	t.Parallel()
	// The accounts below OwnFundsPrefixes are all that own funds are made of: the excess is computed from
	// them, without those of customers.
	for _, path := range paths(t) {
		section, err := safeguarding.Purposes{"rails/ACH": safeguarding.Own}.SectionOf(path)
		if err != nil {
			t.Fatal(err)
		}
		covered := false
		for _, prefix := range safeguarding.OwnFundsPrefixes() {
			covered = covered || len(path) >= len(prefix) && path[:len(prefix)] == prefix
		}
		if section == safeguarding.OwnFunds && !covered || section == safeguarding.Requirement && covered {
			t.Errorf("%s is %s, covered %t", path, section, covered)
		}
	}
}

func TestPurposes_SectionOf(t *testing.T) {
	t.Parallel()
	// Each kind of account has its section; only rails and chains can change theirs.
	purposes := safeguarding.Purposes{"rails/ACH": safeguarding.Own, "chains/SOLANA": safeguarding.Client}
	for path, want := range map[string]safeguarding.Section{
		"customers/" + customer.String(): safeguarding.Requirement, "wallets/" + customer.String(): safeguarding.Requirement,
		"funding/jit": safeguarding.Requirement, "funding/unmatched": safeguarding.Requirement,
		"transit/payouts": safeguarding.Requirement, "transit/internal": safeguarding.Requirement, "transit/refunds": safeguarding.Requirement,
		"rails/RTP": safeguarding.Resource, "chains/LAYER2": safeguarding.Resource, "chains/SOLANA": safeguarding.Resource,
		"transit/client-money": safeguarding.Resource,
		"rails/ACH":            safeguarding.OwnFunds, "own/OPERATING": safeguarding.OwnFunds, "transit/treasury": safeguarding.OwnFunds,
		"platform/" + customer.String(): safeguarding.OwnFunds, "partner-payables/RTP": safeguarding.OwnFunds,
		"partner-receivables/RTP": safeguarding.OwnFunds,
		"liability/loan":          safeguarding.OwnFunds, "asset/office": safeguarding.OwnFunds, "income/fees": safeguarding.OwnFunds,
		"expense/rails": safeguarding.OwnFunds,
		"fx/position":   safeguarding.OwnFunds, "equity/capital": safeguarding.OwnFunds,
	} {
		if got, err := purposes.SectionOf(path); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", path, got, err, want)
		}
	}
	if _, err := purposes.SectionOf("unknown/path"); err == nil {
		t.Error("an unknown path has a section")
	}
}

func TestFiguresOf_Status(t *testing.T) {
	t.Parallel()
	// A currency with less held than owed is short; the report is short with it, whatever other currencies hold.
	line := func(section safeguarding.Section, path string, currency money.Currency, minor int64) safeguarding.Line {
		return safeguarding.Line{Section: section, Path: path, Currency: currency, Amount: money.TotalOf(minor)}
	}
	figures := safeguarding.FiguresOf([]safeguarding.Line{
		line(safeguarding.Resource, "rails/RTP", "USD", 90), line(safeguarding.Requirement, "funding/jit", "USD", 100),
		line(safeguarding.OwnFunds, "expense/rails", "USD", -10),
		line(safeguarding.Resource, "rails/SEPA", "EUR", 7), line(safeguarding.OwnFunds, "income/fees", "EUR", 7),
		line(safeguarding.OwnFunds, "fx/position", "EUR", 0),
		line(safeguarding.Resource, "rails/PIX", "BRL", 0),
	})
	want := map[money.Currency]safeguarding.Status{"USD": safeguarding.Shortfall, "EUR": safeguarding.Excess, "BRL": safeguarding.Even}
	if len(figures) != 3 || figures[0].Currency != "BRL" || len(figures[1].Lines) != 2 {
		t.Fatalf("figures %+v", figures)
	}
	for _, f := range figures {
		if f.Status() != want[f.Currency] || !f.Explained() {
			t.Errorf("%s: %s, explained %t", f.Currency, f.Status(), f.Explained())
		}
	}
	report := safeguarding.Report{Figures: figures}
	if short := report.Shortfalls(); report.Status() != safeguarding.Shortfall || len(short) != 1 || short[0] != "USD" {
		t.Errorf("report %s, %v", report.Status(), short)
	}
}

func TestCheckPurpose(t *testing.T) {
	t.Parallel()
	// Only accounts at rails and on chains have a purpose that can be set.
	for path, ok := range map[string]bool{"rails/RTP": true, "chains/LAYER2": true, "own/OPERATING": false, "income/fees": false,
		"rails/rtp": false, "": false} {
		if err := safeguarding.CheckPurpose(path, safeguarding.Own); (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := safeguarding.CheckPurpose("rails/RTP", "THEIRS"); err == nil {
		t.Error("an unknown purpose is accepted")
	}
}
