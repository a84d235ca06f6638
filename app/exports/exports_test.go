package exports_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/app/exports"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

var goldenFiles = map[exports.Format]string{
	exports.CSV: "all.csv", exports.HLedger: "all.journal", exports.Ledger: "all.ledger", exports.Beancount: "all.beancount",
	exports.Camt053: "all.xml",
}

func TestExport_Formats(t *testing.T) {
	t.Parallel()
	// Every format equals its golden file, for the whole ledger and for one account in a month.
	env := newSmallEnv(t)
	march := period.Interval{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}
	for format, name := range goldenFiles {
		compareGolden(t, name, env.mustExport(exports.Request{Format: format}))
		compareGolden(t, strings.Replace(name, "all", "march", 1),
			env.mustExport(exports.Request{Format: format, LedgerFilter: ports.LedgerFilter{Interval: march, Path: "rails/SEPA_INSTANT",
				Currency: money.EUR}}))
	}
}

func TestExport_AsOfIsReproducible(t *testing.T) {
	t.Parallel()
	// An export can be repeated later byte for byte with the time that it contains, whatever has
	// been posted since.
	env := newSmallEnv(t)
	asOf := noon.AddDate(0, 0, 2).Add(time.Microsecond) // of two postings together the second is recorded a microsecond later
	before := map[exports.Format]string{}
	for format := range goldenFiles {
		before[format] = env.mustExport(exports.Request{Format: format})
		if !strings.Contains(before[format], "2026-03-12T12:00:00.000001Z") {
			t.Errorf("%s does not contain its time:\n%s", format, before[format])
		}
	}

	env.post(noon.AddDate(0, 1, 0), ledger.UnmatchedReceived(env.header(noon, "later"), ledger.Rail("ACH"), newAmount(7, money.USD)))

	for format := range goldenFiles {
		if after := env.mustExport(exports.Request{Format: format, AsOf: asOf}); after != before[format] {
			t.Errorf("%s: repeated it is\n%s\nand was\n%s", format, after, before[format])
		}
		if now := env.mustExport(exports.Request{Format: format}); now == before[format] {
			t.Errorf("%s: the later posting is missing", format)
		}
	}
}

func TestExportCSV_MatchesBalances(t *testing.T) {
	t.Parallel()
	// The entries in a CSV file add up to the change of every balance of the ledger, for random
	// postings, as of any time and for any period.
	env := newEnv(t)
	n := byte(0)
	rapid.Check(t, func(r *rapid.T) {
		n++
		env.platform = platformID(n) // a ledger of its own
		env.postRandom(rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1)), rapid.IntRange(1, 40).Draw(r, "postings"))
		request := exports.Request{Format: exports.CSV}
		if rapid.Bool().Draw(r, "past") {
			request.AsOf = noon.AddDate(0, 3, 0).Add(time.Duration(rapid.IntRange(0, 40).Draw(r, "ticks")) * time.Microsecond)
		}
		if rapid.Bool().Draw(r, "period") {
			request.From = noon.AddDate(0, 0, rapid.IntRange(-1, 60).Draw(r, "from"))
			request.To = request.From.AddDate(0, 0, rapid.IntRange(1, 60).Draw(r, "days"))
		}

		text := env.mustExport(request)

		sums := map[[2]string]int64{}
		for _, line := range csvRows(t, text) {
			minor, err := strconv.ParseInt(line["amount_minor"], 10, 64)
			if err != nil {
				r.Fatal(err)
			}
			if want := (money.Amount{Minor: minor, Currency: money.Currency(line["currency"])}).String(); want != line["amount"]+
				" "+line["currency"] {
				r.Errorf("%s is written %s", want, line["amount"])
			}
			sums[[2]string{line["debit"], line["currency"]}] += minor
			sums[[2]string{line["credit"], line["currency"]}] -= minor
		}
		for account, turnover := range env.turnovers(request.AsOf, request.LedgerFilter) {
			if got, want := sums[account], turnover.Closing-turnover.Opening; got != want {
				r.Errorf("the entries of %v add up to %d, the ledger to %d", account, got, want)
			}
			delete(sums, account)
		}
		if len(sums) > 0 {
			r.Errorf("not in the ledger: %v", sums)
		}
	})
}

// csvRows reads a CSV file by the names in its header.
func csvRows(t testing.TB, text string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]string
	for _, row := range rows[1:] {
		line := map[string]string{}
		for i, name := range rows[0] {
			line[name] = row[i]
		}
		lines = append(lines, line)
	}
	return lines
}

func TestExportCSV_EscapesFormulas(t *testing.T) {
	t.Parallel()
	// No memo becomes a formula or breaks a line: the file has one line for each entry, and no
	// field begins like a formula.
	env := newEnv(t)
	for _, memo := range maliciousMemos {
		env.post(noon, ledger.UnmatchedReceived(env.header(noon, memo), ledger.Rail("ACH"), newAmount(1, money.USD)))
	}

	text := env.mustExport(exports.Request{Format: exports.CSV})

	if lines := strings.Count(text, "\n"); lines != len(maliciousMemos)+1 || strings.Count(text, "\r\n") != lines {
		t.Errorf("%d lines for %d entries", lines, len(maliciousMemos))
	}
	for _, line := range csvRows(t, text) {
		for name, field := range line {
			if field != "" && strings.ContainsRune("=+-@\t\r＝", []rune(field)[0]) {
				t.Errorf("%s is %q", name, field)
			}
		}
	}
}

