package treasury

import (
	"causeway/core/safeguarding"
)

// Table returns a report as the header and rows of a table, with amounts in major units: the lines of each
// currency, and its result.
func Table(r safeguarding.Report) (header []string, rows [][]string) {
	for _, f := range r.Figures {
		c := f.Currency
		for _, l := range f.Lines {
			rows = append(rows, []string{string(c), string(l.Section), l.Path, l.Amount.Major(c), ""})
		}
		rows = append(rows,
			[]string{string(c), string(safeguarding.Requirement), "total", f.Requirement.Major(c), ""},
			[]string{string(c), string(safeguarding.Resource), "total", f.Resource.Major(c), ""},
			[]string{string(c), "DIFFERENCE", "total", f.Difference().Major(c), string(f.Status())})
	}
	return []string{"currency", "section", "account", "amount", "status"}, rows
}
