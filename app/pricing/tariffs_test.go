package pricing_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/pricing"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// office is where an operator works: a database with two platforms on it.
type office struct {
	*pricing.Tariffs
	t           *testing.T
	url         string
	here, there platform.Platform
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, url: pgtest.New(t)}
	made := ids.New()
	db, err := postgres.Open(t.Context(), postgres.Options{URL: o.url, MaxConnections: 4, Clock: portstest.NewFakeClock(noon), IDs: made})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	for _, home := range []*platform.Platform{&o.here, &o.there} {
		*home = portstest.SandboxPlatform(t, made, noon)
		home.Currencies[0].MaxAmount = 700_00 // dollars
		portstest.MustDo(t, db, func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, *home) })
	}
	o.Tariffs = pricing.New(db)
	return o
}

func (o *office) set(at pricing.Line, values corridor.OverrideInput) pricing.Changed {
	o.t.Helper()
	changed, err := o.Set(o.t.Context(), at, values, "as agreed")
	if err != nil {
		o.t.Fatal(err)
	}
	return changed
}

// shown is the line of a pair in the list.
func (o *office) shown(platformID, from, to string) pricing.Shown {
	o.t.Helper()
	list, err := o.List(o.t.Context(), platformID)
	if err != nil {
		o.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s pricing.Shown) bool { return string(s.From) == from && string(s.To) == to })
	if i < 0 {
		o.t.Fatalf("%s to %s is not listed", from, to)
	}
	return list[i]
}

