package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"time"

	"causeway/core/reconcile"
)

// reconciliationResult is what it takes to hold the statement of a week against the books.
type reconciliationResult struct {
	format                   string
	bytes                    int
	lines, matched           int
	breaks                   int
	duration, repeatDuration time.Duration
	memory                   memoryGrowth // of the service
}

// goalReconciliation is for a week of 100,000 lines.
const goalReconciliation = 30 * time.Second

// reconciliation is what the service answers.
type reconciliation struct {
	ID                  string
	Lines, MatchedLines int
	Breaks              []struct {
		Reason reconcile.Reason
		Count  int
	}
}

// measureReconciliation imports the statements of both partners, each twice.
func (b *bench) measureReconciliation(ctx context.Context, p *closedPeriodEnv) error {
	for i, how := range []struct {
		format, contentType, layout string
		file                        []byte
	}{{"camt053", "application/xml", "", p.statements[0].camt053()}, {"csv", "text/csv", csvColumnMap, p.statements[1].csv()}} {
		w := &p.statements[i]
		path := "/ledger/reconciliations?account=" + url.QueryEscape("rails/"+w.rail) + "&currency=USD&format=" + how.format
		if how.layout != "" {
			path += "&map=" + url.QueryEscape(how.layout)
		}
		if err := p.restartService(ctx, b.binary, b.env.folder); err != nil {
			return err
		}
		first := reconciliationResult{format: how.format, bytes: len(how.file)}
		var made, same reconciliation
		var err error
		first.memory, err = measureMemoryGrowth(p.service.pid(), func() (err error) {
			first.duration, made, err = p.reconcile(ctx, path, how.contentType, how.file, 201)
			return err
		})
		if err != nil {
			return err
		}
		if err := made.check(w); err != nil {
			return fmt.Errorf("%s: %w", how.format, err)
		}
		if first.repeatDuration, same, err = p.reconcile(ctx, path, how.contentType, how.file, 200); err != nil {
			return err
		}
		if same.ID != made.ID {
			return fmt.Errorf("%s: the same file again made %s, where the first made %s", how.format, same.ID, made.ID)
		}
		for _, found := range made.Breaks {
			first.breaks += found.Count
		}
		first.lines, first.matched = made.Lines, made.MatchedLines
		logf("reconcile %d lines of %s: %s, %s; again %s", first.lines, how.format, formatDuration(first.duration), first.memory, formatDuration(first.repeatDuration))
		b.results.reconciliations = append(b.results.reconciliations, first)
	}
	return p.checkReconciliationCount(ctx, len(p.statements))
}

func (p *closedPeriodEnv) reconcile(ctx context.Context, path, contentType string, file []byte, want int) (took time.Duration, r reconciliation, err error) {
	begin := time.Now()
	status, body, err := p.monthTenant.upload(ctx, path, contentType, file)
	took = time.Since(begin)
	if err == nil && status != want {
		err = newUnexpectedStatus("POST "+path, status, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &r)
	}
	return took, r, err
}

// check holds what was found against what the week was made with.
func (r reconciliation) check(w *statementFixture) error {
	found := map[reconcile.Reason]int{}
	for _, b := range r.Breaks {
		found[b.Reason] = b.Count
	}
	if r.Lines != len(w.lines) || !maps.Equal(found, w.breaks) {
		return fmt.Errorf("%d lines with the breaks %v; want %d with %v", r.Lines, found, len(w.lines), w.breaks)
	}
	return nil
}

// checkReconciliationCount proves that importing again has made nothing.
func (p *closedPeriodEnv) checkReconciliationCount(ctx context.Context, want int) error {
	c, err := dial(ctx, p.monthTenant.address)
	if err != nil {
		return err
	}
	defer c.close()
	var list struct{ TotalCount int }
	if err := c.call(p.monthTenant.target, "GET", "/ledger/reconciliations", nil, &list); err != nil {
		return err
	}
	if list.TotalCount != want {
		return fmt.Errorf("there are %d reconciliations; want %d", list.TotalCount, want)
	}
	return nil
}

func (r results) reconciliationSection() section {
	s := section{
		title: "Reconciliation",
		prose: []string{
			"The statement of a week at one partner is sent to `POST /ledger/reconciliations`, until its answer says what became of the lines: payments in and out, with and without a reference, " +
				"batches of either side, payments a day late, and in every thousand one break of each kind. Every break is found, and no other. " +
				"The same file again changes nothing. " + r.closedPeriodSentence() + " Memory: of the service, started anew for each, at its largest.",
		},
		columns: []string{"Statement", "Lines", "File", "Matched", "Breaks", "Time", "Lines/s", "Memory", "Again", "Goal"},
	}
	for _, f := range r.reconciliations {
		goal := fmt.Sprintf("under %.0f s for 100000 lines: %s", goalReconciliation.Seconds(), metOrMissed(f.duration.Seconds()/float64(f.lines) < goalReconciliation.Seconds()/100_000))
		s.rows = append(s.rows, []string{f.format, fmt.Sprint(f.lines), formatMB(int64(f.bytes)), fmt.Sprint(f.matched), fmt.Sprint(f.breaks),
			formatDuration(f.duration), formatRate(int64(f.lines), f.duration), f.memory.String(), formatDuration(f.repeatDuration), goal})
	}
	return s
}
