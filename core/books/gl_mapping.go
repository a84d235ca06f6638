package books

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/csvcell"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
)

// The limits of a mapping. Lengths are in characters.
const (
	MaxMappingLines = 2000
	MaxGLCode       = 40
	MaxGLName       = 100
)

// GLAccount is an account of the general ledger that accounts of this ledger belong to.
type GLAccount struct{ Code, Name string }

// MappingLine gives accounts of this ledger their account of the general ledger.
type MappingLine struct {
	// Path is that of one account, or "customers/*" for all accounts whose path begins alike.
	Path string
	// Currency limits the line to accounts in it; empty means all.
	Currency money.Currency
	GLAccount
}

// Mapping gives every account its account of the general ledger. Of the lines for an account the most exact
// one counts: path and currency, then path, then group and currency, then group. What no line names, such as
// an account that a later release adds to the chart, has the account of the built-in mapping.
type Mapping struct {
	lines []MappingLine
	found map[mappingKey]GLAccount
}

type mappingKey struct {
	path     string
	currency money.Currency
}

// NewMapping returns a mapping with these lines, or INVALID_INPUT with everything that is wrong: lines that are
// not valid, two lines for the same accounts, two names of one code, and accounts of the chart without a line.
func NewMapping(lines []MappingLine) (Mapping, error) {
	var bad []fault.Field
	if len(lines) > MaxMappingLines {
		return Mapping{}, fault.Invalid(fault.Field{Field: "lines", Message: fmt.Sprintf("must be at most %d", MaxMappingLines)})
	}
	m, names := newMapping(nil, len(lines)), map[string]string{}
	for i, line := range lines {
		at := fmt.Sprintf("lines[%d]", i)
		wrong := line.check(at)
		key := mappingKey{line.Path, line.Currency}
		if _, repeated := m.found[key]; repeated {
			wrong = append(wrong, fault.Field{Field: at, Message: "is the second line for " + line.accounts()})
		}
		if name, known := names[line.Code]; known && name != line.Name {
			wrong = append(wrong, fault.Field{Field: at + ".name", Message: fmt.Sprintf("must be the same for every line with the code %s, which "+
				"is also called %s", line.Code, name)})
		}
		if len(wrong) > 0 {
			bad = append(bad, wrong...)
			continue
		}
		m.add(line)
		names[line.Code] = line.Name
	}
	if len(bad) == 0 {
		bad = m.checkComplete()
	}
	if len(bad) > 0 {
		return Mapping{}, fault.Invalid(bad...)
	}
	return m.sorted(), nil
}

// StoredMapping returns a mapping with lines that NewMapping has accepted.
func StoredMapping(lines []MappingLine) Mapping { return newMapping(lines, len(lines)).sorted() }

func newMapping(lines []MappingLine, size int) Mapping {
	m := Mapping{found: make(map[mappingKey]GLAccount, size)}
	for _, line := range lines {
		m.add(line)
	}
	return m
}

func (m *Mapping) add(line MappingLine) {
	m.lines = append(m.lines, line)
	m.found[mappingKey{line.Path, line.Currency}] = line.GLAccount
}

// sorted orders the lines by path and currency.
func (m Mapping) sorted() Mapping {
	slices.SortFunc(m.lines, func(a, b MappingLine) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Currency, b.Currency))
	})
	return m
}

// accounts says in words which accounts a line is for.
func (l MappingLine) accounts() string {
	if l.Currency == "" {
		return l.Path
	}
	return l.Path + " in " + string(l.Currency)
}

func (l MappingLine) check(at string) (bad []fault.Field) {
	if _, err := ledger.FindChartLine(l.Path); err != nil && !isGroup(l.Path) {
		bad = append(bad, fault.Field{Field: at + ".path", Message: "must be a path of the chart of accounts, such as income/fees, or of a " +
			"group of it, such as rails/*"})
	}
	if l.Currency != "" && !l.Currency.Known() {
		bad = append(bad, fault.Field{Field: at + ".currency", Message: "must be a currency that the service knows, or empty for all"})
	}
	bad = append(bad, checkIdentifier(at+".code", l.Code, MaxGLCode)...)
	return append(bad, checkIdentifier(at+".name", l.Name, MaxGLName)...)
}

// checkIdentifier checks a text by which the general ledger finds an account in a journal. Journals escape what a
// spreadsheet takes for a formula, and the general ledger would not find the escaped text.
func checkIdentifier(at, text string, maxLength int) []fault.Field {
	switch {
	case !isText(text, 1, maxLength):
		return []fault.Field{{Field: at, Message: fmt.Sprintf("must be a line of 1 to %d characters", maxLength)}}
	case csvcell.Escape(text) != text:
		return []fault.Field{{Field: at, Message: "must not begin with =, +, - or @, which a spreadsheet takes for a formula"}}
	default:
		return nil
	}
}

// isGroup reports whether a path is a first part of paths of the chart and an asterisk.
func isGroup(path string) bool {
	first, found := strings.CutSuffix(path, "/*")
	return found && slices.ContainsFunc(ledger.Chart(), func(l ledger.ChartLine) bool { return strings.HasPrefix(l.Path, first+"/") })
}

// groupOf returns the group of a path, such as rails/* for rails/RTP and for the line rails/<RAIL> of the chart.
func groupOf(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first + "/*"
}

// checkComplete returns the lines of the chart whose accounts the mapping does not name in every currency.
func (m Mapping) checkComplete() (bad []fault.Field) {
	for _, line := range ledger.Chart() {
		if _, found := m.find(line.Path, ""); !found {
			bad = append(bad, fault.Field{Field: "lines", Message: "must have a line without currency for " + line.Path + " or for " +
				groupOf(line.Path)})
		}
	}
	return bad
}

// Resolve returns the account of the general ledger for an account, or for a line of the chart.
func (m Mapping) Resolve(path string, currency money.Currency) GLAccount {
	if account, found := m.find(path, currency); found {
		return account
	}
	account, _ := defaultMapping.find(path, currency)
	return account
}

func (m Mapping) find(path string, currency money.Currency) (GLAccount, bool) {
	group := groupOf(path)
	for _, key := range [...]mappingKey{{path, currency}, {path, ""}, {group, currency}, {group, ""}} {
		if account, found := m.found[key]; found {
			return account, true
		}
	}
	return GLAccount{}, false
}

// Lines returns the lines by path and currency, with those of the built-in mapping that count because no line
// names their accounts.
func (m Mapping) Lines() []MappingLine {
	lines := slices.Clone(m.lines)
	for _, line := range defaultMapping.lines {
		if _, found := m.find(line.Path, line.Currency); !found {
			lines = append(lines, line)
		}
	}
	return Mapping{lines: lines}.sorted().lines
}

// Equal reports whether two mappings have the same lines.
func (m Mapping) Equal(other Mapping) bool { return slices.Equal(m.lines, other.lines) }

// MappingVersion is one version of the mapping of a platform. It never changes. Version 0 is the built-in one.
type MappingVersion struct {
	Mapping
	Version int
	At      time.Time
	By      platform.Author
	// Approval is that of a second person; zero without four eyes.
	Approval platform.Approval
	Note     string // may be empty
}
