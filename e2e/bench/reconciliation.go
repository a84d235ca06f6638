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

// goalReconciliation is for a statement of 100,000 lines.
const goalReconciliation = 30 * time.Second

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
func (p *closedPeriodEnv) measureReconciliation(ctx context.Context) error {
	for i, statement := range []struct {
		format, contentType, query string
		file                       []byte
	}{{"camt053", "application/xml", "", p.statements[0].camt053()}, {"csv", "text/csv", "&map=" + url.QueryEscape(csvColumnMap), p.statements[1].csv()}} {
		path := "/ledger/reconciliations?account=" + url.QueryEscape("rails/"+p.statements[i].rail) + "&currency=USD&format=" + statement.format + statement.query
		send := func(want int) (r reconciliation, took time.Duration, err error) {
			response, err := p.monthTenant.api.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: path, Body: statement.file, ContentType: statement.contentType})
			if err != nil {
				return r, 0, err
			}
			if response.Status != want {
				return r, 0, newUnexpectedStatus("POST "+path, response.Status, response.Body)
			}
			return r, response.Duration, json.Unmarshal(response.Body, &r)
		}
		if err := p.start(ctx); err != nil { // again, so that its memory is that at rest
			return err
		}
		var first reconciliation
		var took time.Duration
		memory, err := measureMemoryGrowth(p.process.PID(), func() (err error) {
			first, took, err = send(http.StatusCreated)
			return err
		})
		if err != nil {
			return err
		}
		breaks, err := first.check(&p.statements[i])
		if err != nil {
			return fmt.Errorf("%s: %w", statement.format, err)
		}
		second, again, err := send(http.StatusOK)
		if err != nil {
			return err
		}
		if second.ID != first.ID {
			return fmt.Errorf("%s: the same file again made %s; the first made %s", statement.format, second.ID, first.ID)
		}
		logf("reconcile %d lines of %s: %s, %s; again %s", first.Lines, statement.format, formatDuration(took), memory, formatDuration(again))
		p.report.add(reconciliations, statement.format, first.Lines, byteSize(len(statement.file)), first.MatchedLines, breaks, took, formatRate(int64(first.Lines), took), memory, again,
			goal(fmt.Sprintf("under %s for 100000 lines", goalReconciliation), took.Seconds()/float64(first.Lines) < goalReconciliation.Seconds()/100_000))
	}
	var list struct{ TotalCount int }
	if err := p.monthTenant.api.Call(ctx, "GET", "/ledger/reconciliations", nil, &list); err != nil {
		return err
	}
	if list.TotalCount != len(p.statements) {
		return fmt.Errorf("there are %d reconciliations; want %d", list.TotalCount, len(p.statements))
	}
	return nil
}

// check compares the breaks with those that the statement was made with, and counts them.
func (r reconciliation) check(w *statementFixture) (breaks int, err error) {
	found := map[reconcile.Reason]int{}
	for _, b := range r.Breaks {
		found[b.Reason] = b.Count
		breaks += b.Count
	}
	if r.Lines != len(w.lines) || !maps.Equal(found, w.breaks) {
		return breaks, fmt.Errorf("%d lines with the breaks %v; want %d with %v", r.Lines, found, len(w.lines), w.breaks)
	}
	return breaks, nil
}
