// Package railtest holds the checks that every adapter of ports.Rail passes, as functions that return errors, so that
// tests and programs can run them. Each drives a fixture: processes with the adapter, and the partner or chain behind it.
package railtest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/money"
	"causeway/ports"
)

// Course is what becomes of a payout, collection or refund at the partner.
type Course string

// The courses.
const (
	// Settles: it is accepted, and settled some time later.
	Settles Course = "settles"
	// Rejected: it is refused for good, with a code.
	Rejected Course = "rejected"
	// RefusedForNow: it is refused for a reason that passes (closed, busy, no funds) until Relent, and then settles.
	RefusedForNow Course = "refused for now"
	// AnswerLost: it settles, but the first answer about it does not reach the process in time.
	AnswerLost Course = "answer lost"
	// Silent: nothing that the adapter can understand is answered until Relent; then it settles.
	Silent Course = "silent"
	// TakenBack: it settles, and is returned by TakeBack.
	TakenBack Course = "taken back"
)

// Reports is how a partner reports by itself.
type Reports string

// The ways of reporting.
const (
	Once     Reports = "once"
	Twice    Reports = "twice"
	Reversed Reports = "in reverse order"
)

// Features are what an adapter and its world can do. A check that needs more is skipped.
type Features struct {
	// Currencies can be paid in by instructions.
	Currencies []money.Currency
	// Payouts, Collections and Refunds are the courses of each; none if there are no such payments.
	Payouts, Collections, Refunds []Course
	// CountsMoney: Moved is known. Crashes: OpenCrashing is possible. Reports: the partner reports by itself, as set
	// by SetReports. PartnerIDs: the partner has ids of its own. Codes: it gives codes of its own for what it refuses
	// and returns. NamesOriginal: its refunds name the payment that they send back.
	// Stops: the adapter asks whether a payment may leave, and Moved is known.
	CountsMoney, Crashes, Reports, PartnerIDs, Codes, NamesOriginal, Stops bool
}

// Fixture is a new world: a store of its own, the partner or chain, and processes that are connected to it. All are on
// one clock. It must be closed.
type Fixture interface {
	Features() Features
	// Open returns the adapter of one more process on the same store. Several are used at the same time.
	Open(ctx context.Context) (ports.Rail, error)
	// OpenCrashing returns the adapter of a process of which the first n effects on the outside (statements that
	// write, files, calls of the partner) happen, and no later one: they return an error. crashed reports whether there
	// was a later one.
	OpenCrashing(ctx context.Context, effects int) (rail ports.Rail, crashed func() bool, err error)
	Now() time.Time
	// Payout, Collection and Refund return a payment that the adapter carries, as the service would send it. It is
	// equal for equal arguments, and its id is another one for another n.
	Payout(n int, c Course) ports.Payout
	Collection(n int, c Course) ports.Collection
	Refund(n int, c Course) ports.Refund
	// Run lets happen what happens outside of calls: time passes, batches are sent, the partner works, its reports
	// arrive and are read. After a few times everything that can settle has settled.
	Run(ctx context.Context) error
	// SetReports says how the partner reports from now on.
	SetReports(Reports)
	// Relent ends RefusedForNow and Silent.
	Relent(ctx context.Context) error
	// TakeBack returns a payout or collection that has settled.
	TakeBack(ctx context.Context, id uuid.UUID) error
	// Moved returns the amounts that the world has moved for a payout, collection or refund, one for each time;
	// what was taken back stays.
	Moved(ctx context.Context, id uuid.UUID) ([]money.Amount, error)
	// OriginalOf returns the partner's id of the payment that a refund has named.
	OriginalOf(ctx context.Context, id uuid.UUID) (string, error)
	// Pause pauses or resumes the connection, and Withdraw takes a payment that was handed over back; false if it has left.
	// HandOverAgain undoes that. They are called if the features have Stops.
	Pause(ctx context.Context, paused bool) error
	Withdraw(ctx context.Context, key ports.RailPaymentKey) (bool, error)
	HandOverAgain(ctx context.Context, key ports.RailPaymentKey) error
	Close() error
}

// Check is one thing that holds for every adapter.
type Check struct {
	Name string
	// Needs reports whether the features suffice.
	Needs func(Features) bool
	Run   func(context.Context, Fixture) error
}

// Checks returns every check. Each runs on a fixture of its own.
func Checks() []Check {
	checks := instructionChecks()
	for _, k := range kinds() {
		checks = append(checks, k.checks()...)
	}
	return append(checks, returnChecks()...)
}
