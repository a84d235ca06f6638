package postgres

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/ledger"
)

func TestRememberedCommits_KeepTheLast(t *testing.T) {
	t.Parallel()
	// A process remembers a bounded number of commits: the last ones.
	var a rememberedCommits
	ids := make([]uuid.UUID, maxRemembered+10)
	for i := range ids {
		ids[i] = uuid.New()
		a.addPostings([]ledger.Posting{{ID: ids[i]}}, time.Time{})
	}
	kept := map[string]bool{}
	for _, p := range a.list {
		kept[p.lost().Reference] = true
	}
	if len(kept) != maxRemembered {
		t.Fatalf("kept %d", len(kept))
	}
	for i, id := range ids {
		if kept[id.String()] != (i >= 10) {
			t.Fatalf("posting %d of %d: kept %t", i, len(ids), !kept[id.String()])
		}
	}
}