func TestExport_InvalidRequest(t *testing.T) {
	t.Parallel()
	// An invalid request is rejected with every invalid field, before anything is written.
	env := newSmallEnv(t)
	now := env.Clock.Now()
	for name, c := range map[string]struct {
		request exports.Request
		fields  string
	}{
		"an unknown format":    {exports.Request{Format: "xls"}, "format"},
		"a time in the future": {exports.Request{Format: exports.CSV, AsOf: now.Add(time.Second)}, "asOf"},
		"a period in the future": {exports.Request{Format: exports.CSV,
			LedgerFilter: ports.LedgerFilter{Interval: period.Interval{From: now.Add(1), To: now.Add(2)}}}, "from to"},
		"a period that is not over": {exports.Request{Format: exports.CSV,
			LedgerFilter: ports.LedgerFilter{Interval: period.Interval{From: noon, To: now.Add(2)}}}, "to"},
		"a reversed period": {exports.Request{Format: exports.CSV,
			LedgerFilter: ports.LedgerFilter{Interval: period.Interval{From: noon, To: noon}}}, "to"},
		"a path outside the chart": {exports.Request{Format: exports.CSV, LedgerFilter: ports.LedgerFilter{Path: "rails/ach"}}, "account"},
		"an account not posted to": {exports.Request{Format: exports.CSV, LedgerFilter: ports.LedgerFilter{Path: "rails/FEDNOW"}}, "account"},
		"not in that currency": {exports.Request{Format: exports.CSV, LedgerFilter: ports.LedgerFilter{Path: "rails/_X", Currency: "EUR"}},
			"account"},
		"not at that time": {exports.Request{Format: exports.CSV, AsOf: noon, LedgerFilter: ports.LedgerFilter{Path: "rails/_X"}},
			"account"},
		"an unknown currency": {exports.Request{Format: exports.CSV, LedgerFilter: ports.LedgerFilter{Currency: "XYZ"}}, "currency"},
		"bitcoin as camt.053": {exports.Request{Format: exports.Camt053, LedgerFilter: ports.LedgerFilter{Currency: money.BTC}},
			"currency"},
		"camt.053 without accounts": {exports.Request{Format: exports.Camt053, AsOf: noon.AddDate(-1, 0, 0)}, "format"},
		"every field invalid": {exports.Request{Format: "x", AsOf: now.AddDate(1, 0, 0), LedgerFilter: ports.LedgerFilter{Path: "x",
			Currency: "x"}}, "format asOf account currency"},
		"an account of another name": {exports.Request{Format: exports.HLedger,
			LedgerFilter: ports.LedgerFilter{Path: "customers/" + internalAccountID(9).String()}}, "account"},
	} {
		written, err := env.export(c.request)

		f, ok := fault.As(err)
		if !ok || f.Code != fault.InvalidInput || written != "" {
			t.Errorf("%s: %v, after %d bytes", name, err, len(written))
			continue
		}
		var fields []string
		for _, field := range f.Fields {
			fields = append(fields, field.Field)
		}
		if got := strings.Join(fields, " "); got != c.fields {
			t.Errorf("%s: invalid fields %s, want %s", name, got, c.fields)
		}
	}
}

func TestExport_OtherPlatformIsEmpty(t *testing.T) {
	t.Parallel()
	// An export has nothing of another platform.
	env := newSmallEnv(t)
	ctx := context.Background()
	other, err := env.newService().Export(platformID(77), exports.Request{Format: exports.CSV})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := other.Write(ctx, &out); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("another platform is given %v\n%s", err, out.String())
	}
}

func TestExport_MaxConcurrency(t *testing.T) {
	t.Parallel()
	// With a limit of one export at a time, in all or of a platform, a second is rejected with a
	// time to retry, and accepted after the first has ended. The limit of a platform does not
	// apply to others.
	env := newSmallEnv(t)
	for name, c := range map[string]struct {
		total, perPlatform int
		otherRejected      bool
	}{"in all": {1, 0, true}, "of a platform": {9, 1, false}, "no limit": {0, 0, false}} {
		limited := exports.New(exports.Config{Views: env.newViews(), Store: env.Store, Clock: env.Clock, MaxConcurrency: c.total,
			MaxPerPlatform: c.perPlatform})
		export := func(p ident.Platform, out io.Writer) error {
			document, err := limited.Export(p, exports.Request{Format: exports.CSV})
			if err != nil {
				t.Fatal(err)
			}
			return document.Write(context.Background(), out)
		}
		var second, other error
		first := export(env.platform, writerFunc(func(p []byte) (int, error) {
			second, other = export(env.platform, io.Discard), export(platformID(7), io.Discard)
			return len(p), nil
		}))
		rejected := func(err error) bool {
			f, ok := fault.As(err)
			return ok && f.Code == fault.RateLimited && f.RetryAfter > 0
		}
		if first != nil || rejected(second) != (c.total+c.perPlatform > 0) || rejected(other) != c.otherRejected {
			t.Errorf("%s: the first: %v, the second: %v, that of another platform: %v", name, first, second, other)
		}
		if err := export(env.platform, io.Discard); err != nil {
			t.Errorf("%s: afterwards: %v", name, err)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
