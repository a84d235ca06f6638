package period

import (
	"fmt"
	"time"
)

// keptMonths is for how long after its end a month is kept in the books. Money may come
// back that long: a payer can have a direct debit that he never authorised refunded for
// 13 months (directive (EU) 2015/2366, article 71).
const keptMonths = 13

// MayBeDetached is from when on a month may be detached.
func (m Month) MayBeDetached() time.Time { return m.plus(1 + keptMonths).Start() }

// Hindrance is why the month of a platform cannot be detached yet.
type Hindrance string

// The hindrances.
const (
	NotClosed   Hindrance = "NOT_CLOSED"   // the month
	NotSealed   Hindrance = "NOT_SEALED"   // postings, with a head of the log
	NotCounted  Hindrance = "NOT_COUNTED"  // accounts, in checkpoints with the month's end
	TakesEffect Hindrance = "TAKES_EFFECT" // postings, after the month
	Unfinished  Hindrance = "UNFINISHED"   // payments with postings in it
	Unmatched   Hindrance = "UNMATCHED"    // payments whose owner nobody knows
	OpenBreak   Hindrance = "OPEN_BREAK"   // of a reconciliation
)

// Say tells what to do about so many hindrances.
func (h Hindrance) Say(many int64) string {
	switch h {
	case NotClosed:
		return "the month is not closed; close it"
	case NotSealed:
		return fmt.Sprintf("%d of its postings are in no head of the log; wait for the service to seal them", many)
	case NotCounted:
		return "its end is not in the checkpoints yet; wait for the service to bring it there"
	case TakesEffect:
		return fmt.Sprintf("%d of its postings take effect after it; it cannot be told from the next month", many)
	case Unfinished:
		return fmt.Sprintf("%d payments with postings in it are not finished", many)
	case Unmatched:
		return fmt.Sprintf("%d payments that came in it have no owner; assign them", many)
	case OpenBreak:
		return fmt.Sprintf("%d breaks of reconciliations name its entries; resolve them", many)
	}
	return string(h)
}
