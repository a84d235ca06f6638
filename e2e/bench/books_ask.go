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

// asked is how long answers to a question took.
type asked struct {
	what  string
	times int
	took  latency
	goal  time.Duration // for p99, or of a few for the longest; 0 for none
}

const (
	asksOfEach = 1_000
	busiest    = 20
)

// question is asked in many ways.
type question struct {
	what string
	goal time.Duration
	path func() string
	// next asks for the page after instead.
	next bool
}

// askForPast asks the service for balances, pages and trial balances of any moment.
func (b *bench) askForPast(ctx context.Context, v *volume) error {
	c, err := dial(ctx, v.address)
	if err != nil {
		return err
	}
	defer c.close()
	r := &b.results.large
	for _, q := range v.questions() {
		a, err := v.ask(c, q, asksOfEach)
		if err != nil {
			return err
		}
		r.asked = append(r.asked, a)
		say("%s: %s ms, the longest %s", a.what, a.took, millis(a.took.worst))
	}
	for _, q := range v.trials() {
		a, err := v.ask(c, q.question, q.times)
		if err != nil {
			return err
		}
		r.trials = append(r.trials, a)
		say("%s: the longest %s", a.what, lasting(a.took.worst))
	}
	return nil
}

// ask asks one at a time. A tenth more comes first, to warm up.
func (v *volume) ask(c *client, q question, times int) (asked, error) {
	took := make([]time.Duration, 0, times)
	for i := range times + max(1, times/10) {
		path := q.path()
		if q.next {
			var err error
			if path, err = v.following(c, q.path); err != nil {
				return asked{}, err
			}
		}
		_, since, err := v.get(c, path)
		if err != nil {
			return asked{}, err
		}
		if i >= max(1, times/10) {
			took = append(took, since)
		}
	}
	return asked{q.what, times, latencyOf(took), q.goal}, nil
}

// get asks for what is below a path; the answer is good until the next one.
func (v *volume) get(c *client, path string) ([]byte, time.Duration, error) {
	request := appendRequest(nil, v.requestLine("GET", path), "", nil)
	begin := time.Now()
	status, body, err := c.exchange(request)
	took := time.Since(begin)
	if err == nil && status != 200 {
		err = unwantedAnswer("GET "+path, status, body)
	}
	return body, took, err
}

