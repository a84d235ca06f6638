package outbox

// watermark knows how far a platform's queue is known to hold nothing that has not been
// read, so that reading need not begin at its start each time: what lies there is
// mostly rows that were just deleted, and a single long-running reader elsewhere
// keeps them all in the way.
//
// Sequence numbers are given out before the commit, so a row may appear below others
// that were read already. But whoever appends has a transaction id before the number
// (see appendSQL). So when a read has seen numbers up to `reached`, a transaction id
// drawn after that is above those of all who may still commit one of them, and once
// none below it runs, one more read finds all there can be up to there, and the next
// ones begin behind it.
//
// A snapshot's own upper end would not do: it is above the transactions that ended,
// not above those that run.
type watermark struct {
	tail        int64 // everything up to here has been read
	highestRead int64 // the highest number that a read returned

	nextTail int64 // the tail to come
	untilXID int64 // once no transaction below this id runs; 0: there is none to come
}

// xidBounds is where transactions stand: none below oldest runs, and all that have an id
// are below next, which is 0 unless it was asked for.
type xidBounds struct{ xmin, nextXID int64 }

// needsNextXID tells whether the horizon of the coming read must have next.
func (m *watermark) needsNextXID() bool { return m.untilXID == 0 && m.highestRead > m.tail }

// advance is told of a read from the tail on: of the horizon just before it, the
// highest number it returned (0 for none), and whether its limit may have cut it short.
func (m *watermark) advance(before xidBounds, highest int64, cut bool) {
	if m.needsNextXID() && before.nextXID > 0 {
		m.nextTail, m.untilXID = m.highestRead, before.nextXID
	}
	if m.untilXID > 0 && before.xmin >= m.untilXID && (!cut || highest >= m.nextTail) {
		m.tail, m.untilXID = m.nextTail, 0
	}
	m.highestRead = max(m.highestRead, highest)
}
