package books

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ledger"
)

// MaxAddedAccounts is the maximum number of accounts that a platform adds to the chart.
const MaxAddedAccounts = 500

// The maximum lengths of the texts of an account, in characters.
const (
	MaxAccountName        = 100
	MaxAccountDescription = 500
)

// AddedAccount is the latest version of an account that finance has added to the chart. It exists in every
// currency, and is never deleted.
type AddedAccount struct {
	Path        string
	Name        string
	Description string // may be empty
	// Retired accounts take no new manual postings.
	Retired bool

	Version int // from 1
	At      time.Time
	By      platform.Author
	// Approval is that of a second person; zero without four eyes.
	Approval platform.Approval
	Note     string // may be empty
}

// Class returns the class of the account, which follows from its path.
func (a AddedAccount) Class() ledger.Class {
	line, _ := ledger.FindChartLine(a.Path) // Check has found it
	return line.Class
}

// Check returns what is wrong with an account that is to be added or changed.
func (a AddedAccount) Check() (bad []fault.Field) {
	if !ledger.IsAdded(a.Path) {
		problem := "must be asset/, liability/, equity/, income/ or expense/ and a name of up to 40 small letters, digits and hyphens, such as " +
			"expense/office-rent"
		if _, err := ledger.FindChartLine(a.Path); err == nil {
			problem = "is an account of the built-in chart"
		}
		bad = append(bad, fault.Field{Field: "path", Message: problem})
	}
	if !isText(a.Name, 1, MaxAccountName) {
		bad = append(bad, fault.Field{Field: "name", Message: fmt.Sprintf("must be a line of 1 to %d characters", MaxAccountName)})
	}
	if !isText(a.Description, 0, MaxAccountDescription) {
		bad = append(bad, fault.Field{Field: "description", Message: fmt.Sprintf("must be a line of at most %d characters",
			MaxAccountDescription)})
	}
	return bad
}

// isText reports whether a text is one line with a number of characters in a range, without spaces around it.
func isText(text string, least, most int) bool {
	n := utf8.RuneCountInString(text)
	return n >= least && n <= most && utf8.ValidString(text) && text == strings.TrimSpace(text) && !strings.ContainsFunc(text, isControl)
}

func isControl(c rune) bool {
	return c < ' ' || c >= 0x7f && c <= 0x9f || c == '\u2028' || c == '\u2029'
}

// AddedAccounts are the accounts that a platform has added, by path.
type AddedAccounts map[string]AddedAccount

// Check returns why a manual posting may not use a path, or nothing. Only paths of accounts that finance adds
// are in question: all others exist on every platform.
func (accounts AddedAccounts) Check(path string) string {
	if !ledger.IsAdded(path) {
		return ""
	}
	account, added := accounts[path]
	switch {
	case !added:
		return "is not in the chart of the platform: add it with POST /ledger/chart or `causeway ledger chart add`"
	case account.Retired:
		return fmt.Sprintf("was retired on %s and takes no more manual postings", account.At.Format(time.DateOnly))
	}
	return ""
}

// CheckEntries returns what is wrong with the accounts of the entries of a manual posting.
func (accounts AddedAccounts) CheckEntries(entries []ledger.Entry) (bad []fault.Field) {
	for i, e := range entries {
		for _, side := range []struct{ name, path string }{{"debit", e.Debit}, {"credit", e.Credit}} {
			if problem := accounts.Check(side.path); problem != "" {
				bad = append(bad, fault.Field{Field: fmt.Sprintf("entries[%d].%s", i, side.name), Message: problem})
			}
		}
	}
	return bad
}

// AddedPaths returns the paths of entries that are those of accounts that finance adds, each once.
func AddedPaths(entries []ledger.Entry) []string {
	var paths []string
	for _, e := range entries {
		for _, path := range []string{e.Debit, e.Credit} {
			if ledger.IsAdded(path) {
				paths = append(paths, path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
