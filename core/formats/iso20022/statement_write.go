package iso20022

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"time"

	"causeway/core/money"
)

// StatementHead is what a statement says before its entries. Of its report the id, the time of creation and the account
// are written.
type StatementHead struct {
	Report
	Number          int // in its year; 0 if it has none
	From, To        time.Time
	AccountName     string
	Owner           Party
	Servicer        *Agent // nil if it is not known
	Balances        []Balance
	Credits, Debits Totals
}

// StatementWriter writes a message of statements, camt.053.001.08. It keeps one entry in memory at a time, writes texts
// as they are, cut to what the message takes, and checks none.
type StatementWriter struct {
	x        *xmlWriter
	currency money.Currency // of the current statement
}

// NewStatementWriter writes the beginning of a message.
func NewStatementWriter(w io.Writer, messageID string, created time.Time, information string) *StatementWriter {
	x := &xmlWriter{w: bufio.NewWriterSize(w, 1<<16), text: firstCharacters, any: true}
	x.raw(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	x.raw(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>` + "\n")
	x.open("GrpHdr")
	x.element("MsgId", messageID)
	x.element("CreDtTm", formatTime(created))
	x.element("AddtlInf", information)
	x.close("GrpHdr")
	x.raw("\n")
	return &StatementWriter{x: x}
}

// firstCharacters returns the beginning of a text.
func firstCharacters(text string, n int) string {
	if len(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:min(n, len(runes))])
}

// formatTime formats a time in UTC with microseconds; empty for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// Begin writes the beginning of a statement.
func (w *StatementWriter) Begin(s StatementHead) error {
	x := w.x
	w.currency = money.Currency(s.Account.Currency)
	x.open("Stmt")
	x.element("Id", s.ID)
	if s.Number > 0 {
		x.element("ElctrncSeqNb", strconv.Itoa(s.Number))
		x.element("LglSeqNb", strconv.Itoa(s.Number))
	}
	x.element("CreDtTm", formatTime(s.CreatedAt))
	x.open("FrToDt")
	x.element("FrDtTm", formatTime(s.From))
	x.element("ToDtTm", formatTime(s.To))
	x.close("FrToDt")
	x.raw("\n")
	x.open("Acct")
	x.accountID(s.Account)
	x.element("Nm", s.AccountName)
	x.party("Ownr", s.Owner, maxName)
	if s.Servicer != nil {
		x.agent("Svcr", *s.Servicer, "")
	}
	x.close("Acct")
	x.raw("\n")
	for _, b := range s.Balances {
		w.balance(b)
	}
	x.open("TxsSummry")
	w.totals("TtlCdtNtries", s.Credits)
	w.totals("TtlDbtNtries", s.Debits)
	x.close("TxsSummry")
	x.raw("\n")
	return x.err
}

func (w *StatementWriter) balance(b Balance) {
	x := w.x
	x.open("Bal")
	x.raw("<Tp><CdOrPrtry>")
	x.element("Cd", b.Type)
	x.raw("</CdOrPrtry></Tp>")
	w.amount(b.Amount.Minor >= 0, max(b.Amount.Minor, -b.Amount.Minor))
	x.open("Dt")
	if b.HasTime {
		x.element("DtTm", formatTime(b.At))
	} else {
		x.element("Dt", b.At.UTC().Format(time.DateOnly))
	}
	x.close("Dt")
	x.close("Bal")
	x.raw("\n")
}

func (w *StatementWriter) totals(name string, t Totals) {
	w.x.open(name)
	w.x.element("NbOfNtries", strconv.Itoa(t.Count))
	w.x.element("Sum", t.Sum.Major(w.currency))
	w.x.close(name)
}

func (w *StatementWriter) amount(credit bool, minor int64) {
	w.x.raw(`<Amt Ccy="` + string(w.currency) + `">` + money.TotalOf(minor).Major(w.currency) + "</Amt>")
	side := "DBIT"
	if credit {
		side = "CRDT"
	}
	w.x.element("CdtDbtInd", side)
}

// Entry writes an entry of the current statement, with its payments.
func (w *StatementWriter) Entry(e Entry) error {
	x := w.x
	x.open("Ntry")
	x.element("NtryRef", e.Reference)
	w.amount(e.Credit, e.Amount.Minor)
	if e.Reversal {
		x.element("RvslInd", "true")
	}
	x.code("Sts", e.Status)
	x.day("BookgDt", e.Booked, e.BookedAt)
	x.day("ValDt", e.Value, e.ValueAt)
	x.element("AcctSvcrRef", e.PartnerID)
	x.raw("<BkTxCd><Prtry>")
	x.element("Cd", e.TransactionCode.Proprietary)
	x.element("Issr", e.TransactionCode.Issuer)
	x.raw("</Prtry></BkTxCd><NtryDtls>")
	for _, p := range e.Payments {
		x.open("TxDtls")
		x.open("Refs")
		x.element("AcctSvcrRef", p.References.PartnerID)
		x.element("TxId", p.References.TransactionID)
		x.close("Refs")
		w.remittance(p.Remittance)
		x.element("AddtlTxInf", firstCharacters(p.Text, maxInformation))
		x.close("TxDtls")
	}
	x.raw("</NtryDtls>")
	x.close("Ntry")
	x.raw("\n")
	return x.err
}

// remittance writes a text in parts of the maximum length of the format.
func (w *StatementWriter) remittance(text string) {
	if text == "" {
		return
	}
	w.x.open("RmtInf")
	for part := range slices.Chunk([]rune(text), maxRemittance) {
		w.x.element("Ustrd", string(part))
	}
	w.x.close("RmtInf")
}

// EndStatement writes the end of the current statement.
func (w *StatementWriter) EndStatement() error {
	w.x.close("Stmt")
	w.x.raw("\n")
	return w.x.err
}

// End writes the end of the message.
func (w *StatementWriter) End() error {
	w.x.raw("</BkToCstmrStmt></Document>\n")
	return w.x.flush()
}
