package ids_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/ids"
)

func TestGenerator_IDsAreOrderedAndTimestamped(t *testing.T) {
	t.Parallel()
	// Ids of the same millisecond sort in the order of generation, even after the counter overflows.
	at := time.UnixMilli(1_790_000_000_000)
	g := ids.New()

	last := g.New(at)
	if seconds, nanos := last.Time().UnixTime(); last.Version() != 7 || last.Variant() != uuid.RFC4122 ||
		!time.Unix(seconds, nanos).Equal(at) {
		t.Fatalf("%s is not a UUIDv7 of %s", last, at)
	}
	for range 10_000 {
		next := g.New(at)
		if next.String() <= last.String() {
			t.Fatalf("%s was made after %s and sorts before it", next, last)
		}
		last = next
	}
}

func TestGenerator_UniqueAcrossGoroutines(t *testing.T) {
	t.Parallel()
	// Concurrent callers never get the same id.
	g, at := ids.New(), time.UnixMilli(1_790_000_000_000)
	var seen sync.Map
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2_000 {
				if _, twice := seen.LoadOrStore(g.New(at), true); twice {
					t.Error("an id was given twice")
				}
			}
		})
	}
	all.Wait()
}
