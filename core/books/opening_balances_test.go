package books

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// openingRows returns the rows of a file.
func openingRows(t testing.TB, file string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(file))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestParseOpeningRows_ListsAThousandErrors(t *testing.T) {
	t.Parallel()
	// Of a file in which every row is wrong, 1,000 errors are listed, and how many more there are.
	rows := [][]string{{"account", "currency", "debit", "credit"}}
	for range 2_500 {
		rows = append(rows, []string{"asset/taxes", "XXX", "1", ""})
	}

	_, err := ParseOpeningRows(rows)

	f, ok := fault.As(err)
	if !ok || len(f.Fields) != 1_001 || f.Fields[1_000].Message != "has 1500 more errors" {
		t.Errorf("%.300v", err)
	}
}

func TestParseOpeningRows_ReadsMajorUnits(t *testing.T) {
	t.Parallel()
	// Amounts are in major units of their currency, on one side. Zeros after the minor unit are accepted, and lines
	// without an amount are left out.
	lines, err := ParseOpeningRows(openingRows(t,
		"Currency,account,debit,credit\nUSD,rails/RTP,1234.5,\nUSD,income/fees,,0.010\nJPY,rails/X,7,0\nBTC,chains/LAYER2,0.00000001,\nEUR,asset/taxes,0,0.00\n"))

	want := []OpeningLine{{2, "rails/RTP", "USD", 123450, ""}, {3, "income/fees", "USD", -1, ""}, {4, "rails/X", "JPY", 7, ""},
		{5, "chains/LAYER2", "BTC", 1, ""}}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("got %+v, %v", lines, err)
	}
}

func TestParseOpeningRows_ListsEveryWrongRow(t *testing.T) {
	t.Parallel()
	// Each row that cannot be read is named, all at once.
	_, err := ParseOpeningRows(openingRows(t, `account,currency,debit,credit
rails/RTP,USD,1.005,
rails/RTP,usd,1,
rails/RTP,USD,1,1
rails/RTP,USD,-1,
rails/RTP,USD,"1,000.00",
rails/RTP,USD,.5,
rails/RTP,USD,5.,
rails/RTP,USD,99999999999999999999,
rails/RTP,USD,1e3,
rails/RTP,USD,1
`))
	f, _ := fault.As(err)
	want := "row 2 debit,row 3 currency,row 4,row 5 debit,row 6 debit,row 7 debit,row 8 debit,row 9 debit,row 10 debit,row 11"
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Field)
	}
	if strings.Join(got, ",") != want {
		t.Errorf("fields %q, want %q", got, want)
	}
	if _, err := ParseOpeningRows([][]string{{"account", "amount"}}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a wrong header: %v", err)
	}
}

const testCustomer = "customers/InternalAccount:01990000-0000-7000-8100-000000000001"

func TestCheckOpening_ListsEveryWrongLine(t *testing.T) {
	t.Parallel()
	// Accounts that are not in the chart, repeated, not added or cannot be overdrawn, codes that are not those of
	// the mapping, and currencies that do not balance are listed together.
	lines := []OpeningLine{
		{2, "rails/RTP", "USD", 100, "1100"}, {3, "rails/RTP", "USD", 1, ""}, {4, "banks/x", "USD", -1, ""}, {5, "asset/cars", "USD", 1, ""},
		{6, testCustomer, "USD", 1, ""}, {7, "transit/internal", "USD", -1, ""}, {8, "income/fees", "USD", -1, "4711"},
		{9, "equity/brought-forward", "EUR", 5, ""},
		{10, "fx/valuation", "JPY", 0, ""}, {11, "customer-receivables/InternalAccount:01990000-0000-7000-8100-000000000001", "JPY", 0, ""},
	}
	_, err := CheckOpening(lines, OpeningChecks{Mapping: DefaultMapping()})

	f, _ := fault.As(err)
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Field)
	}
	if want := "row 3 account,row 4 account,row 5 account,row 6 account,row 7 account,row 8 gl_code,row 10 account,row 11 account,EUR,row 9 " +
		"account,USD"; strings.Join(got, ",") != want {
		t.Errorf("fields %q, want %q", got, want)
	}
	if last := f.Fields[len(f.Fields)-1].Message; !strings.Contains(last, "differ by 1.00") {
		t.Errorf("the difference: %s", last)
	}
	if _, err := CheckOpening(nil, OpeningChecks{}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("no lines: %v", err)
	}
}

