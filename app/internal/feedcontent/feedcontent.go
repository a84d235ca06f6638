// Package feedcontent encodes and decodes the content of what was kept aside of feeds.
//
// It is stored as JSON, each kind as a type of its own. Before, the fields of Go were stored: their names differ in case alone, which
// encoding/json ignores, so that either release reads what the other has written.
package feedcontent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// Encode returns the content of an item: what a partner reported, or a contradiction.
func Encode(reported any) ([]byte, error) {
	switch r := reported.(type) {
	case ports.RailReceipt:
		return json.Marshal(newReceipt(r))
	case ports.ReceiptReversal:
		return json.Marshal(reversal(r))
	case ports.RailFee:
		return json.Marshal(newFee(r))
	case rail.Fee:
		return json.Marshal(newFee(ports.RailFee(r)))
	case ports.RailStatement:
		return json.Marshal(newStatement(r))
	case ports.RawReport: // has the names of what is stored
		return json.Marshal(r)
	case rail.Contradiction:
		return json.Marshal(newContradiction(r))
	default:
		return nil, fmt.Errorf("an item has no %T", reported)
	}
}

// Receipt decodes the content of a receipt.
func Receipt(content []byte) (ports.RailReceipt, error) {
	stored, err := decode[receipt](content)
	return stored.reported(), err
}

// Reversal decodes the content of a reversal.
func Reversal(content []byte) (ports.ReceiptReversal, error) {
	stored, err := decode[reversal](content)
	return ports.ReceiptReversal(stored), err
}

// Fee decodes the content of a fee.
func Fee(content []byte) (ports.RailFee, error) {
	stored, err := decode[fee](content)
	return ports.RailFee{Platform: stored.Platform, Rail: stored.Rail, PartnerID: stored.PartnerID, Amount: money.Amount(stored.Amount),
		At: stored.At, Memo: stored.Memo, Undated: stored.Undated}, err
}

// Statement decodes the content of a statement.
func Statement(content []byte) (ports.RailStatement, error) {
	stored, err := decode[statement](content)
	read := ports.RailStatement{Name: stored.Name, Format: stored.Format, Data: stored.Data}
	for _, b := range stored.Balances {
		read.Balances = append(read.Balances, ports.RailBalance{Amount: money.Amount(b.Amount), At: b.At})
	}
	return read, err
}

// Contradiction decodes the content of a contradiction.
func Contradiction(content []byte) (rail.Contradiction, error) {
	stored, err := decode[contradiction](content)
	return rail.Contradiction{Platform: stored.Platform, Kind: stored.Kind, Subject: stored.Subject, Name: stored.Name,
		Recorded: stored.Recorded.of(), Reported: stored.Reported.of(), Problem: stored.Problem, Content: stored.Content}, err
}

func decode[T any](content []byte) (stored T, err error) {
	err = json.Unmarshal(content, &stored)
	return stored, err
}

type amount struct {
	Minor    int64          `json:"minor"`
	Currency money.Currency `json:"currency"`
}

type receipt struct {
	ID        ident.Receipt  `json:"id"`
	Platform  ident.Platform `json:"platform,omitzero"`
	Rail      corridor.Rail  `json:"rail"`
	PartnerID string         `json:"partnerId"`
	Reference string         `json:"reference,omitempty"`
	Amount    amount         `json:"amount"`
	At        time.Time      `json:"at"`
	Payer     *payer         `json:"payer,omitempty"`

	Originator      *originator `json:"originator,omitempty"`
	TransactionHash string      `json:"transactionHash,omitempty"`
}

// originator is what is known of who has sent the money.
type originator struct {
	Name        string `json:"name,omitempty"`
	Account     string `json:"account,omitempty"`
	BankName    string `json:"bankName,omitempty"`
	Bank        string `json:"bank,omitempty"`
	EndToEndID  string `json:"endToEndId,omitempty"`
	TraceNumber string `json:"traceNumber,omitempty"`
	Remittance  string `json:"remittance,omitempty"`
}

// payer is what is known of the account of a payer.
type payer struct {
	Currency    money.Currency    `json:"currency"`
	Type        account.Type      `json:"type"`
	Fields      map[string]string `json:"fields,omitempty"`
	Beneficiary *beneficiary      `json:"beneficiary,omitempty"`
	Rails       []corridor.Rail   `json:"rails,omitempty"`
}

type beneficiary struct {
	Type               account.BeneficiaryType `json:"type"`
	FullName           string                  `json:"fullName,omitempty"`
	LegalName          string                  `json:"legalName,omitempty"`
	BirthDate          string                  `json:"birthDate,omitempty"`
	Nationality        string                  `json:"nationality,omitempty"`
	Email              string                  `json:"email,omitempty"`
	PhoneNumber        string                  `json:"phoneNumber,omitempty"`
	CountryOfResidence string                  `json:"countryOfResidence,omitempty"`
	Address            *address                `json:"address,omitempty"`
	RegistrationNumber string                  `json:"registrationNumber,omitempty"`
	TaxID              string                  `json:"taxId,omitempty"`
	DocumentType       string                  `json:"documentType,omitempty"`
	DocumentNumber     string                  `json:"documentNumber,omitempty"`
}

