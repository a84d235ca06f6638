package bankorder

import (
	"time"

	"causeway/core/corridor"
	"causeway/core/money"
)

// FileState is the state of a file for a bank.
type FileState string

// The states of a file.
const (
	FileCreated   FileState = "CREATED"   // its orders are fixed
	FileUploaded  FileState = "UPLOADED"  // the bank has all of it, under a temporary name
	FileDelivered FileState = "DELIVERED" // it has its final name, by which the bank takes it
)

// File is a file of orders for a bank. It has orders of one rail and currency.
type File struct {
	Connection string
	// Number numbers the files of a connection from 1, and Day those of a day.
	Number    int64
	DayNumber int
	Rail      corridor.Rail
	Currency  money.Currency
	// Name is the final name. MessageID is how the bank names the file in its reports.
	Name, MessageID string
	Orders          int
	Sum             money.Total // of payouts, refunds and collections, in minor units
	// FirstTrace is the trace number of the first order; the next ones follow it.
	FirstTrace int
	State      FileState
	// TemporaryName is that of the upload, SHA256 the digest of what was uploaded and Size its length in bytes.
	TemporaryName string
	SHA256        [32]byte
	Size          int64
	// Place is where the upload is: the server and folder of the settings of then. Empty if it is not known.
	Place       string
	CreatedAt   time.Time
	DeliveredAt time.Time
	// SettlesAt is when orders settle of which no return was reported; zero if a report of the bank settles them.
	SettlesAt time.Time
}

// Received is a file of the bank.
type Received struct {
	Connection string
	Number     int64 // from 1
	Name       string
	Size       int64
	ModifiedAt time.Time
	SHA256     [32]byte
	State      ReceivedState
	// Problem is why it could not be read.
	Problem string
	FoundAt time.Time
}

// ReceivedState is the state of a file of the bank.
type ReceivedState string

// The states of a file of the bank.
const (
	Reading ReceivedState = "READING"
	Read    ReceivedState = "READ"
	// Duplicate: another file has the same content.
	Duplicate ReceivedState = "DUPLICATE"
	// Unreadable: it is none that is understood. Nothing in it was used.
	Unreadable ReceivedState = "UNREADABLE"
)

// NoticeKind is what an operator has to look at.
type NoticeKind string

// The kinds of notices.
const (
	UnknownPayment NoticeKind = "UNKNOWN_PAYMENT" // the bank names a payment that is none of ours
	Contradiction  NoticeKind = "CONTRADICTION"   // it says what cannot be true of the payment
	DuplicateFile  NoticeKind = "DUPLICATE_FILE"  // it took a file or payment for a duplicate, so that it may have been paid
	UnreadableFile NoticeKind = "UNREADABLE_FILE"
	OtherAccount   NoticeKind = "OTHER_ACCOUNT"  // a report is about an account that is not the one of the connection
	OtherCurrency  NoticeKind = "OTHER_CURRENCY" // money moved in a currency that the connection does not carry
	// Correction: the payment was made, and the next one must have other data of the account.
	Correction NoticeKind = "CORRECTION"
)

// Notice is something in a file of the bank that an operator has to look at.
type Notice struct {
	Connection string
	// File is the number of the file of the bank, and Place where in it: the same when it is read again.
	File  int64
	Place string
	Kind  NoticeKind
	// Name is how the bank names the payment or file, and Code its reason.
	Name, Code string
	At         time.Time
	// Order is what is recorded of the payment that the notice is about, and Report what the bank says of it; not stored with
	// the notice, and nil if it is about no order.
	Order  *Order
	Report Report
}

// KeptNotice is a notice, with what it corrects if it is a notification of change.
type KeptNotice struct {
	Notice
	Correction map[string]string
	// FileName and Problem are those of the file of the bank; empty if it was not read, or is no longer kept.
	FileName, Problem string
}
