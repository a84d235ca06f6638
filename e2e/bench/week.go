package main

import (
	"bytes"
	"fmt"
	"time"

	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
)

// week is seven days at one partner: what our books say, what the partner's statement
// says, and the breaks between them that it was made with.
type week struct {
	rail     string
	monday   time.Time
	postings []ledger.Posting
	lines    []line
	breaks   map[reconcile.Reason]int
	header   func(at time.Time, memo string) ledger.Header
}

// line is one line of the partner's.
type line struct {
	day, minor      int64 // days after the first, cents
	reference, text string
}

const days = 7

// makeWeek makes a week whose statement has at least so many lines: payments in and out,
// batches of either side, payments that are a day late, and in every thousand one break
// of each kind.
func makeWeek(rail string, monday time.Time, size int, header func(at time.Time, memo string) ledger.Header) week {
	w := week{rail: rail, monday: monday, breaks: map[reconcile.Reason]int{}, header: header}
	for i := int64(0); len(w.lines) < size; i++ {
		w.payment(i)
	}
	return w
}

func (w *week) payment(i int64) {
	day, minor, reference := i%days, 1000+i, fmt.Sprintf("REF%09d", i)
	next, text := min(day+1, days-1), "payment "+reference
	switch i % 1000 {
	case 10:
		w.there(day, minor, reference, text)
		w.breaks[reconcile.MissingInLedger]++
	case 20:
		w.in(day, minor, reference)
		w.breaks[reconcile.MissingOnStatement]++
	case 30:
		w.in(day, minor, reference)
		w.there(day, minor-15, reference, text)
		w.breaks[reconcile.AmountDiffers]++
	case 40:
		w.in(day, minor, reference)
		w.there(day, minor, reference, text)
		w.there(day, minor, reference, text)
		w.breaks[reconcile.Duplicate]++
	case 50:
		w.out(day, minor, reference)
		w.there(day, -minor, reference, text)
		w.there(next, minor, reference, "RETURN OF "+reference)
		w.breaks[reconcile.Returned]++
	case 60: // one line of theirs for five of ours
		for n := range int64(5) {
			w.in(day, minor+n, reference)
		}
		w.there(day, 5*minor+10, reference, "batch")
	case 70: // four lines of theirs for one of ours
		for n := range int64(4) {
			w.there(day, minor+n, reference, "part")
		}
		w.in(day, 4*minor+6, reference)
	case 80:
		w.in(day, minor, reference)
		w.there(next, minor, reference, text)
	default:
		if i%2 == 0 {
			w.in(day, minor, reference)
			w.there(day, minor, reference, text)
		} else {
			w.out(day, minor, reference)
			w.there(day, -minor, "", text)
		}
	}
}

func (w *week) there(day, minor int64, reference, text string) {
	w.lines = append(w.lines, line{day, minor, reference, text})
}

func (w *week) in(day, minor int64, memo string) {
	w.postings = append(w.postings, ledger.JITReceived(w.header(w.at(day), memo), ledger.Rail(w.rail), dollars(minor)))
}

func (w *week) out(day, minor int64, memo string) {
	w.postings = append(w.postings, ledger.Delivered(w.header(w.at(day), memo), ledger.Rail(w.rail), dollars(minor)))
}

// at is some time of a day.
func (w *week) at(day int64) time.Time {
	return w.monday.AddDate(0, 0, int(day)).Add(10*time.Hour + time.Duration(len(w.postings))*time.Millisecond)
}

func dollars(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }

// weekMap says what stands in which column of csv.
const weekMap = "date=Booked;valueDate=Value;amount=Amount;id=Id;reference=Reference;description=Text"

// csv is the statement as a sheet.
func (w *week) csv() []byte {
	var file bytes.Buffer
	file.WriteString("Booked,Value,Amount,Id,Reference,Text\n")
	for i, l := range w.lines {
		on := w.on(l.day)
		fmt.Fprintf(&file, "%s,%s,%s,P%d,%s,%s\n", on, on, major(l.minor), i, l.reference, l.text)
	}
	return file.Bytes()
}

func (w *week) on(day int64) string { return w.monday.AddDate(0, 0, int(day)).Format(time.DateOnly) }

// camt053 is the statement as ISO 20022 has it.
func (w *week) camt053() []byte {
	var file bytes.Buffer
	closing := int64(0)
	for _, l := range w.lines {
		closing += l.minor
	}
	fmt.Fprintf(&file, `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>
<GrpHdr><MsgId>WEEK</MsgId><CreDtTm>%[2]sT23:59:59Z</CreDtTm></GrpHdr>
<Stmt><Id>WEEK-1</Id><FrToDt><FrDtTm>%[1]sT00:00:00Z</FrDtTm><ToDtTm>%[2]sT23:59:59Z</ToDtTm></FrToDt>
<Acct><Id><IBAN>DE02120300000000202051</IBAN></Id><Ccy>USD</Ccy></Acct>
`, w.on(0), w.on(days-1))
	balance := func(kind string, minor int64, day string) {
		amount, side := sided(minor)
		fmt.Fprintf(&file, "<Bal><Tp><CdOrPrtry><Cd>%s</Cd></CdOrPrtry></Tp><Amt Ccy=\"USD\">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Dt><Dt>%s</Dt></Dt></Bal>\n", kind, amount, side, day)
	}
	balance("OPBD", 0, w.on(0))
	balance("CLBD", closing, w.on(days-1))
	for i, l := range w.lines {
		amount, side := sided(l.minor)
		end := l.reference
		if end == "" {
			end = "NOTPROVIDED"
		}
		fmt.Fprintf(&file, `<Ntry><Amt Ccy="USD">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>%[3]s</Dt></BookgDt><ValDt><Dt>%[3]s</Dt></ValDt>`+
			"<AcctSvcrRef>P%[4]d</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>%[5]s</EndToEndId></Refs><RmtInf><Ustrd>%[6]s</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n",
			amount, side, w.on(l.day), i, end, l.text)
	}
	file.WriteString("</Stmt></BkToCstmrStmt></Document>\n")
	return file.Bytes()
}

func major(minor int64) string {
	amount, side := sided(minor)
	if side == "DBIT" {
		return "-" + amount
	}
	return amount
}

// sided is an amount without its sign, and the partner's side that says it.
func sided(minor int64) (amount, side string) {
	side = "CRDT"
	if minor < 0 {
		minor, side = -minor, "DBIT"
	}
	return fmt.Sprintf("%d.%02d", minor/100, minor%100), side
}

// conversions are as many conversions as are wanted, through all of a month.
func conversions(n int, month time.Time, header func(at time.Time, memo string) ledger.Header) []ledger.Posting {
	all := make([]ledger.Posting, n)
	for i := range all {
		at := month.Add(time.Duration(i) * (28 * 24 * time.Hour / time.Duration(n)))
		all[i] = ledger.Converted(header(at, ""), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: dollars(10_050), Fees: 50,
			Received: money.Amount{Minor: 100_000, Currency: money.BTC}})
	}
	return all
}
