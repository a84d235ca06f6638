package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
)

var noon = time.Date(2026, 3, 16, 12, 0, 0, 0, time.UTC)

func TestParseAmount(t *testing.T) {
	t.Parallel()
	// An amount is parsed exactly as written, or refused with the reason.
	for _, c := range []struct {
		text           string
		currency       money.Currency
		decimal, group byte
		want           int64
		wrong          string
	}{
		{"100.50", "USD", '.', 0, 10050, ""},
		{"-0.5", "USD", '.', 0, -50, ""},
		{"+7", "USD", '.', 0, 700, ""},
		{"1.234.567,89", "EUR", ',', '.', 123456789, ""},
		{"1 234", "JPY", '.', ' ', 1234, ""},
		{"0.00000001", "BTC", '.', 0, 1, ""},
		{"12", "JPY", '.', 0, 12, ""},
		{"12.0", "JPY", '.', 0, 0, "has 1 decimals, and JPY has 0"},
		{"1.005", "USD", '.', 0, 0, "has 3 decimals"},
		{"", "USD", '.', 0, 0, "is not an amount"},
		{".5", "USD", '.', 0, 0, "is not an amount"},
		{"5.", "USD", '.', 0, 0, "is not an amount"},
		{"--5", "USD", '.', 0, 0, "is not an amount"},
		{"(1.07)", "USD", '.', 0, 0, "is not an amount"},
		{"1.07.5", "USD", '.', 0, 0, "is not an amount"},
		{"1e3", "USD", '.', 0, 0, "is not an amount"},
		{"1,000.00", "USD", '.', 0, 0, "is not an amount"},
		{"1,00,000", "USD", '.', ',', 0, "not three digits long"},
		{",100", "USD", '.', ',', 0, "not three digits long"},
		{"90000000000000.01", "USD", '.', 0, 0, "exceeds the maximum amount"},
		{strings.Repeat("9", 41), "USD", '.', 0, 0, "is not an amount"},
	} {
		got, err := reconcile.ParseAmount(c.text, c.currency, c.decimal, c.group)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || got != c.want {
			t.Errorf("%q in %s: %d, %v; want %d, %q", c.text, c.currency, got, err, c.want, c.wrong)
		}
	}
}

func TestParseAmount_RoundTrip(t *testing.T) {
	t.Parallel()
	// Every amount of every currency is parsed back to the same minor units.
	rapid.Check(t, func(t *rapid.T) {
		amount := money.Amount{Minor: rapid.Int64Range(-money.MaxMinor, money.MaxMinor).Draw(t, "minor"),
			Currency: rapid.SampledFrom(money.Currencies()).Draw(t, "currency")}
		text, _, _ := strings.Cut(amount.String(), " ")
		if got, err := reconcile.ParseAmount(text, amount.Currency, '.', 0); err != nil || got != amount.Minor {
			t.Fatalf("%q is read as %d, %v", text, got, err)
		}
	})
}

func TestParseLayout(t *testing.T) {
	t.Parallel()
	// A layout is parsed, or refused with everything that is wrong.
	l, err := reconcile.ParseLayout("date=Day; amount = Total in USD;dateFormat=MM/DD/YYYY;delimiter=tab;")
	if err != nil || l.Columns[reconcile.ColumnAmount] != "Total in USD" || l.Delimiter != '\t' || l.Decimal != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if day, err := l.ParseDay("03/09/2026"); err != nil || day != monday {
		t.Errorf("03/09/2026 is %s, %v", day, err)
	}
	for text, want := range map[string][]string{
		"":                                {"date must name", "amount, or both"},
		"date=D;amount=A;debit=B":         {"amount, or both"},
		"date=D;debit=B":                  {"amount, or both"},
		"date=D;date=E;amount=A;x=y":      {"date is given twice", `"x" is not a field`},
		"date=D;amount=":                  {"has no value"},
		"date=D;amount=A;decimal=;":       {"has no value"},
		"date=D;amount=A;decimal=x":       {"decimal must be one of"},
		"date=D;amount=A;group=.":         {"must differ"},
		"date=D;amount=A;dateFormat=":     {"has no value"},
		"date=D;debit=A;credit=B;side=S":  {"side needs amount"},
		"date=D;amount=A;encoding=EBCDIC": {"encoding must be one of UTF-8"},
		"date=D;amount=A;dateFormat=YY-MM": {
			"dateFormat must be one of"},
		strings.Repeat("x", 2001): {"at most 2000 bytes"},
	} {
		_, err := reconcile.ParseLayout(text)
		for _, wrong := range want {
			if !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%.60q: %v, want %q", text, err, wrong)
			}
		}
	}
}

