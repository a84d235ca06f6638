package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/adapters/apiclient"
)

// besideRate is how many quotes are due a second: so few that they wait for nothing but what runs beside them.
const besideRate = 40

// measureBeside measures quotes and lists alone, and while customers are imported and all postings are exported again and again.
func (b *bench) measureBeside(ctx context.Context) {
	quotesAlone, listsAlone := b.measureForeground(ctx, "alone")
	form, contentType := importForm(b.umaDomain(ctx), "beside", b.importRows)
	running, groupCtx := errgroup.WithContext(ctx)
	importing, imported := context.WithCancel(groupCtx)
	running.Go(func() error {
		defer imported()
		return try(func() { b.importCustomers(groupCtx, form, contentType) })
	})
	exported := 0
	running.Go(func() error {
		for importing.Err() == nil {
			if err := b.readExport(importing); err == nil {
				exported++
			} else if importing.Err() == nil {
				return err
			}
		}
		return nil
	})
	var quotesBeside, listsBeside latency
	running.Go(func() error {
		return try(func() {
			quotesBeside, listsBeside = b.measureForeground(groupCtx, "beside an import and exports")
			if importing.Err() != nil {
				failf("%d customers were imported before quotes and lists were measured: use more --rows", b.importRows)
			}
		})
	})
	check(running.Wait())
	ratio := float64(quotesBeside.p99) / float64(quotesAlone.p99)
	b.report.add(besideBulk, "`POST /quotes` alone", quotesAlone)
	b.report.add(besideBulk, "`POST /quotes` beside them", quotesBeside, judge(goalQuotesBeside, ratio))
	b.report.add(besideBulk, "A page of a list alone", listsAlone)
	b.report.add(besideBulk, "A page of a list beside them", listsBeside, judge(goalListsBeside, listsBeside.p99))
	b.report.add(besideBulk, fmt.Sprintf("%d postings exported meanwhile, times", b.countOwnPostings(ctx)), exported)
}

// measureForeground measures quotes at a fixed rate, and pages of lists.
func (b *bench) measureForeground(ctx context.Context, name string) (quote, list latency) {
	m := b.runPhase(ctx, phase{name: "quotes " + name, kind: unpaidQuotes, inFlight: 4 * besideRate, rate: besideRate,
		warmUp: 2 * time.Second, duration: b.long() / 2})
	n := 0
	list = timed(200, func() time.Duration {
		n++
		return b.platform.get(ctx, []string{"/transactions?limit=100", "/customers?limit=100"}[n%2]).Duration
	})
	return m.quote, list
}

// readExport reads an export of all postings.
func (b *bench) readExport(ctx context.Context) error {
	response, err := b.platform.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/ledger/export?format=csv"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New("GET /ledger/export: " + response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
