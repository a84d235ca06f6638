// Package camt053 turns ledger accounts into ISO 20022 bank statements: one for each account, currency and
// day, with its opening and closing balance and every entry.
//
// CRDT and DBIT are credit and debit of the ledger account. The format has currency codes of three
// letters and at most five decimals, so it cannot have crypto currencies.
package camt053

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports/records"
	"causeway/core/customer"
	"causeway/core/formats/iso20022"
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
	*iso20022.StatementWriter
	header  records.Header
	parties Parties
	account ledger.Account
}

// New returns a Message and writes its start.
func New(out io.Writer, header records.Header, parties Parties) *Message {
	last := header.LastPosting
	information := fmt.Sprintf("Accounts in ISO 4217 currencies of %s, as of %s, posting %d",
		header.Platform, records.FormatTime(last.Recorded), last.Seq)
	w := iso20022.NewStatementWriter(out, messageID(header), last.Recorded, information)
	return &Message{StatementWriter: w, header: header, parties: parties}
}

// BeginStatement writes the start of a statement of an account, which a customer holds or, if owner is
// zero, the platform.
func (m *Message) BeginStatement(s Statement, owner ports.AccountHolder) error {
	a := s.Account
	m.account = a
	balance := func(kind string, debits int64, at time.Time) iso20022.Balance {
		return iso20022.Balance{Type: kind, Amount: money.Amount{Minor: -debits, Currency: a.Currency}, At: at}
	}
	return m.Begin(iso20022.StatementHead{
		Report: iso20022.Report{ID: statementID(s), CreatedAt: m.header.LastPosting.Recorded,
			Account: iso20022.Account{Number: accountID(a.Path), NumberScheme: "LEDGER", Currency: string(a.Currency)}},
		Number: s.Number, From: s.From, To: s.To, AccountName: a.Path, Owner: m.owner(owner), Servicer: m.servicer(),
		Balances: []iso20022.Balance{balance("OPBD", s.Opening, s.From), balance("CLBD", s.Closing(), s.To)},
		Credits:  totals(s.Credits), Debits: totals(s.Debits),
	})
}

// owner returns the owner of an account: the customer who holds it, or the platform.
func (m *Message) owner(holder ports.AccountHolder) iso20022.Party {
	if holder.Customer.IsZero() {
		return iso20022.Party{Name: records.SingleLine(m.parties.Platform)}
	}
	return iso20022.Party{Name: records.SingleLine(holder.Name), OrganisationID: hexID(holder.Customer.UUID()), OrganisationScheme: "CUSTOMER",
		Person: holder.Type != customer.Business}
}

// servicer returns the company that keeps the accounts; nil if it is not known.
func (m *Message) servicer() *iso20022.Agent {
	if m.parties.Servicer.Name == "" {
		return nil
	}
	servicer := &iso20022.Agent{Name: records.SingleLine(m.parties.Servicer.Name)}
	var lines []string
	for part := range slices.Chunk([]rune(records.SingleLine(m.parties.Servicer.Address)), 70) {
		lines = append(lines, string(part))
	}
	if len(lines) > 0 {
		servicer.Address = &iso20022.Address{Lines: lines[:min(7, len(lines))]}
	}
	return servicer
}

func totals(t ports.Tally) iso20022.Totals {
	return iso20022.Totals{Count: int(t.Count), Sum: money.TotalOf(t.Sum)}
}

// AddEntry writes one entry of the current statement.
func (m *Message) AddEntry(e ports.RecordedEntry) error {
	credit, other := true, e.Debit
	if e.Debit == m.account.Path {
		credit, other = e.Amount == 0, e.Credit
	}
	if name := records.SingleLine(m.parties.Holder(other).Name); name != "" {
		other += " " + name
	}
	payment := iso20022.Payment{References: iso20022.References{PartnerID: hexID(e.Posting)},
		Remittance: records.SingleLine(e.Memo), Text: records.SingleLine(other)}
	if !e.Transaction.IsZero() {
		payment.References.TransactionID = hexID(e.Transaction.UUID())
	}
	return m.Entry(iso20022.Entry{Reference: fmt.Sprintf("%d.%d", e.Position.Seq, e.Position.N), Credit: credit,
		Amount: money.Amount{Minor: e.Amount, Currency: m.account.Currency}, Reversal: e.Reverses != uuid.Nil, Status: "BOOK",
		BookedAt: e.Recorded, ValueAt: e.Effective, PartnerID: hexID(e.Posting),
		TransactionCode: iso20022.TransactionCode{Proprietary: string(e.Kind), Issuer: "Causeway"}, Payments: []iso20022.Payment{payment}})
}

// messageID returns a hash of everything that determines the content of the message, so that the same one
// always has the same id. The maximum length of an id is 35 characters.
func messageID(h records.Header) string {
	s := h.Filter
	return digest("message", h.Platform.String(), fmt.Sprint(h.LastPosting.Seq), records.FormatTime(s.From), records.FormatTime(s.To),
		s.Path, string(s.Currency), "", "")
}

// statementID returns a hash of the account, the day, its balances and its entries. So a day has the same
// id in every message, until something is posted into it or before it.
func statementID(s Statement) string {
	return digest("statement", s.Account.Platform.String(), s.Account.Path, string(s.Account.Currency), records.FormatTime(s.From),
		fmt.Sprint(s.Opening, s.Debits, s.Credits))
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// accountID returns an id of at most 34 characters: the hexadecimal id of an internal account, or
// the path, or a hash of the path if it is too long. Nm has the whole path.
func accountID(path string) string {
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
