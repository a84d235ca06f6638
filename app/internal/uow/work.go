// Package uow collects what a unit of work decides about money (transactions, postings,
// events and jobs) and writes it, with one more event for every internal account whose
// balance changes.
//
// Use cases share it. It decides nothing itself and depends on none of them.
package uow

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// Work collects the decisions of one unit of work and writes them table by table. It belongs
// to one run of the unit of work: a run that is repeated starts with a new Work.
type Work struct {
	// Now is the time of the decisions.
	Now time.Time

	ids        ports.IDs
	localLease time.Duration

	created      []transaction.Transaction
	updated      []transaction.Transaction
	updatedIndex map[ident.Transaction]int // index into updated
	postings     []ledger.Posting
	unmatched    []ports.UnmatchedFunds
	events       []event.Event
	replies      []ports.RailReply
	// contradictions are kept as items of the connections that their payments take.
	contradictions []rail.Contradiction

	jobs          []ports.Job
	localJobIndex map[localJobKey]int // index into jobs

	// lockedBalances are the accounts that LockBalances locked, with their balances at that
	// time; nil if it was not called.
	lockedBalances map[ledger.Account]account.WithBalance
}

// localJobKey identifies the job that collects the subjects of one platform and step that this
// process works on at once.
type localJobKey struct {
	platform ident.Platform
	step     transaction.Step
}

// NewWork returns an empty Work. localLease is how long a job that is due at once is reserved
// for this process; it is zero in a process without job workers.
func NewWork(now time.Time, ids ports.IDs, localLease time.Duration) *Work {
	return &Work{Now: now, ids: ids, localLease: localLease, updatedIndex: map[ident.Transaction]int{}, localJobIndex: map[localJobKey]int{}}
}

// Latest returns the transaction with the updates collected so far.
func (w *Work) Latest(t transaction.Transaction) transaction.Transaction {
	if i, ok := w.updatedIndex[t.ID]; ok {
		return w.updated[i]
	}
	return t
}

// Create adds a decision that creates its transaction.
func (w *Work) Create(d transaction.Decision) {
	w.created = append(w.created, d.Transaction)
	w.addDecision(d)
}

// Update adds a decision about a stored transaction. Of several updates of one transaction the
// last is written.
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
			Type: kind, Name: name, Subject: t.ID.UUID(), OccurredAt: t.UpdatedAt, Resource: t, Trace: t.Trace})
	}
	if d.ReportsChannels() {
		w.Enqueue(t.Platform, transaction.StepReportChannels, t.ID.UUID())
	}
	switch {
	case d.Next == transaction.NoStep:
	case d.Due.IsZero():
		w.Enqueue(t.Platform, d.Next, t.ID.UUID())
	default:
		w.EnqueueAt(t.Platform, d.Next, t.ID.UUID(), d.Due)
	}
}

// Post adds postings that belong to no decision.
func (w *Work) Post(postings ...ledger.Posting) { w.postings = append(w.postings, postings...) }

// Emit sends events with the unit of work, before those of balances.
func (w *Work) Emit(events ...event.Event) { w.events = append(w.events, events...) }

// PostUnmatched adds a posting that puts the funds of a receipt into the account for unmatched
// funds.
func (w *Work) PostUnmatched(r transaction.Receipt, p ledger.Posting) {
	w.Post(p)
	w.unmatched = append(w.unmatched, ports.UnmatchedFunds{Platform: p.Platform, Posting: p.ID, Receipt: r.ID})
}

// RecordReply adds the reply of a rail. A reply of Done without an id and a code of the partner is left out because its
// postings record it, and so is a reply without a call.
func (w *Work) RecordReply(r ports.RailReply) {
	isStatus := r.Call == ports.CallStatus || r.Call == ports.CallCollectionStatus // asked for again and again
	saysNothing := r.Verdict == ports.Done && (isStatus || r.PartnerID == "" && r.Code == "")
	if r.Call != ports.CallNone && !saysNothing {
		w.replies = append(w.replies, r)
	}
}

// Contradict adds a report that cannot be true beside what is recorded, for a person to close.
func (w *Work) Contradict(c rail.Contradiction) { w.contradictions = append(w.contradictions, c) }

// Enqueue adds a subject to the job of its platform and step that is due at once. If this
// process has job workers, they run the job.
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

// EnqueueAt adds a job for one subject that is due at a time, in any process.
func (w *Work) EnqueueAt(p ident.Platform, step transaction.Step, subject uuid.UUID, due time.Time) {
	w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.Now), Platform: p, Step: step, Due: due, Subjects: []uuid.UUID{subject}})
}

// Continue adds next, which continues a running job for one of its subjects. A job of one subject
// keeps its id, so that operators see one job however often it is tried; a job of several is
// continued by one for each, whose id is derived. Its lease is another one, so a worker that still holds
// the running job cannot finish the next one.
func (w *Work) Continue(running ports.Job, subject uuid.UUID, next ports.Job) {
	next.ID = running.ID
	if len(running.Subjects) != 1 {
		next.ID = continuedID(running.ID, subject)
	}
	next.Subjects, next.Lease = []uuid.UUID{subject}, running.Lease+1
	w.jobs = append(w.jobs, next)
}

// continuedID derives the id of a job. It has the time of the running one, as UUIDv7 do.
func continuedID(running, subject uuid.UUID) uuid.UUID {
	id := uuid.NewSHA1(running, subject[:])
	copy(id[:6], running[:6])
	id[6] = id[6]&0x0f | 0x70
	return id
}

// FailedJobs returns the jobs that continue failed ones.
func (w *Work) FailedJobs() []ports.Job {
	return slices.DeleteFunc(slices.Clone(w.jobs), func(j ports.Job) bool { return j.Attempts == 0 })
}

// Write writes everything collected, the postings last.
func (w *Work) Write(ctx context.Context, tx Tx) error {
	if err := tx.CreateTransactions(ctx, w.created); err != nil {
		return err
	}
	if failed := w.stopsCounting(); len(failed) > 0 {
		// Counters are locked after all balances that the postings lock, as by the payments that they
		// count.
		named, err := w.internalChanges()
		if err == nil {
			err = w.lockChanges(ctx, tx, named)
		}
		if err != nil {
			return err
		}
		if err := tx.GiveBackUsage(ctx, failed); err != nil {
			return err
		}
	}
	if err := tx.UpdateTransactions(ctx, w.updated); err != nil {
		return err
	}
	balanceEvents, err := w.balanceEvents(ctx, tx)
	if err != nil {
		return err
	}
	if err := tx.Emit(ctx, append(w.events, balanceEvents...)); err != nil {
		return err
	}
	if err := tx.AddJobs(ctx, w.jobs); err != nil {
		return err
	}
	if err := tx.SaveRailReplies(ctx, w.replies); err != nil {
		return err
	}
	if err := w.keepContradictions(ctx, tx); err != nil {
		return err
	}
	if len(w.unmatched) > 0 {
		if err := tx.SaveUnmatched(ctx, w.unmatched); err != nil {
			return err
		}
	}
	return tx.Post(ctx, w.postings)
}

// stopsCounting returns the payments that were counted and now fail.
func (w *Work) stopsCounting() []transaction.Transaction {
	return slices.DeleteFunc(slices.Clone(w.updated), func(t transaction.Transaction) bool { return !t.StopsCounting })
}

// LocalJobs returns the jobs to submit to this process's workers after the commit.
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
