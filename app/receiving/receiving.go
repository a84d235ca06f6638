// Package receiving takes in the money that comes to internal accounts: deposits,
// transfers from external accounts, and payments from people at other providers,
// about which the platform is asked first.
//
// An account is credited when its money is here and taken, and never before. What
// becomes of a transaction is core/transaction's to decide; this package converts
// nothing and pays nobody.
package receiving

import (
	"context"

	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/group"
	"causeway/app/lanes"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store          ports.Store
	Jobs           ports.Jobs
	Rails          ports.Rails
	Counterparties ports.CounterpartiesBy
	Ask            Ask
	Forward        Forward
	Clock          ports.Clock
	IDs            ports.IDs
	Log            *logrus.Entry
	// Committed is called after each commit that told events.
	Committed func()
	// Linger is how long a busy collector waits for company.
	Linger time.Duration
}

// Ask sends an event to the platform's endpoint once, at once, and says what the
// answer was. The error is WEBHOOK_ENDPOINT_NOT_SET, or one of our own.
type Ask func(ctx context.Context, e event.Event) (ports.WebhookAnswer, error)

// Forward sends money on by a transfer with this id, once however often it is asked.
// Its faults are those of a transfer out.
type Forward func(ctx context.Context, id ident.Transaction, out transfer.Out) error

// Receiving are the use cases.
type Receiving struct {
	Config
	*lanes.Lanes
	fund *group.Collector[funding, Funded]
	pull *group.Collector[pulling, transaction.Transaction]
}

// New makes the use cases. Run has to run somewhere for transfers and approvals to go
// on.
func New(c Config) *Receiving {
	r := &Receiving{Config: c}
	r.fund = group.New(group.Options{Most: 256, Linger: c.Linger}, r.fundGroup)
	r.pull = group.New(group.Options{Most: 256, Linger: c.Linger}, r.transferGroup)
	r.Lanes = lanes.New(lanes.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, Linger: c.Linger},
		lanes.Lane{Step: transaction.StepPull, Do: r.collect},
		// An endpoint may take its ten seconds; the others need not wait for it.
		lanes.Lane{Step: transaction.StepAsk, Do: r.ask, Most: 1, Width: 128},
		lanes.Lane{Step: transaction.StepTimeOut, Do: r.timeOut},
		lanes.Lane{Step: transaction.StepForward, Do: r.forward},
	)
	return r
}