func TestOpeningBalances_ReproduceTrialBalance(t *testing.T) {
	t.Parallel()
	// Whatever the balances, the entries leave every account with that of the file, and equity/brought-forward with
	// that of the file and the difference. The posting is one that the ledger accepts, its reversal restores zero.
	platform := ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.New() }, time.Now())
	paths := []string{"rails/RTP", "chains/LAYER2", "fx/position", "income/fees", "expense/rails", "liability/taxes", "equity/capital",
		"equity/brought-forward"}
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		_ = w.Write(OpeningColumns)
		want, difference := map[ledger.Account]int64{}, map[money.Currency]int64{}
		for _, currency := range []money.Currency{"USD", "JPY", "BTC"} {
			for _, path := range rapid.SliceOfDistinct(rapid.SampledFrom(paths[:7]), rapid.ID[string]).Draw(t, "paths") {
				minor := rapid.Int64Range(-1_000_000_000, 1_000_000_000).Filter(func(n int64) bool { return n != 0 }).Draw(t, "minor")
				debit, credit := money.TotalOf(minor).Major(currency), ""
				if minor < 0 {
					debit, credit = "", money.TotalOf(-minor).Major(currency)
				}
				_ = w.Write([]string{path, string(currency), debit, credit, ""})
				want[ledger.Account{Platform: platform, Path: path, Currency: currency}] = minor
				difference[currency] += minor
			}
		}
		w.Flush()
		rows, err := csv.NewReader(&file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		lines, err := ParseOpeningRows(rows)
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			return
		}
		opening, err := CheckOpening(lines, OpeningChecks{Mapping: DefaultMapping(), AgainstBroughtForward: true})
		if err != nil {
			t.Fatal(err)
		}

		got := map[ledger.Account]int64{}
		for _, b := range opening {
			header := ledger.Header{ID: ledger.OpeningBalancesID(platform, b.Currency, 0), Platform: platform, Effective: time.Now(),
				Memo: OpeningMemo(time.Now())}
			p := ledger.OpeningBalances(header, b.Currency, b.Balances())
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			if err := p.CheckOpeningBalances(0); err != nil {
				t.Fatal(err)
			}
			if err := ledger.Reverse(p, uuid.New(), p.Effective, "").Validate(); err != nil {
				t.Fatal(err)
			}
			for _, e := range p.Entries {
				got[ledger.Account{Platform: platform, Path: e.Debit, Currency: e.Currency}] += e.Amount
				got[ledger.Account{Platform: platform, Path: e.Credit, Currency: e.Currency}] -= e.Amount
			}
			if want := fmt.Sprint(difference[b.Currency]); b.Difference.String() != want {
				t.Fatalf("difference %s, want %s", b.Difference, want)
			}
			forward := ledger.Account{Platform: platform, Path: ledger.EquityBroughtForward, Currency: b.Currency}
			if got[forward] != -difference[b.Currency] {
				t.Fatalf("brought forward %d, want %d", got[forward], -difference[b.Currency])
			}
			delete(got, forward)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("balances %v, want %v", got, want)
		}
	})
}

func TestCheckOpening_BroughtForwardInFileNeedsNoEntry(t *testing.T) {
	t.Parallel()
	// A balance of equity/brought-forward in the file follows from the other accounts.
	opening, err := CheckOpening([]OpeningLine{{2, "rails/RTP", "USD", 100, ""}, {3, "equity/brought-forward", "USD", -100, ""}},
		OpeningChecks{Mapping: DefaultMapping()})
	if err != nil || opening[0].Difference.Sign() != 0 {
		t.Fatalf("%+v, %v", opening, err)
	}

	p := ledger.OpeningBalances(ledger.Header{}, "USD", opening[0].Balances())

	if len(p.Entries) != 1 || p.Entries[0] != (ledger.Entry{Debit: "rails/RTP", Credit: "equity/brought-forward",
		Currency: "USD", Amount: 100}) {
		t.Errorf("entries %+v", p.Entries)
	}
}

func TestOpeningMoment_IsTheLastMicrosecondOfTheDay(t *testing.T) {
	t.Parallel()
	// Balances as of a day are those at its end.
	day := time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)
	if got, want := OpeningMoment(day), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Microsecond); !got.Equal(want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
