package outbox

// mark knows how far a platform's queue is known to hold nothing that has not been
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
type mark struct {
	tail    int64 // everything up to here has been read
	reached int64 // the highest number that a read returned

	next  int64 // the tail to come
	until int64 // once no transaction below this id runs; 0: there is none to come
}

// horizon is where transactions stand: none below oldest runs, and all that have an id
// are below next, which is 0 unless it was asked for.
type horizon struct{ oldest, next int64 }

// asks tells whether the horizon of the coming read must have next.
func (m *mark) asks() bool { return m.until == 0 && m.reached > m.tail }

// advance is told of a read from the tail on: of the horizon just before it, the
// highest number it returned (0 for none), and whether its limit may have cut it short.
func (m *mark) advance(before horizon, highest int64, cut bool) {
	if m.asks() && before.next > 0 {
		m.next, m.until = m.reached, before.next
	}
	if m.until > 0 && before.oldest >= m.until && (!cut || highest >= m.next) {
		m.tail, m.until = m.next, 0
	}
	m.reached = max(m.reached, highest)
}
