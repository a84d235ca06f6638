package ports

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// ErrBankDayFull is the error for a file on a day that has no number for it left.
var ErrBankDayFull = errors.New("the files of the day have no number left")

// BankFiles keeps the payment orders and the files of connections to banks. Each method is one atomic step.
type BankFiles interface {
	BankOrders
	BankOutbox
	BankInbox
	BankReceipts
	// TakeBankLease takes the lease on the files of a connection; false if another process has it.
	TakeBankLease(ctx context.Context, connection string, length time.Duration) (Lease, bool, error)
	RenewBankLease(ctx context.Context, lease Lease, length time.Duration) error
	ReleaseBankLease(ctx context.Context, lease Lease) error
}

// BankOrderKey names an order.
type BankOrderKey struct {
	Platform ident.Platform
	ID       uuid.UUID
}

// BankOrders are the orders of all connections.
type BankOrders interface {
	// AddBankOrders stores those orders that are not stored yet, as queued, and returns each as it is now. One that is queued
	// for another connection is taken over: its payment was moved.
	AddBankOrders(ctx context.Context, orders []bankorder.Order) ([]bankorder.Order, error)
	// BankOrdersByKey returns those orders that exist.
	BankOrdersByKey(ctx context.Context, keys []BankOrderKey) (map[BankOrderKey]bankorder.Order, error)
	// ChangedBankOrders returns the subjects of orders that changed after a number, in order, at most limit, and the
	// number of the last one.
	ChangedBankOrders(ctx context.Context, connection string, after int64, limit int) ([]RailSubject, int64, error)
	// SettleDueBankOrders settles at most limit orders whose file settles at a time, and returns how many it has settled:
	// zero if none is due.
	SettleDueBankOrders(ctx context.Context, lease Lease, now time.Time, limit int) (int, error)
}

// QueuedBankOrders counts the orders of a rail and currency that wait for a file.
type QueuedBankOrders struct {
	Rail     corridor.Rail
	Currency money.Currency
	Orders   int
	Oldest   time.Time
}

// BankFileCut says how the next file of a connection is made of what is queued.
type BankFileCut struct {
	Rail      corridor.Rail
	Currency  money.Currency
	MaxOrders int
	// MaxSum is the largest sum of a file in minor units; a file of one order may be above it.
	MaxSum int64
	// Day is the date of the bank, such as "2026-03-14"; files of a rail are numbered by day, up to MaxOfDay.
	Day      string
	MaxOfDay int
	Now      time.Time
	// Name returns the name and the message id of the file with a number.
	Name func(number int64) (name, messageID string)
}

// BankOutbox are the files for banks.
type BankOutbox interface {
	// QueuedBankOrders returns what waits, by rail and currency.
	QueuedBankOrders(ctx context.Context, connection string) ([]QueuedBankOrders, error)
	// CutBankFile puts the oldest queued orders whose payments may leave into a new file, by batch, so that these have left; false
	// if there are none. Those that are held stay queued, and those that were withdrawn are forgotten. ErrBankDayFull if no
	// number of the day is left.
	CutBankFile(ctx context.Context, lease Lease, cut BankFileCut) (bankorder.File, bool, error)
	// UndeliveredBankFile returns the oldest file that is not delivered; false if there is none.
	UndeliveredBankFile(ctx context.Context, connection string) (bankorder.File, bool, error)
	// BankFileOrders returns the orders of a file after a position, by position, at most limit.
	BankFileOrders(ctx context.Context, connection string, number int64, after, limit int) ([]bankorder.Order, error)
	// BeginBankUpload numbers the attempt to upload a file that is created.
	BeginBankUpload(ctx context.Context, lease Lease, number int64) (attempt int, err error)
	// BankFileUploaded records what was uploaded.
	BankFileUploaded(ctx context.Context, lease Lease, f bankorder.File) error
	// BankFileDelivered records that the file has its final name, and when its orders settle; zero if by a report.
	BankFileDelivered(ctx context.Context, lease Lease, number int64, at, settlesAt time.Time) error
}

// BankOrderReport is a report of a bank about an order, which it names by the end-to-end id or, if that is empty, by the key.
type BankOrderReport struct {
	EndToEndID, Key string
	// Place is where in the file of the bank the report is.
	Place string
	bankorder.Report
	// Notice is set in place of a report if an operator has to look at it.
	Notice bankorder.NoticeKind
	// Correction is what a notification of change corrects; empty for others.
	Correction map[string]string
}

// BankNotice is a notice, with what it corrects if it is a notification of change.
type BankNotice struct {
	bankorder.Notice
	Correction map[string]string
	// FileName and Problem are those of the file of the bank; empty if it was not read, or is no longer kept.
	FileName, Problem string
}

// BankNotices reads what operators have to look at.
type BankNotices interface {
	// BankNotices returns the newest notices of a connection, newest first.
	BankNotices(ctx context.Context, connection string, limit int) ([]BankNotice, error)
}

// BankInbox are the files of banks.
type BankInbox interface {
	BankNotices
	// KnownBankFiles returns those files that were received before, by name, size and time of the change.
	KnownBankFiles(ctx context.Context, connection string, files []bankorder.Received) ([]bankorder.Received, error)
	// BeginBankFile records a file that is read; if the same content was begun before, it returns that, to be read on. One
	// with the content of a file that was read is a duplicate.
	BeginBankFile(ctx context.Context, lease Lease, f bankorder.Received) (bankorder.Received, error)
	// BankFileBeingRead returns the file with a number.
	BankFileBeingRead(ctx context.Context, connection string, number int64) (bankorder.Received, bool, error)
	// BankFileWithContent returns the state of the file with a SHA-256 that is read or was read, or else of one that could
	// not be; false if there is none.
	BankFileWithContent(ctx context.Context, connection string, sha256 []byte) (bankorder.ReceivedState, bool, error)
	// ReopenBankFile lets the newest file with a SHA-256 that could not be read be read again.
	ReopenBankFile(ctx context.Context, lease Lease, sha256 []byte) error
	// EndBankFile records that all of a file is stored, or why it cannot be read.
	EndBankFile(ctx context.Context, lease Lease, number int64, state bankorder.ReceivedState, problem string, at time.Time) error
	// ReportBankOrders applies reports of a file, and keeps notices of those that are about no order, or contradict it. It
	// returns these notices, and as fees what was deducted from payments that came back. Applying the same again changes
	// nothing, and returns the same.
	ReportBankOrders(ctx context.Context, lease Lease, file int64, reports []BankOrderReport,
		now time.Time) ([]bankorder.Notice, []RailFee, error)
	// ReportBankFile applies a report about a whole file to at most limit of its orders, without those about which the
	// same file of the bank had a report of their own, and returns how many it has changed. It changes none if the message is
	// an UnknownPayment, or if the amount of the report is a Contradiction: neither the sum of the file nor that without the
	// orders that were rejected.
	ReportBankFile(ctx context.Context, lease Lease, file int64, messageID string, report bankorder.Report, now time.Time,
		limit int) (int, bankorder.NoticeKind, error)
	// KeepBankNotice keeps a notice, once.
	KeepBankNotice(ctx context.Context, lease Lease, n bankorder.Notice) error
}
