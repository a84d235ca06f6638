package journal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/journal"
	"causeway/core/money"
	"causeway/ledger"
)

func span(t testing.TB, text string) journal.Span {
	t.Helper()
	s, err := journal.ParseSpan(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var builtIn = books.MappingVersion{Mapping: books.DefaultMapping()}

func TestParseSpan(t *testing.T) {
	t.Parallel()
	// A day or a month is read as it is written; the journals are dated its last day.
	for text, lastDay := range map[string]string{"2026-10-31": "2026-10-31", "2026-10": "2026-10-31", "2024-02": "2024-02-29",
		"2026-12-31": "2026-12-31"} {
		if s := span(t, text); s.String() != text || s.LastDay().Format(time.DateOnly) != lastDay || s.IsMonth() != (len(text) == 7) {
			t.Errorf("%s: %s, last day %s", text, s, s.LastDay())
		}
	}
	for _, text := range []string{"", "2026", "2026-13", "2026-02-30", "2026-1", "2026-10-31T00:00:00Z", "31.10.2026"} {
		if _, err := journal.ParseSpan(text); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSpan_Check(t *testing.T) {
	t.Parallel()
	// A span must be over and not too old.
	end := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		span string
		now  time.Time
		ok   bool
	}{{"2026-10", end, true}, {"2026-10", end.Add(-1), false}, {"2026-10-31", end, true}, {"2026-10-31", end.Add(-1), false},
		{"1999-12-31", end, false}, {"2000-01", end, true}} {
		if err := span(t, c.span).Check(c.now); (err == nil) != c.ok {
			t.Errorf("%s at %s: %v", c.span, c.now, err)
		}
	}
}

func TestCheckSpans(t *testing.T) {
	t.Parallel()
	// A month and its days are not journalled both; the same span again, and other days, are.
	made := []journal.Span{span(t, "2026-10-30"), span(t, "2026-11")}
	for text, ok := range map[string]bool{"2026-10-30": true, "2026-10-31": true, "2026-10": false, "2026-11": true, "2026-11-01": false,
		"2026-12-01": true} {
		if err := journal.CheckSpans(span(t, text), made); (err == nil) != ok || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// turnovers draws the turnovers of random entries, which are balanced.
func turnovers(t *rapid.T, label string) []journal.Turnover {
	paths := []string{ledger.Rail("RTP"), ledger.Rail("ACH"), ledger.IncomeFees, ledger.FundingJIT, ledger.EquityCapital}
	var all []journal.Turnover
	for range rapid.IntRange(0, 8).Draw(t, label+" entries") {
		currency := rapid.SampledFrom([]money.Currency{money.USD, money.EUR}).Draw(t, label+" currency")
		amount := money.TotalOf(rapid.Int64Range(1, money.MaxMinor).Draw(t, label+" amount"))
		all = append(all,
			journal.Turnover{Path: rapid.SampledFrom(paths).Draw(t, label+" debit"), Currency: currency, Debits: amount},
			journal.Turnover{Path: rapid.SampledFrom(paths).Draw(t, label+" credit"), Currency: currency, Credits: amount})
	}
	return all
}

func TestNext_JournalsAddUpToTheTurnovers(t *testing.T) {
	t.Parallel()
	// However the postings of a span arrive, its journals add up to the turnovers of each account of the
	// general ledger, each is balanced, and nothing is in two of them.
	day := span(t, "2026-10-31")
	rapid.Check(t, func(t *rapid.T) {
		var all []journal.Turnover
		var made []journal.Journal
		for i := range 3 {
			all = append(all, turnovers(t, string(rune('a'+i)))...)
			next, err := journal.Next(day, all, made, builtIn)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range next {
				if slices.ContainsFunc(made, func(m journal.Journal) bool { return m.Number == j.Number }) {
					t.Fatalf("%s was made before", j.Number)
				}
				if c := j.Control(); !c.Debits.Equal(c.Credits) || c.Lines == 0 {
					t.Fatalf("%s: debits %s, credits %s of %d lines", j.Number, c.Debits, c.Credits, c.Lines)
				}
			}
			made = append(made, next...)
		}
		if again, err := journal.Next(day, all, made, builtIn); err != nil || len(again) > 0 {
			t.Fatalf("repeated: %v, %v", again, err)
		}

		type key struct {
			currency money.Currency
			code     string
		}
		rest := map[key][2]money.Total{}
		for _, turnover := range all {
			k := key{turnover.Currency, builtIn.Resolve(turnover.Path, turnover.Currency).Code}
			rest[k] = [2]money.Total{rest[k][0].Add(turnover.Debits), rest[k][1].Add(turnover.Credits)}
		}
		for _, j := range made {
			for _, l := range j.Lines {
				k := key{j.Currency, l.Code}
				rest[k] = [2]money.Total{rest[k][0].Sub(l.Debit), rest[k][1].Sub(l.Credit)}
			}
		}
		for k, sums := range rest {
			if sums[0].Sign() != 0 || sums[1].Sign() != 0 {
				t.Fatalf("%s in %s: the journals lack debits of %s and credits of %s", k.code, k.currency, sums[0], sums[1])
			}
		}
	})
}

func TestNext_Numbers(t *testing.T) {
	t.Parallel()
	// The number says span, currency and revision, in at most 21 characters; a journal of more than was posted is
	// an error.
	fee := []journal.Turnover{{Path: ledger.Rail("RTP"), Currency: "USDC", Debits: money.TotalOf(5)},
		{Path: ledger.IncomeFees, Currency: "USDC", Credits: money.TotalOf(5)}}
	first, err := journal.Next(span(t, "2026-10"), fee, nil, builtIn)
	if err != nil || len(first) != 1 || first[0].Number != "CW-202610-USDC" || first[0].Revision != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := journal.Next(span(t, "2026-10"), slices.Concat(fee, fee), first, builtIn)
	if err != nil || len(second) != 1 || second[0].Number != "CW-202610-USDC-R2" || second[0].Revision != 2 {
		t.Fatalf("%+v, %v", second, err)
	}
	if _, err := journal.Next(span(t, "2026-10"), fee, slices.Concat(first, second), builtIn); err == nil {
		t.Error("journals of more than was posted are accepted")
	}
}

func TestJournal_Rows(t *testing.T) {
	t.Parallel()
	// Each program gets dates, accounts and amounts as its import takes them.
	j := journal.Journal{Number: "CW-20261031-USD", Span: span(t, "2026-10-31"), Currency: money.USD, Revision: 1, Lines: []journal.Line{
		{GLAccount: books.GLAccount{Code: "1100", Name: "Funds at partners"}, Debit: money.TotalOf(123_456)},
		{GLAccount: books.GLAccount{Code: "4000", Name: "=Fees"}, Credit: money.TotalOf(123_456)},
	}}
	for format, want := range map[journal.Format][]string{
		journal.CSV: {"CW-20261031-USD|2026-10-31|2026-10-31|USD|1|1100|Funds at partners|1234.56|",
			"CW-20261031-USD|2026-10-31|2026-10-31|USD|1|4000|'=Fees||1234.56"},
		journal.QuickBooks: {"CW-20261031-USD|10/31/2026|Funds at partners|1234.56||1100 Funds at partners, 2026-10-31|USD",
			"CW-20261031-USD|10/31/2026|'=Fees||1234.56|4000 =Fees, 2026-10-31|USD"},
		journal.Xero: {"CW-20261031-USD USD|31/10/2026|1100 Funds at partners, 2026-10-31|1100|Tax Exempt|1234.56",
			"CW-20261031-USD USD|31/10/2026|4000 =Fees, 2026-10-31|4000|Tax Exempt|-1234.56"},
		journal.NetSuite: {"CW-20261031-USD|10/31/2026|USD|Parent Company|1100|1234.56||1100 Funds at partners, 2026-10-31",
			"CW-20261031-USD|10/31/2026|USD|Parent Company|4000||1234.56|4000 =Fees, 2026-10-31"},
	} {
		rows, err := j.Rows(format, journal.Options{TaxRate: "Tax Exempt", Subsidiary: "Parent Company"})
		if err != nil || len(rows) != len(want) {
			t.Fatalf("%s: %v, %v", format, rows, err)
		}
		for i, row := range rows {
			if got := strings.Join(row, "|"); got != want[i] || len(row) != len(format.Header()) {
				t.Errorf("%s: %s\nwant %s", format, got, want[i])
			}
		}
	}
}

func TestJournal_Rows_Limits(t *testing.T) {
	t.Parallel()
	// Decimals and lines that a program does not take are refused by name; an amount with too many digits
	// becomes several lines of the same sum.
	line := journal.Line{GLAccount: books.GLAccount{Code: "1", Name: "A"}, Debit: money.TotalOf(3)}
	bitcoin := journal.Journal{Number: "CW-20261031-BTC", Span: span(t, "2026-10-31"), Currency: money.BTC, Lines: []journal.Line{line}}
	many := journal.Journal{Number: "CW-20261031-USD", Span: span(t, "2026-10-31"), Currency: money.USD,
		Lines: slices.Repeat([]journal.Line{line}, 10_001)}
	for _, format := range journal.Formats() {
		for _, j := range []journal.Journal{bitcoin, many} {
			if _, err := j.Rows(format, journal.Options{}); (err == nil) != (format == journal.CSV) || err != nil && !fault.Is(err, fault.Conflict) {
				t.Errorf("%s, %s: %v", format, j.Number, err)
			}
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		amount := money.TotalOf(rapid.Int64Range(1, money.MaxMinor).Draw(t, "amount"))
		large := journal.Journal{Number: "CW-20261031-JPY", Span: many.Span,
			Currency: rapid.SampledFrom([]money.Currency{money.USD, "JPY"}).Draw(t, "currency"),
			Lines:    []journal.Line{{GLAccount: line.GLAccount, Credit: amount}}}
		rows, err := large.Rows(journal.NetSuite, journal.Options{})
		if err != nil {
			t.Skip("more lines than NetSuite takes")
		}
		sum := money.Total{}
		for _, row := range rows {
			whole, _, _ := strings.Cut(row[6], ".")
			part, err := money.ParseTotal(strings.Replace(row[6], ".", "", 1))
			if len(whole) > 10 || err != nil || row[5] != "" {
				t.Fatalf("%v: %v", row, err)
			}
			sum = sum.Add(part)
		}
		if !sum.Equal(amount) {
			t.Errorf("%s became %s", amount, sum)
		}
	})
}
