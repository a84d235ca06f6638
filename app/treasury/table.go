package treasury

import (
	"causeway/core/money"
	"causeway/core/safeguarding"
)

// Table returns a report as the header and rows of a table, with amounts in major units: the lines of each
// currency, and its result. What was posted by hand, and what confirms an account, are empty where a report does not record them.
func Table(r safeguarding.Report) (header []string, rows [][]string) {
	for _, f := range r.Figures {
		c := f.Currency
		row := func(section, account string, amount money.Total, status safeguarding.Status, manual, confirmation string) {
			rows = append(rows, []string{string(c), section, account, amount.Major(c), string(status), manual, confirmation})
		}
		for _, l := range f.Lines {
			manual := ""
			if l.Confirmation != "" {
				manual = l.Manual.Major(c)
			}
			row(string(l.Section), l.Path, l.Amount, "", manual, string(l.Confirmation))
		}
		manual := ""
		if sum, known := f.Manual(); known {
			manual = sum.Major(c)
		}
		row(string(safeguarding.Requirement), "total", f.Requirement, "", "", "")
		row(string(safeguarding.Resource), "total", f.Resource, "", manual, "")
		row("DIFFERENCE", "total", f.Difference(), f.Status(), "", "")
	}
	return []string{"currency", "section", "account", "amount", "status", "manual", "confirmation"}, rows
}
