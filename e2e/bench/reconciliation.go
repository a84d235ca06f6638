package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"time"

	"causeway/adapters/apiclient"
	"causeway/core/reconcile"
)

// reconciliation is the response to an import.
type reconciliation struct {
	ID                  string
	Lines, MatchedLines int
	Breaks              []struct {
		Reason reconcile.Reason
		Count  int
	}
}

// measureReconciliation imports the statements of both partners, each twice.
func (p *pastMonth) measureReconciliation(ctx context.Context) {
	for i, s := range []struct {
		format, contentType, query string
		file                       []byte
	}{
		{"camt053", "application/xml", "", p.statements[0].camt053()},
		{"csv", "text/csv", "&map=" + url.QueryEscape(csvColumnMap), p.statements[1].csv()},
	} {
		path := fmt.Sprintf("/ledger/reconciliations?account=%s&currency=USD&format=%s%s",
			url.QueryEscape("rails/"+p.statements[i].rail), s.format, s.query)
		send := func(want int) (r reconciliation, took time.Duration) {
			request := apiclient.Request{Method: http.MethodPost, Path: path, Body: s.file, ContentType: s.contentType}
			response := must(p.full.Do(ctx, request))
			check(response.Err("POST", path))
			if response.Status != want {
				failf("POST %s: status %d; want %d", path, response.Status, want)
			}
			check(json.Unmarshal(response.Body, &r))
			return r, response.Duration
		}
		p.start(ctx) // again, so that its memory is that at rest
		var first reconciliation
		var took time.Duration
		memory := measureMemoryGrowth(p.process.PID(), func() { first, took = send(http.StatusCreated) })
		breaks, err := first.check(&p.statements[i])
		if err != nil {
			failf("%s: %w", s.format, err)
		}
		second, again := send(http.StatusOK)
		if second.ID != first.ID {
			failf("%s: the same file again made %s; the first made %s", s.format, second.ID, first.ID)
		}
		p.report.add(reconciliations, s.format, first.Lines, byteSize(len(s.file)), first.MatchedLines, breaks, took,
			formatRate(int64(first.Lines), took), memory, again, judge(goalReconciliation, took*100_000/time.Duration(first.Lines)))
	}
	var list struct{ TotalCount int }
	p.full.call(ctx, "GET", "/ledger/reconciliations", nil, &list)
	if list.TotalCount != len(p.statements) {
		failf("there are %d reconciliations; want %d", list.TotalCount, len(p.statements))
	}
}

// check compares the breaks with those that the statement was made with, and counts them.
func (r reconciliation) check(w *statementFixture) (breaks int, err error) {
	found := map[reconcile.Reason]int{}
	for _, b := range r.Breaks {
		found[b.Reason] = b.Count
		breaks += b.Count
	}
	if r.Lines != len(w.lines) || !maps.Equal(found, w.breaks) {
		err = fmt.Errorf("%d lines with the breaks %v; want %d with %v", r.Lines, found, len(w.lines), w.breaks)
	}
	return breaks, err
}
