package outbox

// watermark tracks the number up to which all events of a platform's queue have been read,
// so that reads need not begin at the start of the queue. Its start is mostly rows that were
// just deleted, and one long-running transaction elsewhere keeps vacuum from removing them.
//
// Sequence numbers are assigned before the commit, so a row may appear below others that
// were read already. But every appending transaction has its id before its numbers (see
// appendSQL). So after a read has seen numbers up to highestRead, a transaction id assigned
// later is above the ids of all transactions that may still commit such a number. Once no
// transaction below this id is running, one more read finds all events up to highestRead,
// and the next reads begin after it.
//
// The xmax of a snapshot would not do: it is above the transactions that have ended, not
// above those that are running.
type watermark struct {
	tail        int64 // all events up to here have been read
	highestRead int64 // the highest number that a read returned, or of an event that was handed over

	nextTail int64 // the next value of tail
	untilXID int64 // tail advances once no transaction below this id is running; 0: nothing to advance to
}

// xidBounds bounds the running transactions: none is below xmin, and all ids assigned so far
// are below nextXID, which is 0 unless it was requested.
type xidBounds struct{ xmin, nextXID int64 }

// maxLag is how far the tail may fall behind the highest number before a read asks for an id that its transaction lacks.
const maxLag = 1000

// know records the number of a committed event that needs no read.
func (m *watermark) know(seq int64) { m.highestRead = max(m.highestRead, seq) }

// needsNextXID reports whether the next read needs nextXID. A transaction that writes has an id in any case; for another one, the id
// would turn a read into a commit that is synced.
func (m *watermark) needsNextXID(writes bool) bool {
	return m.untilXID == 0 && m.highestRead > m.tail && (writes || m.highestRead-m.tail >= maxLag)
}

// advance records a read that began after tail: the bounds in its snapshot, the highest number
// it returned (0 for none), and whether its limit may have truncated it.
func (m *watermark) advance(before xidBounds, highest int64, truncated bool) {
	if m.needsNextXID(true) && before.nextXID > 0 {
		m.nextTail, m.untilXID = m.highestRead, before.nextXID
	}
	if m.untilXID > 0 && before.xmin >= m.untilXID && (!truncated || highest >= m.nextTail) {
		m.tail, m.untilXID = m.nextTail, 0
	}
	m.know(highest)
}