type address struct {
	Line1      string `json:"line1"`
	Line2      string `json:"line2,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	Country    string `json:"country"`
}

func newReceipt(r ports.RailReceipt) receipt {
	stored := receipt{ID: r.ID, Platform: r.Platform, Rail: r.Rail, PartnerID: r.PartnerID, Reference: r.Reference, Amount: amount(r.Amount),
		At: r.At, Originator: (*originator)(r.Originator), TransactionHash: r.TransactionHash}
	if p := r.Payer; p != nil {
		stored.Payer = &payer{Currency: p.Currency, Type: p.Type, Fields: p.Fields, Rails: p.Rails}
		if b := p.Beneficiary; b != nil {
			stored.Payer.Beneficiary = &beneficiary{Type: b.Type, FullName: b.FullName, LegalName: b.LegalName, BirthDate: b.BirthDate,
				Nationality: b.Nationality, Email: b.Email, PhoneNumber: b.PhoneNumber, CountryOfResidence: b.CountryOfResidence,
				Address: (*address)(b.Address), RegistrationNumber: b.RegistrationNumber, TaxID: b.TaxID, DocumentType: b.DocumentType,
				DocumentNumber: b.DocumentNumber}
		}
	}
	return stored
}

func (r receipt) reported() ports.RailReceipt {
	read := ports.RailReceipt{Receipt: transaction.Receipt{ID: r.ID, Platform: r.Platform, Rail: r.Rail, PartnerID: r.PartnerID,
		Reference: r.Reference, Amount: money.Amount(r.Amount), At: r.At,
		Originator: (*transaction.Originator)(r.Originator), TransactionHash: r.TransactionHash}}
	if p := r.Payer; p != nil {
		read.Payer = &account.External{Currency: p.Currency, Type: p.Type, Fields: p.Fields, Rails: p.Rails}
		if b := p.Beneficiary; b != nil {
			read.Payer.Beneficiary = &account.Beneficiary{Type: b.Type, FullName: b.FullName, LegalName: b.LegalName, BirthDate: b.BirthDate,
				Nationality: b.Nationality, Email: b.Email, PhoneNumber: b.PhoneNumber, CountryOfResidence: b.CountryOfResidence,
				Address: (*party.Address)(b.Address), RegistrationNumber: b.RegistrationNumber, TaxID: b.TaxID, DocumentType: b.DocumentType,
				DocumentNumber: b.DocumentNumber}
		}
	}
	return read
}

type reversal struct {
	Platform  ident.Platform `json:"platform,omitzero"`
	Rail      corridor.Rail  `json:"rail"`
	Receipt   string         `json:"receipt"`
	PartnerID string         `json:"partnerId"`
	Code      string         `json:"code,omitempty"`
	Text      string         `json:"text,omitempty"`
	At        time.Time      `json:"at"`
}

type fee struct {
	Platform  ident.Platform `json:"platform,omitzero"`
	Rail      corridor.Rail  `json:"rail"`
	PartnerID string         `json:"partnerId"`
	Amount    amount         `json:"amount"`
	At        time.Time      `json:"at"`
	Memo      string         `json:"memo,omitempty"`
	Undated   bool           `json:"undated,omitempty"`
}

func newFee(f ports.RailFee) fee {
	return fee{Platform: f.Platform, Rail: f.Rail, PartnerID: f.PartnerID, Amount: amount(f.Amount), At: f.At, Memo: f.Memo,
		Undated: f.Undated}
}

// statement has the names that were stored first: the key of its item is a hash of its text, by which one that is reported again is
// known.
type statement struct {
	Name     string             `json:"Name"`
	Format   string             `json:"Format"`
	Data     []byte             `json:"Data"`
	Balances []statementBalance `json:"Balances,omitempty"`
}

type statementBalance struct {
	Amount struct {
		Minor    int64          `json:"Minor"`
		Currency money.Currency `json:"Currency"`
	} `json:"Amount"`
	At time.Time `json:"At"`
}

func newStatement(s ports.RailStatement) statement {
	stored := statement{Name: s.Name, Format: s.Format, Data: s.Data}
	for _, b := range s.Balances {
		balance := statementBalance{At: b.At}
		balance.Amount.Minor, balance.Amount.Currency = b.Amount.Minor, b.Amount.Currency
		stored.Balances = append(stored.Balances, balance)
	}
	return stored
}

// contradiction is what stands until a person closes it.
type contradiction struct {
	Platform ident.Platform `json:"platform,omitzero"`
	Kind     rail.Kind      `json:"kind,omitempty"`
	Subject  uuid.UUID      `json:"subject,omitzero"`
	Name     string         `json:"name"`
	Recorded said           `json:"recorded"`
	Reported said           `json:"reported"`
	Problem  string         `json:"problem"`
	Content  string         `json:"content,omitempty"`
}

type said struct {
	State     string    `json:"state"`
	At        time.Time `json:"at,omitzero"`
	Amount    amount    `json:"amount,omitzero"`
	PartnerID string    `json:"partnerId,omitempty"`
	Code      string    `json:"code,omitempty"`
	Text      string    `json:"text,omitempty"`
}

func newContradiction(c rail.Contradiction) contradiction {
	return contradiction{Platform: c.Platform, Kind: c.Kind, Subject: c.Subject, Name: c.Name, Recorded: newSaid(c.Recorded),
		Reported: newSaid(c.Reported), Problem: c.Problem, Content: c.Content}
}

func (s said) of() rail.Said {
	return rail.Said{State: s.State, At: s.At, Amount: money.Amount(s.Amount), PartnerID: s.PartnerID, Code: s.Code, Text: s.Text}
}

func newSaid(s rail.Said) said {
	return said{State: s.State, At: s.At, Amount: amount(s.Amount), PartnerID: s.PartnerID, Code: s.Code, Text: s.Text}
}
