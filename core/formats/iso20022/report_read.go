package iso20022

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"time"

	"causeway/core/formats/textfile"
)

// maxPayments is how many payments one entry of a report may have: they are kept until its end.
const maxPayments = 200_000

// ReadReports reads the notifications and statements of a file, camt.054 and camt.053 of version 2 or later. It does not
// check that the entries of a statement add up to its balances, as its reconciliation does.
func ReadReports(r io.Reader, v Visitor) error {
	reader := &reportReader{visitor: &understanding{to: v}, maxPayments: maxPayments, detailed: true}
	return scanFile(textfile.Limit(r, MaxFileBytes), accepting("02", "camt.053", "camt.054"), reader)
}

// ReadStatements reads the statements of a file of camt.053 as they are written. accepts says whether an element is the
// message, or why it cannot be read. What is wrong with the file is an xmlguard.Error, a NoMessageError or a
// textfile.Error.
func ReadStatements(r io.Reader, accepts func(xml.Name) (bool, error), v StatementVisitor, maxPayments int) error {
	return newScanner(r, accepts, &reportReader{visitor: v, maxPayments: maxPayments}).scan()
}

// StatementVisitor receives what a statement contains, in the order of the file. What it is given is valid until the next
// call, but the statement until its end. An error ends the reading, and is returned as it is.
type StatementVisitor interface {
	Begin(*WrittenReport) error
	Balance(*WrittenReport, WrittenBalance) error
	Entry(*WrittenReport, *WrittenEntry) error
	End(*WrittenReport) error
}

// reportReader has the report, balance and entry that is being read.
type reportReader struct {
	visitor     StatementVisitor
	maxPayments int
	detailed    bool          // read also what only payments of customers need
	message     WrittenReport // what the header of the message says
	report      WrittenReport
	balance     WrittenBalance
	entry       WrittenEntry
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
		p.report = p.message
		p.report.Kind = kind
		return p.visitor.Begin(&p.report)
	}
	switch string(rest) {
	case "Bal":
		p.balance = WrittenBalance{Line: s.line()}
	case "Ntry":
		p.entry = WrittenEntry{Entry: Entry{Line: s.line()}, Payments: p.entry.Payments[:0], details: p.entry.details[:0]}
	case "Ntry/NtryDtls/TxDtls":
		if len(p.entry.Payments) == p.maxPayments {
			return s.errorf("an entry has more than %d payments: ask the bank for several files", p.maxPayments)
		}
		p.entry.Payments = append(p.entry.Payments, WrittenPayment{})
		if p.detailed {
			p.entry.details = append(p.entry.details, detail{})
		}
	}
	return nil
}

func (p *reportReader) end(s *scanner, path, text []byte) error {
	rest, _, inReport := cutReport(path)
	switch {
	case inReport && len(rest) == 0:
		return p.visitor.End(&p.report)
	case inReport:
		return p.endInReport(s, rest, string(text))
	case string(path) == "GrpHdr/MsgId":
		p.message.MessageID = string(text)
	case string(path) == "GrpHdr/CreDtTm":
		p.message.MessageCreated = WrittenTime{string(text), s.line()}
		p.message.CreatedAt, _ = p.message.MessageCreated.Time()
	}
	return nil
}

func (p *reportReader) endInReport(s *scanner, path []byte, text string) error {
	if part, found := bytes.CutPrefix(path, []byte("Ntry/NtryDtls/TxDtls/")); found {
		p.entry.setPayment(string(part), text, s.currency)
		return nil
	}
	if part, found := bytes.CutPrefix(path, []byte("Ntry/")); found {
		return p.entry.set(s, string(part), text)
	}
	if part, found := bytes.CutPrefix(path, []byte("Bal/")); found {
		p.balance.set(string(part), text, s)
		return nil
	}
	if part, found := bytes.CutPrefix(path, []byte("Acct/")); found {
		p.report.Account.set(string(part), text)
		return nil
	}
	switch string(path) {
	case "Bal":
		return p.visitor.Balance(&p.report, p.balance)
	case "Ntry":
		return p.visitor.Entry(&p.report, &p.entry)
	default:
		p.report.set(string(path), text, s.line())
	}
	return nil
}

func (r *WrittenReport) set(part, text string, line int) {
	switch part {
	case "Id":
		r.ID = text
	case "ElctrncSeqNb", "LglSeqNb":
		r.Numbers += " " + part + text
	case "StmtPgntn/PgNb":
		r.Page = text
	case "CreDtTm":
		if created, ok := parseTime(text); ok {
			r.CreatedAt = created
		}
	case "FrToDt/FrDtTm":
		r.From = WrittenTime{text, line}
	case "FrToDt/ToDtTm":
		r.To = WrittenTime{text, line}
	case "CpyDplctInd":
		r.Copy = text != ""
	}
}

func (b *WrittenBalance) set(part, text string, s *scanner) {
	switch part {
	case "Tp/CdOrPrtry/Cd", "Tp/CdOrPrtry/Prtry":
		b.Type, b.OwnType = text, strings.HasSuffix(part, "/Prtry")
	case "Amt":
		b.Amount.Digits, b.Amount.Currency = text, s.currency
	case "CdtDbtInd":
		b.Amount.Side = text
	case "Dt/Dt", "Dt/DtTm":
		b.At = WrittenTime{text, s.line()}
	}
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

// understanding passes on what reports mean.
type understanding struct {
	to      Visitor
	visited bool               // the report was passed on
	unnamed map[unnamedKey]int // how often payments without an id were seen in the report
}

func (u *understanding) Begin(*WrittenReport) error {
	u.visited, u.unnamed = false, map[unnamedKey]int{}
	return nil
}

// End passes the report on, if it was not before its balances and entries.
func (u *understanding) End(w *WrittenReport) error {
	if u.visited || u.to.Report == nil {
		return nil
	}
	u.visited = true
	return u.to.Report(w.Report)
}

func (u *understanding) Balance(w *WrittenReport, b WrittenBalance) error {
	if err := u.End(w); err != nil || u.to.Balance == nil {
		return err
	}
	amount, err := parseAmount(b.Amount)
	if err != nil {
		return textfile.Errorf(b.Line, "the balance %s: %v", b.Type, err)
	}
	at, hasDate := b.At.Day()
	hasTime := false
	if moment, ok := b.At.Time(); ok && len(b.At.Text) > len(time.DateOnly) {
		at, hasTime = moment, true
	}
	switch {
	case b.Amount.Side == "DBIT":
		amount.Minor = -amount.Minor
	case b.Amount.Side != "CRDT" && amount.Minor != 0:
		return textfile.Errorf(b.Line, "the balance %s is neither CRDT nor DBIT: ask the bank to state it", b.Type)
	}
	if !hasDate {
		return textfile.Errorf(b.Line, "the balance %s has no date: ask the bank to state it", b.Type)
	}
	return u.to.Balance(w.Report, Balance{Type: b.Type, Amount: amount, At: at, HasTime: hasTime})
}

func (u *understanding) Entry(w *WrittenReport, e *WrittenEntry) error {
	if err := u.End(w); err != nil || u.to.Entry == nil {
		return err
	}
	entry, err := e.understand()
	if err != nil {
		return textfile.Errorf(e.Line, "%v", err)
	}
	u.name(w.Account, entry)
	return u.to.Entry(w.Report, entry)
}
