package exports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/app/exports/camt053"
	"causeway/core/fault"
	"causeway/core/period"
	"causeway/ledger"
)

// check returns everything that is wrong with a request.
func (r Request) check(now time.Time) (bad []fault.Field) {
	refuse := func(field, format string, args ...any) {
		bad = append(bad, fault.Field{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if _, known := formatWriters[r.Format]; !known {
		refuse("format", "must be one of %s", strings.Join(Formats(), ", "))
	}
	if r.AsOf.After(now) {
		refuse("asOf", "must not be in the future")
	}
	bad = append(bad, checkInterval(r.Interval, now)...)
	if r.Path != "" {
		if _, err := ledger.FindChartLine(r.Path); err != nil {
			refuse("account", "must be the path of a ledger account, such as rails/ACH or income/fees")
		}
	}
	switch {
	case r.Currency == "":
	case !r.Currency.Known():
		refuse("currency", "must be a supported currency")
	case r.Format == Camt053 && !camt053.Supports(r.Currency):
		refuse("currency", "must be an ISO 4217 currency for camt053; use another format for %s", r.Currency)
	}
	return bad
}

// checkList returns everything that is wrong with a request for a list.
func (r Request) checkList(now time.Time) []fault.Field {
	bad := checkInterval(r.Interval, now)
	for field, value := range map[string]string{"account": r.Path, "currency": string(r.Currency)} {
		if value != "" {
			bad = append(bad, fault.Field{Field: field, Message: "must be empty: a list of " + string(r.Format) + " has all"})
		}
	}
	slices.SortFunc(bad, func(a, b fault.Field) int { return strings.Compare(a.Field, b.Field) })
	return bad
}

// checkInterval returns what is wrong with an interval: it is empty or not over.
func checkInterval(i period.Interval, now time.Time) (bad []fault.Field) {
	switch {
	case i.From.After(now):
		bad = append(bad, fault.Field{Field: "from", Message: "must not be in the future"})
	case i.IsEmpty():
		bad = append(bad, fault.Field{Field: "to", Message: "must be after from: it is the first time after the period"})
	}
	if i.To.After(now) {
		bad = append(bad, fault.Field{Field: "to", Message: "must not be in the future; leave it out to export everything up to now"})
	}
	return bad
}
