package corridor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
)

func platformID(n byte) (p ident.Platform) {
	if n > 0 {
		p.SetUUID(uuid.UUID{15: n})
	}
	return p
}

func TestChange_NeedsFourEyes(t *testing.T) {
	t.Parallel()
	// A change for one platform needs four eyes if that platform says so; one for all platforms, if any does.
	for name, test := range map[string]struct {
		platform byte // 0: all
		listing  []byte
		want     bool
	}{
		"all, none lists it":           {0, nil, false},
		"all, one lists it":            {0, []byte{2}, true},
		"a platform, none lists it":    {1, nil, false},
		"a platform, another lists it": {1, []byte{2}, false},
		"a platform lists it":          {1, []byte{2, 1}, true},
	} {
		var listing []ident.Platform
		for _, n := range test.listing {
			listing = append(listing, platformID(n))
		}
		if got := (corridor.Change{Platform: platformID(test.platform)}).NeedsFourEyes(listing); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestState_ChangedFields(t *testing.T) {
	t.Parallel()
	// A value differs if it does in force, or if only the override sets it.
	pricing := usdToBTC(t)
	builtIn := pricing.Corridor.Terms
	for name, test := range map[string]struct {
		change corridor.Change
		want   []string
	}{
		"nothing":          {corridor.Change{}, nil},
		"reset of nothing": {corridor.Change{Reset: true}, nil},
		"two values": {corridor.Change{Set: corridor.Override{Fixed: new(int64(1)), MaxSending: new(int64(5_000))}},
			[]string{corridor.FieldFixed, corridor.FieldMax}},
		"the built-in value": {corridor.Change{Set: corridor.Override{Lock: &builtIn.Lock}}, []string{corridor.FieldLock}},
	} {
		after := pricing.WithChange(test.change)
		if got := pricing.StateFor(platformID(0)).ChangedFields(after.StateFor(platformID(0))); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestPricing_ApproveOnlyWhatWasProposed(t *testing.T) {
	t.Parallel()
	// A proposed change is approved while the terms and the override of its platform are those of the proposal. Else the
	// fault has both states. Changes of another platform do not matter.
	fee := corridor.Change{Platform: platformID(1), Set: corridor.Override{Fixed: new(int64(10))}}
	pricing := usdToBTC(t)
	proposed := pricing.StateFor(fee.Platform)
	for name, test := range map[string]struct {
		change  corridor.Change // since
		refused bool
	}{
		"nothing":          {corridor.Change{}, false},
		"another platform": {corridor.Change{Platform: platformID(2), Set: corridor.Override{Fixed: new(int64(7))}}, false},
		"all platforms":    {corridor.Change{Set: corridor.Override{Fixed: new(int64(7))}}, true},
		"another value":    {corridor.Change{Platform: platformID(1), Set: corridor.Override{MinSending: new(int64(777))}}, true},
		"the built-in value": {corridor.Change{Platform: platformID(1), Set: corridor.Override{MinSending: &pricing.Corridor.Terms.MinSending}},
			true},
	} {
		now := pricing.WithChange(test.change)
		after, err := now.Approve(fee, proposed)

		f, _ := fault.As(err)
		switch {
		case !test.refused:
			if err != nil || after.TermsFor(platformID(1)).Fee.Fixed != 10 {
				t.Errorf("%s: %+v, %v", name, after, err)
			}
		case f == nil || f.Code != fault.Conflict || f.Reason != "Terms changed" ||
			!strings.Contains(f.Message, proposed.String()) || !strings.Contains(f.Message, now.StateFor(platformID(1)).String()):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPricing_ApproveRefusesInvalidTerms(t *testing.T) {
	t.Parallel()
	// A change for all platforms that leaves invalid terms for a platform with terms of its own, set since, is refused.
	fees := corridor.Change{Set: corridor.Override{Fixed: new(int64(99))}}
	pricing := usdToBTC(t)
	proposed := pricing.StateFor(platformID(0))
	since := pricing.WithChange(corridor.Change{Platform: platformID(1), Set: corridor.Override{Fixed: new(int64(0)),
		MinSending: new(int64(2))}}).
		WithChange(corridor.Change{Platform: platformID(2), Set: corridor.Override{MinSending: new(int64(90))}})

	_, err := since.Approve(fees, proposed)

	f, _ := fault.As(err)
	if f == nil || f.Code != fault.Conflict || f.Reason != "Terms not valid" || !strings.Contains(f.Message, platformID(2).String()) ||
		strings.Contains(f.Message, platformID(1).String()) {
		t.Errorf("got %v", err)
	}
}

func TestPricing_ApprovedChangeIsTheOneProposed(t *testing.T) {
	t.Parallel()
	// Whatever is proposed for whichever platform: what is approved at once leads to the pricing of the change without four eyes,
	// and cannot be approved again unless it changes nothing.
	rapid.Check(t, func(t *rapid.T) {
		pricing := usdToBTC(t)
		draw := func(name string) corridor.Change {
			c := corridor.Change{Platform: platformID(rapid.ByteMax(2).Draw(t, name+" platform")), Reset: rapid.Bool().Draw(t, name+" reset")}
			if rapid.Bool().Draw(t, name+" fixed?") {
				c.Set.Fixed = new(rapid.Int64Range(0, 50).Draw(t, name+" fixed"))
			}
			if rapid.Bool().Draw(t, name+" max?") {
				c.Set.MaxSending = new(rapid.Int64Range(500, 1_000).Draw(t, name+" max"))
			}
			return c
		}
		pricing = pricing.WithChange(draw("first"))
		change := draw("second")
		proposed := pricing.StateFor(change.Platform)

		after, err := pricing.Approve(change, proposed)

		want := pricing.WithChange(change)
		state := want.StateFor(change.Platform)
		if err != nil || after.StateFor(change.Platform) != state {
			t.Fatalf("%+v, %v, want %+v", after, err, want)
		}
		if _, err := after.Approve(change, proposed); (err == nil) != (len(proposed.ChangedFields(state)) == 0) {
			t.Fatalf("again: %v", err)
		}
	})
}

func usdToBTC(t interface{ Fatal(args ...any) }) corridor.Pricing {
	found, err := corridor.Find("USD", "BTC", "")
	if err != nil {
		t.Fatal(err)
	}
	return corridor.Pricing{Corridor: found}
}
