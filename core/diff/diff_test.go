package diff_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/diff"
)

func TestBetween_ListsWhatDiffersByName(t *testing.T) {
	t.Parallel()
	// A field that was set, changed or ended is listed with both values; one that is as before is not.
	cases := map[string]struct {
		before, after diff.Values
		want          []string
	}{
		"nothing":           {nil, nil, nil},
		"same":              {diff.Values{"fee": "1"}, diff.Values{"fee": "1"}, nil},
		"empty and missing": {diff.Values{"fee": ""}, nil, nil},
		"set":               {nil, diff.Values{"fee": "1"}, []string{"fee: none → 1"}},
		"ended":             {diff.Values{"fee": "1"}, diff.Values{}, []string{"fee: 1 → none"}},
		"several": {diff.Values{"b": "1", "a": "1", "c": "1"}, diff.Values{"b": "2", "a": "2", "c": "1"}, []string{"a: 1 → 2",
			"b: 1 → 2"}},
	}
	for name, c := range cases {
		if got := lines(diff.Between(c.before, c.after)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBetween_LongValuesAreShortened(t *testing.T) {
	t.Parallel()
	// Values that differ beyond what is kept are still a change.
	long := strings.Repeat("ä", 3000)

	got := diff.Between(diff.Values{"note": long}, diff.Values{"note": long + "!"})

	if len(got) != 1 || len([]rune(got[0].After)) != 2001 || !strings.HasSuffix(got[0].After, "ä…") {
		t.Errorf("%d fields, %d characters", len(got), len([]rune(got[0].After)))
	}
}

func TestHide_KeepsNoValueOfWhatIsNotShown(t *testing.T) {
	t.Parallel()
	// The record of a hidden field says only that it was changed. What was compared is not changed.
	changed := diff.Between(diff.Values{"email": "ana@a.test", "status": "PENDING"}, diff.Values{"email": "ana@b.test", "status": "APPROVED"})

	hidden := diff.Hide(changed, func(name string) bool { return name == "status" })

	if got, want := lines(hidden), []string{"email changed", "status: PENDING → APPROVED"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if hidden[0].Before+hidden[0].After != "" || changed[0].Hidden {
		t.Errorf("hidden %+v of %+v", hidden[0], changed[0])
	}
}

func TestOf_NamesValuesByPath(t *testing.T) {
	t.Parallel()
	// Objects and lists are entered; a list of texts is one value, and numbers are as they were written.
	document := `{"name":"bank","limits":[{"amount":9007199254740993},{"amount":2.50}],"rails":["SEPA","ACH"],"settings":{"url":"https://a"},
		"none":null,"open":true,"empty":[]}`

	got := lines(diff.Between(nil, diff.Of([]byte(document))))

	want := []string{"limits[0].amount: none → 9007199254740993", "limits[1].amount: none → 2.50", "name: none → bank", "open: none → true",
		"rails: none → SEPA, ACH", "settings.url: none → https://a"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if broken := diff.Of([]byte(`{"a":`)); len(broken) != 0 {
		t.Errorf("a broken document has %v", broken)
	}
}

func TestBetween_TurnsOneVersionIntoTheOther(t *testing.T) {
	t.Parallel()
	// The fields, put over the first version, make the second one, and back.
	values := rapid.MapOf(rapid.StringMatching(`[a-c]{1,2}`), rapid.StringMatching(`[x-z]{0,2}`))
	rapid.Check(t, func(t *rapid.T) {
		before, after := diff.Values(values.Draw(t, "before")), diff.Values(values.Draw(t, "after"))
		changed := diff.Between(before, after)
		for name := range before {
			checkValue(t, changed, name, before[name], after[name])
		}
		for name := range after {
			checkValue(t, changed, name, before[name], after[name])
		}
		if !slices.IsSortedFunc(changed, func(a, b diff.Field) int { return strings.Compare(a.Name, b.Name) }) {
			t.Fatalf("not in order: %v", changed)
		}
	})
}

func checkValue(t *rapid.T, changed []diff.Field, name, before, after string) {
	i := slices.IndexFunc(changed, func(f diff.Field) bool { return f.Name == name })
	if (i >= 0) != (before != after) || i >= 0 && (changed[i].Before != before || changed[i].After != after) {
		t.Fatalf("%s from %q to %q: %v", name, before, after, changed)
	}
}

func lines(fields []diff.Field) (all []string) {
	for _, f := range fields {
		all = append(all, f.String())
	}
	return all
}
