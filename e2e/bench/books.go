package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"causeway/core/period"
	"causeway/core/safeguarding"
	"causeway/core/yearend"
	"causeway/e2e/bench/history"
)

const (
	booksEntries   = 200_000
	booksCustomers = 5_000
	// reportedDays is how many days of the year have a safeguarding report.
	reportedDays = 52
)

// booksFixture is the ledger of a financial year that is over.
type booksFixture struct {
	*bench
	*ledgerFixture
	year     yearend.Year
	postings int // of the year
}

// booksStep is something that finance does once or often.
type booksStep struct {
	name      string
	durations []time.Duration
	memory    memoryGrowth // the largest
}

// measureBooks measures what finance does in a financial year: journals, safeguarding reports, the end of each month
// and of the year, and the pack for the auditor.
func (b *bench) measureBooks(ctx context.Context) {
	size := history.Options{Entries: booksEntries, Months: largeMonths, Customers: booksCustomers}
	f := &booksFixture{bench: b, ledgerFixture: b.createLedgerFixture(ctx, "books", size)}
	f.year = yearOf(f.content.Until)
	f.start(ctx)
	f.awaitSealed(ctx)
	f.setPolicies(ctx)
	f.addSize(ctx)
	f.measureJournals(ctx)
	f.measureSafeguarding(ctx)
	f.measureYear(ctx)
	f.start(ctx) // again, so that the closings are sealed
	f.awaitSealed(ctx)
	f.awaitEvidence(ctx)
	f.measureAuditPack(ctx)
	check(f.stop())
}

// yearOf returns the financial year that ends with the month before a time.
func yearOf(t time.Time) yearend.Year {
	last := period.MonthOf(t).Previous()
	return yearend.OfMonth(last, last.Start().Month())
}

// setPolicies makes months have exchange results and deferred fees, and keeps the rates of every hour, as the service
// would have. They move a little each day.
func (f *booksFixture) setPolicies(ctx context.Context) {
	check(f.Call(ctx, "GET", "/ledger/fx-position", nil, nil)) // keeps rates
	queryIn[struct{}](ctx, f.meter, f.name, `
		INSERT INTO market_rates
		SELECT r.kept_at - n * interval '1 hour', r.currency,
		       (r.usd_rate::numeric * CASE WHEN r.currency = 'USD' THEN 1 ELSE 1 + (n / 24 % 7) * 0.004 END)::text,
		       r.rate_at - n * interval '1 hour', r.source
		FROM market_rates r, generate_series(1, $1::int) n WHERE r.kept_at = (SELECT min(kept_at) FROM market_rates)
		ORDER BY n DESC`,
		int(f.content.Until.Sub(f.content.From).Hours()))
	// Afterwards, because rates that are not kept by the service are sealed as evidence with the first functional currency.
	check(f.Call(ctx, "PUT", "/ledger/settings", map[string]any{"functionalCurrency": "USD", "unrealisedResult": "REVERSE",
		"feeRecognition": "DELIVERY", "yearEndMonth": int(f.year.Last().Start().Month()), "fourEyes": []string{}}, nil))
	f.meter.execIn(ctx, f.name, "VACUUM (ANALYZE)")
}

// addSize reports what the other rows are about.
func (f *booksFixture) addSize(ctx context.Context) {
	size := queryIn[struct{ Postings, Accounts, Currencies int }](ctx, f.meter, f.name, `
		SELECT (SELECT count(*)::int FROM ledger_postings WHERE effective_at < $1), count(*)::int, count(DISTINCT currency)::int FROM ledger_accounts`,
		f.year.Last().End())[0]
	f.postings = size.Postings
	f.report.add(booksOfYear, fmt.Sprintf("The year has %d postings, %d accounts and %d currencies", size.Postings,
		size.Accounts, size.Currencies))
}

// months returns the months of the year.
func (f *booksFixture) months() (all []period.Month) {
	for m := f.year.First(); !f.year.Last().Before(m); m = m.Next() {
		all = append(all, m)
	}
	return all
}

// post makes a request that must succeed, as a part of a step.
func (f *booksFixture) post(ctx context.Context, s *booksStep, path string, body, response any) {
	memory := measureMemoryGrowth(f.process.PID(), func() {
		began := time.Now()
		check(f.Call(ctx, "POST", path, body, response))
		s.durations = append(s.durations, time.Since(began))
	})
	if len(s.durations) == 1 || memory.peak-memory.before > s.memory.peak-s.memory.before {
		s.memory = memory
	}
}

// addTo adds a step to the report. Each time it was about so many postings.
func (s booksStep) addTo(r report, postings int) {
	n, l := len(s.durations), latencyOf(s.durations)
	r.add(booksOfYear, s.name, n, l.p50, l.max, formatRate(int64(postings), l.p50), s.memory)
}

