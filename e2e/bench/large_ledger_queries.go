package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"causeway/core/period"
	"causeway/e2e/bench/history"
)

// queryResult is how long answers to a question took.
type queryResult struct {
	name    string
	count   int
	latency latency
	goal    time.Duration // for p99, or of a few for the longest; 0 for none
}

const (
	queriesPerKind  = 1_000
	busiestAccounts = 20
)

// ledgerQuery is asked in many ways.
type ledgerQuery struct {
	name string
	goal time.Duration
	path func() string
	// nextPage asks for the page after instead.
	nextPage bool
}

// measureQueries asks the service for balances, pages and trial balances of any moment.
func (b *bench) measureQueries(ctx context.Context, v *ledgerFixture) error {
	c, err := dial(ctx, v.address)
	if err != nil {
		return err
	}
	defer c.close()
	r := &b.results.largeLedger
	for _, q := range v.queries() {
		a, err := v.measureQuery(c, q, queriesPerKind)
		if err != nil {
			return err
		}
		r.queries = append(r.queries, a)
		logf("%s: %s ms, the longest %s", a.name, a.latency, formatMillis(a.latency.longest))
	}
	for _, q := range v.trialBalanceQueries() {
		a, err := v.measureQuery(c, q.ledgerQuery, q.count)
		if err != nil {
			return err
		}
		r.trialBalances = append(r.trialBalances, a)
		logf("%s: the longest %s", a.name, formatDuration(a.latency.longest))
	}
	return nil
}

// measureQuery asks one at a time. A tenth more comes first, to warm up.
func (v *ledgerFixture) measureQuery(c *client, q ledgerQuery, times int) (queryResult, error) {
	took := make([]time.Duration, 0, times)
	for i := range times + max(1, times/10) {
		path := q.path()
		if q.nextPage {
			var err error
			if path, err = v.nextPagePath(c, q.path); err != nil {
				return queryResult{}, err
			}
		}
		_, since, err := v.get(c, path)
		if err != nil {
			return queryResult{}, err
		}
		if i >= max(1, times/10) {
			took = append(took, since)
		}
	}
	return queryResult{q.name, times, latencyOf(took), q.goal}, nil
}

// get asks for what is below a path; the answer is good until the next one.
func (v *ledgerFixture) get(c *client, path string) ([]byte, time.Duration, error) {
	request := appendRequest(nil, v.requestLine("GET", path), "", nil)
	begin := time.Now()
	status, body, err := c.roundTrip(request)
	took := time.Since(begin)
	if err == nil && status != 200 {
		err = newUnexpectedStatus("GET "+path, status, body)
	}
	return body, took, err
}

// nextPagePath is the path of the page after a page that is not the last.
func (v *ledgerFixture) nextPagePath(c *client, first func() string) (string, error) {
	for {
		path := first()
		body, _, err := v.get(c, path)
		if err != nil {
			return "", err
		}
		var page struct{ NextCursor string }
		if err := json.Unmarshal(body, &page); err != nil {
			return "", err
		}
		if page.NextCursor != "" {
			return path + "&cursor=" + page.NextCursor, nil
		}
	}
}

// queries are about any account and any moment of the past.
func (v *ledgerFixture) queries() []ledgerQuery {
	balance := func(by string) func() string {
		return func() string {
			return v.randomAccountPath("") + "&at=" + formatTimestamp(v.randomTime()) + "&by=" + by
		}
	}
	entries := func(more func() string) func() string {
		return func() string { return v.randomAccountPath("/entries") + "&limit=100" + more() }
	}
	postings := func(more func() string) func() string {
		return func() string { return "/ledger/postings?limit=100" + more() }
	}
	upTo := func() string { return "&sortOrder=desc&to=" + formatTimestamp(v.randomTime()) }
	from := func() string { return "&sortOrder=asc&from=" + formatTimestamp(v.randomTime()) }
	days := func(by string) func() string {
		return func() string {
			at := v.randomTime()
			return "&by=" + by + "&from=" + formatTimestamp(at) + "&to=" + formatTimestamp(earlierOf(at.Add(48*time.Hour), v.content.Until))
		}
	}
	return []ledgerQuery{
		{name: "A balance at a moment, by recorded time", goal: goalHistoricalQuery, path: balance("recorded")},
		{name: "A balance at a moment, by effective time", goal: goalHistoricalQuery, path: balance("effective")},
		{name: "Entries of an account up to a moment, the newest first", goal: goalHistoricalQuery, path: entries(upTo)},
		{name: "The page of entries after that", goal: goalHistoricalQuery, path: entries(upTo), nextPage: true},
		{name: "Entries from a moment on, the oldest first", goal: goalHistoricalQuery, path: entries(from)},
		{name: "Entries recorded in two days", goal: goalHistoricalQuery, path: entries(days("recorded"))},
		{name: "Entries effective in two days", goal: goalHistoricalQuery, path: entries(days("effective"))},
		{name: "Postings up to a moment", path: postings(upTo)},
		{name: "The page of postings after that", path: postings(upTo), nextPage: true},
		{name: "Postings effective in two days", path: postings(days("effective"))},
		{name: "Reversals up to a moment", path: postings(func() string { return "&kind=reversal" + upTo() })},
	}
}

