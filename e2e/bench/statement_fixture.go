package main

import (
	"bytes"
	"fmt"
	"time"

	"causeway/core/money"
	"causeway/core/reconcile"
	"causeway/ledger"
)

// statementFixture is seven days at one partner: what our books say, what the partner's statement
// says, and the breaks between them that it was made with.
type statementFixture struct {
	rail      string
	monday    time.Time
	postings  []ledger.Posting
	lines     []statementLine
	breaks    map[reconcile.Reason]int
	newHeader func(at time.Time, memo string) ledger.Header
}

// statementLine is one line of the partner's.
type statementLine struct {
	day, minor             int64 // days after the first, cents
	reference, description string
}

const statementDays = 7

// newStatementFixture makes a week whose statement has at least so many lines: payments in and out,
// batches of either side, payments that are a day late, and in every thousand one break
// of each kind.
func newStatementFixture(rail string, monday time.Time, size int, header func(at time.Time, memo string) ledger.Header) statementFixture {
	w := statementFixture{rail: rail, monday: monday, breaks: map[reconcile.Reason]int{}, newHeader: header}
	for i := int64(0); len(w.lines) < size; i++ {
		w.addPayment(i)
	}
	return w
}

func (w *statementFixture) addPayment(i int64) {
	day, minor, reference := i%statementDays, 1000+i, fmt.Sprintf("REF%09d", i)
	next, text := min(day+1, statementDays-1), "payment "+reference
	switch i % 1000 {
	case 10:
		w.addLine(day, minor, reference, text)
		w.breaks[reconcile.MissingInLedger]++
	case 20:
		w.addIncoming(day, minor, reference)
		w.breaks[reconcile.MissingOnStatement]++
	case 30:
		w.addIncoming(day, minor, reference)
		w.addLine(day, minor-15, reference, text)
		w.breaks[reconcile.AmountDiffers]++
	case 40:
		w.addIncoming(day, minor, reference)
		w.addLine(day, minor, reference, text)
		w.addLine(day, minor, reference, text)
		w.breaks[reconcile.Duplicate]++
	case 50:
		w.addOutgoing(day, minor, reference)
		w.addLine(day, -minor, reference, text)
		w.addLine(next, minor, reference, "RETURN OF "+reference)
		w.breaks[reconcile.Returned]++
	case 60: // one line of theirs for five of ours
		for n := range int64(5) {
			w.addIncoming(day, minor+n, reference)
		}
		w.addLine(day, 5*minor+10, reference, "batch")
	case 70: // four lines of theirs for one of ours
		for n := range int64(4) {
			w.addLine(day, minor+n, reference, "part")
		}
		w.addIncoming(day, 4*minor+6, reference)
	case 80:
		w.addIncoming(day, minor, reference)
		w.addLine(next, minor, reference, text)
	default:
		if i%2 == 0 {
			w.addIncoming(day, minor, reference)
			w.addLine(day, minor, reference, text)
		} else {
			w.addOutgoing(day, minor, reference)
			w.addLine(day, -minor, "", text)
		}
	}
}

func (w *statementFixture) addLine(day, minor int64, reference, text string) {
	w.lines = append(w.lines, statementLine{day, minor, reference, text})
}

func (w *statementFixture) addIncoming(day, minor int64, memo string) {
	w.postings = append(w.postings, ledger.JITReceived(w.newHeader(w.timeOn(day), memo), ledger.Rail(w.rail), usd(minor)))
}

func (w *statementFixture) addOutgoing(day, minor int64, memo string) {
	w.postings = append(w.postings, ledger.Delivered(w.newHeader(w.timeOn(day), memo), ledger.Rail(w.rail), usd(minor)))
}

// timeOn is some time of a day.
func (w *statementFixture) timeOn(day int64) time.Time {
	return w.monday.AddDate(0, 0, int(day)).Add(10*time.Hour + time.Duration(len(w.postings))*time.Millisecond)
}

func usd(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: money.USD} }

// csvColumnMap says what stands in which column of csv.
const csvColumnMap = "date=Booked;valueDate=Value;amount=Amount;id=Id;reference=Reference;description=Text"

// csv is the statement as a sheet.
func (w *statementFixture) csv() []byte {
	var file bytes.Buffer
	file.WriteString("Booked,Value,Amount,Id,Reference,Text\n")
	for i, l := range w.lines {
		on := w.dateOn(l.day)
		fmt.Fprintf(&file, "%s,%s,%s,P%d,%s,%s\n", on, on, formatMajor(l.minor), i, l.reference, l.description)
	}
	return file.Bytes()
}

func (w *statementFixture) dateOn(day int64) string {
	return w.monday.AddDate(0, 0, int(day)).Format(time.DateOnly)
}

// camt053 is the statement as ISO 20022 has it.
func (w *statementFixture) camt053() []byte {
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
`, w.dateOn(0), w.dateOn(statementDays-1))
	balance := func(kind string, minor int64, day string) {
		amount, side := splitSign(minor)
		fmt.Fprintf(&file, "<Bal><Tp><CdOrPrtry><Cd>%s</Cd></CdOrPrtry></Tp><Amt Ccy=\"USD\">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Dt><Dt>%s</Dt></Dt></Bal>\n", kind, amount, side, day)
	}
	balance("OPBD", 0, w.dateOn(0))
	balance("CLBD", closing, w.dateOn(statementDays-1))
	for i, l := range w.lines {
		amount, side := splitSign(l.minor)
		end := l.reference
		if end == "" {
			end = "NOTPROVIDED"
		}
		fmt.Fprintf(&file, `<Ntry><Amt Ccy="USD">%s</Amt><CdtDbtInd>%s</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>%[3]s</Dt></BookgDt><ValDt><Dt>%[3]s</Dt></ValDt>`+
			"<AcctSvcrRef>P%[4]d</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>%[5]s</EndToEndId></Refs><RmtInf><Ustrd>%[6]s</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n",
			amount, side, w.dateOn(l.day), i, end, l.description)
	}
	file.WriteString("</Stmt></BkToCstmrStmt></Document>\n")
	return file.Bytes()
}

func formatMajor(minor int64) string {
	amount, side := splitSign(minor)
	if side == "DBIT" {
		return "-" + amount
	}
	return amount
}

// splitSign is an amount without its sign, and the partner's side that says it.
func splitSign(minor int64) (amount, side string) {
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
		all[i] = ledger.Converted(header(at, ""), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10_050), Fees: 50,
			Received: money.Amount{Minor: 100_000, Currency: money.BTC}})
	}
	return all
}
