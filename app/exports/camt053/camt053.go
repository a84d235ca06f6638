// Package camt053 writes ledger accounts as ISO 20022 bank statements: camt.053.001.08, with one
// Stmt for each account, currency and day, its opening and closing balance and every entry.
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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports/records"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// Supports reports whether the format can have a currency.
func Supports(c money.Currency) bool { return len(c) == 3 && !c.IsCrypto() && c.Decimals() <= 5 }

// Party is a company. Its fields may be empty.
type Party struct{ Name, Address string }

// Parties are those whom statements name.
type Parties struct {
	// Platform is the name of the owner of accounts that no customer holds.
	Platform string
	Servicer Party
	// Holder returns the customer who holds the account on the other side of an entry; zero if none does.
	Holder func(path string) ports.AccountHolder
}

// Statement is the statement of an account for a day. Debits and Credits are those from From up to and
// including To.
type Statement struct {
	ports.DayTurnover
	Account ledger.Account
	// Number is the number of the statement in its year; zero if it has none.
	Number   int
	From, To time.Time
	Opening  int64 // debits minus credits
}

// Closing returns the balance at the end of the statement: debits minus credits.
func (s Statement) Closing() int64 { return s.Opening + s.Debits.Sum - s.Credits.Sum }

// Entries returns the number of entries.
func (s Statement) Entries() int64 { return s.Debits.Count + s.Credits.Count }

// End returns the first time after the day.
func (s Statement) End() time.Time { return s.Day.AddDate(0, 0, 1) }

// Message writes one message with its statements.
type Message struct {
	out     io.Writer
	buf     bytes.Buffer
	header  records.Header
	parties Parties
	account ledger.Account
}

// New returns a Message and writes its start.
func New(out io.Writer, header records.Header, parties Parties) (*Message, error) {
	m := &Message{out: out, header: header, parties: parties}
	m.buf.WriteString(xml.Header)
	m.buf.WriteString(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>` + "\n<GrpHdr>")
	m.element("MsgId", m.messageID())
	m.element("CreDtTm", records.FormatTime(header.LastPosting.Recorded))
	m.element("AddtlInf", fmt.Sprintf("Accounts in ISO 4217 currencies of %s, as of %s, posting %d",
		header.Platform, records.FormatTime(header.LastPosting.Recorded), header.LastPosting.Seq))
	m.buf.WriteString("</GrpHdr>\n")
	return m, m.write()
}

// BeginStatement writes the start of a statement of an account, which a customer holds or, if owner is
// zero, the platform.
func (m *Message) BeginStatement(s Statement, owner ports.AccountHolder) error {
	a := s.Account
	m.account = a
	m.buf.WriteString("<Stmt>")
	m.element("Id", m.statementID(s))
	if s.Number > 0 {
		m.element("ElctrncSeqNb", strconv.Itoa(s.Number))
		m.element("LglSeqNb", strconv.Itoa(s.Number))
	}
	m.element("CreDtTm", records.FormatTime(m.header.LastPosting.Recorded))
	m.buf.WriteString("<FrToDt>")
	m.element("FrDtTm", records.FormatTime(s.From))
	m.element("ToDtTm", records.FormatTime(s.To))
	m.buf.WriteString("</FrToDt>\n<Acct><Id><Othr>")
	m.element("Id", AccountID(a.Path))
	m.buf.WriteString("<SchmeNm><Prtry>LEDGER</Prtry></SchmeNm></Othr></Id>")
	m.element("Ccy", string(a.Currency))
	m.element("Nm", a.Path)
	m.owner(owner)
	m.servicer()
	m.buf.WriteString("</Acct>\n")
	m.balance("OPBD", s.Opening, s.From)
	m.balance("CLBD", s.Closing(), s.To)
	m.buf.WriteString("<TxsSummry>")
	m.turnover("TtlCdtNtries", s.Credits)
	m.turnover("TtlDbtNtries", s.Debits)
	m.buf.WriteString("</TxsSummry>\n")
	return m.write()
}

// owner writes the owner of an account: the customer who holds it, or the platform.
func (m *Message) owner(holder ports.AccountHolder) {
	name := m.parties.Platform
	if !holder.Customer.IsZero() {
		name = holder.Name
	}
	m.buf.WriteString("<Ownr>")
	m.optionalElement("Nm", name, 140)
	if !holder.Customer.IsZero() {
		id := "PrvtId"
		if holder.Type == customer.Business {
			id = "OrgId"
		}
		m.buf.WriteString("<Id><" + id + "><Othr>")
		m.element("Id", hexID(holder.Customer.UUID()))
		m.buf.WriteString("<SchmeNm><Prtry>CUSTOMER</Prtry></SchmeNm></Othr></" + id + "></Id>")
	}
	m.buf.WriteString("</Ownr>")
}

// servicer writes the company that keeps the accounts, if it is known.
func (m *Message) servicer() {
	if m.parties.Servicer.Name == "" {
		return
	}
	m.buf.WriteString("<Svcr><FinInstnId>")
	m.optionalElement("Nm", m.parties.Servicer.Name, 140)
	if lines := chunks(records.SingleLine(m.parties.Servicer.Address), 70); len(lines) > 0 {
		m.buf.WriteString("<PstlAdr>")
		for _, line := range lines[:min(7, len(lines))] {
			m.element("AdrLine", line)
		}
		m.buf.WriteString("</PstlAdr>")
	}
	m.buf.WriteString("</FinInstnId></Svcr>")
}

// optionalElement writes the beginning of a text, unless it is empty.
func (m *Message) optionalElement(name, text string, maxLength int) {
	if lines := chunks(records.SingleLine(text), maxLength); len(lines) > 0 {
		m.element(name, lines[0])
	}
}

// chunks divides a text into parts of a maximum number of characters.
func chunks(text string, size int) (parts []string) {
	for part := range slices.Chunk([]rune(text), size) {
		parts = append(parts, string(part))
	}
	return parts
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
	if name := records.SingleLine(m.parties.Holder(other).Name); name != "" {
		other += " " + name
	}
	m.optionalElement("AddtlTxInf", other, 500)
	m.buf.WriteString("</TxDtls></NtryDtls></Ntry>\n")
	return m.write()
}

// remittance writes the memo in chunks of the maximum length of the format.
func (m *Message) remittance(memo string) {
	if memo == "" {
		return
	}
	m.buf.WriteString("<RmtInf>")
	for _, part := range chunks(memo, 140) {
		m.element("Ustrd", part)
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

// messageID returns a hash of everything that determines the content of the message, so that the same one
// always has the same id. The maximum length of an id is 35 characters.
func (m *Message) messageID() string {
	s := m.header.Filter
	return digest("message", m.header.Platform.String(), fmt.Sprint(m.header.LastPosting.Seq), records.FormatTime(s.From), records.FormatTime(s.To),
		s.Path, string(s.Currency), "", "")
}

// statementID returns a hash of the account, the day, its balances and its entries. So a day has the same
// id in every message, until something is posted into it or before it.
func (m *Message) statementID(s Statement) string {
	return digest("statement", s.Account.Platform.String(), s.Account.Path, string(s.Account.Currency), records.FormatTime(s.From), fmt.Sprint(s.Opening, s.Debits, s.Credits))
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
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
