package booking

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Work gathers what is decided in one unit of work, and writes it table by table.
type Work struct {
	// Now is when it is decided.
	Now time.Time

	// held are the accounts that were locked to decide, as they were then: all that the
	// postings touch, or nil.
	held     map[ledger.Account]account.Holding
	ids      ports.IDs
	handover time.Duration
	heard    []ports.RailAnswer
	begun    []transaction.Transaction
	changed  map[ident.Transaction]int // index into next
	next     []transaction.Transaction
	postings []ledger.Posting
	events   []event.Event
	jobs     []ports.Job
	mine     map[mine]int // index into jobs
}

// mine names the job that gathers the subjects of a platform for a step, to be
// done at once by this process.
type mine struct {
	platform ident.Platform
	step     transaction.Step
}

// NewWork begins with nothing decided. Handover is how long a job that is due at once
// is kept from other processes; zero where this one does no work.
func NewWork(now time.Time, ids ports.IDs, handover time.Duration) *Work {
	return &Work{Now: now, ids: ids, handover: handover, changed: map[ident.Transaction]int{}, mine: map[mine]int{}}
}

// Latest is the transaction as the decisions so far leave it.
func (w *Work) Latest(t transaction.Transaction) transaction.Transaction {
	if i, ok := w.changed[t.ID]; ok {
		return w.next[i]
	}
	return t
}

// Begin takes a decision with which a transaction begins.
func (w *Work) Begin(d transaction.Decision) {
	w.begun = append(w.begun, d.Transaction)
	w.carry(d)
}

// Change takes a decision about a transaction that is stored.
func (w *Work) Change(d transaction.Decision) {
	t := d.Transaction
	if i, ok := w.changed[t.ID]; ok {
		w.next[i] = t
	} else {
		w.changed[t.ID] = len(w.next)
		w.next = append(w.next, t)
	}
	w.carry(d)
}

func (w *Work) carry(d transaction.Decision) {
	t := d.Transaction
	w.Post(d.Postings...)
	kind := event.OutgoingPayment
	if t.Type == transaction.Incoming {
		kind = event.IncomingPayment
	}
	for _, name := range d.Events {
		w.events = append(w.events, event.Event{ID: ident.NewWebhook(w.ids.New, t.UpdatedAt), Platform: t.Platform,
			Type: kind, Name: name, Subject: t.ID.UUID(), At: t.UpdatedAt, Resource: t})
	}
	switch {
	case d.Next == transaction.NoStep:
	case d.Due.IsZero():
		w.Then(t.Platform, d.Next, t.ID.UUID())
	default:
		w.Later(t.Platform, d.Next, t.ID.UUID(), d.Due)
	}
}

// Hear keeps what a rail answered with what it led to. That all is done the postings
// say, and an answer to no question is none.
func (w *Work) Hear(a ports.RailAnswer) {
	if a.Verdict != ports.Done && a.Asked != ports.AskedNothing {
		w.heard = append(w.heard, a)
	}
}

// Post adds postings that are no transaction's.
func (w *Work) Post(postings ...ledger.Posting) { w.postings = append(w.postings, postings...) }

// Then makes a subject due at once, in this process if it works.
func (w *Work) Then(p ident.Platform, step transaction.Step, subject uuid.UUID) {
	key := mine{p, step}
	i, ok := w.mine[key]
	if !ok {
		i = len(w.jobs)
		w.mine[key] = i
		w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.Now), Platform: p, Step: step, Due: w.Now.Add(w.handover)})
	}
	w.jobs[i].Subjects = append(w.jobs[i].Subjects, subject)
}

// Later makes a subject due at a time, in any process.
func (w *Work) Later(p ident.Platform, step transaction.Step, subject uuid.UUID, due time.Time) {
	w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.Now), Platform: p, Step: step, Due: due, Subjects: []uuid.UUID{subject}})
}

// Write writes all of it, the postings last.
func (w *Work) Write(ctx context.Context, tx ports.Tx) error {
	if err := tx.CreateTransactions(ctx, w.begun); err != nil {
		return err
	}
	if err := tx.UpdateTransactions(ctx, w.next); err != nil {
		return err
	}
	balances, err := w.balances(ctx, tx)
	if err != nil {
		return err
	}
	if err := tx.Emit(ctx, append(w.events, balances...)); err != nil {
		return err
	}
	if err := tx.AddJobs(ctx, w.jobs); err != nil {
		return err
	}
	if err := tx.KeepAnswers(ctx, w.heard); err != nil {
		return err
	}
	return tx.Post(ctx, w.postings)
}

// Tells whether anything is told once this is committed. Postings may tell balances.
func (w *Work) Tells() bool { return len(w.events) > 0 || len(w.postings) > 0 }

// Mine are the jobs to hand over to this process's own lanes once they are committed.
func (w *Work) Mine() []ports.Job {
	if w.handover == 0 {
		return nil
	}
	jobs := make([]ports.Job, 0, len(w.mine))
	for _, i := range w.mine {
		jobs = append(jobs, w.jobs[i])
	}
	return jobs
}
