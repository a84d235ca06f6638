package iso20022

import (
	"time"

	"causeway/core/money"
)

// ReportKind is the kind of a report on an account.
type ReportKind string

// The kinds.
const (
	Notification ReportKind = "NOTIFICATION" // camt.054: single entries, without balances
	Statement    ReportKind = "STATEMENT"    // camt.053: all entries of a day, with balances
)

// Report is a notification or a statement of one account; a file has one or several.
type Report struct {
	Kind      ReportKind
	MessageID string
	ID        string
	CreatedAt time.Time // zero if the bank wrote none that can be read
	Account   Account
	// Copy is set if the bank marks the report as a copy or duplicate of one that was sent before.
	Copy bool
}

// Visitor receives what a file of reports contains, in the order of the file. A field that is nil is skipped. An error
// that a function returns ends the reading, and is returned as it is.
type Visitor struct {
	Report  func(Report) error
	Balance func(Report, Balance) error
	Entry   func(Report, Entry) error
}

// Balance is a balance of a statement.
type Balance struct {
	// Type is a code of ISO such as OPBD, CLBD (booked at the end) or CLAV (available at the end), or the bank's own.
	Type   string
	Amount money.Amount // below zero if the account is overdrawn
	// At is the time of the balance, or its date at midnight UTC if HasTime is not set: that of a closing balance is its end.
	At      time.Time
	HasTime bool
}

// Entry is an entry of the account.
type Entry struct {
	// Credit: the account was credited, with Amount, which is never negative.
	Credit bool
	Amount money.Amount
	// Reversal: the entry takes back an entry of the other direction.
	Reversal bool
	// Status is BOOK, PDNG or INFO, or empty if the bank wrote none. Only what is booked has moved.
	Status string
	// Booked and Value are dates at midnight UTC; zero if unknown. BookedAt and ValueAt are their times; zero if the bank wrote a date alone.
	Booked, Value, BookedAt, ValueAt time.Time
	// PartnerID is the bank's reference of the entry, and Reference its number in the report; empty if it named none.
	PartnerID, Reference string
	TransactionCode      TransactionCode
	Charges              []Charge // of the entry; payments may have charges of their own
	Text                 string   // additional information on the entry
	// Payments are what the entry consists of. Their amounts add up to Amount. There is exactly one, with the amount
	// of the entry, if the bank does not give the amounts of several exactly; then Undivided is their number.
	Payments  []Payment
	Undivided int
	// Details is what the amounts of its payments add up to, if that is not the amount of the entry; zero otherwise.
	Details money.Amount
	Line    int // where the entry begins in the file
}

// TransactionCode is what kind of transaction an entry or payment is: domain, family and sub-family of ISO's list, such
// as PMNT, RCDT and ESCT, and the bank's own code with who has issued it. Fields that the bank did not write are empty.
type TransactionCode struct{ Domain, Family, SubFamily, Proprietary, Issuer string }

// Payment is a payment of an entry. Fields that the bank did not write are empty or zero.
type Payment struct {
	// PartnerID is the bank's id of the payment: its own reference of it, or else the reference of an entry that
	// consists of this payment alone, the UETR, or the id of the clearing. It is numbered if several payments of the
	// entry have the same. If the bank named none, it is a hash of what it wrote about the payment, numbered if that
	// occurs several times in the report; then Unnamed is set.
	PartnerID string
	Unnamed   bool
	Amount    money.Amount // what was booked on the account, never negative
	// Instructed is what the debtor instructed, if the bank wrote it: another amount or currency after charges or exchange.
	Instructed money.Amount
	References References
	// Debtor paid and Creditor was paid: in a credit the payer is the debtor, also of a payment that is returned to us.
	Debtor, Creditor                 Party
	UltimateDebtor, UltimateCreditor Party
	DebtorAccount, CreditorAccount   Account
	DebtorAgent, CreditorAgent       Agent
	// Remittance is the free text of the payer, its lines joined by spaces. CreditorReferences are structured references
	// (ISO 11649 and others), and Documents numbers of invoices.
	Remittance                    string
	CreditorReferences, Documents []string
	Purpose                       string
	TransactionCode               TransactionCode // of the payment, or that of its entry
	// Return is set if a payment was returned or rejected: a credit of a payout that came back, or a debit of a
	// receipt that was taken back. References then are those of the original payment.
	Return  *Return
	Charges []Charge
	Text    string // additional information on the payment
}

// References are the ids of a payment. The text NOTPROVIDED is left out.
type References struct {
	MessageID, BlockID, InstructionID, EndToEndID string
	UETR, TransactionID, ClearingID               string
	MandateID, PartnerID                          string // PartnerID is the bank's own reference of the payment
}

// Return says why a payment was returned.
type Return struct {
	Reason
	// Original is the transaction code of the payment that was returned.
	Original TransactionCode
}

// Charge is what a bank charged for an entry or payment.
type Charge struct {
	Amount money.Amount
	Credit bool // it was paid back
	// Included: the amount of the entry is after the charge.
	Included bool
	Type     string // a code of ISO such as DEBT or SHAR for the bearer, or the bank's own type
}
