package ledger

// Adjustment: finance puts something right by hand, between any accounts of the chart.
// Who authorised it, and why, is kept beside it; the memo says why too.
//
//	as the entries say
func Adjustment(h Header, entries []Entry) Posting { return h.posting(KindAdjustment, entries...) }
