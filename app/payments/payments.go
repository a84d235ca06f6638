// Package payments moves the money of transactions: it takes payments in, hands
// payouts to the rails, settles what they answer, gives back what cannot be
// delivered and ends what nobody paid.
//
// Everything here works on groups, because a database is paid by the commit. What a
// transaction becomes is core/transaction's to decide; this package never prices
// anything and never speaks to the platform itself.
package payments

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/app/group"
	"causeway/app/lanes"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store ports.Store
	Jobs  ports.Jobs
	Rails ports.Rails
	Clock ports.Clock
	IDs   ports.IDs
	Log   *logrus.Entry
	// Committed is called after each commit that told events.
	Committed func()
	// Linger is how long a busy collector waits for company.
	Linger time.Duration
}

// Payments are the use cases.
type Payments struct {
	Config
	*lanes.Lanes
	takeIn   *group.Collector[incoming, transaction.Transaction]
	execute  *group.Collector[*order, quote.Quoted]
	transfer *group.Collector[*transferOut, transaction.Transaction]
}

// New makes the use cases. Run has to run somewhere for payments to go on.
func New(c Config) *Payments {
	p := &Payments{Config: c}
	p.takeIn = group.New(group.Options{Most: 256, Linger: c.Linger}, p.takeInGroup)
	p.execute = group.New(group.Options{Most: 256, Linger: c.Linger}, p.executeGroup)
	p.transfer = group.New(group.Options{Most: 256, Linger: c.Linger}, p.transferGroup)
	p.Lanes = lanes.New(lanes.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, Linger: c.Linger},
		lanes.Lane{Step: transaction.StepDeliver, Do: p.deliver},
		lanes.Lane{Step: transaction.StepCollect, Do: p.collect},
		lanes.Lane{Step: transaction.StepWatch, Do: p.watch},
		lanes.Lane{Step: transaction.StepRefund, Do: p.refund},
		lanes.Lane{Step: transaction.StepSendBack, Do: p.sendBack},
		lanes.Lane{Step: transaction.StepExpire, Do: p.expire},
	)
	return p
}

// Get reads one transaction of a platform.
func (p *Payments) Get(ctx context.Context, platform ident.Platform, id ident.Transaction) (transaction.Transaction, error) {
	return p.Store.Transaction(ctx, platform, id)
}

// List reads the transactions of a platform that pass the filter.
func (p *Payments) List(ctx context.Context, platform ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error) {
	return p.Store.Transactions(ctx, platform, f)
}
