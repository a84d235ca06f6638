package partner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"causeway/core/rail"
	"causeway/ports"
)

// saveEvents stores events. What comes with the id of another one is stored beside that as a reuse: the first one counts. It
// returns how many are.
func saveEvents(ctx context.Context, store ports.PartnerEvents, connection string, now time.Time, events []Event) (reused int, err error) {
	stored := make([]ports.PartnerEvent, len(events))
	for i, e := range events {
		if stored[i], err = storable(e); err != nil {
			return 0, err
		}
	}
	for batch := stored; len(batch) > 0; {
		// The events of a call have different ids, so that it is known which of them differs.
		n := distinct(batch)
		differing, err := store.SavePartnerEvents(ctx, connection, now, batch[:n])
		if err != nil {
			return reused, err
		}
		var reuses []ports.PartnerEvent
		for _, first := range differing {
			for _, e := range batch[:n] {
				if e.ID != first.ID {
					continue
				}
				again, err := reuseOf(first, e)
				if err != nil {
					return reused, err
				}
				reuses = append(reuses, again)
			}
		}
		if reused += len(reuses); len(reuses) > 0 {
			if _, err := store.SavePartnerEvents(ctx, connection, now, reuses); err != nil {
				return reused, err
			}
		}
		batch = batch[n:]
	}
	return reused, nil
}

// distinct returns how many of the first events have different ids.
func distinct(events []ports.PartnerEvent) int {
	seen := map[string]bool{}
	for n, e := range events {
		if seen[e.ID] {
			return n
		}
		seen[e.ID] = true
	}
	return len(events)
}

// storable returns an event as it is stored: always the same text for the same content.
func storable(e Event) (ports.PartnerEvent, error) {
	body, err := json.Marshal(e)
	return ports.PartnerEvent{ID: e.ID, Body: body}, err
}

// reuse is what is stored of an event that came with the id of another one.
type reuse struct {
	Recorded json.RawMessage `json:"recorded"`
	Reported json.RawMessage `json:"reported"`
}

// reuseOf returns how it is stored that an event came with the id of another one: once for each content, and with an id that no
// event has.
func reuseOf(first, again ports.PartnerEvent) (ports.PartnerEvent, error) {
	body, err := json.Marshal(reuse{first.Body, again.Body})
	return ports.PartnerEvent{ID: fmt.Sprintf("%s %x", first.ID, sha256.Sum256(again.Body)), Body: body}, err
}

// isReuse reports whether a stored event is one: no event has a space in its id.
func isReuse(stored ports.PartnerEvent) bool { return strings.Contains(stored.ID, " ") }

// contradictionOf returns what a reuse says.
func contradictionOf(stored ports.PartnerEvent) (rail.Contradiction, error) {
	var r reuse
	var first, again Event
	if err := json.Unmarshal(stored.Body, &r); err != nil {
		return rail.Contradiction{}, err
	}
	if err := errors.Join(json.Unmarshal(r.Recorded, &first), json.Unmarshal(r.Reported, &again)); err != nil {
		return rail.Contradiction{}, err
	}
	return rail.Contradiction{Name: "event " + first.ID,
		Recorded: rail.Said{State: string(first.Type), At: first.At, Text: string(r.Recorded)},
		Reported: rail.Said{State: string(again.Type), At: again.At, Text: string(r.Reported)},
		Problem: fmt.Sprintf("the partner has used the id of the event %s again, with other content; the first one was taken: ask the partner "+
			"which is right, and post what is missing as an adjustment", first.ID),
		Content: fmt.Sprintf("%x", sha256.Sum256(r.Reported))}, nil
}
