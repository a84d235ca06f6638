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

// env is where an operator works: a database with two platforms on it.
type env struct {
	*pricing.Service
	t                    *testing.T
	url                  string
	platformA, platformB platform.Platform
}

func newEnv(t *testing.T) *env {
	t.Helper()
	o := &env{t: t, url: pgtest.New(t)}
	made := ids.New()
	db, err := postgres.Open(t.Context(), postgres.Options{URL: o.url, MaxConnections: 4, Clock: portstest.NewFakeClock(noon), IDs: made})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	for _, home := range []*platform.Platform{&o.platformA, &o.platformB} {
		*home = portstest.SandboxPlatform(t, made, noon)
		home.Currencies[0].MaxAmount = 700_00 // dollars
		portstest.MustDo(t, db, func(ctx context.Context, tx ports.Tx) error { return tx.CreatePlatform(ctx, *home) })
	}
	o.Service = pricing.New(db)
	return o
}

func (o *env) mustSet(at pricing.CorridorInput, values corridor.OverrideInput) pricing.ChangeResult {
	o.t.Helper()
	changed, err := o.Set(o.t.Context(), at, values, "as agreed")
	if err != nil {
		o.t.Fatal(err)
	}
	return changed
}

// termsOf is the line of a pair in the list.
func (o *env) termsOf(platformID, from, to string) pricing.CorridorTerms {
	o.t.Helper()
	list, err := o.List(o.t.Context(), platformID)
	if err != nil {
		o.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s pricing.CorridorTerms) bool { return string(s.From) == from && string(s.To) == to })
	if i < 0 {
		o.t.Fatalf("%s to %s is not listed", from, to)
	}
	return list[i]
}

