package postgres

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/ledger"
)

func TestAcknowledgedPostings_KeepTheLast(t *testing.T) {
	t.Parallel()
	// A process remembers a bounded number of postings: the last ones.
	var a acknowledgedPostings
	ids := make([]uuid.UUID, maxAcknowledged+10)
	for i := range ids {
		ids[i] = uuid.New()
		a.add([]ledger.Posting{{ID: ids[i]}}, time.Time{})
	}
	kept := map[string]bool{}
	for _, p := range a.list {
		kept[p.Reference] = true
	}
	if len(kept) != maxAcknowledged {
		t.Fatalf("kept %d", len(kept))
	}
	for i, id := range ids {
		if kept[id.String()] != (i >= 10) {
			t.Fatalf("posting %d of %d: kept %t", i, len(ids), !kept[id.String()])
		}
	}
}
