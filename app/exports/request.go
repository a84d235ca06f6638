package exports

import (
	"fmt"
	"strings"
	"time"

	"causeway/app/exports/camt053"
	"causeway/core/fault"
	"causeway/core/period"
	"causeway/ledger"
)

// check finds everything that is wrong with a request at a moment.
func (r Request) check(now time.Time) (bad []fault.Field) {
	refuse := func(field, format string, args ...any) {
		bad = append(bad, fault.Field{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if _, known := formatWriters[r.Format]; !known {
		refuse("format", "must be one of %s", strings.Join(Formats(), ", "))
	}
	if r.AsOf.After(now) {
		refuse("asOf", "must not lie in the future: what the books will say is not known; leave it out for now")
	}
	bad = append(bad, checkPeriod(r.Interval, now)...)
	if r.Path != "" {
		if _, err := ledger.FindChartLine(r.Path); err != nil {
			refuse("account", "must be the path of an account of the ledger, such as rails/ACH or income/fees")
		}
	}
	switch {
	case r.Currency == "":
	case !r.Currency.Known():
		refuse("currency", "must be a currency that is known here")
	case r.Format == Camt053 && !camt053.Supports(r.Currency):
		refuse("currency", "must be one of ISO 4217 for camt053, which has codes of three letters and at most five decimals; take another format for %s", r.Currency)
	}
	return bad
}

// checkPeriod finds a period that is reversed, or that has not begun or ended.
func checkPeriod(p period.Interval, now time.Time) (bad []fault.Field) {
	switch {
	case p.From.After(now):
		bad = append(bad, fault.Field{Field: "from", Message: "must not lie in the future"})
	case p.IsEmpty():
		bad = append(bad, fault.Field{Field: "to", Message: "must lie after from: it is the first moment that does not belong to the period any more"})
	}
	if p.To.After(now) {
		bad = append(bad, fault.Field{Field: "to", Message: "must not lie in the future: the period is not over; leave it out for all there is until now"})
	}
	return bad
}