func TestParseEncoding(t *testing.T) {
	t.Parallel()
	// A file without columns may have an encoding and nothing else.
	for text, want := range map[string]string{
		"": "", "encoding=CP850": "", " encoding = UTF-16 ;": "", "date=D": `"date" is only valid for the format csv`,
		"encoding=x":                    "encoding must be one of",
		"encoding=UTF-8;encoding=UTF-8": "given twice", "\xff": "bytes of UTF-8",
	} {
		if _, err := reconcile.ParseEncoding(text); (err == nil) != (want == "") || err != nil &&
			(!fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLayout_ParseDay(t *testing.T) {
	t.Parallel()
	// A day is read in the named format, with or without a time of day, which does not change it.
	for _, c := range []struct {
		format, text string
		ok           bool
	}{
		{"YYYY-MM-DD", "2026-03-09", true}, {"YYYY-MM-DD", "2026-03-09T23:59:59.999999-11:00", true},
		{"YYYY-MM-DD", "2026-03-09 08:15:00 UTC", true},
		{"YYYY-MM-DD", "2026-03-09T00:00:00Z", true}, {"DD.MM.YYYY", "9.3.2026", true}, {"DD.MM.YYYY", "09.03.2026 08.15", true},
		{"MM/DD/YYYY", "3/9/2026 11:59 PM", true},
		{"MM/DD/YYYY", "03/09/2026, 1:02 am", true}, {"YYYYMMDD", "20260309", true}, {"DD.MM.YY", "09.03.26", true}, {"DD/MM/YY", "9/3/26", true},
		{"MM/DD/YY", "03/09/26", true},
		{"DD MMM YYYY", "9 Mar 2026", true}, {"DD-MMM-YYYY", "09-MAR-2026", true}, {"DD-MMM-YY", "09-mar-26", true},
		{"YYYYMMDD", "2026039", false}, {"YYYY-MM-DD", "26-03-09", false}, {"DD.MM.YY", "09.03.2026", false},
		{"DD MMM YYYY", "9 Mär 2026", false}, {"DD MMM YYYY", "9 anf 2026", false},
		{"DD MMM YYYY", "9 M", false}, {"YYYY-MM-DD", "2026-02-30", false}, {"YYYY-MM-DD", "2026-03-090", false},
		{"YYYY-MM-DD", "2026-03-09x", false}, {"YYYY-MM-DD", "2026-03-09T", false},
		{"YYYY-MM-DD", "2026-03", false}, {"YYYY-MM-DD", "", false}, {"DD.MM.YYYY", ".3.2026", false},
	} {
		day, err := reconcile.Layout{DateFormat: c.format}.ParseDay(c.text)
		if (err == nil) != c.ok || c.ok && day != monday {
			t.Errorf("%q as %s: %s, %v", c.text, c.format, day, err)
		}
	}
}

func TestParseSide(t *testing.T) {
	t.Parallel()
	// A word of either side is read in any case, and any other is refused.
	for text, want := range map[string]bool{"C": true, "cr": true, "Credit": true, "H": true, "Bij": true, "+": true, "D": false,
		"DBIT": false, "Soll": false, "af": false, "-": false} {
		if credit, err := reconcile.ParseSide(text); err != nil || credit != want {
			t.Errorf("%q: %v, %v", text, credit, err)
		}
	}
	if _, err := reconcile.ParseSide("X"); err == nil {
		t.Error("X is a side")
	}
}

func TestStatement_Finalize(t *testing.T) {
	t.Parallel()
	// A statement is valid if its days are not in the future, nor far in the future what its lines are valued on, and its lines match
	// its balances.
	ten, thirty := int64(10), int64(30)
	for _, c := range []struct {
		name  string
		s     reconcile.Statement
		wrong string
	}{
		{"lines", reconcile.Statement{Lines: []reconcile.Line{line(0, 20)}}, ""},
		{"balances", reconcile.Statement{Header: reconcile.Header{Opening: &ten, Closing: &thirty}, Lines: []reconcile.Line{line(0, 20)}}, ""},
		{"balances that do not fit", reconcile.Statement{Header: reconcile.Header{Opening: &ten, Closing: &thirty},
			Lines: []reconcile.Line{line(0, 21)}}, "is not complete"},
		{"no lines of some days", reconcile.Statement{Header: reconcile.Header{From: monday, To: monday + 1}}, ""},
		{"no lines of no days", reconcile.Statement{}, "has no lines"},
		{"tomorrow, where it is day already", reconcile.Statement{Lines: []reconcile.Line{line(8, 20)}}, ""},
		{"the day after tomorrow", reconcile.Statement{Lines: []reconcile.Line{line(9, 20)}}, "is in the future"},
		{"available after the weekend", reconcile.Statement{Lines: []reconcile.Line{valued(7, 11, 20)}}, ""},
		{"available in a month", reconcile.Statement{Lines: []reconcile.Line{valued(7, 38, 20)}}, ""},
		{"available later", reconcile.Statement{Lines: []reconcile.Line{valued(7, 39, 20)}},
			"more than 31 days after it is booked on 2026-03-16"},
		{"available long after, but by now", reconcile.Statement{Lines: []reconcile.Line{valued(-50, 7, 20)}}, ""},
		{"booked in days to come", reconcile.Statement{Lines: []reconcile.Line{valued(9, 7, 20)}}, "is in the future"},
		{"days to come", reconcile.Statement{Header: reconcile.Header{From: monday, To: monday + 10}}, "is in the future"},
		{"made in days to come", reconcile.Statement{Header: reconcile.Header{Created: noon.AddDate(0, 0, 2)},
			Lines: []reconcile.Line{line(0, 20)}}, "is in the future"},
		{"days in disorder", reconcile.Statement{Header: reconcile.Header{From: monday + 1, To: monday}}, "the end is before the start"},
		{"years", reconcile.Statement{Lines: []reconcile.Line{line(-500, 20), line(0, 20)}}, "split it into several files"},
	} {
		err := c.s.Finalize(noon.Add(time.Hour))
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	// A line has the same identity in every file, and two equal lines of one file have different
	// ones.
	named := line(0, 100)
	named.ServicerReference = "A1"
	redescribed := named
	redescribed.Description = "another description"
	first := []reconcile.Line{named, line(0, 100, "R"), line(0, 100, "R"), line(0, 100, "S"), line(1, 100, "R")}
	second := []reconcile.Line{line(0, 100, "R"), redescribed}
	reconcile.Identify(first)
	reconcile.Identify(second)

	seen := map[[32]byte]bool{}
	for i, l := range first {
		if seen[l.Identity] {
			t.Errorf("line %d has the identity of an earlier one", i)
		}
		seen[l.Identity] = true
	}
	if second[0].Identity != first[1].Identity || second[1].Identity != first[0].Identity {
		t.Error("a line has another identity in another file")
	}
	valued, later := line(0, 100, "V"), line(0, 100, "V")
	valued.ValuedOnly, later.ValuedOnly, later.Booked = true, true, later.Booked-3
	lines := []reconcile.Line{valued, later}
	reconcile.Identify(lines[:1])
	reconcile.Identify(lines[1:])
	if lines[0].Identity != lines[1].Identity {
		t.Error("a line without a booking day has another identity in a file that ends on another day")
	}
}

func TestResolveCommand_Correction(t *testing.T) {
	t.Parallel()
	// A correction posts the difference to the account in one balanced posting that names the
	// break; one that is not possible is refused.
	var b ident.Break
	b.SetUUID([16]byte{15: 7})
	account := reconcile.Account{Platform: ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.UUID{15: 1} }, noon),
		Path: "rails/RTP", Currency: "USD"}
	for _, c := range []struct {
		against    reconcile.OffsetAccount
		difference int64
		want       string
	}{
		{reconcile.OffsetUnmatched, 300, "unmatched_received rails/RTP → funding/unmatched"},
		{reconcile.OffsetUnmatched, -300, "unmatched_assigned funding/unmatched → rails/RTP"},
		{reconcile.OffsetExpense, -300, "fee expense/rails → rails/RTP"},
		{reconcile.OffsetExpense, 300, "fee rails/RTP → expense/rails"},
		{reconcile.OffsetFees, 300, "fee rails/RTP → income/fees"},
		{reconcile.OffsetFees, -300, ""},
		{reconcile.OffsetExpense, 0, ""},
		{reconcile.OffsetExpense, ledger.MaxAmount + 1, ""},
	} {
		command := reconcile.ResolveCommand{Note: "long " + strings.Repeat("é", 240), Offset: c.against}
		p, err := command.Correction(b, account, c.difference, noon)
		if c.want == "" {
			if !fault.Is(err, fault.InvalidInput) {
				t.Errorf("%s of %d: %v", c.against, c.difference, err)
			}
			continue
		}
		own := account
		own.Path = "own/OPERATING"
		if _, err := command.Correction(b, own, c.difference, noon); (err == nil) == (c.against == reconcile.OffsetUnmatched) {
			t.Errorf("%s of %d for the company's own account: %v", c.against, c.difference, err)
		}
		if err != nil || p.Validate() != nil {
			t.Errorf("%s of %d: %v, %v", c.against, c.difference, err, p.Validate())
			continue
		}
		changes, err := ledger.NetChanges(p)
		if err != nil || changes[0].Account.Path != "rails/RTP" && changes[1].Account.Path != "rails/RTP" {
			t.Errorf("%v, %v", changes, err)
		}
		for _, change := range changes {
			if change.Account.Path == "rails/RTP" && change.Amount != c.difference {
				t.Errorf("%s: the account changes by %d, want %d", c.against, change.Amount, c.difference)
			}
		}
		if got := string(p.Kind) + " " + p.Entries[0].Debit + " → " + p.Entries[0].Credit; got != c.want ||
			!strings.HasPrefix(p.Memo, b.String()+": long é") {
			t.Errorf("%s with %q, want %s", got, p.Memo, c.want)
		}
	}
}

func TestBreakDetails_CorrectedAt(t *testing.T) {
	t.Parallel()
	// A correction is effective on the day of the line, but never in the future; without a line it is now.
	booked := reconcile.DayOf(noon).Start()
	for name, c := range map[string]struct {
		line      *reconcile.Line
		now, want time.Time
	}{
		"later": {&reconcile.Line{Booked: reconcile.DayOf(noon)}, noon.AddDate(0, 0, 30),
			booked.AddDate(0, 0, 1).Add(-time.Microsecond)},
		"on the same day": {&reconcile.Line{Booked: reconcile.DayOf(noon)}, noon, noon},
		"without a line":  {nil, noon, noon},
		"without a day":   {&reconcile.Line{}, noon, noon},
	} {
		if got := (reconcile.BreakDetails{Line: c.line}).CorrectedAt(c.now); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
