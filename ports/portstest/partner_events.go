package portstest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/ports"
)

// PartnerEvents tests a store of events of partners, which is empty.
func PartnerEvents(t *testing.T, store ports.PartnerEvents, now time.Time) {
	t.Helper()
	ctx := t.Context()
	save := func(connection string, events ...ports.PartnerEvent) []string {
		t.Helper()
		differing, err := store.SavePartnerEvents(ctx, connection, now, events)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, e := range differing {
			if ids = append(ids, e.ID); string(e.Body) != `{"of":"`+e.ID+`"}` {
				t.Errorf("of %s the body %s is stored", e.ID, e.Body)
			}
		}
		return ids
	}
	read := func(connection string, after int64, limit int) (ids []string, last int64) {
		t.Helper()
		events, err := store.PartnerEvents(ctx, connection, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Number <= last || string(e.Body) != `{"of":"`+e.ID+`"}` {
				t.Errorf("event %s has the number %d after %d, and the body %s", e.ID, e.Number, last, e.Body)
			}
			ids, last = append(ids, e.ID), e.Number
		}
		return ids, last
	}
	event := func(id string) ports.PartnerEvent {
		return ports.PartnerEvent{ID: id, Body: []byte(`{"of":"` + id + `"}`)}
	}

	t.Run("each event once, in the order in which it was first saved", func(t *testing.T) {
		if differing := slices.Concat(save("a", event("1"), event("2")), save("a", event("2"), event("3"), event("3")),
			save("b", event("3"), event("1"))); len(differing) > 0 {
			t.Errorf("differing: %v", differing)
		}
		first, last := read("a", 0, 2)
		rest, _ := read("a", last, 2)
		other, _ := read("b", 0, 9)
		if !slices.Equal(first, []string{"1", "2"}) || !slices.Equal(rest, []string{"3"}) || !slices.Equal(other, []string{"3", "1"}) {
			t.Errorf("%v, then %v; of the other connection %v", first, rest, other)
		}
		if none, _ := read("c", 0, 9); len(none) > 0 {
			t.Errorf("a connection without events has %v", none)
		}
	})
	t.Run("an id with another body is reported, and the first body stays", func(t *testing.T) {
		differing := save("a", ports.PartnerEvent{ID: "1", Body: []byte(`{}`)}, event("2"), event("4"))
		all, _ := read("a", 0, 9)
		if !slices.Equal(differing, []string{"1"}) || !slices.Equal(all, []string{"1", "2", "3", "4"}) {
			t.Errorf("differing %v, kept %v", differing, all)
		}
	})
	t.Run("a reader that follows misses nothing that is saved at the same time", func(t *testing.T) {
		const writers, each = 8, 25
		var saving sync.WaitGroup
		for w := range writers {
			saving.Go(func() {
				for n := range each {
					if _, err := store.SavePartnerEvents(ctx, "busy", now, []ports.PartnerEvent{event(fmt.Sprintf("%d-%d", w, n))}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { saving.Wait(); close(done) }()
		var seen []string
		for last, ended := int64(0), false; ; {
			select {
			case <-done:
				ended = true
			default:
			}
			ids, next := read("busy", last, 10)
			seen = append(seen, ids...)
			if len(ids) > 0 {
				last = next
			} else if ended {
				break
			}
		}
		slices.Sort(seen)
		if unique := len(slices.Compact(slices.Clone(seen))); len(seen) != writers*each || unique != len(seen) {
			t.Errorf("read %d events, %d different; want %d", len(seen), unique, writers*each)
		}
	})
}