// following is the path of the page after a page that is not the last.
func (v *volume) following(c *client, first func() string) (string, error) {
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

// questions are about any account and any moment of the past.
func (v *volume) questions() []question {
	balance := func(by string) func() string {
		return func() string {
			return v.account("") + "&at=" + written3339(v.moment()) + "&by=" + by
		}
	}
	entries := func(more func() string) func() string {
		return func() string { return v.account("/entries") + "&limit=100" + more() }
	}
	postings := func(more func() string) func() string {
		return func() string { return "/ledger/postings?limit=100" + more() }
	}
	upTo := func() string { return "&sortOrder=desc&to=" + written3339(v.moment()) }
	from := func() string { return "&sortOrder=asc&from=" + written3339(v.moment()) }
	days := func(by string) func() string {
		return func() string {
			at := v.moment()
			return "&by=" + by + "&from=" + written3339(at) + "&to=" + written3339(earlier(at.Add(48*time.Hour), v.made.Until))
		}
	}
	return []question{
		{what: "A balance at a moment, by recorded time", goal: goalPast, path: balance("recorded")},
		{what: "A balance at a moment, by effective time", goal: goalPast, path: balance("effective")},
		{what: "Entries of an account up to a moment, the newest first", goal: goalPast, path: entries(upTo)},
		{what: "The page of entries after that", goal: goalPast, path: entries(upTo), next: true},
		{what: "Entries from a moment on, the oldest first", goal: goalPast, path: entries(from)},
		{what: "Entries recorded in two days", goal: goalPast, path: entries(days("recorded"))},
		{what: "Entries effective in two days", goal: goalPast, path: entries(days("effective"))},
		{what: "Postings up to a moment", path: postings(upTo)},
		{what: "The page of postings after that", path: postings(upTo), next: true},
		{what: "Postings effective in two days", path: postings(days("effective"))},
		{what: "Reversals up to a moment", path: postings(func() string { return "&kind=reversal" + upTo() })},
	}
}

// trial asks for a trial balance so many times.
type trial struct {
	question
	times int
}

func (v *volume) trials() []trial {
	months := func(by string) func() string {
		month := period.MonthOf(v.made.From)
		return func() string { // one month after the other
			path := "/ledger/trial-balance?by=" + by + "&from=" + written3339(month.Start()) + "&to=" + written3339(month.End().Add(-time.Millisecond))
			if month = month.Next(); !month.End().Before(v.made.Until) {
				month = period.MonthOf(v.made.From)
			}
			return path
		}
	}
	moments := func(by string) func() string {
		return func() string { return "/ledger/trial-balance?by=" + by + "&to=" + written3339(v.moment()) }
	}
	return []trial{
		{question{what: "Of a month, by recorded time", goal: goalTrial, path: months("recorded")}, largeMonths},
		{question{what: "Of a month, by effective time", goal: goalTrial, path: months("effective")}, largeMonths},
		{question{what: "As of a moment, by recorded time", goal: goalTrial, path: moments("recorded")}, largeMonths},
		{question{what: "As of a moment, by effective time", goal: goalTrial, path: moments("effective")}, largeMonths},
		{question{what: "Now", goal: goalTrial, path: func() string { return "/ledger/trial-balance" }}, largeMonths},
	}
}

// account is a question about one: as often one of the busiest as any.
func (v *volume) account(more string) string {
	all := v.made.Accounts
	if v.rand.IntN(2) == 0 {
		all = all[:min(busiest, len(all))]
	}
	return accountPath(all[v.rand.IntN(len(all))], more)
}

func accountPath(a history.Account, more string) string {
	return "/ledger/accounts/" + url.PathEscape(a.Path) + more + "?currency=" + string(a.Currency)
}

// moment is any of the past.
func (v *volume) moment() time.Time {
	return v.made.From.Add(time.Duration(v.rand.Int64N(int64(v.made.Until.Sub(v.made.From)))))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func written3339(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

func (r results) askingLarge() section {
	s := section{
		title: "Asking large books",
		prose: []string{
			fmt.Sprintf("`causeway serve` on the books of %s entries, asked over one connection, %d times each, about any moment of the %d months: in half of the questions about an account one of the %d "+
				"busiest, in the other half any of the %d. A page has up to 100 items.", grouped(r.large.large.after), asksOfEach, largeMonths, busiest, r.large.large.accounts),
		},
		head: []string{"Question", latencyHead, "The longest, ms", "Goal"},
	}
	for _, a := range r.large.asked {
		goal := ""
		if a.goal > 0 {
			goal = fmt.Sprintf("p99 under %s ms: %s", millis(a.goal), met(a.took.p99 < a.goal))
		}
		s.rows = append(s.rows, []string{a.what, a.took.String(), millis(a.took.worst), goal})
	}
	return s
}

func (r results) trialsOfLarge() section {
	s := section{
		title: "Trial balances of large books",
		prose: []string{fmt.Sprintf("`GET /ledger/trial-balance` of the same books, each %d times: all accounts, with opening, debits, credits and closing, once for every month that is over, "+
			"and as of any moments.", largeMonths)},
		head: []string{"Trial balance", "Median", "The longest", "Goal"},
	}
	for _, a := range r.large.trials {
		s.rows = append(s.rows, []string{a.what, lasting(a.took.p50), lasting(a.took.worst),
			fmt.Sprintf("under %.0f s: %s", a.goal.Seconds(), met(a.took.worst < a.goal))})
	}
	return s
}
