package period

import (
	"fmt"
	"time"
)

// retentionMonths is how many months a month stays in the ledger after its end. A payer can
// claim an unauthorised direct debit back for 13 months (directive (EU) 2015/2366,
// article 71).
const retentionMonths = 13

// ArchivableFrom returns the earliest time at which a month may be archived.
func (m Month) ArchivableFrom() time.Time { return m.addMonths(1 + retentionMonths).Start() }

// Blocker is a reason why a month cannot be archived yet.
type Blocker string

// The blockers of a month on one platform.
const (
	NotClosed          Blocker = "NOT_CLOSED"       // the month is not closed
	NotSealed          Blocker = "NOT_SEALED"       // postings are not in a checkpoint of the log
	NotInSnapshots     Blocker = "NOT_IN_SNAPSHOTS" // accounts have no balance snapshot at the end of the month
	EffectiveLater     Blocker = "EFFECTIVE_LATER"  // postings are effective after the month
	UnfinishedPayments Blocker = "UNFINISHED"       // payments with postings in the month are not finished
	UnmatchedFunds     Blocker = "UNMATCHED"        // payments received in the month are unmatched
	OpenBreak          Blocker = "OPEN_BREAK"       // breaks of a reconciliation with entries of the month are open
)

// Message says what to do about count cases of the blocker.
func (b Blocker) Message(count int64) string {
	switch b {
	case NotClosed:
		return "the month is not closed; close it"
	case NotSealed:
		return fmt.Sprintf("%d of its postings are not in a checkpoint of the log yet; wait for the service to seal them", count)
	case NotInSnapshots:
		return "its closing balances have no snapshot yet; wait for the service to take them"
	case EffectiveLater:
		return fmt.Sprintf("%d of its postings are effective after it, so it cannot be separated from the next month", count)
	case UnfinishedPayments:
		return fmt.Sprintf("%d payments with postings in it are not finished", count)
	case UnmatchedFunds:
		return fmt.Sprintf("%d payments received in it are unmatched; assign them", count)
	case OpenBreak:
		return fmt.Sprintf("%d open breaks of reconciliations name its entries; resolve them", count)
	}
	return string(b)
}