func TestService_SetAndReset(t *testing.T) {
	t.Parallel()
	// What is set for all holds for every platform, except where one has terms of its
	// own; what is reset is as it was before, value by value.
	o := newEnv(t)
	here, there := o.platformA.ID.String(), o.platformB.ID.String()
	pair := pricing.CorridorInput{From: "USD", To: "BTC"}
	own := pricing.CorridorInput{From: "USD", To: "BTC", Platform: here}
	built := o.termsOf("", "USD", "BTC")

	first := o.mustSet(pair, corridor.OverrideInput{Fixed: "30", Percent: "0.4%"})
	second := o.mustSet(pair, corridor.OverrideInput{Percent: "0.2%", Lock: "2m"})
	o.mustSet(own, corridor.OverrideInput{Fixed: "0"})

	if want := []string{"fee-fixed", "fee-percent"}; !slices.Equal(first.ChangedFields, want) || first.Before != built.Terms {
		t.Errorf("the first change did %+v", first)
	}
	if want := []string{"fee-percent", "lock"}; !slices.Equal(second.ChangedFields, want) {
		t.Errorf("the second change did %v, want %v", second.ChangedFields, want)
	}
	everybody := corridor.OverrideInput{Fixed: "30", Percent: "0.2%", Min: "100", Max: "100000000", Lock: "2m"}
	if got := o.termsOf("", "USD", "BTC"); got.Terms.Format() != everybody || len(got.ChangedForPlatform) > 0 || !slices.Equal(got.ChangedForAll, []string{"fee-fixed", "fee-percent", "lock"}) {
		t.Errorf("for all: %+v", got)
	}
	everybody.Max = "70000" // its own limit
	if got := o.termsOf(there, "USD", "BTC"); got.Terms.Format() != everybody || len(got.ChangedForPlatform) > 0 || !slices.Equal(got.LimitedByPlatform, []string{"max"}) {
		t.Errorf("elsewhere: %+v", got)
	}
	everybody.Fixed = "0"
	if got := o.termsOf(here, "USD", "BTC"); got.Terms.Format() != everybody || !slices.Equal(got.ChangedForPlatform, []string{"fee-fixed"}) {
		t.Errorf("here: %+v", got)
	}
	if got := o.termsOf(here, "USDC", "BTC"); len(got.ChangedForAll)+len(got.ChangedForPlatform)+len(got.LimitedByPlatform) > 0 {
		t.Errorf("another pair: %+v", got)
	}

	for _, at := range []pricing.CorridorInput{own, pair, pair} {
		if _, err := o.Reset(t.Context(), at, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := o.termsOf("", "USD", "BTC"); got.Terms != built.Terms || len(got.ChangedForAll) > 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

func TestService_ReportsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// A change with mistakes is refused with all of them at once, and leaves no trace.
	o := newEnv(t)
	nobody := "PlatformConfig:0199f0a2-0000-7000-8000-000000000009"
	good := corridor.OverrideInput{Fixed: "1"}
	for name, tt := range map[string]struct {
		at     pricing.CorridorInput
		values corridor.OverrideInput
		note   string
		bad    []string
	}{
		"everything":         {pricing.CorridorInput{From: "USD", To: "CAD", Platform: nobody}, corridor.OverrideInput{Fixed: "x", Percent: "3", Min: "0", Max: "-1", Lock: "1h"}, strings.Repeat("n", 501), []string{"corridor", "platform", "fee-fixed", "fee-percent", "lock", "max", "min", "note"}},
		"nothing to change":  {pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{}, "", []string{"change"}},
		"one currency":       {pricing.CorridorInput{From: "USD", To: "USD"}, good, "", []string{"corridor"}},
		"no currency":        {pricing.CorridorInput{From: "usd", To: "BTC"}, good, "", []string{"corridor"}},
		"no id":              {pricing.CorridorInput{From: "USD", To: "BTC", Platform: "acme"}, good, "", []string{"platform"}},
		"limits that cross":  {pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{Min: "500", Max: "400"}, "", []string{"min"}},
		"fees that take all": {pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{Fixed: "100"}, "", []string{"min"}},
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
	if changes, err := o.History(t.Context(), pricing.HistoryFilter{}); err != nil || len(changes) != 0 {
		t.Errorf("a trace was left: %v, %v", changes, err)
	}
	if _, err := o.List(t.Context(), nobody); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("terms of a platform that is not there: %v", err)
	}
	if _, err := o.History(t.Context(), pricing.HistoryFilter{From: "XXX", Platform: "acme"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a history of what is not there: %v", err)
	}
	if _, err := o.Reset(t.Context(), pricing.CorridorInput{From: "USD", To: "CAD"}, ""); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("a reset of what is not there: %v", err)
	}
}

func TestService_ResetMustLeaveValidTerms(t *testing.T) {
	t.Parallel()
	// A platform may have a small minimum because fees are low for all; the fees cannot
	// be taken back before that minimum is.
	o := newEnv(t)
	pair := pricing.CorridorInput{From: "USD", To: "BTC"}
	o.mustSet(pair, corridor.OverrideInput{Fixed: "0"})
	o.mustSet(pricing.CorridorInput{From: "USD", To: "BTC", Platform: o.platformA.ID.String()}, corridor.OverrideInput{Min: "10"})

	_, err := o.Reset(t.Context(), pair, "")

	if f, ok := fault.As(err); !ok || len(f.Fields) != 1 || !strings.Contains(f.Fields[0].Message, o.platformA.ID.String()) {
		t.Errorf("got %v", err)
	}
}

func TestService_History(t *testing.T) {
	t.Parallel()
	// Each change is a row with what was before and is after, who and why; also one that
	// was made by hand in the database. A platform sees its own and those for all.
	o := newEnv(t)
	here, there := o.platformA.ID.String(), o.platformB.ID.String()
	o.mustSet(pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{Fixed: "30"})
	o.mustSet(pricing.CorridorInput{From: "USD", To: "BTC", Platform: here}, corridor.OverrideInput{Fixed: "20"})
	o.mustSet(pricing.CorridorInput{From: "USD", To: "BTC", Platform: here}, corridor.OverrideInput{Fixed: "20"}) // nothing new
	o.mustSet(pricing.CorridorInput{From: "EUR", To: "USD", Platform: there}, corridor.OverrideInput{Percent: "0.1%"})
	execSQL(t, o.url, "UPDATE corridor_overrides SET lock_seconds = 120 WHERE platform_id IS NULL")
	if _, err := o.Reset(t.Context(), pricing.CorridorInput{From: "USD", To: "BTC"}, "over"); err != nil {
		t.Fatal(err)
	}

	told := func(p pricing.HistoryFilter) (lines []string) {
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
		past pricing.HistoryFilter
		want []string
	}{
		"all":      {pricing.HistoryFilter{}, []string{forAll, mine, theirs, hand, last}},
		"here":     {pricing.HistoryFilter{Platform: here}, []string{forAll, mine, hand, last}},
		"there":    {pricing.HistoryFilter{Platform: there, To: "USD"}, []string{theirs}},
		"one pair": {pricing.HistoryFilter{From: "USD", To: "BTC"}, []string{forAll, mine, hand, last}},
		"none":     {pricing.HistoryFilter{From: "GBP"}, nil},
	} {
		if got := told(tt.past); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestService_ConcurrentChangesAreAllKept(t *testing.T) {
	t.Parallel()
	// Several operators change different values of one line at the same time: each
	// change is kept, and the history leads from one to the next.
	o := newEnv(t)
	var all sync.WaitGroup
	for _, values := range []corridor.OverrideInput{{Fixed: "1"}, {Percent: "0.1%"}, {Min: "200"}, {Max: "9000"}, {Lock: "3m"}} {
		all.Go(func() {
			if _, err := o.Set(t.Context(), pricing.CorridorInput{From: "USD", To: "BTC"}, values, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	if got := o.termsOf("", "USD", "BTC").Terms.Format(); got != (corridor.OverrideInput{Fixed: "1", Percent: "0.1%", Min: "200", Max: "9000", Lock: "3m"}) {
		t.Errorf("in the end the terms are %+v", got)
	}
	changes, err := o.History(t.Context(), pricing.HistoryFilter{})
	if err != nil || len(changes) != 5 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	for i := 1; i < len(changes); i++ {
		if changes[i].Before.Format() != changes[i-1].After.Format() {
			t.Errorf("change %d begins at %+v, but the one before ends at %+v", i, changes[i].Before.Format(), changes[i-1].After.Format())
		}
	}
}

func execSQL(t *testing.T, url, statement string) {
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
