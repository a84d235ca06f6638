package reconcile

// BalanceComparison compares the partner's closing balance with the ledger's at the end of the last day
// of a statement, by effective time. Amounts are in minor units; those that explain the difference are
// positive if the partner has more.
type BalanceComparison struct {
	Partner int64
	Ledger  int64
	// OpenBreaks is the sum of the open breaks with a line or entry until that day.
	OpenBreaks int64
	// OtherDay is what one side has until that day and the other has later, and is matched.
	OtherDay int64
	// Resolved is the sum of breaks that were resolved with a note alone, or with a correction that
	// takes effect later.
	Resolved int64
}

// Difference returns what the partner has more than the ledger.
func (b BalanceComparison) Difference() int64 { return b.Partner - b.Ledger }

// Unexplained returns the difference that the lines and entries of all imported statements do not
// explain: it was there before the first one, or a balance of a statement does not fit its lines.
func (b BalanceComparison) Unexplained() int64 {
	return b.Difference() - b.OpenBreaks - b.OtherDay - b.Resolved
}
