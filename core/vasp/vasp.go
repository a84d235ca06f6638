// Package vasp has the directory of custodians of crypto wallets: virtual asset service providers, as the FATF names them. A wallet that
// one of them holds is registered with its name, and needs no proof of its owner.
package vasp

import (
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// Provider is a custodian.
type Provider struct {
	Name string
	URL  string // of its site, https; empty if not known
}

// Directory is a list of custodians, each name once in any spelling of upper and lower case, in the order of names.
type Directory []Provider

// Import is a directory that an operator has put in place of the one before.
type Import struct {
	At        time.Time
	Actor     string
	Person    ident.Person // who has signed in; zero if nobody has
	Providers Directory
}

const (
	maxProviders = 20_000
	maxURL       = 2000
)

//go:embed default.csv
var defaultText string

// Default is the directory of the program: custodians that are publicly known.
var Default = mustParse(defaultText)

func mustParse(text string) Directory {
	var rows [][]string
	for line := range strings.Lines(text) {
		rows = append(rows, strings.Split(strings.TrimSpace(line), ","))
	}
	d, err := New(rows)
	if err != nil {
		panic("default.csv: " + err.Error())
	}
	return d
}

// New returns the directory of a table with the columns name and, if wanted, url, which its first row names. INVALID_INPUT has every row
// that is not valid, by its number.
func New(rows [][]string) (Directory, error) {
	if len(rows) < 2 || len(rows) > maxProviders+1 || rows[0][0] != "name" || len(rows[0]) > 2 || len(rows[0]) == 2 && rows[0][1] != "url" {
		return nil, fault.Invalid(fault.Field{Field: "file",
			Message: fmt.Sprintf("must begin with the row name,url and have from 1 to %d custodians", maxProviders)})
	}
	var d Directory
	var bad []fault.Field
	seen := map[string]bool{}
	for i, row := range rows[1:] {
		p := Provider{Name: row[0]}
		if len(row) > 1 {
			p.URL = row[1]
		}
		problem := p.problem()
		if len(row) > len(rows[0]) {
			problem = "has more columns than the first"
		} else if key := strings.ToLower(p.Name); seen[key] {
			problem = "has a name that a row before has"
		} else {
			seen[key] = true
		}
		if problem != "" {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("row %d", i+2), Message: problem})
		}
		d = append(d, p)
	}
	if len(bad) > 0 {
		return nil, fault.Invalid(bad...)
	}
	slices.SortFunc(d, func(a, b Provider) int { return compareNames(a.Name, b.Name) })
	return d, nil
}

func (p Provider) problem() string {
	if p.Name == "" || p.Name != strings.TrimSpace(p.Name) || !utf8.ValidString(p.Name) ||
		utf8.RuneCountInString(p.Name) > account.MaxVASPName || strings.ContainsFunc(p.Name, unicode.IsControl) {
		return fmt.Sprintf("must have a name of 1 to %d characters without blanks around it", account.MaxVASPName)
	}
	if u, err := url.Parse(p.URL); p.URL != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(p.URL) > maxURL) {
		return "must have an https address or none"
	}
	return ""
}

// compareNames orders names as people look for them; two that differ in case only never are in one directory.
func compareNames(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }

// NewImport returns the import of a directory.
func NewImport(d Directory, by platform.Author, now time.Time) (Import, error) {
	by, err := by.Parsed()
	return Import{At: now.Truncate(time.Microsecond), Actor: by.Actor, Person: by.Person, Providers: d}, err
}

// Has reports whether a custodian has exactly this name.
func (d Directory) Has(name string) bool {
	i, found := slices.BinarySearchFunc(d, name, func(p Provider, name string) int { return compareNames(p.Name, name) })
	return found && d[i].Name == name
}

// After returns at most limit custodians that follow a name, and whether there are more.
func (d Directory) After(name string, limit int) (page Directory, more bool) {
	from := 0
	if name != "" {
		i, found := slices.BinarySearchFunc(d, name, func(p Provider, name string) int { return compareNames(p.Name, name) })
		if from = i; found {
			from++
		}
	}
	page = d[from:min(from+limit, len(d))]
	return page, from+limit < len(d)
}

// Change is a difference between two directories. Before is empty for a custodian that is new, and After for one that is no more.
type Change struct{ Before, After string }

// Changes returns the differences to the directory before, in the order of names: a custodian with the URL of one that is no more was
// renamed.
func (d Directory) Changes(before Directory) []Change {
	var added, changes []Change
	for _, p := range d {
		if !before.Has(p.Name) {
			added = append(added, Change{After: p.Name})
		}
	}
	for _, p := range before {
		if d.Has(p.Name) {
			continue
		}
		change := Change{Before: p.Name}
		i := slices.IndexFunc(added, func(c Change) bool { return p.URL != "" && d.urlOf(c.After) == p.URL })
		if i >= 0 {
			change.After = added[i].After
			added = slices.Delete(added, i, i+1)
		}
		changes = append(changes, change)
	}
	changes = append(changes, added...)
	slices.SortStableFunc(changes, func(a, b Change) int { return compareNames(a.Before+a.After, b.Before+b.After) })
	return changes
}

func (d Directory) urlOf(name string) string {
	i := slices.IndexFunc(d, func(p Provider) bool { return p.Name == name })
	return d[i].URL
}
