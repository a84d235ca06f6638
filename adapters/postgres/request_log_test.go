package postgres_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/requestlog"
	"causeway/ports"
)

// loggedRequest returns an entry with everything set, of the nth second after noon.
func loggedRequest(c *env, n int) requestlog.Entry {
	at := noon.Add(time.Duration(n) * time.Second)
	e := requestlog.Entry{
		ID: ident.NewRequestLog(generator.New, at), Platform: c.platform.ID, Token: ident.NewToken(generator.New, noon), ArrivedAt: at,
		Duration: 1234 * time.Microsecond, Method: "POST", Operation: "createQuote", Route: "/v/quotes", Path: "/v/quotes", Query: "limit=1",
		Status: 201, Code: "", RequestID: newIDAt(at), IdempotencyKey: fmt.Sprint("key-", n), Replayed: true,
		Request:  requestlog.Content{Type: "application/json", Size: 12, Body: `{"amount":1}`, Cut: true},
		Response: requestlog.Content{Type: "application/json", Size: 2, Body: `{}`, Cut: true}, LostBefore: 3,
	}
	return e
}

func TestRequestLog_ListsByEachFilter(t *testing.T) {
	t.Parallel()
	// An entry is read as it was written, once, however often it is; a list has no bodies, and only what matches all filters of the
	// platform's own, the last written first.
	c := newEnv(t)
	entries := make([]requestlog.Entry, 6)
	for i := range entries {
		entries[i] = loggedRequest(c, i)
	}
	agent := ident.NewAgent(generator.New, noon)
	entries[1].Status, entries[1].Code, entries[1].Message = 404, "NOT_FOUND", "No such endpoint"
	entries[2].Method, entries[2].Operation, entries[2].Path = "GET", "getQuote", "/v/quotes/x_y"
	entries[3].Status, entries[3].IdempotencyKey, entries[3].Path = 503, "", "/quotes"
	entries[4].Token, entries[4].Agent = ident.Token{}, agent
	made, changed := newIDAt(noon), newIDAt(noon)
	entries[0].Subject, entries[3].Subject, entries[4].Subject, entries[5].Subject = made, changed, made, made
	entries[5].Platform, entries[5].RequestID = c.otherPlatform.ID, entries[0].RequestID
	for range 2 {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveRequestLog(ctx, entries) })
	}

	for i, e := range entries {
		if got, err := c.RequestLogEntry(t.Context(), e.Platform, e.ID); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%d: %+v, %v; want %+v", i, got, err, e)
		}
	}
	if _, err := c.RequestLogEntry(t.Context(), c.platform.ID, entries[5].ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the entry of another platform: %v", err)
	}
	ranges := func(from, to int) []requestlog.StatusRange { return []requestlog.StatusRange{{From: from, To: to}} }
	for name, l := range map[string]struct {
		filter ports.RequestLogFilter
		want   []int
	}{
		"all":           {ports.RequestLogFilter{}, []int{4, 3, 2, 1, 0}},
		"ascending":     {ports.RequestLogFilter{Paging: ports.Paging{Ascending: true}}, []int{0, 1, 2, 3, 4}},
		"after":         {ports.RequestLogFilter{Paging: ports.Paging{After: entries[3].ID.UUID()}}, []int{2, 1, 0}},
		"failed":        {ports.RequestLogFilter{Statuses: ranges(400, 499)}, []int{1}},
		"statuses":      {ports.RequestLogFilter{Statuses: append(ranges(201, 201), ranges(500, 599)...)}, []int{4, 3, 2, 0}},
		"method":        {ports.RequestLogFilter{Method: "GET"}, []int{2}},
		"operation":     {ports.RequestLogFilter{Operation: "getQuote"}, []int{2}},
		"path":          {ports.RequestLogFilter{PathPrefixes: []string{"/v/quotes/x_"}}, []int{2}},
		"paths":         {ports.RequestLogFilter{PathPrefixes: []string{"/v/quotes/", "/q"}}, []int{3, 2}},
		"no pattern":    {ports.RequestLogFilter{PathPrefixes: []string{"/v/%"}}, nil},
		"request":       {ports.RequestLogFilter{RequestID: entries[0].RequestID}, []int{0}},
		"key":           {ports.RequestLogFilter{IdempotencyKey: "key-2"}, []int{2}},
		"token":         {ports.RequestLogFilter{Token: entries[1].Token}, []int{1}},
		"agent":         {ports.RequestLogFilter{Agent: agent}, []int{4}},
		"from":          {ports.RequestLogFilter{Arrived: period.Interval{From: entries[3].ArrivedAt}}, []int{4, 3}},
		"to":            {ports.RequestLogFilter{Arrived: period.Interval{To: entries[1].ArrivedAt}}, []int{0}},
		"subjects":      {ports.RequestLogFilter{Subjects: []uuid.UUID{made, changed}}, []int{4, 3, 0}},
		"subject":       {ports.RequestLogFilter{Subjects: []uuid.UUID{made}, Method: "POST", Paging: ports.Paging{MaxRead: 1}}, []int{4, 0}},
		"all that is":   {ports.RequestLogFilter{Statuses: ranges(400, 599), Method: "POST", Operation: "createQuote"}, []int{3, 1}},
		"unknown":       {ports.RequestLogFilter{RequestID: uuid.New()}, nil},
		"limited to 2":  {ports.RequestLogFilter{Paging: ports.Paging{Limit: 2}}, []int{4, 3}},
		"of no request": {ports.RequestLogFilter{IdempotencyKey: "key"}, nil},
	} {
		if l.filter.Limit == 0 {
			l.filter.Limit = 10
		}
		page, err := c.RequestLog(t.Context(), c.platform.ID, l.filter)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []int
		for _, e := range page.Items {
			i := slices.IndexFunc(entries, func(known requestlog.Entry) bool { return known.ID == e.ID })
			got = append(got, i)
			want := entries[i]
			want.Request.Body, want.Request.Cut, want.Response.Body, want.Response.Cut = "", false, "", false
			if !reflect.DeepEqual(e, want) {
				t.Errorf("%s: %+v, want %+v", name, e, want)
			}
		}
		if !slices.Equal(got, l.want) || page.More != (name == "limited to 2") {
			t.Errorf("%s: %v, more %t; want %v", name, got, page.More, l.want)
		}
	}
}

