package outbox

// mark knows how far a platform's queue is known to hold nothing that has not been
// read, so that reading need not begin at its start each time: what lies there is
// mostly rows that were just deleted, and a single long-running reader elsewhere
// keeps them all in the way.
//
// Sequence numbers are given out before the commit, so a row may appear below others
// that were read already. But it can only come from a transaction that was running
// when the number was given. So when a read has seen numbers up to `reached`, and
// later no transaction is left that ran then, one more read finds all there can be up
// to there, and the next ones begin behind it.
//
// A transaction that draws its number before it has written anything has no id yet
// and is not seen by this; a look at the whole queue now and then is for that.
type mark struct {
	tail int64 // everything up to here has been read

	reached int64 // the highest number that an earlier read returned, if it is to be the next tail
	next    int64 // the tail to come
	until   int64 // once no transaction below this id runs; 0: there is none to come
}

// snapshot says which transactions run: none below xmin, none from xmax on.
type snapshot struct{ xmin, xmax int64 }

// advance is told of a read from the tail on: of a snapshot taken just before it, the
// highest number it returned (0 for none), and whether its limit may have cut it short.
func (m *mark) advance(before snapshot, highest int64, cut bool) {
	if m.until == 0 && m.reached > 0 {
		// Whoever drew a number up to `reached` had begun before this snapshot.
		m.next, m.until, m.reached = m.reached, before.xmax, 0
	}
	if m.until > 0 && before.xmin >= m.until && (!cut || highest >= m.next) {
		m.tail, m.until = m.next, 0
	}
	if m.until == 0 && highest > m.tail {
		m.reached = highest
	}
}
