package recurring

import (
	"fmt"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
)

// EntriesForm says how people write an entry.
const EntriesForm = "debit account, credit account, amount and currency, such as expense/office-rent liability/accrued 1200.00 USD"

// ParseEntries parses entries as people write them, one a line. Fault: INVALID_INPUT.
func ParseEntries(lines string) (entries []ledger.Entry, err error) {
	var bad []fault.Field
	for line := range strings.Lines(lines) {
		parts := strings.Fields(line)
		if len(parts) == 0 {
			continue
		}
		field := fmt.Sprintf("entries[%d]", len(entries))
		e := ledger.Entry{}
		if len(parts) != 4 || !money.Currency(parts[3]).Known() {
			bad = append(bad, fault.Field{Field: field, Message: "must be " + EntriesForm})
		} else {
			e = ledger.Entry{Debit: parts[0], Credit: parts[1], Currency: money.Currency(parts[3])}
			if e.Amount, err = reconcile.ParseAmount(parts[2], e.Currency, '.', 0); err != nil {
				bad = append(bad, fault.Field{Field: field + ".amount", Message: err.Error()})
			}
		}
		entries = append(entries, e)
	}
	if len(bad) > 0 {
		return nil, fault.Invalid(bad...)
	}
	return entries, nil
}

// FormatEntries returns entries as ParseEntries reads them.
func FormatEntries(entries []ledger.Entry) string {
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = fmt.Sprintf("%s %s %s", e.Debit, e.Credit, money.Amount{Minor: e.Amount, Currency: e.Currency})
	}
	return strings.Join(lines, "\n")
}
