package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"text/template"
	"time"

	"causeway/adapters/apiclient"
	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
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
	}{{"camt053", "application/xml", ""}, {"csv", "text/csv", "&map=" + url.QueryEscape(csvColumnMap)}} {
		file := p.statements[i].file(s.format)
		path := fmt.Sprintf("/ledger/reconciliations?account=%s&currency=USD&format=%s%s",
			url.QueryEscape("rails/"+p.statements[i].rail), s.format, s.query)
		request := apiclient.Request{Method: http.MethodPost, Path: path, Body: file, ContentType: s.contentType}
		send := func(want int) (r reconciliation, took time.Duration) {
			response := p.full.do(ctx, request)
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
		p.report.add(reconciliations, s.format, first.Lines, byteSize(len(file)), first.MatchedLines, breaks, took,
			formatRate(int64(first.Lines), took), memory, again, judge(goalReconciliation, took*100_000/time.Duration(first.Lines)))
	}
	var list struct{ TotalCount int }
	check(p.full.Call(ctx, "GET", "/ledger/reconciliations", nil, &list))
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
	if r.Lines != len(w.Lines) || !maps.Equal(found, w.breaks) {
		err = fmt.Errorf("%d lines with the breaks %v; want %d with %v", r.Lines, found, len(w.Lines), w.breaks)
	}
	return breaks, err
}

// statementFixture is a week at one partner: our postings, the lines of the partner's
// statement, and the breaks between them.
type statementFixture struct {
	rail      string
	monday    time.Time
	postings  []ledger.Posting
	Lines     []statementLine
	breaks    map[reconcile.Reason]int
	newHeader newHeader
}

// newHeader returns the header of a new posting.
type newHeader func(effective time.Time, memo string) ledger.Header

// statementLine is one line of the statement. The templates of statements read it.
type statementLine struct {
	Date                   string
	cents                  int64
	Reference, Description string
}

const statementDays = 7

// newStatementFixture makes a statement with at least so many lines: payments in and out,
// batches on either side, payments a day late, and one break of each kind in a thousand.
func newStatementFixture(rail string, monday time.Time, size int, header newHeader) statementFixture {
	w := statementFixture{rail: rail, monday: monday, breaks: map[reconcile.Reason]int{}, newHeader: header}
	for i := int64(0); len(w.Lines) < size; i++ {
		w.addPayment(i)
	}
	return w
}

func (w *statementFixture) addPayment(i int64) {
	cents, day, reference := 1000+i, int(i%statementDays), fmt.Sprintf("REF%09d", i)
	onStatement, nextDay := reference, min(day+1, statementDays-1)
	postings, lines := []int64{cents}, []int64{cents}
	var reason reconcile.Reason
	switch i % 1000 {
	case 10:
		postings, reason = nil, reconcile.MissingInLedger
	case 20:
		lines, reason = nil, reconcile.MissingOnStatement
	case 30:
		lines, reason = []int64{cents - 15}, reconcile.AmountDiffers
	case 40:
		lines, reason = []int64{cents, cents}, reconcile.Duplicate
	case 50:
		postings, lines, reason = []int64{-cents}, []int64{-cents, cents}, reconcile.Returned
	case 60:
		postings, lines = []int64{cents, cents + 1, cents + 2, cents + 3, cents + 4}, []int64{5*cents + 10}
	case 70:
		postings, lines = []int64{4*cents + 6}, []int64{cents, cents + 1, cents + 2, cents + 3}
	default:
		if i%2 == 1 {
			postings, lines, onStatement = []int64{-cents}, []int64{-cents}, ""
		}
	}
	for _, amount := range postings {
		inDay := 10*time.Hour + time.Duration(len(w.postings))*time.Millisecond
		header, post := w.newHeader(w.monday.AddDate(0, 0, day).Add(inDay), reference), ledger.JITReceived
		if amount < 0 {
			post = ledger.Delivered
		}
		w.postings = append(w.postings, post(header, ledger.Rail(w.rail), usd(max(amount, -amount))))
	}
	for n, amount := range lines {
		l := statementLine{w.dateOn(day), amount, onStatement, "payment " + reference}
		if reason == reconcile.Returned && n == 1 {
			l.Date, l.Description = w.dateOn(nextDay), "RETURN OF "+reference
		} else if i%1000 == 80 {
			l.Date = w.dateOn(nextDay)
		}
		w.Lines = append(w.Lines, l)
	}
	if reason != "" {
		w.breaks[reason]++
	}
}

func (w *statementFixture) dateOn(day int) string {
	return w.monday.AddDate(0, 0, day).Format(time.DateOnly)
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }

// csvColumnMap names the columns of the CSV file.
const csvColumnMap = "date=Booked;valueDate=Value;amount=Amount;id=Id;reference=Reference;description=Text"

//go:embed statements.tmpl
var statementTemplates string

// file returns the statement as csv or as camt053.
func (w *statementFixture) file(format string) []byte {
	var file bytes.Buffer
	check(template.Must(template.New("").Parse(statementTemplates)).ExecuteTemplate(&file, format, w))
	return file.Bytes()
}

// Opening returns the balance before the first line, and its date.
func (w *statementFixture) Opening() statementLine { return statementLine{Date: w.dateOn(0)} }

// Closing returns the balance after the last line, and its date.
func (w *statementFixture) Closing() statementLine {
	closing := statementLine{Date: w.dateOn(statementDays - 1)}
	for _, l := range w.Lines {
		closing.cents += l.cents
	}
	return closing
}

// Amount returns the amount in dollars without its sign.
func (l statementLine) Amount() string {
	cents := max(l.cents, -l.cents)
	return fmt.Sprintf("%d.%02d", cents/100, cents%100)
}

// Sign returns a minus if the amount is paid out.
func (l statementLine) Sign() string { return map[bool]string{true: "-"}[l.cents < 0] }

// conversions returns n conversions spread over a month.
func conversions(n int, month time.Time, header newHeader) []ledger.Posting {
	all := make([]ledger.Posting, n)
	for i := range all {
		effective := month.Add(time.Duration(i) * (28 * 24 * time.Hour / time.Duration(n)))
		all[i] = ledger.Converted(header(effective, ""), rampConversion)
	}
	return all
}

// rampConversion is that of a ramp.
var rampConversion = ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(rampAmount), Fees: 50,
	Received: money.Amount{Minor: 100_000, Currency: money.BTC}}
