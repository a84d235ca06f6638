package webhookstest

import (
	"context"
	"slices"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

func testRedeliveryKeepsIDAndOrder(t *testing.T, b Fixture) {
	// Redelivered events keep their ids, their bodies and the order of their subject. Attempts
	// counts on; AttemptsSinceDue starts again.
	w := newEnv(t, b)
	events := w.append("a1", "a2", "b1")
	for _, got := range w.take(3) {
		w.exchange([]ports.WebhookResult{w.settled(got, event.Refused)}, w.fetch(1, 1))
	}
	w.now = w.now.Add(time.Hour)

	n, err := b.Log.Redeliver(context.Background(), w.platform, ports.Redelivery{Created: period.Interval{From: events[0].OccurredAt}}, w.now)

	if err != nil || n != 3 {
		t.Fatalf("redelivered %d, %v", n, err)
	}
	w.wantStatus(events[0], event.Pending, event.Refused)
	due := w.exchange(nil, w.fetch(10, 10))
	w.wantLabels(due.Retries, "a1", "a2", "b1")
	for i, q := range due.Retries {
		if q.ID != events[i].ID || string(q.Body) != string(events[i].Envelope()) || q.Attempts != 1 || q.AttemptsSinceDue != 0 ||
			!q.DueSince.Equal(w.now) || q.Blocked != (i == 1) {
			t.Errorf("%d: %+v", i, q)
		}
	}
	w.exchange([]ports.WebhookResult{
		w.settled(due.Retries[0], event.Accepted), w.deferred(due.Retries[1]), w.settled(due.Retries[2], event.Accepted),
	}, w.fetch(1, 1))
	w.wantLabels(w.exchange(nil, w.fetch(10, 10)).Retries, "a2")
	w.wantStatus(events[0], event.Delivered, event.Refused, event.Accepted)
}

func testRedeliverySkipsQueuedEvents(t *testing.T, b Fixture) {
	// Events in the queue are not queued again; ids of other platforms are ignored.
	w := newEnv(t, b)
	events := w.append("a1", "b1", "c1")
	got := w.take(3)
	w.exchange([]ports.WebhookResult{w.settled(got[0], event.Accepted), w.failed(got[1], w.now.Add(time.Hour))}, w.fetch(1, 1))
	foreign := w.event(b.Platform(t, endpointURL), "x1")
	b.Append(t, foreign)
	ids := []ident.Webhook{events[0].ID, events[1].ID, events[2].ID, foreign.ID}

	redeliver := func(selection ports.Redelivery) int {
		t.Helper()
		n, err := b.Log.Redeliver(context.Background(), w.platform, selection, w.now)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := redeliver(ports.Redelivery{IDs: ids, Status: event.Failed}); n != 0 {
		t.Errorf("redelivered %d failed", n)
	}
	if n := redeliver(ports.Redelivery{IDs: ids}); n != 1 {
		t.Errorf("redelivered %d, want 1", n)
	}
	if n := redeliver(ports.Redelivery{IDs: ids}); n != 0 {
		t.Errorf("redelivered %d again", n)
	}
	if n := redeliver(ports.Redelivery{Created: period.Interval{To: events[0].OccurredAt.Add(-time.Second)}}); n != 0 {
		t.Errorf("redelivered %d of another time", n)
	}
}

func testListFilters(t *testing.T, b Fixture) {
	// Each filter returns exactly what it selects.
	w := newEnv(t, b)
	events := w.append("a1", "b1", "c1", "d1")
	got := w.take(4)
	w.exchange([]ports.WebhookResult{
		w.settled(got[0], event.Accepted), w.settled(got[1], event.TimedOut), w.failed(got[2], w.now.Add(time.Hour)),
	}, w.fetch(1, 1))
	w.now = w.now.Add(time.Hour)
	test := event.NewTest(newWebhookID(w.now), w.platform, w.now)
	b.Append(t, test)
	events = append(events, test)

	for name, c := range map[string]struct {
		filter ports.DeliveryFilter
		want   []int
	}{
		"all":       {ports.DeliveryFilter{}, []int{4, 3, 2, 1, 0}},
		"ascending": {ports.DeliveryFilter{Ascending: true}, []int{0, 1, 2, 3, 4}},
		"pending":   {ports.DeliveryFilter{Status: event.Pending}, []int{4, 3, 2}},
		"delivered": {ports.DeliveryFilter{Status: event.Delivered}, []int{0}},
		"failed":    {ports.DeliveryFilter{Status: event.Failed}, []int{1}},
		"unsent":    {ports.DeliveryFilter{Status: event.Unsent}, nil},
		"type":      {ports.DeliveryFilter{Type: event.Test}, []int{4}},
		"name":      {ports.DeliveryFilter{Name: events[1].Name}, []int{3, 2, 1, 0}},
		"subject":   {ports.DeliveryFilter{Subject: events[2].Subject}, []int{2}},
		"from":      {ports.DeliveryFilter{Created: period.Interval{From: w.now}}, []int{4}},
		"to":        {ports.DeliveryFilter{Created: period.Interval{To: w.now}}, []int{3, 2, 1, 0}},
		"both":      {ports.DeliveryFilter{Status: event.Pending, Type: event.OutgoingPayment}, []int{3, 2}},
	} {
		page, err := b.Log.Deliveries(context.Background(), w.platform, c.filter)
		if err != nil {
			t.Fatal(err)
		}
		var ids, want []ident.Webhook
		for _, d := range page.Items {
			ids = append(ids, d.ID)
		}
		for _, i := range c.want {
			want = append(want, events[i].ID)
		}
		if !slices.Equal(ids, want) || page.More {
			t.Errorf("%s: got %v, want %v", name, ids, want)
		}
	}
}

func testListPages(t *testing.T, b Fixture) {
	// The pages have every delivery once, in both orders.
	w := newEnv(t, b)
	events := w.append("a1", "b1", "c1", "d1", "e1")
	for _, ascending := range []bool{false, true} {
		f := ports.DeliveryFilter{Limit: 2, Ascending: ascending}
		var ids []ident.Webhook
		for range 3 {
			page, err := b.Log.Deliveries(context.Background(), w.platform, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page.Items {
				ids = append(ids, d.ID)
			}
			f.After = ids[len(ids)-1]
			if page.More != (len(ids) < 5) {
				t.Errorf("after %d: more %v", len(ids), page.More)
			}
		}
		want := []ident.Webhook{events[0].ID, events[1].ID, events[2].ID, events[3].ID, events[4].ID}
		if !ascending {
			slices.Reverse(want)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("got %v, want %v", ids, want)
		}
	}
}

func testPlatformIsolation(t *testing.T, b Fixture) {
	// Events of another platform are not found.
	w := newEnv(t, b)
	e := w.append("a1")[0]
	other := b.Platform(t, endpointURL)

	page, err := b.Log.Deliveries(context.Background(), other, ports.DeliveryFilter{})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("got %+v, %v", page, err)
	}
	if _, err := b.Log.Delivery(context.Background(), other, e.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Log.Delivery(context.Background(), w.platform, newWebhookID(w.now)); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := b.Log.Endpoint(context.Background(), newPlatformID()); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	if endpoint, err := b.Log.Endpoint(context.Background(), other); err != nil || endpoint.URL != endpointURL {
		t.Errorf("got %+v, %v", endpoint, err)
	}
}

func testRecordUnqueuedEvent(t *testing.T, b Fixture) {
	// An event that was sent outside the queue is in the log with its attempt and never queued.
	w := newEnv(t, b)
	e := event.NewTest(newWebhookID(w.now), w.platform, w.now)
	a := event.Attempt{AttemptedAt: w.now, Duration: 12 * time.Millisecond, Outcome: event.Accepted, StatusCode: 204, Response: "thanks"}

	if err := b.Log.Record(context.Background(), e.Rendered(e.Envelope()), a); err != nil {
		t.Fatal(err)
	}

	w.wantStatus(e, event.Delivered, event.Accepted)
	w.wantLabels(w.exchange(nil, w.fetch(10, 10)).Fresh)
	d, err := b.Log.Delivery(context.Background(), w.platform, e.ID)
	a.Number = 1
	if err != nil || len(d.Attempts) != 1 || d.Attempts[0] != a || string(d.Body) != string(e.Envelope()) || d.Type != event.Test {
		t.Errorf("got %+v, %v", d, err)
	}

	// Sent again, it has a second attempt and the same body.
	again := event.Attempt{Number: 2, AttemptedAt: w.now.Add(time.Second), Duration: time.Millisecond, Outcome: event.Refused, StatusCode: 500}
	if err := b.Log.Record(context.Background(), e.Rendered([]byte("{}")), again); err != nil {
		t.Fatal(err)
	}
	d, err = b.Log.Delivery(context.Background(), w.platform, e.ID)
	if err != nil || len(d.Attempts) != 2 || d.Attempts[0] != a || d.Attempts[1] != again || string(d.Body) != string(e.Envelope()) {
		t.Errorf("got %+v, %v", d, err)
	}
}
