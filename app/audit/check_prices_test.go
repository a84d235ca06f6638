package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

func TestComparePrices(t *testing.T) {
	t.Parallel()
	// Prices in force are those of the last change of their corridor and platform, and each change begins with what the one
	// before it has left. Everything else is named, with both terms.
	var p ident.Platform
	p.SetUUID(uuid.UUID{1})
	dollars, euros := ports.CorridorKey{From: "USD", To: "EUR"}, ports.CorridorKey{Platform: p, From: "EUR", To: "USD"}
	fixed := func(minor int64) corridor.Override { return corridor.Override{Fixed: &minor} }
	all := corridor.Override{Fixed: new(int64(0)), Percent: new(money.MustRate("0.003")), MinSending: new(int64(1)), MaxSending: new(int64(9)),
		Lock: new(90 * time.Second)}
	change := func(number int64, key ports.CorridorKey, before, after corridor.Override) ports.CorridorChange {
		return ports.CorridorChange{CorridorKey: key, Number: number, Before: before, After: after}
	}
	price := func(key ports.CorridorKey, terms corridor.Override) ports.CorridorOverride {
		return ports.CorridorOverride{Platform: key.Platform, From: key.From, To: key.To, Terms: terms}
	}
	history := []ports.CorridorChange{
		change(1, dollars, corridor.Override{}, fixed(5)), change(2, euros, corridor.Override{}, fixed(7)),
		change(3, dollars, fixed(5), fixed(6)), change(4, euros, fixed(7), corridor.Override{}), change(5, euros, corridor.Override{}, all),
	}
	const inForce = ", and by its last change, "
	for name, test := range map[string]struct {
		prices  []ports.CorridorOverride
		changes []ports.CorridorChange
		checked int64
		want    []string
	}{
		"nothing": {nil, nil, 0, nil},
		"right":   {[]ports.CorridorOverride{price(dollars, fixed(6)), price(euros, all)}, history, 2, nil},
		"reset": {nil, history[1:2:2], 1, []string{"EUR to USD on " + p.String() + " has the built-in terms" + inForce +
			"2, it has fee-fixed 7"}},
		"rightly reset": {[]ports.CorridorOverride{price(dollars, fixed(6))}, history[:4], 2, nil},
		"changed": {[]ports.CorridorOverride{price(dollars, fixed(0)), price(euros, all)}, history, 2,
			[]string{"USD to EUR on all platforms has fee-fixed 0" + inForce + "3, it has fee-fixed 6"}},
		"an earlier one": {[]ports.CorridorOverride{price(dollars, fixed(5)), price(euros, all)}, history, 2,
			[]string{"USD to EUR on all platforms has fee-fixed 5" + inForce + "3, it has fee-fixed 6"}},
		"of another platform": {[]ports.CorridorOverride{price(dollars, fixed(6)), price(ports.CorridorKey{From: "EUR", To: "USD"}, all)},
			history, 3, []string{"EUR to USD on all platforms has fee-fixed 0, fee-percent 0.3%, min 1, max 9, lock 90s, and no change of it is " +
				"recorded", "EUR to USD on " + p.String() + " has the built-in terms" + inForce +
				"5, it has fee-fixed 0, fee-percent 0.3%, min 1, max 9, lock 90s"}},
		"inserted": {[]ports.CorridorOverride{price(dollars, fixed(0))}, nil, 1, []string{"USD to EUR on all platforms has " +
			"fee-fixed 0, and no change of it is recorded"}},
		"a missing change": {[]ports.CorridorOverride{price(dollars, fixed(6))}, history[2:3], 1,
			[]string{"change 3 of USD to EUR on all platforms begins with fee-fixed 5, and what was recorded before ends with the built-in terms"}},
		"changed, and then rightly": {[]ports.CorridorOverride{price(dollars, fixed(6))},
			[]ports.CorridorChange{history[0], change(3, dollars, fixed(0), fixed(6))}, 1,
			[]string{"change 3 of USD to EUR on all platforms begins with fee-fixed 0, and what was recorded before ends with fee-fixed 5"}},
	} {
		checked, got := comparePrices(test.prices, test.changes)
		if checked != test.checked || !slices.Equal(got, test.want) {
			t.Errorf("%s: %d checked, %q\nwant %d, %q", name, checked, got, test.checked, test.want)
		}
	}
}

func TestComparePrices_EveryValueCounts(t *testing.T) {
	t.Parallel()
	// A price that differs in one value from its last change is found, whichever value it is.
	key := ports.CorridorKey{From: "USD", To: "EUR"}
	was := corridor.Override{Fixed: new(int64(5)), Percent: new(money.MustRate("0.003")), MinSending: new(int64(100)),
		MaxSending: new(int64(900)), Lock: new(time.Minute)}
	changes := []ports.CorridorChange{{CorridorKey: key, Number: 1, After: was}}
	for name, edit := range map[string]func(*corridor.Override){
		corridor.FieldFixed:   func(o *corridor.Override) { o.Fixed = new(int64(0)) },
		corridor.FieldPercent: func(o *corridor.Override) { o.Percent = new(money.MustFraction("0")) },
		corridor.FieldMin:     func(o *corridor.Override) { o.MinSending = new(int64(1)) },
		corridor.FieldMax:     func(o *corridor.Override) { o.MaxSending = nil },
		corridor.FieldLock:    func(o *corridor.Override) { o.Lock = new(15 * time.Minute) }, "nothing": func(*corridor.Override) {},
	} {
		now := was
		edit(&now)
		if _, got := comparePrices([]ports.CorridorOverride{{From: "USD", To: "EUR", Terms: now}},
			changes); (len(got) == 1) != (name != "nothing") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
