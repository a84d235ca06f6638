package vasp_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/vasp"
)

func mustParse(t *testing.T, lines ...string) vasp.Directory {
	t.Helper()
	d, err := parse("name,url\n" + strings.Join(lines, "\n") + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// parse returns the directory of a text without quotes.
func parse(text string) (vasp.Directory, error) {
	var rows [][]string
	for line := range strings.Lines(text) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), ","))
	}
	return vasp.New(rows)
}

func TestDefault(t *testing.T) {
	t.Parallel()
	// The list of the program has well-known custodians, each with its site.
	for _, p := range vasp.Default {
		if !strings.HasPrefix(p.URL, "https://") {
			t.Errorf("%s has the site %q", p.Name, p.URL)
		}
	}
	if !vasp.Default.Has("Kraken") || !vasp.Default.Has("Coinbase") || vasp.Default.Has("kraken") || vasp.Default.Has("") {
		t.Error("Kraken and Coinbase are missing, or names match that differ")
	}
}

func TestNew_ListsEveryBadRow(t *testing.T) {
	t.Parallel()
	// An operator corrects the file once.
	_, err := parse("name,url\nA,http://a.example\n,https://b.example\nC,https://c.example,x\nD,\nd,\n E,\n" + strings.Repeat("F", 201) + ",\n")
	f, ok := fault.As(err)
	if !ok || len(f.Fields) != 6 || f.Fields[0].Field != "row 2" || f.Fields[5].Field != "row 8" {
		t.Errorf("%+v", f)
	}
	for _, text := range []string{"", "name,url\n", "vasp\nA\n", "name,url,more\nA,,\n"} {
		if d, err := parse(text); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}

func TestDirectory_Changes(t *testing.T) {
	t.Parallel()
	// A custodian with the site of one that is gone was renamed; who has no site is added and removed.
	before := mustParse(t, "Alpha,https://alpha.example", "Beta,https://beta.example", "Gamma,", "Same,")
	after := mustParse(t, "Delta,", "Bravo,https://beta.example", "Same,https://same.example", "Epsilon,https://epsilon.example")

	got := after.Changes(before)

	want := []vasp.Change{{"Alpha", ""}, {"Beta", "Bravo"}, {"", "Delta"}, {"", "Epsilon"}, {"Gamma", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestDirectory_PagesHaveEachNameOnce(t *testing.T) {
	t.Parallel()
	// Who pages through a directory sees every name once, in order, also if the directory changes to one without the last name.
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z][a-z .]{0,5}[a-z]`), 1, 40, strings.ToLower).Draw(t, "names")
		limit := rapid.IntRange(1, 10).Draw(t, "limit")
		d, err := parse("name\n" + strings.Join(names, "\n") + "\n")
		if err != nil {
			t.Fatal(err)
		}

		var seen []string
		for last, more := "", true; more; {
			var page vasp.Directory
			page, more = d.After(last, limit)
			for _, p := range page {
				seen, last = append(seen, p.Name), p.Name
			}
		}

		slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
		if !slices.Equal(seen, names) {
			t.Fatalf("%v, want %v", seen, names)
		}
		if changes := d.Changes(d); len(changes) > 0 {
			t.Fatalf("%v", changes)
		}
	})
}
