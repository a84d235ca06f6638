package payments

import (
	"causeway/app/booking"
	"causeway/core/transaction"
)

// work is what is decided in one unit of work.
type work struct{ *booking.Work }

func (p *Payments) begin() *booking.Work { return booking.NewWork(p.Clock.Now(), p.IDs, p.Handover()) }

func (p *Payments) newWork() work { return work{p.begin()} }

// follow goes on with what was committed: events are sent, and the jobs of this
// process start without a look into the database.
func (p *Payments) follow(w work) {
	if w.Tells() {
		p.Committed()
	}
	p.HandOver(w.Mine())
}

// sendBack takes a decision about a receipt that no transaction wants.
func (w work) sendBack(r transaction.Receipt, d transaction.Decision) {
	w.Post(d.Postings...)
	w.Then(r.Platform, transaction.StepSendBack, r.ID.UUID())
}
