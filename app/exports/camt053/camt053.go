// Package camt053 writes ledger accounts as ISO 20022 bank statements: camt.053.001.08, with one
// Stmt for each account and currency, its opening and closing balance and every entry.
//
// CRDT and DBIT are credit and debit of the ledger account. The format has currency codes of three
// letters and at most five decimals, so it cannot have crypto currencies.
package camt053

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports/records"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Supports reports whether the format can have a currency.
func Supports(c money.Currency) bool { return len(c) == 3 && !c.IsCrypto() && c.Decimals() <= 5 }

// Message writes one message with its statements.
type Message struct {
	out     io.Writer
	buf     bytes.Buffer
	header  records.Header
	account ledger.Account
}

// New returns a Message and writes its start.
func New(out io.Writer, header records.Header) (*Message, error) {
	m := &Message{out: out, header: header}
	m.buf.WriteString(xml.Header)
	m.buf.WriteString(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>` + "\n<GrpHdr>")
	m.element("MsgId", m.id("message", "", ""))
	m.element("CreDtTm", records.FormatTime(header.LastPosting.Recorded))
	m.element("AddtlInf", fmt.Sprintf("Accounts in ISO 4217 currencies of %s, as of %s, posting %d",
		header.Platform, records.FormatTime(header.LastPosting.Recorded), header.LastPosting.Seq))
	m.buf.WriteString("</GrpHdr>\n")
	return m, m.write()
}

// BeginStatement writes the start of the statement of an account.
func (m *Message) BeginStatement(t ports.AccountTurnover) error {
	a := t.Account
	m.account = a
	from, to := m.statementPeriod(t)
	m.buf.WriteString("<Stmt>")
	m.element("Id", m.id("statement", a.Path, string(a.Currency)))
	m.element("CreDtTm", records.FormatTime(m.header.LastPosting.Recorded))
	m.buf.WriteString("<FrToDt>")
	m.element("FrDtTm", records.FormatTime(from))
	m.element("ToDtTm", records.FormatTime(to))
	m.buf.WriteString("</FrToDt>\n<Acct><Id><Othr>")
	m.element("Id", AccountID(a.Path))
	m.buf.WriteString("<SchmeNm><Prtry>LEDGER</Prtry></SchmeNm></Othr></Id>")
	m.element("Ccy", string(a.Currency))
	m.element("Nm", a.Path)
	m.buf.WriteString("</Acct>\n")
	m.balance("OPBD", t.Opening, from)
	m.balance("CLBD", t.Closing, to)
	m.buf.WriteString("<TxsSummry>")
	m.turnover("TtlCdtNtries", t.Credits)
	m.turnover("TtlDbtNtries", t.Debits)
	m.buf.WriteString("</TxsSummry>\n")
	return m.write()
}

// statementPeriod returns the first and the last time of a statement: the bounds of the interval,
// or else the first and the last entry of the account.
func (m *Message) statementPeriod(t ports.AccountTurnover) (from, to time.Time) {
	from, to = m.header.Filter.From, m.header.Filter.To
	if !to.IsZero() {
		to = m.header.Filter.Last()
	} else if to = m.header.LastPosting.Recorded; t.Last.After(to) {
		to = t.Last
	}
	if from.IsZero() {
		if from = t.First; from.IsZero() {
			from = to
		}
	}
	return from, to
}

func (m *Message) turnover(name string, t ports.Tally) {
	m.buf.WriteString("<" + name + ">")
	m.element("NbOfNtries", fmt.Sprint(t.Count))
	m.element("Sum", records.FormatMajor(t.Sum, m.account.Currency))
	m.buf.WriteString("</" + name + ">")
}

// balance writes a balance, given as debits minus credits.
func (m *Message) balance(code string, debits int64, at time.Time) {
	m.buf.WriteString("<Bal><Tp><CdOrPrtry>")
	m.element("Cd", code)
	m.buf.WriteString("</CdOrPrtry></Tp>")
	m.amount(debits)
	m.buf.WriteString("<Dt>")
	m.element("Dt", records.FormatDate(at))
	m.buf.WriteString("</Dt></Bal>\n")
}

// amount writes an amount and its side. Zero is CRDT.
func (m *Message) amount(debits int64) {
	side, text := "CRDT", records.FormatMajor(debits, m.account.Currency)
	if debits > 0 {
		side = "DBIT"
	}
	fmt.Fprintf(&m.buf, `<Amt Ccy="%s">%s</Amt>`, m.account.Currency, strings.TrimPrefix(text, "-"))
	m.element("CdtDbtInd", side)
}

// Entry writes one entry of the current statement.
func (m *Message) Entry(e ports.RecordedEntry) error {
	amount, other := -e.Amount, e.Debit
	if e.Debit == m.account.Path {
		amount, other = e.Amount, e.Credit
	}
	m.buf.WriteString("<Ntry>")
	m.element("NtryRef", fmt.Sprintf("%d.%d", e.Position.Seq, e.Position.N))
	m.amount(amount)
	if e.Reverses != uuid.Nil {
		m.element("RvslInd", "true")
	}
	m.buf.WriteString("<Sts><Cd>BOOK</Cd></Sts>")
	m.dateTime("BookgDt", e.Recorded)
	m.dateTime("ValDt", e.Effective)
	m.element("AcctSvcrRef", hexID(e.Posting))
	m.buf.WriteString("<BkTxCd><Prtry>")
	m.element("Cd", string(e.Kind))
	m.element("Issr", "Causeway")
	m.buf.WriteString("</Prtry></BkTxCd><NtryDtls><TxDtls><Refs>")
	m.element("AcctSvcrRef", hexID(e.Posting))
	if !e.Transaction.IsZero() {
		m.element("TxId", hexID(e.Transaction.UUID()))
	}
	m.buf.WriteString("</Refs>")
	m.remittance(records.SingleLine(e.Memo))
	m.element("AddtlTxInf", other)
	m.buf.WriteString("</TxDtls></NtryDtls></Ntry>\n")
	return m.write()
}

// remittance writes the memo in chunks of the maximum length of the format.
func (m *Message) remittance(memo string) {
	if memo == "" {
		return
	}
	m.buf.WriteString("<RmtInf>")
	for rest := []rune(memo); len(rest) > 0; {
		chunk := rest[:min(140, len(rest))]
		rest = rest[len(chunk):]
		m.element("Ustrd", string(chunk))
	}
	m.buf.WriteString("</RmtInf>")
}

// EndStatement writes the end of the current statement.
func (m *Message) EndStatement() error {
	m.buf.WriteString("</Stmt>\n")
	return m.write()
}

// End writes the end of the message.
func (m *Message) End() error {
	m.buf.WriteString("</BkToCstmrStmt></Document>\n")
	return m.write()
}

func (m *Message) dateTime(name string, at time.Time) {
	m.buf.WriteString("<" + name + ">")
	m.element("DtTm", records.FormatTime(at))
	m.buf.WriteString("</" + name + ">")
}

func (m *Message) element(name, text string) {
	m.buf.WriteString("<" + name + ">")
	_ = xml.EscapeText(&m.buf, []byte(text)) // a buffer never fails
	m.buf.WriteString("</" + name + ">")
}

func (m *Message) write() error {
	_, err := m.out.Write(m.buf.Bytes())
	m.buf.Reset()
	return err
}

// id returns an id of a message or statement that is a hash of everything that determines its
// content, so that the same one always has the same id. Its maximum length is 35 characters.
func (m *Message) id(what, path, currency string) string {
	s := m.header.Filter
	return digest(strings.Join([]string{what, m.header.Platform.String(), fmt.Sprint(m.header.LastPosting.Seq), records.FormatTime(s.From), records.FormatTime(s.To),
		s.Path, string(s.Currency), path, currency}, "\x00"))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// AccountID returns an id of at most 34 characters: the hexadecimal id of an internal account, or
// the path, or a hash of the path if it is too long. Nm has the whole path.
func AccountID(path string) string {
	_, name, _ := strings.Cut(path, "/")
	if id, err := ident.ParseInternalAccount(name); err == nil {
		return hexID(id.UUID())
	}
	if len(path) <= 34 {
		return path
	}
	return digest(path)
}

func hexID(id uuid.UUID) string { return hex.EncodeToString(id[:]) }