func TestRequestLog_LooksThroughAFewAtOnce(t *testing.T) {
	t.Parallel()
	// A page that looks through only a few requests says how far it has come, unless it is full or has come to the end. The pages after it
	// have the others that match, each once.
	c := newEnv(t)
	entries := make([]requestlog.Entry, 20)
	for i := range entries {
		entries[i] = loggedRequest(c, i)
		if i%6 == 1 {
			entries[i].Method, entries[i].Path = "GET", "/rare"
		}
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveRequestLog(ctx, entries) })

	for _, maxRead := range []int{1, 6, 7, 20, 100} {
		var got []int
		f := ports.RequestLogFilter{PathPrefixes: []string{"/rare"}, Paging: ports.Paging{Limit: 1, MaxRead: maxRead}}
		for pages := 0; ; pages++ {
			page, err := c.RequestLog(t.Context(), c.platform.ID, f)
			if err != nil || pages > 2*len(entries) {
				t.Fatalf("%d at once: %v, page %d", maxRead, err, pages)
			}
			for _, e := range page.Items {
				got = append(got, slices.IndexFunc(entries, func(known requestlog.Entry) bool { return known.ID == e.ID }))
				f.After = e.ID.UUID()
			}
			if page.More && page.ReadTo != uuid.Nil {
				t.Errorf("%d at once: a full page says how far it has come", maxRead)
			}
			if page.ReadTo != uuid.Nil {
				f.After = page.ReadTo
			}
			if !page.More && page.ReadTo == uuid.Nil {
				break
			}
		}
		if !slices.Equal(got, []int{19, 13, 7, 1}) {
			t.Errorf("%d at once: %v", maxRead, got)
		}
	}
}

func TestDeleteOld_RequestLog(t *testing.T) {
	t.Parallel()
	// A partition that ended before the time is dropped with its entries; the next one, and what has no partition of its own, stays.
	c := newRetentionEnv(t)
	c.split(t, "request_log", noon, noon.Add(time.Hour))
	var entries []requestlog.Entry
	for _, at := range []time.Time{noon.Add(justBefore), noon, noon.Add(2 * time.Hour)} {
		e := loggedRequest(c.env, 0)
		e.ID.SetUUID(newIDAt(at))
		entries = append(entries, e)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.SaveRequestLog(ctx, entries) })
	exec(t, c.owner, "ANALYZE request_log")

	c.wantDeleted(t, "request_log", 1)
	c.wantDeleted(t, "request_log", 0)

	page, err := c.RequestLog(t.Context(), c.platform.ID, ports.RequestLogFilter{Paging: ports.Paging{Limit: 10, Ascending: true}})
	if err != nil || len(page.Items) != 2 || page.Items[0].ID != entries[1].ID || page.Items[1].ID != entries[2].ID {
		t.Errorf("%+v, %v", page.Items, err)
	}
}
