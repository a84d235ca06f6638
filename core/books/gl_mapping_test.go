package books

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ledger"
)

func TestDefaultMapping_NamesEveryLineOfTheChart(t *testing.T) {
	t.Parallel()
	// Every line of the chart has an account in the built-in mapping, in the range of numbers of its class, and
	// the built-in mapping is itself a valid one.
	ranges := map[ledger.Class]string{ledger.Asset: "1", ledger.Liability: "2", ledger.Equity: "3", ledger.Income: "4", ledger.Expense: "56",
		ledger.Trading: "7"}
	for _, line := range ledger.Chart() {
		account, found := DefaultMapping().find(line.Path, "")
		if !found || len(account.Code) != 4 || !strings.Contains(ranges[line.Class], account.Code[:1]) || account.Name == "" {
			t.Errorf("%s (%s) has the account %+v: add a line to default_mapping.go", line.Path, line.Class, account)
		}
	}
	if m, err := NewMapping(DefaultMapping().Lines()); err != nil || !m.Equal(DefaultMapping()) {
		t.Errorf("got %v", err)
	}
	codes := map[string]string{}
	for _, line := range DefaultMapping().Lines() {
		if other, used := codes[line.Code]; used {
			t.Errorf("%s and %s have the same code %s", line.Path, other, line.Code)
		}
		codes[line.Code] = line.Path
	}
}

func TestMapping_MostExactLineCounts(t *testing.T) {
	t.Parallel()
	// Path and currency count before the path, that before the group and currency, and that before the group.
	lines := []MappingLine{
		{"rails/*", "", GLAccount{"1", "group"}},
		{"rails/*", "USD", GLAccount{"2", "group in dollars"}},
		{"rails/RTP", "", GLAccount{"3", "path"}},
		{"rails/RTP", "USD", GLAccount{"4", "path in dollars"}},
	}
	m := mapped(t, lines)
	for account, want := range map[[2]string]string{{"rails/RTP", "USD"}: "4", {"rails/RTP", "EUR"}: "3", {"rails/WIRE", "USD"}: "2",
		{"rails/WIRE", "EUR"}: "1", {"rails/<RAIL>", "USD"}: "2", {"income/fees", "USD"}: "4000"} {
		if got := m.Resolve(account[0], money.Currency(account[1])); got.Code != want {
			t.Errorf("%v has the code %s, want %s", account, got.Code, want)
		}
	}
}

// mapped returns the built-in mapping with further lines.
func mapped(t interface{ Fatal(...any) }, lines []MappingLine) Mapping {
	all := slices.Clone(lines)
	for _, line := range DefaultMapping().Lines() {
		if !slices.ContainsFunc(lines, func(l MappingLine) bool { return l.Path == line.Path && l.Currency == "" }) {
			all = append(all, line)
		}
	}
	m, err := NewMapping(all)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var testAccounts = []ledger.Account{
	{Path: "rails/RTP", Currency: "USD"}, {Path: "rails/RTP", Currency: "EUR"}, {Path: "rails/WIRE", Currency: "USD"},
	{Path: "income/fees", Currency: "USD"},
	{Path: "income/subscriptions", Currency: "EUR"}, {Path: "asset/taxes", Currency: "USD"}, {Path: "asset/cars", Currency: "EUR"},
}

func TestMapping_ResolvesAsPlainSearch(t *testing.T) {
	t.Parallel()
	// Whatever the lines, every account has a code, and it is that of the first of the four kinds of lines that
	// matches, searched one by one.
	rapid.Check(t, func(t *rapid.T) {
		paths := []string{"rails/*", "rails/RTP", "income/*", "income/fees", "asset/*", "asset/taxes", "asset/cars"}
		var lines []MappingLine
		for i, n := 0, rapid.IntRange(0, 8).Draw(t, "lines"); i < n; i++ {
			line := MappingLine{Path: rapid.SampledFrom(paths).Draw(t, "path"),
				Currency: rapid.SampledFrom([]money.Currency{"", "USD", "EUR"}).Draw(t, "currency")}
			line.GLAccount = GLAccount{fmt.Sprintf("X%d", i), fmt.Sprintf("account %d", i)}
			if !slices.ContainsFunc(lines, func(l MappingLine) bool { return l.Path == line.Path && l.Currency == line.Currency }) {
				lines = append(lines, line)
			}
		}
		m := mapped(t, lines)

		for _, a := range testAccounts {
			first, _, _ := strings.Cut(a.Path, "/")
			want := GLAccount{}
			for _, match := range []func(MappingLine) bool{
				func(l MappingLine) bool { return l.Path == a.Path && l.Currency == a.Currency },
				func(l MappingLine) bool { return l.Path == a.Path && l.Currency == "" },
				func(l MappingLine) bool { return l.Path == first+"/*" && l.Currency == a.Currency },
				func(l MappingLine) bool { return l.Path == first+"/*" && l.Currency == "" },
			} {
				if i := slices.IndexFunc(m.Lines(), match); i >= 0 {
					want = m.Lines()[i].GLAccount
					break
				}
			}
			if got := m.Resolve(a.Path, a.Currency); got != want || got.Code == "" {
				t.Fatalf("%s in %s: %+v, want %+v of %+v", a.Path, a.Currency, got, want, m.Lines())
			}
		}
	})
}

func TestNewMapping_ListsEverythingWrong(t *testing.T) {
	t.Parallel()
	// Each invalid line is named, with accounts of the chart that no line names.
	_, err := NewMapping([]MappingLine{
		{"rails/*", "", GLAccount{"1100", "Banks"}},
		{"rails/*", "", GLAccount{"1100", "Banks"}},
		{"rails/RTP", "", GLAccount{"1100", "Bank"}},
		{"banks/*", "XXX", GLAccount{"", "Bank\n"}},
		{"own/*", "", GLAccount{"-1100", "'=Bank"}}, // a journal would have them escaped
	})
	f, _ := fault.As(err)
	if got := fieldsOf(f.Fields); got != "lines[1] lines[2].name lines[3].path lines[3].currency lines[3].code lines[3].name lines[4].code "+
		"lines[4].name" {
		t.Errorf("wrong fields %q", got)
	}

	incomplete := slices.DeleteFunc(DefaultMapping().Lines(), func(l MappingLine) bool {
		return l.Path == "fx/valuation" ||
			l.Path == "rails/*"
	})
	_, err = NewMapping(append(incomplete, MappingLine{"rails/*", "USD", GLAccount{"1101", "Dollars"}}))
	f, _ = fault.As(err)
	if got := fieldsOf(f.Fields); got != "lines lines" || !strings.Contains(f.Fields[0].Message, "rails/<RAIL> or for rails/*") ||
		!strings.Contains(f.Fields[1].Message, "fx/valuation") {
		t.Errorf("incomplete: %+v", f.Fields)
	}
	if _, err := NewMapping(make([]MappingLine, MaxMappingLines+1)); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("too many lines: %v", err)
	}
}

func TestMapping_NewLineOfChartHasBuiltInAccount(t *testing.T) {
	t.Parallel()
	// A stored mapping that an earlier release accepted does not name what a later one adds to the chart: those
	// accounts have their built-in code, and the lines show it.
	stored := StoredMapping(slices.DeleteFunc(DefaultMapping().Lines(), func(l MappingLine) bool { return l.Path == "fx/valuation" }))

	if got := stored.Resolve("fx/valuation", "USD"); got.Code != "7100" {
		t.Errorf("got %+v", got)
	}
	if !StoredMapping(stored.Lines()).Equal(DefaultMapping()) {
		t.Errorf("lines %+v", stored.Lines())
	}
}
