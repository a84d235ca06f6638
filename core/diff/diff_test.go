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
	// Of long values, what differs is kept, with a little before it: what was removed from a list, or added to it, is seen.
	long, context := strings.Repeat("ä", 3000), strings.Repeat("ä", 40)
	for name, c := range map[string]struct{ before, after, wantBefore, wantAfter string }{
		"added at the end":   {long, long + ", b", "…" + context, "…" + context + ", b"},
		"removed in between": {long + "b, c", long + "c", "…" + context + "b, c", "…" + context + "c"},
		"set":                {"", long, "", long[:2*2000] + "…"},
		"much follows":       {long + "a" + long, long + "b", "…" + context + "a" + long[:2*1959] + "…", "…" + context + "b"},
	} {
		got := diff.Between(diff.Values{"note": c.before}, diff.Values{"note": c.after})

		if len(got) != 1 || got[0].Before != c.wantBefore || got[0].After != c.wantAfter {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBetween_ShortenedValuesDiffer(t *testing.T) {
	t.Parallel()
	// However long two different values are, and wherever they differ, what is kept of them differs and is short.
	values := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat("x", rapid.IntRange(0, 4100).Draw(t, "x")) + strings.Repeat("…", rapid.IntRange(0, 2).Draw(t, "end"))
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := values.Draw(t, "before"), values.Draw(t, "after")
		for _, f := range diff.Between(diff.Values{"note": before}, diff.Values{"note": after}) {
			if f.Before == f.After || max(len([]rune(f.Before)), len([]rune(f.After))) > 2002 {
				t.Fatalf("%d and %d characters: %q, %q", len(before), len(after), f.Before, f.After)
			}
		}
	})
}

func TestLimited_SaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	// A record of many long fields has the first ones, and the number of the others; a short one is as it was.
	long := make([]diff.Field, 1000)
	for i := range long {
		long[i] = diff.Field{Name: "note", After: strings.Repeat("x", 996)}
	}

	got := diff.Limited(long)

	if n := len(got); n != 33 || got[32].String() != "(shortened): none → 968 more fields were changed" || long[32].Name != "note" {
		t.Errorf("%d fields, the last is %s", n, got[n-1])
	}
	if short := diff.Limited(long[:32]); len(short) != 32 {
		t.Errorf("%d fields", len(short))
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
