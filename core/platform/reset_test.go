package platform_test

import (
	"reflect"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

func TestPlatform_Reset(t *testing.T) {
	t.Parallel()
	// A sandbox platform is closed once, and its successor has its settings; a production platform is never closed.
	created, now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var id, successor ident.Platform
	id.SetUUID([16]byte{1})
	successor.SetUUID([16]byte{2})
	open, err := platform.New(id, "Acme", platform.Sandbox, true, created)
	if err != nil {
		t.Fatal(err)
	}
	open.WebhookEndpoint, open.UMADomain = "https://example.com/hooks", "uma.example.com"

	closed, next, err := open.Reset(successor, now)
	if err != nil {
		t.Fatal(err)
	}

	wantNext, wantClosed := open, open
	wantNext.ID, wantNext.CreatedAt, wantNext.UpdatedAt = successor, now, now
	wantClosed.ClosedAt, wantClosed.UpdatedAt, wantClosed.Successor, wantClosed.WebhookEndpoint = now, now, successor, ""
	if !reflect.DeepEqual(closed, wantClosed) || !reflect.DeepEqual(next, wantNext) {
		t.Errorf("closed %+v\nnext   %+v", closed, next)
	}
	listened := open
	listened.ListenerUntil = now.Add(platform.ListenerTime)
	after, same, err := listened.Reset(successor, now)
	if err != nil || after.HasListener(now) || !same.HasListener(now) || same.HasListener(now.Add(platform.ListenerTime)) {
		t.Errorf("the listener is of %+v, and not of its successor %+v (%v)", after, same, err)
	}
	if !closed.Closed() || next.Closed() || open.CheckOpen() != nil || next.CheckOpen() != nil {
		t.Errorf("closed %t, successor closed %t", closed.Closed(), next.Closed())
	}

	production := open
	production.Environment = platform.Production
	for name, c := range map[string]struct {
		platform platform.Platform
		want     fault.Code
	}{"again": {closed, fault.Conflict}, "production": {production, fault.Forbidden}} {
		after, _, err := c.platform.Reset(successor, now)
		if f, ok := fault.As(err); !ok || f.Code != c.want || after.ClosedAt != c.platform.ClosedAt {
			t.Errorf("%s: %v, closed at %s", name, err, after.ClosedAt)
		}
	}
}
