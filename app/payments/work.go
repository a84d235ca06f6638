package payments

import (
	"causeway/app/internal/uow"
	"causeway/core/transaction"
)

// work is what is decided in one unit of work.
type work struct{ *uow.Work }

func (p *Service) newUnit() *uow.Work {
	return uow.NewWork(p.Clock.Now(), p.IDs, p.LocalLease())
}

func (p *Service) newWork() work { return work{p.newUnit()} }

// afterCommit goes on with what was committed: events are sent, and the jobs of this
// process start without a look into the database.
func (p *Service) afterCommit(w work) {
	if w.HasEvents() {
		p.Committed()
	}
	p.Submit(w.LocalJobs())
}

// enqueueSendBack takes a decision about a receipt that no transaction wants.
func (w work) enqueueSendBack(r transaction.Receipt, d transaction.Decision) {
	w.Post(d.Postings...)
	w.Enqueue(r.Platform, transaction.StepSendBack, r.ID.UUID())
}
