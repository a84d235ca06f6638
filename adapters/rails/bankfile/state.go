package bankfile

import (
	"errors"
	"time"

	"github.com/google/uuid"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// ErrDayFull is the error for a file on a day that has no number for it left.
var ErrDayFull = errors.New("the files of the day have no number left")

// OrderKey names an order.
type OrderKey struct {
	Platform ident.Platform
	ID       uuid.UUID
}

// QueuedOrders counts the orders of a rail and currency that wait for a file.
type QueuedOrders struct {
	Rail     corridor.Rail
	Currency money.Currency
	Orders   int
	Oldest   time.Time
}

// FileCut says how the next file of a connection is made of what is queued.
type FileCut struct {
	Rail      corridor.Rail
	Currency  money.Currency
	MaxOrders int
	// MaxSum is the largest sum of a file in minor units; a file of one order may be above it.
	MaxSum int64
	// Day is the date of the bank, such as "2026-03-14"; files of a rail are numbered by day, up to MaxOfDay.
	Day      string
	MaxOfDay int
	Now      time.Time
	// Name returns the name and the message id of the file with a number; lost is when commits were last found to be lost.
	Name func(number int64, lost time.Time) (name, messageID string)
}

// OrderReport is a report of a bank about an order, which it names by the end-to-end id or, if that is empty, by the key.
type OrderReport struct {
	EndToEndID, Key string
	// Place is where in the file of the bank the report is.
	Place string
	bankorder.Report
	// Notice is set in place of a report if an operator has to look at it.
	Notice bankorder.NoticeKind
	// Correction is what a notification of change corrects; empty for others.
	Correction map[string]string
}

// Receipt is money that was received, by the bank's id and by the names under which the bank may take it back.
type Receipt struct {
	PartnerID string
	Names     []string
}
