package receivables

import (
	"strconv"
	"time"

	"causeway/app/internal/report"
	"causeway/core/receivable"
)

// AgingReport is what is owed at a time, by currency and age.
type AgingReport struct {
	At         time.Time
	Currencies []receivable.Aging
}

// Table returns the report with a row for each currency.
func (r AgingReport) Table() report.Table {
	t := report.Table{Header: []string{"currency", "receivables", "days_0_30", "days_31_60", "days_61_90", "days_over_90", "owed"}}
	for _, a := range r.Currencies {
		row := []string{string(a.Currency), strconv.Itoa(a.Count)}
		for _, band := range receivable.Bands() {
			row = append(row, a.ByAge[band].Major(a.Currency))
		}
		t.Rows = append(t.Rows, append(row, a.Owed.Major(a.Currency)))
	}
	return t
}
