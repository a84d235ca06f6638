package payments_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/ports"
)

// rawRail reads a raw report again once it knows what it says.
type rawRail struct {
	*feedRail
	knows map[string]ports.RailReport
}

func (r *rawRail) ReadRaw(_ context.Context, raw ports.RawReport) (ports.RailReport, error) {
	if report, known := r.knows[string(raw.Data)]; known {
		return report, nil
	}
	return ports.RailReport{}, fmt.Errorf("%s of %d bytes at %s is not understood", raw.Kind, raw.Size, raw.Place)
}

func rawEvent(key string) ports.RawReport {
	return ports.RawReport{Kind: ports.RailFeedEvent, Key: key, Place: "event " + key, Problem: "rail is not a known name",
		Data: []byte("{" + key), Size: 7}
}

func TestFeeds_RawReportsHoldNothingUp(t *testing.T) {
	t.Parallel()
	// A report that the adapter does not understand is kept aside with its bytes, place and reason, once. What is beside it
	// and after it is taken. When the adapter understands it, what it says is taken, and what of that cannot be taken is kept
	// aside by itself.
	e := newFeedEnv(t)
	adapter := &rawRail{feedRail: e.adapter, knows: map[string]ports.RailReport{}}
	e.live.Adapter = adapter
	e.adapter.add(ports.RailReport{Raw: []ports.RawReport{rawEvent("e1"), rawEvent("e2")},
		Receipts: []ports.RailReceipt{e.receipt("1", e.dollars.Reference, 1_00)}})
	e.adapter.add(ports.RailReport{Raw: []ports.RawReport{rawEvent("e1")}})
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("2", e.dollars.Reference, 2_00)}})
	e.read()

	items := e.items()
	if len(items) != 2 || items[0].Kind != ports.RailFeedEvent || items[0].Place != "event e1" ||
		items[0].Problem != "rail is not a known name" {
		t.Fatalf("kept aside %+v", items)
	}
	kept, _, err := e.Store.RailFeedItem(ports.ForAllPlatforms(t.Context()), items[0].ID)
	var raw ports.RawReport
	if err := errors.Join(err, json.Unmarshal(kept.Content, &raw)); err != nil || string(raw.Data) != "{e1" || raw.Size != 7 {
		t.Errorf("%s, %v", kept.Content, err)
	}
	e.WantBalances(map[string]int64{e.account(): -3_00, "rails/ACH USD": 3_00})

	adapter.knows["{e1"] = ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("3", e.dollars.Reference, 4_00),
		e.receipt("4", e.dollars.Reference, 0)}}
	e.Clock.Advance(time.Minute)
	e.read()

	e.WantBalances(map[string]int64{e.account(): -7_00, "rails/ACH USD": 7_00})
	items = e.items()
	if len(items) != 2 || items[0].Key != "e2" || items[0].Problem != "EVENT of 7 bytes at event e2 is not understood" ||
		items[1].Key != "ACH/4" {
		t.Errorf("left are %+v", items)
	}
}

func TestFeeds_ProblemDelaysNothing(t *testing.T) {
	t.Parallel()
	// What does not work beside a piece is recorded as a failure, and the feed is read at its usual pace, however often it has
	// failed: what works goes on. The failures end when it works.
	e := newFeedEnv(t)
	const failures = 7
	for n := range failures {
		e.adapter.add(ports.RailReport{Problem: errors.New("the folder in is full"),
			Receipts: []ports.RailReceipt{e.receipt(fmt.Sprint(n), e.dollars.Reference, 1_00)}})
	}
	state := func() ports.RailFeedState {
		states, err := e.Store.RailFeedStates(ports.ForAllPlatforms(t.Context()))
		if err != nil || len(states) != 1 {
			t.Fatalf("%+v, %v", states, err)
		}
		return states[0]
	}
	for n := range failures {
		if err := e.feeds.Read(t.Context(), e.live); err == nil || !strings.Contains(err.Error(), "the folder in is full") {
			t.Fatalf("read: %v", err)
		}
		if s := state(); s.Failures != n+1 || s.LastError != "the folder in is full" {
			t.Fatalf("state %+v", s)
		}
		e.Clock.Advance(5 * time.Second)
	}
	e.WantBalances(map[string]int64{e.account(): -failures * 1_00, "rails/ACH USD": failures * 1_00})

	e.adapter.add(ports.RailReport{})
	e.read()
	if s := state(); s.Failures != 0 || s.LastError != "" {
		t.Errorf("state %+v", s)
	}
}
