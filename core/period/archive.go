package period

import (
	"fmt"
	"time"
)

// retentionMonths is for how long after its end a month is kept in the books. Money may come
// back that long: a payer can have a direct debit that he never authorised refunded for
// 13 months (directive (EU) 2015/2366, article 71).
const retentionMonths = 13

// ArchivableFrom is from when on a month may be detached.
func (m Month) ArchivableFrom() time.Time { return m.addMonths(1 + retentionMonths).Start() }

// Blocker is why the month of a platform cannot be detached yet.
type Blocker string

// The hindrances.
const (
	NotClosed          Blocker = "NOT_CLOSED"   // the month
	NotSealed          Blocker = "NOT_SEALED"   // postings, with a head of the log
	NotInSnapshots     Blocker = "NOT_COUNTED"  // accounts, in checkpoints with the month's end
	EffectiveLater     Blocker = "TAKES_EFFECT" // postings, after the month
	UnfinishedPayments Blocker = "UNFINISHED"   // payments with postings in it
	UnmatchedFunds     Blocker = "UNMATCHED"    // payments whose owner nobody knows
	OpenBreak          Blocker = "OPEN_BREAK"   // of a reconciliation
)

// Message tells what to do about so many hindrances.
func (h Blocker) Message(many int64) string {
	switch h {
	case NotClosed:
		return "the month is not closed; close it"
	case NotSealed:
		return fmt.Sprintf("%d of its postings are in no head of the log; wait for the service to seal them", many)
	case NotInSnapshots:
		return "its end is not in the checkpoints yet; wait for the service to bring it there"
	case EffectiveLater:
		return fmt.Sprintf("%d of its postings take effect after it; it cannot be told from the next month", many)
	case UnfinishedPayments:
		return fmt.Sprintf("%d payments with postings in it are not finished", many)
	case UnmatchedFunds:
		return fmt.Sprintf("%d payments that came in it have no owner; assign them", many)
	case OpenBreak:
		return fmt.Sprintf("%d breaks of reconciliations name its entries; resolve them", many)
	}
	return string(h)
}
