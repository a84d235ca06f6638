package iso20022

import (
	"bytes"
	"io"
	"time"
)

// maxPayments is how many payments one entry may have: they are kept until its end.
const maxPayments = 200_000

// ReadReports reads the notifications and statements of a file, camt.054 and camt.053 of version 2 or later. It does not
// check that the entries of a statement add up to its balances, as its reconciliation does.
func ReadReports(r io.Reader, v Visitor) error {
	return scan(r, accepting("02", "camt.053", "camt.054"), &reportReader{visitor: v})
}

// reportReader has the report, balance and entry that is being read.
type reportReader struct {
	visitor   Visitor
	messageID string
	created   time.Time // of the message
	report    Report
	visited   bool // the report was passed on
	balance   rawBalance
	entry     rawEntry
	unnamed   map[unnamedKey]int // how often payments without an id were seen in the report
}

type rawBalance struct {
	kind, amount, currency, side, at string
	line                             int
}

// The elements of a report. What follows their names is the same in notifications and statements.
const (
	elementNotification = "Ntfctn"
	elementStatement    = "Stmt"
)

// cutReport returns the path within a report: empty for the report itself.
func cutReport(path []byte) (rest []byte, kind ReportKind, inReport bool) {
	first, rest, _ := bytes.Cut(path, []byte("/"))
	switch string(first) {
	case elementNotification:
		return rest, Notification, true
	case elementStatement:
		return rest, Statement, true
	}
	return nil, "", false
}

func (p *reportReader) start(s *scanner, path []byte) error {
	rest, kind, inReport := cutReport(path)
	switch {
	case !inReport:
		return nil
	case len(rest) == 0:
		p.report = Report{Kind: kind, MessageID: p.messageID, CreatedAt: p.created}
		p.visited, p.unnamed = false, map[unnamedKey]int{}
		return nil
	}
	switch string(rest) {
	case "Bal":
		p.balance = rawBalance{line: s.line()}
		return p.visitReport()
	case "Ntry":
		p.entry = rawEntry{payments: p.entry.payments[:0], line: s.line()}
		return p.visitReport()
	case "Ntry/NtryDtls/TxDtls":
		if len(p.entry.payments) == maxPayments {
			return s.errorf("an entry has more than %d payments: ask the bank for several files", maxPayments)
		}
		p.entry.payments = append(p.entry.payments, rawPayment{})
	}
	return nil
}

// visitReport passes the report on, before its balances and entries.
func (p *reportReader) visitReport() error {
	if p.visited {
		return nil
	}
	p.visited = true
	if p.visitor.Report == nil {
		return nil
	}
	return p.visitor.Report(p.report)
}

func (p *reportReader) end(s *scanner, path, text []byte) error {
	rest, _, inReport := cutReport(path)
	switch {
	case inReport && len(rest) == 0:
		return p.visitReport()
	case inReport:
		return p.endInReport(s, rest, string(text))
	case string(path) == "GrpHdr/MsgId":
		p.messageID = string(text)
	case string(path) == "GrpHdr/CreDtTm":
		p.created, _ = parseTime(string(text))
	}
	return nil
}

func (p *reportReader) endInReport(s *scanner, path []byte, text string) error {
	if part, found := bytes.CutPrefix(path, []byte("Ntry/NtryDtls/TxDtls/")); found {
		p.entry.payments[len(p.entry.payments)-1].set(string(part), text, s.currency)
		return nil
	}
	if part, found := bytes.CutPrefix(path, []byte("Ntry/")); found {
		return p.entry.set(s, string(part), text)
	}
	if part, found := bytes.CutPrefix(path, []byte("Bal/")); found {
		p.balance.set(string(part), text, s.currency)
		return nil
	}
	if part, found := bytes.CutPrefix(path, []byte("Acct/")); found {
		p.report.Account.set(string(part), text)
		return nil
	}
	switch string(path) {
	case "Id":
		p.report.ID = text
	case "CreDtTm":
		if created, ok := parseTime(text); ok {
			p.report.CreatedAt = created
		}
	case "CpyDplctInd":
		p.report.Copy = text != ""
	case "Bal":
		return p.endBalance()
	case "Ntry":
		return p.endEntry()
	}
	return nil
}

func (b *rawBalance) set(part, text, currency string) {
	switch part {
	case "Tp/CdOrPrtry/Cd", "Tp/CdOrPrtry/Prtry":
		b.kind = text
	case "Amt":
		b.amount, b.currency = text, currency
	case "CdtDbtInd":
		b.side = text
	case "Dt/Dt", "Dt/DtTm":
		b.at = text
	}
}

func (p *reportReader) endBalance() error {
	if p.visitor.Balance == nil {
		return nil
	}
	amount, err := parseAmount(p.balance.amount, p.balance.currency)
	if err != nil {
		return &FileError{p.balance.line, "the balance " + p.balance.kind + ": " + err.Error()}
	}
	at, hasDate := parseDay(p.balance.at)
	hasTime := false
	if moment, ok := parseTime(p.balance.at); ok && len(p.balance.at) > len(time.DateOnly) {
		at, hasTime = moment, true
	}
	switch {
	case p.balance.side == "DBIT":
		amount.Minor = -amount.Minor
	case p.balance.side != "CRDT" && amount.Minor != 0:
		return &FileError{p.balance.line, "the balance " + p.balance.kind + " is neither CRDT nor DBIT: ask the bank to state it"}
	}
	if !hasDate {
		return &FileError{p.balance.line, "the balance " + p.balance.kind + " has no date: ask the bank to state it"}
	}
	return p.visitor.Balance(p.report, Balance{Type: p.balance.kind, Amount: amount, At: at, HasTime: hasTime})
}

func (p *reportReader) endEntry() error {
	if p.visitor.Entry == nil {
		return nil
	}
	entry, err := p.entry.finish()
	if err != nil {
		return &FileError{p.entry.line, err.Error()}
	}
	p.name(entry)
	return p.visitor.Entry(p.report, entry)
}

// set sets a part of an account.
func (a *Account) set(part, text string) {
	switch part {
	case "Id/IBAN":
		a.IBAN = text
	case "Id/Othr/Id":
		a.Number = text
	case "Id/Othr/SchmeNm/Cd":
		a.NumberScheme = text
	case "Ccy":
		a.Currency = text
	}
}
