package safeguarding_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"causeway/core/money"
	"causeway/core/price"
	"causeway/core/safeguarding"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func newReport() safeguarding.Report {
	r := safeguarding.Report{Day: "2026-03-13", Version: 1, AsOf: noon.Add(-12*time.Hour - time.Microsecond), MadeAt: noon, Seq: 7,
		PostingDigest: []byte{1, 2}, Checkpoint: "note",
		Figures: safeguarding.FiguresOf([]safeguarding.Line{
			{Section: safeguarding.Resource, Path: "rails/RTP", Currency: "USD", Amount: money.TotalOf(100)},
			{Section: safeguarding.Requirement, Path: "funding/jit", Currency: "USD", Amount: money.TotalOf(100)},
		}),
		Statements: []safeguarding.Statement{{Path: "rails/RTP", Currency: "USD", Day: "2026-03-12", Closing: money.TotalOf(90),
			Difference: money.TotalOf(-10), HasClosing: true}},
		Valuation: safeguarding.Valuation{Currency: "EUR", RatesKeptAt: noon, Missing: []money.Currency{"BTC"}, Requirement: money.TotalOf(91),
			Resource: money.TotalOf(90)},
	}
	r.By.Actor = "Ana"
	return r
}

func TestReport_DigestCoversEveryField(t *testing.T) {
	t.Parallel()
	// A change of anything in a report changes its digest.
	for name, change := range map[string]func(*safeguarding.Report){
		"day":         func(r *safeguarding.Report) { r.Day = "2026-03-12" },
		"version":     func(r *safeguarding.Report) { r.Version = 2 },
		"as of":       func(r *safeguarding.Report) { r.AsOf = noon },
		"made":        func(r *safeguarding.Report) { r.MadeAt = noon.Add(time.Microsecond) },
		"person":      func(r *safeguarding.Report) { r.By.Actor = "Bo" },
		"posting":     func(r *safeguarding.Report) { r.Seq = 8 },
		"hash":        func(r *safeguarding.Report) { r.PostingDigest = []byte{1, 3} },
		"checkpoint":  func(r *safeguarding.Report) { r.Checkpoint = "" },
		"amount":      func(r *safeguarding.Report) { r.Figures[0].Lines[0].Amount = money.TotalOf(101) },
		"section":     func(r *safeguarding.Report) { r.Figures[0].Lines[0].Section = safeguarding.OwnFunds },
		"line":        func(r *safeguarding.Report) { r.Figures[0].Lines = r.Figures[0].Lines[:1] },
		"statement":   func(r *safeguarding.Report) { r.Statements = nil },
		"closing":     func(r *safeguarding.Report) { r.Statements[0].Difference = money.TotalOf(0) },
		"breaks":      func(r *safeguarding.Report) { r.Statements[0].OpenBreaks = 1 },
		"currency":    func(r *safeguarding.Report) { r.Valuation.Currency = "GBP" },
		"rates":       func(r *safeguarding.Report) { r.Valuation.RatesKeptAt = time.Time{} },
		"missing":     func(r *safeguarding.Report) { r.Valuation.Missing = nil },
		"owed value":  func(r *safeguarding.Report) { r.Valuation.Requirement = money.TotalOf(90) },
		"held value":  func(r *safeguarding.Report) { r.Valuation.Resource = money.TotalOf(91) },
		"whole total": func(r *safeguarding.Report) { *r = safeguarding.Report{} },
	} {
		r := newReport()
		before := r.Digest()
		change(&r)
		if r.Digest() == before {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	if first, second := newReport(), newReport(); first.Digest() != second.Digest() {
		t.Error("two equal reports have different digests")
	}
}

func TestValue_RoundsAgainstTheCompany(t *testing.T) {
	t.Parallel()
	// What is owed is rounded up, what is held down; a currency without a rate is named.
	figures := []safeguarding.Figures{
		{Currency: "EUR", Requirement: money.TotalOf(3), Resource: money.TotalOf(3)},
		{Currency: "GBP", Requirement: money.TotalOf(3), Resource: money.TotalOf(-3)},
		{Currency: "BRL", Requirement: money.TotalOf(5), Resource: money.TotalOf(5)},
	}
	rate := func(text string) price.KeptRate { return price.KeptRate{Rate: money.MustRate(text), At: noon} }
	rates := price.KeptRates{At: noon, InUSD: map[money.Currency]price.KeptRate{"USD": rate("1"), "EUR": rate("1.1"), "GBP": rate("1.3")}}

	v := safeguarding.Value(figures, "USD", noon, rates)

	// 3.3 and 3.9 rounded up to 4 and 4; 3.3 down to 3 and -3.9 down to -4.
	want := safeguarding.Valuation{Currency: "USD", RatesKeptAt: noon, Missing: []money.Currency{"BRL"}}
	if got := [2]string{v.Requirement.String(), v.Resource.String()}; got != [2]string{"8", "-1"} || v.Complete() ||
		v.Status() != safeguarding.Shortfall {
		t.Errorf("value %v, complete %t", got, v.Complete())
	}
	v.Requirement, v.Resource = money.Total{}, money.Total{}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("valuation %+v, want %+v", v, want)
	}
	if late := safeguarding.Value(figures, "USD", noon.Add(25*time.Hour), rates); late.Complete() || !late.RatesKeptAt.IsZero() {
		t.Errorf("rates of the day before were used: %+v", late)
	}
	if none := safeguarding.Value(figures, "", noon, rates); none.Complete() || none.Currency != "" {
		t.Errorf("a value without a functional currency: %+v", none)
	}
}

func TestReport_NewShortfalls(t *testing.T) {
	t.Parallel()
	// A shortfall is new if the earlier version has none in the currency, or a smaller one; what was acknowledged holds while none is, and
	// not after one that has gone and come back.
	of := func(differences map[money.Currency]int64) (r safeguarding.Report) {
		var lines []safeguarding.Line
		for currency, d := range differences {
			lines = append(lines,
				safeguarding.Line{Section: safeguarding.Resource, Path: "rails/RTP", Currency: currency, Amount: money.TotalOf(100 + d)},
				safeguarding.Line{Section: safeguarding.Requirement, Path: "funding/jit", Currency: currency, Amount: money.TotalOf(100)})
		}
		r.Figures = safeguarding.FiguresOf(lines)
		return r
	}
	earlier := of(map[money.Currency]int64{"EUR": -5, "GBP": 7, "USD": 0})
	for name, c := range map[string]struct {
		now  map[money.Currency]int64
		want []money.Currency
	}{
		"the same":          {map[money.Currency]int64{"EUR": -5, "GBP": 7, "USD": 0}, nil},
		"smaller":           {map[money.Currency]int64{"EUR": -4, "USD": 3}, nil},
		"larger":            {map[money.Currency]int64{"EUR": -6, "GBP": 7}, []money.Currency{"EUR"}},
		"after an excess":   {map[money.Currency]int64{"EUR": -5, "GBP": -1}, []money.Currency{"GBP"}},
		"of a new currency": {map[money.Currency]int64{"BTC": -1, "EUR": 1, "USD": -1}, []money.Currency{"BTC", "USD"}},
		"nothing is owed":   {nil, nil},
	} {
		r := of(c.now)
		if got := r.NewShortfalls(earlier); !slices.Equal(got, c.want) ||
			safeguarding.StillAcknowledged([]safeguarding.Report{earlier, r, r}) != (len(c.want) == 0) ||
			safeguarding.StillAcknowledged([]safeguarding.Report{earlier, {}, earlier}) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if got := r.NewShortfalls(safeguarding.Report{}); !slices.Equal(got, r.Shortfalls()) {
			t.Errorf("%s: without an earlier version %v, want %v", name, got, r.Shortfalls())
		}
	}
}

func TestReport_ConfirmsMoreThan(t *testing.T) {
	t.Parallel()
	// A version confirms more if any account is confirmed that was not, whatever else is no longer confirmed, or short.
	of := func(eur, usd safeguarding.Confirmation) safeguarding.Report {
		return safeguarding.Report{Figures: safeguarding.FiguresOf([]safeguarding.Line{
			{Section: safeguarding.Resource, Path: "rails/SEPA", Currency: "EUR", Amount: money.TotalOf(-5), Confirmation: eur},
			{Section: safeguarding.Resource, Path: "rails/RTP", Currency: "USD", Amount: money.TotalOf(5), Confirmation: usd},
		})}
	}
	const none, statement = safeguarding.NoEvidence, safeguarding.ByStatement
	for _, c := range []struct {
		earlier, now safeguarding.Report
		more, lacks  bool
	}{
		{of(none, none), of(none, none), false, true},
		{of(none, none), of(none, statement), true, true},
		{of(statement, none), of(none, statement), true, true},
		{of(statement, none), of(statement, statement), true, false},
		{of(statement, statement), of(statement, none), false, true},
		{of("", ""), of("", ""), false, false}, // made before this was recorded
	} {
		if c.now.ConfirmsMoreThan(c.earlier) != c.more || c.now.LacksConfirmation() != c.lacks {
			t.Errorf("%+v after %+v: %t, %t", c.now.Figures, c.earlier.Figures, c.now.ConfirmsMoreThan(c.earlier), c.now.LacksConfirmation())
		}
	}
}

func TestDueDays(t *testing.T) {
	t.Parallel()
	// A day is due five minutes after its end. After a pause at most 31 days are.
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	for name, c := range map[string]struct {
		last        safeguarding.Day
		now         time.Time
		from, until safeguarding.Day
		days        int
	}{
		"first report":       {"", at("2026-03-14T12:00:00Z"), "2026-03-13", "2026-03-13", 1},
		"too early":          {"2026-03-12", at("2026-03-14T00:04:59Z"), "", "", 0},
		"in time":            {"2026-03-12", at("2026-03-14T00:05:00Z"), "2026-03-13", "2026-03-13", 1},
		"done":               {"2026-03-13", at("2026-03-14T23:00:00Z"), "", "", 0},
		"after a pause":      {"2026-03-09", at("2026-03-14T12:00:00Z"), "2026-03-10", "2026-03-13", 4},
		"after a long pause": {"2024-01-01", at("2026-03-14T12:00:00Z"), "2026-02-11", "2026-03-13", 31},
	} {
		got := safeguarding.DueDays(c.last, c.now)
		if len(got) != c.days || c.days > 0 && (got[0] != c.from || got[len(got)-1] != c.until) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestParseDay(t *testing.T) {
	t.Parallel()
	// A day has the form of ISO 8601 and exists.
	for text, ok := range map[string]bool{"2026-03-14": true, "2026-02-29": false, "2024-02-29": true, "2026-3-14": false,
		"1999-12-31": false, "": false} {
		if day, err := safeguarding.ParseDay(text); (err == nil) != ok || ok && string(day) != text {
			t.Errorf("%q: %s, %v", text, day, err)
		}
	}
	if day := safeguarding.Day("2026-12-31"); day.Next() != "2027-01-01" || !day.Last().Before(day.End()) ||
		day.End().Sub(day.Last()) != time.Microsecond {
		t.Errorf("after %s comes %s", day, day.Next())
	}
}
