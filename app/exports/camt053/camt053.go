// Package camt053 writes accounts of the books as bank statements after ISO 20022:
// camt.053.001.08, one Stmt an account and currency, with opening and closing balance
// and every entry.
//
// It reads nothing and adds nothing up. CRDT and DBIT are the sides of the books: what
// the service owes stands on CRDT, what it has on DBIT. The format holds codes of three
// letters and at most five decimals, so crypto currencies are none of it.
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

// Holds tells whether the format has codes and amounts of a currency.
func Holds(c money.Currency) bool { return len(c) == 3 && !c.IsCrypto() && c.Decimals() <= 5 }

// Message writes one message: statements one after the other, each with its entries.
type Message struct {
	out     io.Writer
	text    bytes.Buffer
	head    records.Head
	account ledger.Account
}

// New begins a message.
func New(out io.Writer, head records.Head) (*Message, error) {
	m := &Message{out: out, head: head}
	m.text.WriteString(xml.Header)
	m.text.WriteString(`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt>` + "\n<GrpHdr>")
	m.element("MsgId", m.id("message", "", ""))
	m.element("CreDtTm", records.Moment(head.Upto.Recorded))
	m.element("AddtlInf", fmt.Sprintf("Accounts in ISO 4217 currencies of %s, as of %s, posting %d",
		head.Platform, records.Moment(head.Upto.Recorded), head.Upto.Seq))
	m.text.WriteString("</GrpHdr>\n")
	return m, m.write()
}

// Statement begins the statement of an account.
func (m *Message) Statement(t ports.AccountTurnover) error {
	a := t.Account
	m.account = a
	from, to := m.ends(t)
	m.text.WriteString("<Stmt>")
	m.element("Id", m.id("statement", a.Path, string(a.Currency)))
	m.element("CreDtTm", records.Moment(m.head.Upto.Recorded))
	m.text.WriteString("<FrToDt>")
	m.element("FrDtTm", records.Moment(from))
	m.element("ToDtTm", records.Moment(to))
	m.text.WriteString("</FrToDt>\n<Acct><Id><Othr>")
	m.element("Id", AccountID(a.Path))
	m.text.WriteString("<SchmeNm><Prtry>LEDGER</Prtry></SchmeNm></Othr></Id>")
	m.element("Ccy", string(a.Currency))
	m.element("Nm", a.Path)
	m.text.WriteString("</Acct>\n")
	m.balance("OPBD", t.Opening, from)
	m.balance("CLBD", t.Closing, to)
	m.text.WriteString("<TxsSummry>")
	m.turnover("TtlCdtNtries", t.Credits)
	m.turnover("TtlDbtNtries", t.Debits)
	m.text.WriteString("</TxsSummry>\n")
	return m.write()
}