func TestSetAndReset(t *testing.T) {
	t.Parallel()
	// What is set for all holds for every platform, except where one has terms of its
	// own; what is reset is as it was before, value by value.
	o := newOffice(t)
	here, there := o.here.ID.String(), o.there.ID.String()
	pair := pricing.Line{From: "USD", To: "BTC"}
	own := pricing.Line{From: "USD", To: "BTC", Platform: here}
	built := o.shown("", "USD", "BTC")

	first := o.set(pair, corridor.OverrideInput{Fixed: "30", Percent: "0.4%"})
	second := o.set(pair, corridor.OverrideInput{Percent: "0.2%", Lock: "2m"})
	o.set(own, corridor.OverrideInput{Fixed: "0"})

	if want := []string{"fee-fixed", "fee-percent"}; !slices.Equal(first.Names, want) || first.Before != built.Terms {
		t.Errorf("the first change did %+v", first)
	}
	if want := []string{"fee-percent", "lock"}; !slices.Equal(second.Names, want) {
		t.Errorf("the second change did %v, want %v", second.Names, want)
	}
	everybody := corridor.OverrideInput{Fixed: "30", Percent: "0.2%", Min: "100", Max: "100000000", Lock: "2m"}
	if got := o.shown("", "USD", "BTC"); got.Terms.Format() != everybody || len(got.Own) > 0 || !slices.Equal(got.Everybody, []string{"fee-fixed", "fee-percent", "lock"}) {
		t.Errorf("for all: %+v", got)
	}
	everybody.Max = "70000" // its own limit
	if got := o.shown(there, "USD", "BTC"); got.Terms.Format() != everybody || len(got.Own) > 0 || !slices.Equal(got.Narrowed, []string{"max"}) {
		t.Errorf("elsewhere: %+v", got)
	}
	everybody.Fixed = "0"
	if got := o.shown(here, "USD", "BTC"); got.Terms.Format() != everybody || !slices.Equal(got.Own, []string{"fee-fixed"}) {
		t.Errorf("here: %+v", got)
	}
	if got := o.shown(here, "USDC", "BTC"); len(got.Everybody)+len(got.Own)+len(got.Narrowed) > 0 {
		t.Errorf("another pair: %+v", got)
	}

	for _, at := range []pricing.Line{own, pair, pair} {
		if _, err := o.Reset(t.Context(), at, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := o.shown("", "USD", "BTC"); got.Terms != built.Terms || len(got.Everybody) > 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

func TestEveryMistakeIsNamedAndNothingChanged(t *testing.T) {
	t.Parallel()
	// A change with mistakes is refused with all of them at once, and leaves no trace.
	o := newOffice(t)
	nobody := "PlatformConfig:0199f0a2-0000-7000-8000-000000000009"
	good := corridor.OverrideInput{Fixed: "1"}
	for name, tt := range map[string]struct {
		at     pricing.Line
		values corridor.OverrideInput
		note   string
		bad    []string
	}{
		"everything":         {pricing.Line{From: "USD", To: "CAD", Platform: nobody}, corridor.OverrideInput{Fixed: "x", Percent: "3", Min: "0", Max: "-1", Lock: "1h"}, strings.Repeat("n", 501), []string{"corridor", "platform", "fee-fixed", "fee-percent", "lock", "max", "min", "note"}},
		"nothing to change":  {pricing.Line{From: "USD", To: "BTC"}, corridor.OverrideInput{}, "", []string{"change"}},
		"one currency":       {pricing.Line{From: "USD", To: "USD"}, good, "", []string{"corridor"}},
		"no currency":        {pricing.Line{From: "usd", To: "BTC"}, good, "", []string{"corridor"}},
		"no id":              {pricing.Line{From: "USD", To: "BTC", Platform: "acme"}, good, "", []string{"platform"}},
		"limits that cross":  {pricing.Line{From: "USD", To: "BTC"}, corridor.OverrideInput{Min: "500", Max: "400"}, "", []string{"min"}},
		"fees that take all": {pricing.Line{From: "USD", To: "BTC"}, corridor.OverrideInput{Fixed: "100"}, "", []string{"min"}},
	} {
		_, err := o.Set(t.Context(), tt.at, tt.values, tt.note)
		wrong, ok := fault.As(err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var names []string
		for _, f := range wrong.Fields {
			names = append(names, f.Field)
		}
		slices.Sort(names)
		slices.Sort(tt.bad)
		if !slices.Equal(names, tt.bad) {
			t.Errorf("%s: %v, want %v", name, wrong.Fields, tt.bad)
		}
	}
	if changes, err := o.History(t.Context(), pricing.Past{}); err != nil || len(changes) != 0 {
		t.Errorf("a trace was left: %v, %v", changes, err)
	}
	if _, err := o.List(t.Context(), nobody); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("terms of a platform that is not there: %v", err)
	}
	if _, err := o.History(t.Context(), pricing.Past{From: "XXX", Platform: "acme"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a history of what is not there: %v", err)
	}
	if _, err := o.Reset(t.Context(), pricing.Line{From: "USD", To: "CAD"}, ""); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a reset of what is not there: %v", err)
	}
}

func TestAResetMustLeaveTermsThatWork(t *testing.T) {
	t.Parallel()
	// A platform may have a small minimum because fees are low for all; the fees cannot
	// be taken back before that minimum is.
	o := newOffice(t)
	pair := pricing.Line{From: "USD", To: "BTC"}
	o.set(pair, corridor.OverrideInput{Fixed: "0"})
	o.set(pricing.Line{From: "USD", To: "BTC", Platform: o.here.ID.String()}, corridor.OverrideInput{Min: "10"})

	_, err := o.Reset(t.Context(), pair, "")

	if f, ok := fault.As(err); !ok || len(f.Fields) != 1 || !strings.Contains(f.Fields[0].Message, o.here.ID.String()) {
		t.Errorf("got %v", err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	// Each change is a row with what was before and is after, who and why; also one that
	// was made by hand in the database. A platform sees its own and those for all.
	o := newOffice(t)
	here, there := o.here.ID.String(), o.there.ID.String()
	o.set(pricing.Line{From: "USD", To: "BTC"}, corridor.OverrideInput{Fixed: "30"})
	o.set(pricing.Line{From: "USD", To: "BTC", Platform: here}, corridor.OverrideInput{Fixed: "20"})
	o.set(pricing.Line{From: "USD", To: "BTC", Platform: here}, corridor.OverrideInput{Fixed: "20"}) // nothing new
	o.set(pricing.Line{From: "EUR", To: "USD", Platform: there}, corridor.OverrideInput{Percent: "0.1%"})
	byHand(t, o.url, "UPDATE corridor_overrides SET lock_seconds = 120 WHERE platform_id IS NULL")
	if _, err := o.Reset(t.Context(), pricing.Line{From: "USD", To: "BTC"}, "over"); err != nil {
		t.Fatal(err)
	}

	told := func(p pricing.Past) (lines []string) {
		changes, err := o.History(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.By == "" || c.At.IsZero() {
				t.Errorf("nobody at no time: %+v", c)
			}
			before, after := c.Before.Format(), c.After.Format()
			lines = append(lines, strings.Join([]string{string(c.From), string(c.To), before.Fixed + before.Percent + before.Lock, after.Fixed + after.Percent + after.Lock, c.Note}, " "))
		}
		return lines
	}
	forAll, mine, theirs, hand, last := "USD BTC  30 as agreed", "USD BTC  20 as agreed", "EUR USD  0.1% as agreed", "USD BTC 30 302m ", "USD BTC 302m  over"
	for name, tt := range map[string]struct {
		past pricing.Past
		want []string
	}{
		"all":      {pricing.Past{}, []string{forAll, mine, theirs, hand, last}},
		"here":     {pricing.Past{Platform: here}, []string{forAll, mine, hand, last}},
		"there":    {pricing.Past{Platform: there, To: "USD"}, []string{theirs}},
		"one pair": {pricing.Past{From: "USD", To: "BTC"}, []string{forAll, mine, hand, last}},
		"none":     {pricing.Past{From: "GBP"}, nil},
	} {
		if got := told(tt.past); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	// Several operators change different values of one line at the same time: each
	// change is kept, and the history leads from one to the next.
	o := newOffice(t)
	var all sync.WaitGroup
	for _, values := range []corridor.OverrideInput{{Fixed: "1"}, {Percent: "0.1%"}, {Min: "200"}, {Max: "9000"}, {Lock: "3m"}} {
		all.Go(func() {
			if _, err := o.Set(t.Context(), pricing.Line{From: "USD", To: "BTC"}, values, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	if got := o.shown("", "USD", "BTC").Terms.Format(); got != (corridor.OverrideInput{Fixed: "1", Percent: "0.1%", Min: "200", Max: "9000", Lock: "3m"}) {
		t.Errorf("in the end the terms are %+v", got)
	}
	changes, err := o.History(t.Context(), pricing.Past{})
	if err != nil || len(changes) != 5 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	for i := 1; i < len(changes); i++ {
		if changes[i].Before.Format() != changes[i-1].After.Format() {
			t.Errorf("change %d begins at %+v, but the one before ends at %+v", i, changes[i].Before.Format(), changes[i-1].After.Format())
		}
	}
}

func byHand(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
