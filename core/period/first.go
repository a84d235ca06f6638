package period

import (
	"causeway/core/fault"
)

// NeedsConfirmation reports whether an action needs a confirmation: a soft close that begins the
// calendar, because no posting can become effective before the first month any more.
func (c Calendar) NeedsConfirmation(a Action) bool { return a == SoftClose && !c.Started() }

// ConfirmationRequired is the reason of a fault that asks for a confirmation.
const ConfirmationRequired = "Confirmation required"

// ConfirmFirst returns the fault of a soft close that would begin the calendar and is not confirmed.
// It names the earlier months that would become the opening balances; earliest is the month of the
// earliest posting, and zero if there is none.
func ConfirmFirst(first, earliest Month) *fault.Error {
	f := fault.New(fault.Conflict, "%s would be the first accounting period. There are no earlier postings, so every account would begin at "+
		"zero. "+
		"No posting can be added before the first period. To begin with %s, repeat with confirmOpeningBalances.", first, first)
	f.Reason = ConfirmationRequired
	f.Details = map[string]any{"firstPeriod": first.String()}
	if earliest.IsZero() || !earliest.Before(first) {
		return f
	}
	last := first.Previous()
	months := "The month " + last.String() + " is"
	if earliest.Before(last) {
		months = "The months " + earliest.String() + " to " + last.String() + " are"
	}
	f.Reason = "Earlier months are open"
	f.Message = months + " still open. Soft-close " + earliest.String() + " first. Or begin with " + first.String() +
		": repeat with confirmOpeningBalances, and the balances at the end of " + last.String() +
		" become its opening balances; earlier months then accept no postings and cannot be closed."
	f.Details["earliestOpenMonth"] = earliest.String()
	return f
}
