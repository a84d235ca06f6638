package httpapi

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"causeway/docs"
)

func TestGuides_ServedBesideTheReference(t *testing.T) {
	t.Parallel()
	// Guides are pages that the reference lists. Their links lead to where other guides are served; those to files that are not
	// served are text. The index of the search has their headings, and the rows of the tables of test values.
	f := newUnbuiltFixture(t)
	f.config.Guides = fstest.MapFS{
		"paying.md": {Data: []byte("# Paying `now`\n\nSee [other](other.md#how-it-is), [code](../code.go), [same](#test-values), " +
			"[away](https://x.example/a.md).\n\n<script>alert(1)</script>\n\n## Test values\n\n| Digits | Outcome |\n|---|---|\n| `002` | fails |\n\n" +
			"### Others\n\n| A | B |\n|---|---|\n| c | d |\n")},
		"other.md": {Data: []byte("# Other\n\n## How it is\n")},
	}
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}

	page := f.do("GET", "/docs/paying", "", withoutCredentials)
	reference := html.UnescapeString(f.do("GET", "/docs", "", withoutCredentials).body)

	for _, want := range []string{"<title>Paying now - Causeway</title>", `See <a href="other#how-it-is">other</a>, code, <a href="#test-values">same</a>`,
		`<a href="https://x.example/a.md">away</a>`, `<h2 id="test-values">`, `<a class="top" href="paying" aria-current="page">Paying now</a>`,
		`<a class="top part" href="#test-values">`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("no %s in %s", want, page.body)
		}
	}
	if strings.Contains(page.body, "alert(1)") {
		t.Error("HTML of a guide is on its page")
	}
	if policy := page.header.Get("Content-Security-Policy"); policy != referencePolicy {
		t.Errorf("the policy of the page is %q", policy)
	}
	for _, want := range []string{`<a class="top" href="docs/paying">Paying now</a>`, `["guide","How it is","Other","docs/other#how-it-is"]`,
		`["test value","002: fails","Paying now: Digits: Outcome","docs/paying#test-values"]`} {
		if !strings.Contains(reference, want) {
			t.Errorf("no %s in the reference", want)
		}
	}
	if strings.Contains(reference, `"c: d"`) {
		t.Error("a row of another table is in the index")
	}
}

func TestGuides_LinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	// Every link of the guides of this program to another one, or to a part of one, leads to what exists.
	guides, err := readGuides(docs.Guides)
	if err != nil || len(guides) < 20 {
		t.Fatalf("%d guides, %v", len(guides), err)
	}
	ids := map[string][]string{}
	for _, g := range guides {
		for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(string(g.body), -1) {
			ids[g.Name] = append(ids[g.Name], id[1])
		}
	}
	checked := 0
	for _, g := range guides {
		for _, link := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(string(g.body), -1) {
			name, id, hasID := strings.Cut(link[1], "#")
			if strings.Contains(name, "://") {
				continue
			}
			if name == "" {
				name = g.Name
			}
			if checked++; ids[name] == nil || hasID && !slices.Contains(ids[name], id) {
				t.Errorf("%s links to %s, which is not served", g.Name, link[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links were checked", checked)
	}
}