// measureJournals makes the journals of each month, twice.
func (f *booksFixture) measureJournals(ctx context.Context) {
	type journals struct{ Data []struct{ Number string } }
	var numbers [2]map[string]bool
	for i, name := range []string{"`POST /ledger/journals` of a month", "The same again, which makes none"} {
		s := booksStep{name: name}
		numbers[i] = map[string]bool{}
		for _, m := range f.months() {
			var made journals
			f.post(ctx, &s, "/ledger/journals", map[string]any{"span": m.String()}, &made)
			for _, j := range made.Data {
				numbers[i][j.Number] = true
			}
		}
		s.addTo(f.report, f.postings/largeMonths)
	}
	if len(numbers[0]) == 0 || len(numbers[0]) != len(numbers[1]) {
		failf("%d journals were made, and %d again", len(numbers[0]), len(numbers[1]))
	}
}

// measureSafeguarding makes the reports of some days of every month.
func (f *booksFixture) measureSafeguarding(ctx context.Context) {
	s := booksStep{name: "`POST /ledger/safeguarding/{day}/run`"}
	for i := range reportedDays {
		day := safeguarding.DayOf(f.content.From.AddDate(0, 0, 7*i+6))
		f.post(ctx, &s, "/ledger/safeguarding/"+string(day)+"/run", nil, nil)
	}
	s.addTo(f.report, f.postings)
}

// measureYear closes the months and the year. The closing of the year is reversed once.
func (f *booksFixture) measureYear(ctx context.Context) {
	softClose, closeMonth := booksStep{name: "`POST /ledger/periods/{month}/soft-close`"},
		booksStep{name: "`POST /ledger/periods/{month}/close`"}
	exchange, fees := booksStep{name: "`POST /ledger/exchange-result/{month}/post`"},
		booksStep{name: "`POST /ledger/deferred-fees/{month}/post`"}
	closeYear, reverseYear := booksStep{name: "`POST /ledger/years/{year}/close`"}, booksStep{name: "`POST /ledger/years/{year}/reverse`"}
	note := map[string]any{"note": "Audited"}
	for _, m := range f.months() {
		f.post(ctx, &softClose, "/ledger/periods/"+m.String()+"/soft-close", map[string]any{"confirmOpeningBalances": true}, nil)
		f.post(ctx, &exchange, "/ledger/exchange-result/"+m.String()+"/post", nil, nil)
		f.post(ctx, &fees, "/ledger/deferred-fees/"+m.String()+"/post", nil, nil)
		if m == f.year.Last() {
			f.post(ctx, &closeYear, "/ledger/years/"+f.year.String()+"/close", note, nil)
			f.post(ctx, &reverseYear, "/ledger/years/"+f.year.String()+"/reverse", note, nil)
			f.post(ctx, &closeYear, "/ledger/years/"+f.year.String()+"/close", note, nil)
		}
		f.post(ctx, &closeMonth, "/ledger/periods/"+m.String()+"/close", nil, nil)
	}
	for _, s := range []booksStep{softClose, exchange, fees, closeMonth} {
		s.addTo(f.report, f.postings/largeMonths)
	}
	for _, s := range []booksStep{closeYear, reverseYear} {
		s.addTo(f.report, f.postings)
	}
}

// awaitEvidence waits until the decisions of the year are sealed and published, too.
func (f *booksFixture) awaitEvidence(ctx context.Context) {
	for {
		var log struct{ Evidence struct{ Published int64 } }
		check(f.Call(ctx, "GET", "/ledger/log", nil, &log))
		facts := queryIn[struct{ Queued, Sealed int64 }](ctx, f.meter, f.name,
			"SELECT (SELECT count(*) FROM ledger_evidence_queue), (SELECT count(*) FROM ledger_evidence)")[0]
		if facts.Queued == 0 && facts.Sealed == log.Evidence.Published {
			return
		}
		check(sleep(ctx, 100*time.Millisecond))
	}
}

// measureAuditPack writes the pack of the year, which fails unless everything in it is verified.
func (f *booksFixture) measureAuditPack(ctx context.Context) {
	folder := filepath.Join(f.folder, "audit-pack")
	result := f.command(ctx, "ledger", "audit-pack", f.year.String(), "--folder", folder, "--checkpoints", filepath.Join(f.folder, f.name))
	var size byteSize
	check(filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += byteSize(info.Size())
		}
		return err
	}))
	s := booksStep{name: fmt.Sprintf("`causeway ledger audit-pack`, %s", size), durations: []time.Duration{result.Duration},
		memory: memoryGrowth{peak: byteSize(result.PeakMemory)}}
	s.addTo(f.report, f.postings)
}
