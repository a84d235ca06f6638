package nacha

import (
	"iter"
	"time"

	"causeway/core/money"
)

// File is a file of payments for a bank.
type File struct {
	// Destination is the routing number of the bank that takes the file (nine digits), and Origin the number that it has
	// given to us: a routing number, or ten characters.
	Destination, DestinationName string
	Origin, OriginName           string
	CreatedAt                    time.Time
	// Modifier distinguishes the files of a day: A to Z, then 0 to 9.
	Modifier byte
	// Reference is for our own use, at most 8 characters; the bank ignores it.
	Reference string
	Batches   []Batch
}

// Class is a standard entry class: who the receiver is, and how it authorized a debit.
type Class string

// The classes.
const (
	PPD Class = "PPD" // to or from a consumer; a debit needs a written authorization
	CCD Class = "CCD" // to or from a business
	WEB Class = "WEB" // debit of a consumer that authorized it on the internet
)

// Batch holds entries of one company, class, direction and date.
type Batch struct {
	Class Class
	// Debit: the entries collect money. Otherwise they pay it out.
	Debit bool
	// CompanyName is what receivers see, at most 16 characters; CompanyID has at most 10, and CompanyData, for our own
	// use, at most 20.
	CompanyName, CompanyID, CompanyData string
	Description                         string // what receivers see of the purpose, at most 10 characters, such as PAYMENT
	// EffectiveOn is the banking day on which the entries are to settle. Its date is written as it is.
	EffectiveOn time.Time
	// ODFI is the routing number of the bank that originates the entries: nine digits, or the first eight.
	ODFI string
	// Entries yields the entries in ascending order of Sequence. It is called once.
	Entries iter.Seq2[Entry, error]
}

// Entry is one payment.
type Entry struct {
	// Sequence numbers the payments of a bank: 1 to MaxSequence, ascending in the whole file. With the ODFI it makes the
	// trace number, see TraceNumber.
	Sequence int
	// Key is written as the individual's id, which returns repeat; KeyOf derives it.
	Key string
	// EndToEndID is written into an addenda record, at most 80 characters; empty leaves the record out.
	EndToEndID string
	// Remittance is a text for the receiver, which takes the place of EndToEndID. What does not fit is cut off.
	Remittance string
	Routing    string // of the receiver's bank, nine digits
	Account    string // at most 17 characters
	Savings    bool   // the account is not a checking account
	Amount     money.Amount
	Name       string // of the receiver; at most 22 characters are written
}

// MaxSequence is the largest number of a payment in a trace number; the next is 1 again.
const MaxSequence = 9_999_999

// Totals are the number of entries of a file and the sums in cents.
type Totals struct {
	Entries, Batches int
	Debits, Credits  int64
}
