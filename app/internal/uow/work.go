package uow

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

	// lockedBalances are the accounts that were locked to decide, as they were then: all that the
	// postings touch, or nil.
	lockedBalances map[ledger.Account]account.WithBalance
	ids            ports.IDs
	localLease     time.Duration
	replies        []ports.RailReply
	created        []transaction.Transaction
	updatedIndex   map[ident.Transaction]int // index into next
	updated        []transaction.Transaction
	postings       []ledger.Posting
	events         []event.Event
	jobs           []ports.Job
	localJobIndex  map[localJobKey]int // index into jobs
}

// localJobKey names the job that gathers the subjects of a platform for a step, to be
// done at once by this process.
type localJobKey struct {
	platform ident.Platform
	step     transaction.Step
}

// NewWork begins with nothing decided. Handover is how long a job that is due at once
// is kept from other processes; zero where this one does no work.
func NewWork(now time.Time, ids ports.IDs, handover time.Duration) *Work {
	return &Work{Now: now, ids: ids, localLease: handover, updatedIndex: map[ident.Transaction]int{}, localJobIndex: map[localJobKey]int{}}
}

// Latest is the transaction as the decisions so far leave it.
func (w *Work) Latest(t transaction.Transaction) transaction.Transaction {
	if i, ok := w.updatedIndex[t.ID]; ok {
		return w.updated[i]
	}
	return t
}

// Create takes a decision with which a transaction begins.
func (w *Work) Create(d transaction.Decision) {
	w.created = append(w.created, d.Transaction)
	w.addDecision(d)
}

// Update takes a decision about a transaction that is stored.
func (w *Work) Update(d transaction.Decision) {
	t := d.Transaction
	if i, ok := w.updatedIndex[t.ID]; ok {
		w.updated[i] = t
	} else {
		w.updatedIndex[t.ID] = len(w.updated)
		w.updated = append(w.updated, t)
	}
	w.addDecision(d)
}

func (w *Work) addDecision(d transaction.Decision) {
	t := d.Transaction
	w.Post(d.Postings...)
	kind := event.OutgoingPayment
	if t.Type == transaction.Incoming {
		kind = event.IncomingPayment
	}
	for _, name := range d.Events {
		w.events = append(w.events, event.Event{ID: ident.NewWebhook(w.ids.New, t.UpdatedAt), Platform: t.Platform,
			Type: kind, Name: name, Subject: t.ID.UUID(), OccurredAt: t.UpdatedAt, Resource: t})
	}
	switch {
	case d.Next == transaction.NoStep:
	case d.Due.IsZero():
		w.Enqueue(t.Platform, d.Next, t.ID.UUID())
	default:
		w.EnqueueAt(t.Platform, d.Next, t.ID.UUID(), d.Due)
	}
}

// RecordReply keeps what a rail answered with what it led to. That all is done the postings
// say, and an answer to no question is none.
func (w *Work) RecordReply(a ports.RailReply) {
	if a.Verdict != ports.Done && a.Call != ports.CallNone {
		w.replies = append(w.replies, a)
	}
}

// Post adds postings that are no transaction's.
func (w *Work) Post(postings ...ledger.Posting) { w.postings = append(w.postings, postings...) }

// Enqueue makes a subject due at once, in this process if it works.
func (w *Work) Enqueue(p ident.Platform, step transaction.Step, subject uuid.UUID) {
	key := localJobKey{p, step}
	i, ok := w.localJobIndex[key]
	if !ok {
		i = len(w.jobs)
		w.localJobIndex[key] = i
		w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.Now), Platform: p, Step: step, Due: w.Now.Add(w.localLease)})
	}
	w.jobs[i].Subjects = append(w.jobs[i].Subjects, subject)
}

// EnqueueAt makes a subject due at a time, in any process.
func (w *Work) EnqueueAt(p ident.Platform, step transaction.Step, subject uuid.UUID, due time.Time) {
	w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.Now), Platform: p, Step: step, Due: due, Subjects: []uuid.UUID{subject}})
}

// Write writes all of it, the postings last.
func (w *Work) Write(ctx context.Context, tx ports.Tx) error {
	if err := tx.CreateTransactions(ctx, w.created); err != nil {
		return err
	}
	if err := tx.UpdateTransactions(ctx, w.updated); err != nil {
		return err
	}
	balances, err := w.balanceEvents(ctx, tx)
	if err != nil {
		return err
	}
	if err := tx.Emit(ctx, append(w.events, balances...)); err != nil {
		return err
	}
	if err := tx.AddJobs(ctx, w.jobs); err != nil {
		return err
	}
	if err := tx.SaveRailReplies(ctx, w.replies); err != nil {
		return err
	}
	return tx.Post(ctx, w.postings)
}

// HasEvents whether anything is told once this is committed. Postings may tell balances.
func (w *Work) HasEvents() bool { return len(w.events) > 0 || len(w.postings) > 0 }

// LocalJobs are the jobs to hand over to this process's own lanes once they are committed.
func (w *Work) LocalJobs() []ports.Job {
	if w.localLease == 0 {
		return nil
	}
	jobs := make([]ports.Job, 0, len(w.localJobIndex))
	for _, i := range w.localJobIndex {
		jobs = append(jobs, w.jobs[i])
	}
	return jobs
}