// trialBalanceQuery asks for a trial balance so many times.
type trialBalanceQuery struct {
	ledgerQuery
	count int
}

func (v *ledgerFixture) trialBalanceQueries() []trialBalanceQuery {
	months := func(by string) func() string {
		month := period.MonthOf(v.content.From)
		return func() string { // one month after the other
			path := "/ledger/trial-balance?by=" + by + "&from=" + formatTimestamp(month.Start()) + "&to=" + formatTimestamp(month.End().Add(-time.Millisecond))
			if month = month.Next(); !month.End().Before(v.content.Until) {
				month = period.MonthOf(v.content.From)
			}
			return path
		}
	}
	moments := func(by string) func() string {
		return func() string { return "/ledger/trial-balance?by=" + by + "&to=" + formatTimestamp(v.randomTime()) }
	}
	return []trialBalanceQuery{
		{ledgerQuery{name: "Of a month, by recorded time", goal: goalTrialBalance, path: months("recorded")}, largeMonths},
		{ledgerQuery{name: "Of a month, by effective time", goal: goalTrialBalance, path: months("effective")}, largeMonths},
		{ledgerQuery{name: "As of a moment, by recorded time", goal: goalTrialBalance, path: moments("recorded")}, largeMonths},
		{ledgerQuery{name: "As of a moment, by effective time", goal: goalTrialBalance, path: moments("effective")}, largeMonths},
		{ledgerQuery{name: "Now", goal: goalTrialBalance, path: func() string { return "/ledger/trial-balance" }}, largeMonths},
	}
}

// randomAccountPath is a question about one: as often one of the busiest as any.
func (v *ledgerFixture) randomAccountPath(more string) string {
	all := v.content.Accounts
	if v.rand.IntN(2) == 0 {
		all = all[:min(busiestAccounts, len(all))]
	}
	return accountPath(all[v.rand.IntN(len(all))], more)
}

func accountPath(a history.Account, more string) string {
	return "/ledger/accounts/" + url.PathEscape(a.Path) + more + "?currency=" + string(a.Currency)
}

// randomTime is any of the past.
func (v *ledgerFixture) randomTime() time.Time {
	return v.content.From.Add(time.Duration(v.rand.Int64N(int64(v.content.Until.Sub(v.content.From)))))
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func formatTimestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func (r results) largeQueriesSection() section {
	s := section{
		title: "Asking large books",
		prose: []string{
			fmt.Sprintf("`causeway serve` on the books of %s entries, asked over one connection, %d times each, about any moment of the %d months: in half of the questions about an account one of the %d "+
				"busiest, in the other half any of the %d. A page has up to 100 items.", formatThousands(r.largeLedger.large.entriesAfter), queriesPerKind, largeMonths, busiestAccounts, r.largeLedger.large.accounts),
		},
		columns: []string{"Question", latencyColumn, "The longest, ms", "Goal"},
	}
	for _, a := range r.largeLedger.queries {
		goal := ""
		if a.goal > 0 {
			goal = fmt.Sprintf("p99 under %s ms: %s", formatMillis(a.goal), metOrMissed(a.latency.p99 < a.goal))
		}
		s.rows = append(s.rows, []string{a.name, a.latency.String(), formatMillis(a.latency.longest), goal})
	}
	return s
}

func (r results) largeTrialBalancesSection() section {
	s := section{
		title: "Trial balances of large books",
		prose: []string{fmt.Sprintf("`GET /ledger/trial-balance` of the same books, each %d times: all accounts, with opening, debits, credits and closing, once for every month that is over, "+
			"and as of any moments.", largeMonths)},
		columns: []string{"Trial balance", "Median", "The longest", "Goal"},
	}
	for _, a := range r.largeLedger.trialBalances {
		s.rows = append(s.rows, []string{a.name, formatDuration(a.latency.p50), formatDuration(a.latency.longest),
			fmt.Sprintf("under %.0f s: %s", a.goal.Seconds(), metOrMissed(a.latency.longest < a.goal))})
	}
	return s
}
