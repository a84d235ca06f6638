package outbox

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWatermark_NeverSkipsLateCommit(t *testing.T) {
	t.Parallel()
	// However transactions take numbers, commit and abort between the reads: after an event
	// is committed, the next complete read returns it, and no unread event is below the tail. Events may also be known without a read.
	rapid.Check(t, func(t *rapid.T) {
		type transaction struct{ xid, seq int64 }
		var running []transaction
		var xid, seq int64 = 1, 0
		committed, read := map[int64]bool{}, map[int64]bool{}
		m := &watermark{}
		// As in Postgres: without running transactions, xmin is one above the last that ended,
		// although others above it may have begun.
		var ended int64
		see := func() xidBounds {
			s := xidBounds{xmin: ended + 1}
			for _, r := range running {
				s.xmin = min(s.xmin, r.xid)
			}
			if m.needsNextXID(true) || rapid.Bool().Draw(t, "another platform asks") {
				s.nextXID, ended = xid, xid
				xid++
			}
			return s
		}
		look := func(limit int) {
			before := see()
			if rapid.Bool().Draw(t, "something commits between snapshot and read") && len(running) > 0 {
				committed[running[0].seq] = running[0].seq > 0
				ended = max(ended, running[0].xid)
				running = running[1:]
			}
			var found []int64
			for s := range committed {
				if committed[s] && s > m.tail && !read[s] {
					found = append(found, s)
				}
			}
			slices.Sort(found)
			cut := len(found) >= limit
			found = found[:min(limit, len(found))]
			highest := int64(0)
			for _, s := range found {
				read[s], highest = true, s
			}
			m.advance(before, highest, cut)
			for s, there := range committed {
				if there && !read[s] && s <= m.tail {
					t.Fatalf("%d is not read and below the tail %d", s, m.tail)
				}
			}
			for _, r := range running {
				if r.seq > 0 && r.seq <= m.tail {
					t.Fatalf("%d may still be committed, below the tail %d", r.seq, m.tail)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(*rapid.T) { running = append(running, transaction{xid: xid}); xid++ },
			"draw": func(t *rapid.T) {
				if i := rapid.IntRange(0, max(len(running)-1, 0)).Draw(t, "which"); len(running) > 0 && running[i].seq == 0 {
					seq++
					running[i].seq = seq
				}
			},
			"end": func(t *rapid.T) {
				if len(running) == 0 {
					return
				}
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				committed[running[i].seq] = running[i].seq > 0 && rapid.Bool().Draw(t, "commits")
				ended = max(ended, running[i].xid)
				running = slices.Delete(running, i, i+1)
			},
			"hand over": func(t *rapid.T) {
				for _, s := range slices.Sorted(maps.Keys(committed)) {
					if committed[s] && !read[s] && rapid.Bool().Draw(t, "this one") {
						read[s] = true
						m.know(s)
					}
				}
			},
			"read":       func(*rapid.T) { look(1000) },
			"read a few": func(t *rapid.T) { look(rapid.IntRange(1, 3).Draw(t, "limit")) },
			"settle": func(*rapid.T) {
				// Without running transactions the tail advances to the last event.
				if len(running) > 0 {
					return
				}
				for range 5 {
					look(1000)
				}
				for s := range read {
					if s > m.tail {
						t.Fatalf("the tail stays at %d, below %d", m.tail, s)
					}
				}
			},
		})
	})
}
