package books

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
)

func TestSettings_DefaultsAreValid(t *testing.T) {
	t.Parallel()
	// The defaults are valid settings, and need a second token for nothing.
	checked, err := DefaultSettings().Checked()

	if err != nil || !checked.Equal(DefaultSettings()) {
		t.Errorf("got %+v, %v", checked, err)
	}
	for _, a := range Actions() {
		if checked.NeedsFourEyes(a) {
			t.Errorf("%s needs four eyes", a)
		}
	}
}

func TestSettings_CheckedListsEveryInvalidField(t *testing.T) {
	t.Parallel()
	// Each invalid field is named, all at once.
	_, err := Settings{FunctionalCurrency: "BTC", UnrealisedResult: "keep", FeeRecognition: "", YearEndMonth: 13,
		FourEyes: []Action{ActionClose, "DELETE"}}.Checked()

	f, ok := fault.As(err)
	if !ok || f.Code != fault.InvalidInput {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, field := range f.Fields {
		fields = append(fields, field.Field)
	}
	if want := "functionalCurrency unrealisedResult feeRecognition yearEndMonth fourEyes[1]"; strings.Join(fields, " ") != want {
		t.Errorf("fields %v, want %s", fields, want)
	}
}

func TestSettings_CheckedOrdersActions(t *testing.T) {
	t.Parallel()
	// Whatever the order and however often actions are given, they are kept once and in one order.
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOf(rapid.SampledFrom(Actions())).Draw(t, "actions")
		s := DefaultSettings()
		s.FourEyes = given

		checked, err := s.Checked()

		if err != nil {
			t.Fatal(err)
		}
		for _, a := range Actions() {
			if slices.Contains(given, a) != slices.Contains(checked.FourEyes, a) {
				t.Fatalf("%v became %v", given, checked.FourEyes)
			}
			if needs := slices.Contains(given, a) || a == ActionSettings && len(given) > 0; checked.NeedsFourEyes(a) != needs {
				t.Fatalf("with %v, %s needs four eyes: %v", given, a, !needs)
			}
		}
		if again, err := checked.Checked(); err != nil || !again.Equal(checked) {
			t.Fatalf("%+v became %+v, %v", checked, again, err)
		}
	})
}

func TestSettings_CheckChange(t *testing.T) {
	t.Parallel()
	// The functional currency is fixed once exchange results are posted in it. Everything else can change.
	euro := DefaultSettings()
	euro.FunctionalCurrency = "EUR"
	other := Settings{FunctionalCurrency: "EUR", UnrealisedResult: Keep, FeeRecognition: AtDelivery, YearEndMonth: time.June,
		FourEyes: Actions()}
	dollar, none := other, other
	dollar.FunctionalCurrency, none.FunctionalCurrency = "USD", ""

	for name, test := range map[string]struct {
		before, next Settings
		fixed        Fixed
		conflict     bool
	}{
		"another currency":             {euro, dollar, Fixed{}, false},
		"another currency, revalued":   {euro, dollar, Fixed{Revalued: true}, true},
		"no currency, revalued":        {euro, none, Fixed{Revalued: true}, true},
		"the first currency, revalued": {DefaultSettings(), dollar, Fixed{Revalued: true}, false},
		"other settings, revalued":     {euro, other, Fixed{Revalued: true}, false},
	} {
		if err := test.before.CheckChange(test.next, test.fixed); fault.Is(err, fault.Conflict) != test.conflict || !test.conflict && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettings_RequireFunctionalCurrency(t *testing.T) {
	t.Parallel()
	// Without a functional currency the fault says how to set it.
	if _, err := DefaultSettings().RequireFunctionalCurrency(); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), "PUT /ledger/settings") {
		t.Errorf("got %v", err)
	}
	if c, err := (Settings{FunctionalCurrency: "CHF"}).RequireFunctionalCurrency(); c != "CHF" || err != nil {
		t.Errorf("got %s, %v", c, err)
	}
}

func TestSettings_With(t *testing.T) {
	t.Parallel()
	// Only what is named changes. An unknown name is an error that lists the names.
	changed, err := DefaultSettings().With("functionalCurrency=CHF", "fourEyes=CLOSE, ADJUSTMENT", "yearEndMonth=6")

	want := Settings{FunctionalCurrency: "CHF", UnrealisedResult: Reverse, FeeRecognition: AtConversion, YearEndMonth: time.June,
		FourEyes: []Action{ActionAdjustment, ActionClose}}
	if err != nil || !changed.Equal(want) {
		t.Errorf("got %+v, %v", changed, err)
	}
	if cleared, err := changed.With("functionalCurrency=", "fourEyes="); err != nil || cleared.FunctionalCurrency != "" ||
		len(cleared.FourEyes) != 0 || cleared.YearEndMonth != time.June {
		t.Errorf("got %+v, %v", cleared, err)
	}
	if _, err := changed.With("currency=USD", "yearEndMonth=June"); !fault.Is(err, fault.InvalidInput) ||
		!strings.Contains(err.Error(), "currency, yearEndMonth") {
		t.Errorf("got %v", err)
	}
}