// ends are the first and the last moment of a statement. An open end is where the
// account was first or last touched; the other end is none of the period.
func (m *Message) ends(t ports.AccountTurnover) (from, to time.Time) {
	from, to = m.head.Span.From, m.head.Span.To
	if !to.IsZero() {
		to = to.Add(-time.Microsecond)
	} else if to = m.head.Upto.Recorded; t.Last.After(to) {
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
	m.text.WriteString("<" + name + ">")
	m.element("NbOfNtries", fmt.Sprint(t.Count))
	m.element("Sum", records.Major(t.Sum, m.account.Currency))
	m.text.WriteString("</" + name + ">")
}

// balance takes debits less credits, as they come from the books.
func (m *Message) balance(code string, debits int64, at time.Time) {
	m.text.WriteString("<Bal><Tp><CdOrPrtry>")
	m.element("Cd", code)
	m.text.WriteString("</CdOrPrtry></Tp>")
	m.amount(debits)
	m.text.WriteString("<Dt>")
	m.element("Dt", records.Date(at))
	m.text.WriteString("</Dt></Bal>\n")
}

// amount writes the amount and its side; nothing at all stands on the credit side.
func (m *Message) amount(debits int64) {
	side, text := "CRDT", records.Major(debits, m.account.Currency)
	if debits > 0 {
		side = "DBIT"
	}
	fmt.Fprintf(&m.text, `<Amt Ccy="%s">%s</Amt>`, m.account.Currency, strings.TrimPrefix(text, "-"))
	m.element("CdtDbtInd", side)
}

// Entry writes one entry of the account whose statement was begun.
func (m *Message) Entry(e ports.RecordedEntry) error {
	amount, other := -e.Amount, e.Debit
	if e.Debit == m.account.Path {
		amount, other = e.Amount, e.Credit
	}
	m.text.WriteString("<Ntry>")
	m.element("NtryRef", fmt.Sprintf("%d.%d", e.Position.Seq, e.Position.N))
	m.amount(amount)
	if e.Reverses != uuid.Nil {
		m.element("RvslInd", "true")
	}
	m.text.WriteString("<Sts><Cd>BOOK</Cd></Sts>")
	m.moment("BookgDt", e.Recorded)
	m.moment("ValDt", e.Effective)
	m.element("AcctSvcrRef", compact(e.Posting))
	m.text.WriteString("<BkTxCd><Prtry>")
	m.element("Cd", string(e.Kind))
	m.element("Issr", "Causeway")
	m.text.WriteString("</Prtry></BkTxCd><NtryDtls><TxDtls><Refs>")
	m.element("AcctSvcrRef", compact(e.Posting))
	if !e.Transaction.IsZero() {
		m.element("TxId", compact(e.Transaction.UUID()))
	}
	m.text.WriteString("</Refs>")
	m.remittance(records.Line(e.Memo))
	m.element("AddtlTxInf", other)
	m.text.WriteString("</TxDtls></NtryDtls></Ntry>\n")
	return m.write()
}

// remittance writes the memo in pieces as long as the format takes.
func (m *Message) remittance(memo string) {
	if memo == "" {
		return
	}
	m.text.WriteString("<RmtInf>")
	for rest := []rune(memo); len(rest) > 0; {
		piece := rest[:min(140, len(rest))]
		rest = rest[len(piece):]
		m.element("Ustrd", string(piece))
	}
	m.text.WriteString("</RmtInf>")
}

// EndStatement ends the statement of an account.
func (m *Message) EndStatement() error {
	m.text.WriteString("</Stmt>\n")
	return m.write()
}

// End ends the message.
func (m *Message) End() error {
	m.text.WriteString("</BkToCstmrStmt></Document>\n")
	return m.write()
}

func (m *Message) moment(name string, at time.Time) {
	m.text.WriteString("<" + name + ">")
	m.element("DtTm", records.Moment(at))
	m.text.WriteString("</" + name + ">")
}

func (m *Message) element(name, text string) {
	m.text.WriteString("<" + name + ">")
	_ = xml.EscapeText(&m.text, []byte(text)) // a buffer takes everything
	m.text.WriteString("</" + name + ">")
}

func (m *Message) write() error {
	_, err := m.out.Write(m.text.Bytes())
	m.text.Reset()
	return err
}

// id names a message or a statement by all that decides what it says, so that the same
// one has the same name whenever it is written. The format has room for 35 characters.
func (m *Message) id(what, path, currency string) string {
	s := m.head.Span
	return digest(strings.Join([]string{what, m.head.Platform.String(), fmt.Sprint(m.head.Upto.Seq), records.Moment(s.From), records.Moment(s.To),
		s.Path, string(s.Currency), path, currency}, "\x00"))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// AccountID is what an account is called where the format has room for 34 characters:
// the digits of the internal account's id, or the path, or where that is too long a
// hash of it. Nm has the whole path.
func AccountID(path string) string {
	_, name, _ := strings.Cut(path, "/")
	if id, err := ident.ParseInternalAccount(name); err == nil {
		return compact(id.UUID())
	}
	if len(path) <= 34 {
		return path
	}
	return digest(path)
}

func compact(id uuid.UUID) string { return hex.EncodeToString(id[:]) }
