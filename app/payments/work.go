package payments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/booking"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// handover is how long a new job is this process's own before any other may take
// it: usually it is done long before. A process that does no work keeps none.
const handover = 15 * time.Second

// work gathers what was decided in one unit of work, and writes it table by table.
type work struct {
	now      time.Time
	ids      ports.IDs
	changed  map[ident.Transaction]int // index into next
	next     []transaction.Transaction
	begun    []transaction.Transaction
	postings []ledger.Posting
	events   []event.Event
	jobs     []ports.Job
	mine     map[mine]int // index into jobs
	handover time.Duration
	// held are the balances that were locked to decide, as they were then.
	held map[ledger.Account]int64
}

// mine names the job that gathers the subjects of a platform for a step, to be
// done at once by this process.
type mine struct {
	platform ident.Platform
	step     transaction.Step
}

func (p *Payments) newWork() *work {
	w := &work{now: p.Clock.Now(), ids: p.IDs, changed: map[ident.Transaction]int{}, mine: map[mine]int{}}
	if p.working.Load() {
		w.handover = handover
	}
	return w
}

// latest is the transaction as the decisions so far leave it.
func (w *work) latest(t transaction.Transaction) transaction.Transaction {
	if i, ok := w.changed[t.ID]; ok {
		return w.next[i]
	}
	return t
}

// add takes a decision about a transaction that is stored.
func (w *work) add(d transaction.Decision) {
	t := d.Transaction
	if i, ok := w.changed[t.ID]; ok {
		w.next[i] = t
	} else {
		w.changed[t.ID] = len(w.next)
		w.next = append(w.next, t)
	}
	w.carry(d)
}

// begin takes a decision with which a transaction begins.
func (w *work) begin(d transaction.Decision) {
	w.begun = append(w.begun, d.Transaction)
	w.carry(d)
}

func (w *work) carry(d transaction.Decision) {
	t := d.Transaction
	w.postings = append(w.postings, d.Postings...)
	for _, name := range d.Events {
		w.events = append(w.events, event.Event{ID: ident.NewWebhook(w.ids.New, t.UpdatedAt), Platform: t.Platform,
			Type: event.OutgoingPayment, Name: name, Subject: t.ID.UUID(), At: t.UpdatedAt, Resource: t})
	}
	if d.Next != transaction.NoStep {
		w.then(t.Platform, d.Next, t.ID.UUID())
	}
}

func (w *work) sendBack(r transaction.Receipt, d transaction.Decision) {
	w.postings = append(w.postings, d.Postings...)
	w.then(r.Platform, transaction.StepSendBack, r.ID.UUID())
}

// then makes a subject due at once, in this process if it works.
func (w *work) then(p ident.Platform, step transaction.Step, subject uuid.UUID) {
	key := mine{p, step}
	i, ok := w.mine[key]
	if !ok {
		i = len(w.jobs)
		w.mine[key] = i
		w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.now), Platform: p, Step: step, Due: w.now.Add(w.handover)})
	}
	w.jobs[i].Subjects = append(w.jobs[i].Subjects, subject)
}

// later makes a subject due at a time, in any process.
func (w *work) later(p ident.Platform, step transaction.Step, subject uuid.UUID, due time.Time) {
	w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.now), Platform: p, Step: step, Due: due, Subjects: []uuid.UUID{subject}})
}

func (w *work) write(ctx context.Context, tx ports.Tx) error {
	if err := tx.CreateTransactions(ctx, w.begun); err != nil {
		return err
	}
	if err := tx.UpdateTransactions(ctx, w.next); err != nil {
		return err
	}
	if err := tx.AddJobs(ctx, w.jobs); err != nil {
		return err
	}
	return booking.Write(ctx, tx, booking.Batch{Postings: w.postings, Events: w.events, Held: w.held, Now: w.now, IDs: w.ids})
}

// follow goes on with what was committed: events are sent, and the jobs of this
// process start without a look into the database.
func (p *Payments) follow(w *work) {
	if len(w.events) > 0 {
		p.Committed()
	}
	if w.handover == 0 {
		return
	}
	for _, i := range w.mine {
		p.steps[w.jobs[i].Step].handOver(w.jobs[i])
	}
}
