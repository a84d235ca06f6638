package pricing_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/pricing"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/core/platform"
)

// env is the environment of a test with the use cases on it, and a second platform. Both
// platforms limit payments in dollars to 700.
type env struct {
	*apptest.Env
	t             *testing.T
	pricing       *pricing.Service
	otherPlatform platform.Platform
}

func newEnv(t *testing.T) *env {
	t.Helper()
	limit := func(p *platform.Platform) { p.Currencies[0].MaxAmount = 700_00 }
	e := apptest.New(t, apptest.EditPlatform(limit))
	for _, known := range []platform.Author{itself(), ben} {
		e.NewPerson(person.Finance, func(p *person.Person) { p.ID, p.Email = known.Person, known.Actor })
	}
	return &env{Env: e, t: t, pricing: pricing.New(pricing.Config{Store: e.Store.Pricing(), Clock: e.Clock,
		IDs: e.IDs}),
		otherPlatform: e.NewPlatform(limit)}
}

func (e *env) mustSet(at pricing.CorridorInput, values corridor.OverrideInput) pricing.ChangeResult {
	e.t.Helper()
	changed, err := e.pricing.Set(e.t.Context(), pricing.Author{Note: "as agreed"}, at, values)
	if err != nil {
		e.t.Fatal(err)
	}
	return changed
}

// termsOf returns the listed terms of a corridor.
func (e *env) termsOf(platformID, from, to string) pricing.CorridorTerms {
	e.t.Helper()
	list, err := e.pricing.List(e.t.Context(), platformID)
	if err != nil {
		e.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s pricing.CorridorTerms) bool { return string(s.From) == from && string(s.To) == to })
	if i < 0 {
		e.t.Fatalf("%s to %s is not listed", from, to)
	}
	return list[i]
}

