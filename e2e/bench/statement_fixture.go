package main

import (
	"bytes"
	"cmp"
	"fmt"
	"time"

	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
)

// statementFixture is a week at one partner: our postings, the lines of the partner's
// statement, and the breaks between them.
type statementFixture struct {
	rail      string
	monday    time.Time
	postings  []ledger.Posting
	lines     []statementLine
	breaks    map[reconcile.Reason]int
	newHeader newHeader
}

// newHeader returns the header of a new posting.
type newHeader func(effective time.Time, memo string) ledger.Header

// statementLine is one line of the statement.
type statementLine struct {
	day, minor             int64 // days after Monday, cents
	reference, description string
}

const statementDays = 7

// newStatementFixture makes a statement with at least so many lines: payments in and out,
// batches on either side, payments a day late, and one break of each kind in a thousand.
func newStatementFixture(rail string, monday time.Time, size int, header newHeader) statementFixture {
	w := statementFixture{rail: rail, monday: monday, breaks: map[reconcile.Reason]int{}, newHeader: header}
	for i := int64(0); len(w.lines) < size; i++ {
		w.addPayment(i)
	}
	return w
}

func (w *statementFixture) addPayment(i int64) {
	cents, day, reference := 1000+i, i%statementDays, fmt.Sprintf("REF%09d", i)
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
		header := w.newHeader(w.monday.AddDate(0, 0, int(day)).Add(inDay), reference)
		post := ledger.JITReceived
		if amount < 0 {
			post = ledger.Delivered
		}
		w.postings = append(w.postings, post(header, ledger.Rail(w.rail), usd(max(amount, -amount))))
	}
	for n, amount := range lines {
		l := statementLine{day, amount, onStatement, "payment " + reference}
		if reason == reconcile.Returned && n == 1 {
			l.day, l.description = nextDay, "RETURN OF "+reference
		} else if i%1000 == 80 {
			l.day = nextDay
		}
		w.lines = append(w.lines, l)
	}
	if reason != "" {
		w.breaks[reason]++
	}
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }

// csvColumnMap names the columns of csv.
const csvColumnMap = "date=Booked;valueDate=Value;amount=Amount;id=Id;reference=Reference;description=Text"

// csv returns the statement as CSV.
func (w *statementFixture) csv() []byte {
	var file bytes.Buffer
	file.WriteString("Booked,Value,Amount,Id,Reference,Text\n")
	for i, l := range w.lines {
		sign := map[bool]string{true: "-"}[l.minor < 0]
		fmt.Fprintf(&file, "%[1]s,%[1]s,%[2]s%[3]s,P%[4]d,%[5]s,%[6]s\n",
			w.dateOn(l.day), sign, absMajor(l.minor), i, l.reference, l.description)
	}
	return file.Bytes()
}

func (w *statementFixture) dateOn(day int64) string {
	return w.monday.AddDate(0, 0, int(day)).Format(time.DateOnly)
}

// absMajor returns an amount in dollars without its sign.
func absMajor(minor int64) string {
	minor = max(minor, -minor)
	return fmt.Sprintf("%d.%02d", minor/100, minor%100)
}

// camt053 returns the statement in ISO 20022.
func (w *statementFixture) camt053() []byte {
	amount := func(minor int64) string {
		side := "CRDT"
		if minor < 0 {
			side = "DBIT"
		}
		return `<Amt Ccy="USD">` + absMajor(minor) + `</Amt><CdtDbtInd>` + side + `</CdtDbtInd>`
	}
	var entries bytes.Buffer
	closing := int64(0)
	for i, l := range w.lines {
		closing += l.minor
		fmt.Fprintf(&entries, `<Ntry>%[1]s<Sts><Cd>BOOK</Cd></Sts>
<BookgDt><Dt>%[2]s</Dt></BookgDt><ValDt><Dt>%[2]s</Dt></ValDt><AcctSvcrRef>P%[3]d</AcctSvcrRef>
<NtryDtls><TxDtls><Refs><EndToEndId>%[4]s</EndToEndId></Refs><RmtInf><Ustrd>%[5]s</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>
`, amount(l.minor), w.dateOn(l.day), i, cmp.Or(l.reference, "NOTPROVIDED"), l.description)
	}
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
<GrpHdr><MsgId>WEEK</MsgId><CreDtTm>%[2]sT23:59:59Z</CreDtTm></GrpHdr>
<Stmt><Id>WEEK-1</Id><FrToDt><FrDtTm>%[1]sT00:00:00Z</FrDtTm><ToDtTm>%[2]sT23:59:59Z</ToDtTm></FrToDt>
<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>USD</Ccy></Acct>
<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp>%[3]s<Dt><Dt>%[1]s</Dt></Dt></Bal>
<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp>%[4]s<Dt><Dt>%[2]s</Dt></Dt></Bal>
%[5]s</Stmt></BkToCstmrStmt></Document>
`, w.dateOn(0), w.dateOn(statementDays-1), amount(0), amount(closing), &entries)
}

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
