package main

import (
	"context"
	"net/url"
	"strings"
	"time"

	"causeway/core/period"
)

// ledgerQuery is a request that is measured many times. In its path {account} and {entries} are
// of any account, {time} is any time of the ledger, {days} two days, {month} one month after the
// other. With {next} at the end it is the page after that of the path.
type ledgerQuery struct{ name, path string }

// ledgerQueries are grouped by the number of requests and the goal.
var ledgerQueries = []struct {
	count   int
	goal    goal
	queries []ledgerQuery
}{
	{1_000, goalPastQuery, []ledgerQuery{
		{"Balance at a time, by recorded time", "/ledger/accounts/{account}&at={time}&by=recorded"},
		{"Balance at a time, by effective time", "/ledger/accounts/{account}&at={time}&by=effective"},
		{"Entries of an account until a time, newest first", "/ledger/accounts/{entries}&sortOrder=desc&to={time}"},
		{"The next page of entries", "/ledger/accounts/{entries}&sortOrder=desc&to={time}{next}"},
		{"Entries from a time, oldest first", "/ledger/accounts/{entries}&sortOrder=asc&from={time}"},
		{"Entries recorded in two days", "/ledger/accounts/{entries}&by=recorded&{days}"},
		{"Entries effective in two days", "/ledger/accounts/{entries}&by=effective&{days}"},
	}},
	{1_000, goal{}, []ledgerQuery{
		{"Postings until a time", "/ledger/postings?limit=100&sortOrder=desc&to={time}"},
		{"The next page of postings", "/ledger/postings?limit=100&sortOrder=desc&to={time}{next}"},
		{"Postings effective in two days", "/ledger/postings?limit=100&by=effective&{days}"},
		{"Reversals until a time", "/ledger/postings?limit=100&kind=reversal&sortOrder=desc&to={time}"},
	}},
	{largeMonths, goalTrialBalance, []ledgerQuery{
		{"Trial balance of a month, by recorded time", "/ledger/trial-balance?by=recorded&{month}"},
		{"Trial balance of a month, by effective time", "/ledger/trial-balance?by=effective&{month}"},
		{"Trial balance as of a time, by recorded time", "/ledger/trial-balance?by=recorded&to={time}"},
		{"Trial balance as of a time, by effective time", "/ledger/trial-balance?by=effective&to={time}"},
		{"Current trial balance", "/ledger/trial-balance"},
	}},
}

// measureQueries reads balances, pages and trial balances of past times.
func (b *bench) measureQueries(ctx context.Context, f *ledgerFixture) {
	for _, group := range ledgerQueries {
		for _, q := range group.queries {
			n := 0
			l := timed(group.count, func() time.Duration {
				n++
				return f.measureQuery(ctx, q.path, n-1)
			})
			b.report.add(largeQueries, q.name, group.count, l, formatMillis(l.max), judge(group.goal, l.p99))
		}
	}
}

// measureQuery makes the n-th request of a query.
func (f *ledgerFixture) measureQuery(ctx context.Context, path string, n int) time.Duration {
	for {
		path, nextPage := strings.CutSuffix(f.fillPath(path, n), "{next}")
		response := f.get(ctx, path)
		if !nextPage {
			return response.Duration
		}
		if cursor, found := textAfter(response.Body, `"nextCursor":"`); found { // else it was the last page: try another
			return f.get(ctx, path+"&cursor="+cursor).Duration
		}
	}
}

// fillPath fills in the n-th path of a query. Half of the accounts are the 20 busiest.
func (f *ledgerFixture) fillPath(path string, n int) string {
	accounts := f.content.Accounts
	if f.rand.IntN(2) == 0 {
		accounts = accounts[:min(20, len(accounts))]
	}
	a := accounts[f.rand.IntN(len(accounts))]
	start := f.content.From.Add(time.Duration(f.rand.Int64N(int64(f.content.Until.Sub(f.content.From)))))
	days := start.Add(48 * time.Hour)
	if days.After(f.content.Until) {
		days = f.content.Until
	}
	month := period.MonthOf(f.content.From.AddDate(0, n%largeMonths, 0))
	name, currency := url.PathEscape(a.Path), "?currency="+string(a.Currency)
	between := func(from, to time.Time) string { return "from=" + formatTimestamp(from) + "&to=" + formatTimestamp(to) }
	return strings.NewReplacer("{account}", name+currency, "{entries}", name+"/entries"+currency+"&limit=100",
		"{time}", formatTimestamp(start), "{days}", between(start, days),
		"{month}", between(month.Start(), month.End())).Replace(path)
}

func formatTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