func TestService_SetAndReset(t *testing.T) {
	t.Parallel()
	// General terms apply to every platform, except values that a platform has of its own. A
	// reset removes one override and restores the values below it.
	env := newEnv(t)
	platformID, otherID := env.Platform.ID.String(), env.otherPlatform.ID.String()
	pair := pricing.CorridorInput{From: "USD", To: "BTC"}
	own := pricing.CorridorInput{From: "USD", To: "BTC", Platform: platformID}
	builtIn := env.termsOf("", "USD", "BTC")

	first := env.mustSet(pair, corridor.OverrideInput{Fixed: "30", Percent: "0.4%"})
	second := env.mustSet(pair, corridor.OverrideInput{Percent: "0.2%", Lock: "2m"})
	env.mustSet(own, corridor.OverrideInput{Fixed: "0"})

	if want := []string{"fee-fixed", "fee-percent"}; !slices.Equal(first.ChangedFields, want) || first.Before != builtIn.Terms {
		t.Errorf("the first change: %+v", first)
	}
	if want := []string{"fee-percent", "lock"}; !slices.Equal(second.ChangedFields, want) {
		t.Errorf("the second change: %v, want %v", second.ChangedFields, want)
	}
	general := corridor.OverrideInput{Fixed: "30", Percent: "0.2%", Min: "100", Max: "100000000", Lock: "2m"}
	if got := env.termsOf("", "USD", "BTC"); got.Terms.Format() != general || len(got.ChangedForPlatform) > 0 ||
		!slices.Equal(got.ChangedForAll, []string{"fee-fixed", "fee-percent", "lock"}) {
		t.Errorf("general terms: %+v", got)
	}
	general.Max = "70000" // the platform's own limit
	if got := env.termsOf(otherID, "USD", "BTC"); got.Terms.Format() != general || len(got.ChangedForPlatform) > 0 ||
		!slices.Equal(got.LimitedByPlatform, []string{"max"}) {
		t.Errorf("the other platform: %+v", got)
	}
	general.Fixed = "0"
	if got := env.termsOf(platformID, "USD", "BTC"); got.Terms.Format() != general ||
		!slices.Equal(got.ChangedForPlatform, []string{"fee-fixed"}) {
		t.Errorf("the platform: %+v", got)
	}
	if got := env.termsOf(platformID, "USDC", "BTC"); len(got.ChangedForAll)+len(got.ChangedForPlatform)+len(got.LimitedByPlatform) > 0 {
		t.Errorf("another pair: %+v", got)
	}

	for _, at := range []pricing.CorridorInput{own, pair, pair} {
		if _, err := env.pricing.Reset(t.Context(), pricing.Author{}, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := env.termsOf("", "USD", "BTC"); got.Terms != builtIn.Terms || len(got.ChangedForAll) > 0 {
		t.Errorf("after the reset: %+v", got)
	}
}

func TestService_SetWithinOneCurrency(t *testing.T) {
	t.Parallel()
	// The fees of payments that are funded and paid out in one currency can be changed like those of
	// any pair.
	env := newEnv(t)
	done, err := env.pricing.Set(t.Context(), pricing.Author{Note: "domestic"}, pricing.CorridorInput{From: "USD", To: "USD"},
		corridor.OverrideInput{Fixed: "20"})
	if err != nil || done.Before.Fee.Fixed != 50 || done.After.Fee.Fixed != 20 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestService_ReportsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// An invalid change is rejected with all invalid fields, and nothing is recorded.
	env := newEnv(t)
	unknownID := "PlatformConfig:0199f0a2-0000-7000-8000-000000000009"
	valid := corridor.OverrideInput{Fixed: "1"}
	for name, tt := range map[string]struct {
		at     pricing.CorridorInput
		values corridor.OverrideInput
		note   string
		bad    []string
	}{
		"everything": {pricing.CorridorInput{From: "USD", To: "CAD", Platform: unknownID},
			corridor.OverrideInput{Fixed: "x", Percent: "3", Min: "0", Max: "-1", Lock: "1h"}, strings.Repeat("n", 501),
			[]string{"corridor", "platform", "fee-fixed", "fee-percent", "lock", "max", "min", "note"}},
		"nothing to change":       {pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{}, "", []string{"change"}},
		"one currency, announced": {pricing.CorridorInput{From: "CAD", To: "CAD"}, valid, "", []string{"corridor"}},
		"lower case currency":     {pricing.CorridorInput{From: "usd", To: "BTC"}, valid, "", []string{"corridor"}},
		"invalid platform id":     {pricing.CorridorInput{From: "USD", To: "BTC", Platform: "acme"}, valid, "", []string{"platform"}},
		"minimum over maximum": {pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{Min: "500", Max: "400"},
			"", []string{"min"}},
		"fee over minimum": {pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{Fixed: "100"}, "", []string{"min"}},
	} {
		_, err := env.pricing.Set(t.Context(), pricing.Author{Note: tt.note}, tt.at, tt.values)
		invalid, ok := fault.As(err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var names []string
		for _, f := range invalid.Fields {
			names = append(names, f.Field)
		}
		slices.Sort(names)
		slices.Sort(tt.bad)
		if !slices.Equal(names, tt.bad) {
			t.Errorf("%s: %v, want %v", name, invalid.Fields, tt.bad)
		}
	}
	if changes, err := env.pricing.History(t.Context(), pricing.HistoryFilter{}); err != nil || len(changes) != 0 {
		t.Errorf("recorded: %v, %v", changes, err)
	}
	if _, err := env.pricing.List(t.Context(), unknownID); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("terms of an unknown platform: %v", err)
	}
	if _, err := env.pricing.History(t.Context(), pricing.HistoryFilter{From: "XXX", Platform: "acme"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("history of an unknown currency and platform: %v", err)
	}
	if _, err := env.pricing.Reset(t.Context(), pricing.Author{}, pricing.CorridorInput{From: "USD", To: "CAD"}); !fault.Is(err,
		fault.InvalidInput) {
		t.Errorf("reset of an unknown corridor: %v", err)
	}
}

func TestService_ResetMustLeaveValidTerms(t *testing.T) {
	t.Parallel()
	// A platform has a small minimum, which low general fees allow. The general fees cannot be
	// reset while that minimum is set.
	env := newEnv(t)
	pair := pricing.CorridorInput{From: "USD", To: "BTC"}
	env.mustSet(pair, corridor.OverrideInput{Fixed: "0"})
	env.mustSet(pricing.CorridorInput{From: "USD", To: "BTC", Platform: env.Platform.ID.String()}, corridor.OverrideInput{Min: "10"})

	_, err := env.pricing.Reset(t.Context(), pricing.Author{}, pair)

	if f, ok := fault.As(err); !ok || len(f.Fields) != 1 || !strings.Contains(f.Fields[0].Message, env.Platform.ID.String()) {
		t.Errorf("got %v", err)
	}
}

func TestService_History(t *testing.T) {
	t.Parallel()
	// Each change is recorded with the values before and after, the actor and the note, also
	// one made directly in the database. A platform's history has its own changes and the
	// general ones.
	env := newEnv(t)
	platformID, otherID := env.Platform.ID.String(), env.otherPlatform.ID.String()
	env.mustSet(pricing.CorridorInput{From: "USD", To: "BTC"}, corridor.OverrideInput{Fixed: "30"})
	env.mustSet(pricing.CorridorInput{From: "USD", To: "BTC", Platform: platformID}, corridor.OverrideInput{Fixed: "20"})
	env.mustSet(pricing.CorridorInput{From: "USD", To: "BTC", Platform: platformID}, corridor.OverrideInput{Fixed: "20"}) // changes nothing
	env.mustSet(pricing.CorridorInput{From: "EUR", To: "USD", Platform: otherID}, corridor.OverrideInput{Percent: "0.1%"})
	if err := env.Exec("UPDATE corridor_overrides SET lock_seconds = 120 WHERE platform_id IS NULL"); err != nil {
		t.Fatal(err)
	}
	if _, err := env.pricing.Reset(t.Context(), pricing.Author{Note: "over"}, pricing.CorridorInput{From: "USD", To: "BTC"}); err != nil {
		t.Fatal(err)
	}

	history := func(p pricing.HistoryFilter) (lines []string) {
		changes, err := env.pricing.History(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.By == "" || c.At.IsZero() {
				t.Errorf("no actor or no time: %+v", c)
			}
			before, after := c.Before.Format(), c.After.Format()
			lines = append(lines, strings.Join([]string{string(c.From), string(c.To), before.Fixed + before.Percent + before.Lock,
				after.Fixed + after.Percent + after.Lock, c.Note}, " "))
		}
		return lines
	}
	general, own, others, manual, reset := "USD BTC  30 as agreed", "USD BTC  20 as agreed", "EUR USD  0.1% as agreed", "USD BTC 30 302m ",
		"USD BTC 302m  over"
	for name, tt := range map[string]struct {
		filter pricing.HistoryFilter
		want   []string
	}{
		"all":      {pricing.HistoryFilter{}, []string{general, own, others, manual, reset}},
		"platform": {pricing.HistoryFilter{Platform: platformID}, []string{general, own, manual, reset}},
		"other":    {pricing.HistoryFilter{Platform: otherID, To: "USD"}, []string{others}},
		"one pair": {pricing.HistoryFilter{From: "USD", To: "BTC"}, []string{general, own, manual, reset}},
		"none":     {pricing.HistoryFilter{From: "GBP"}, nil},
	} {
		if got := history(tt.filter); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestService_ConcurrentChangesAreAllKept(t *testing.T) {
	t.Parallel()
	// Several operators change different values of one corridor at the same time. Every change
	// is kept, and in the history each begins where the one before ended.
	env := newEnv(t)
	var changing sync.WaitGroup
	for _, values := range []corridor.OverrideInput{{Fixed: "1"}, {Percent: "0.1%"}, {Min: "200"}, {Max: "9000"}, {Lock: "3m"}} {
		changing.Go(func() {
			if _, err := env.pricing.Set(t.Context(), pricing.Author{}, pricing.CorridorInput{From: "USD", To: "BTC"}, values); err != nil {
				t.Error(err)
			}
		})
	}
	changing.Wait()

	if got := env.termsOf("", "USD", "BTC").Terms.Format(); got != (corridor.OverrideInput{Fixed: "1", Percent: "0.1%", Min: "200",
		Max: "9000", Lock: "3m"}) {
		t.Errorf("the terms are %+v", got)
	}
	changes, err := env.pricing.History(t.Context(), pricing.HistoryFilter{})
	if err != nil || len(changes) != 5 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	for i := 1; i < len(changes); i++ {
		if changes[i].Before.Format() != changes[i-1].After.Format() {
			t.Errorf("change %d begins at %+v, but the one before ends at %+v", i, changes[i].Before.Format(), changes[i-1].After.Format())
		}
	}
}
