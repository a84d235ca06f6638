package nacha

import (
	"time"

	"causeway/core/money"
)

// Visitor receives what a file contains, in the order of the file. A field that is nil is skipped. An error that a
// function returns ends the reading, and is returned as it is.
type Visitor struct {
	Return func(Return) error
	Change func(Change) error
}

// ReturnKind is the stage of a return.
type ReturnKind string

// The kinds. Dishonored returns and contested ones are disputes between the banks about a return.
const (
	Returned   ReturnKind = "RETURN"     // the receiver's bank returned the payment
	Dishonored ReturnKind = "DISHONORED" // the originator's bank refused the return
	Contested  ReturnKind = "CONTESTED"  // the receiver's bank insisted on it
)

// Return is an entry that a bank returned.
type Return struct {
	Kind ReturnKind
	// Code is the reason of this record, such as R01, and Information what the bank wrote about it.
	Code, Information string
	// OriginalTrace is the trace number of our entry, and Key its key, if the bank repeated it.
	OriginalTrace, Key string
	// Trace is the trace number of this record: with SettledOn and RDFI it is unique.
	Trace string
	// Debit: our entry collected money. Otherwise it paid it out.
	Debit  bool
	Amount money.Amount
	// RDFI is the routing number of the receiver's bank, its first eight digits.
	RDFI string
	// DiedOn is the date of death of returns with R14 and R15; zero otherwise.
	DiedOn time.Time
	// SettledOn is the banking day of the return, or the day on which the file was created if the bank wrote none.
	SettledOn time.Time
	Line      int
}

// Change is a notification of change: the payment was made, and the next must have other data.
type Change struct {
	// Code says what was wrong, such as C01 for the account number. Refused: our bank refused a notification (C61 to C69).
	Code    string
	Refused bool
	// OriginalTrace, Key, Trace and RDFI are as of a Return.
	OriginalTrace, Key, Trace, RDFI string
	// Data is the correction as the bank wrote it. The fields after it are what it means, as far as Code says.
	Data             string
	Routing, Account string
	Name             string
	TransactionCode  int // such as 32 for a credit of a savings account; 0 if it is right
	Identification   string
	Line             int
}
