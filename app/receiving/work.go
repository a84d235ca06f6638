package receiving

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

// work gathers what was decided in one unit of work, and writes it table by table.
type work struct {
	now      time.Time
	ids      ports.IDs
	made     []transaction.Transaction
	changed  []transaction.Transaction
	postings []ledger.Posting
	events   []event.Event
	jobs     []ports.Job
	mine     map[mine]int // index into jobs
	handover time.Duration
	// held are the balances that were locked to decide, as they were then.
	held map[ledger.Account]int64
}

// mine names the job that gathers the subjects of a platform for a step, to be done at
// once by this process.
type mine struct {
	platform ident.Platform
	step     transaction.Step
}

func (r *Receiving) newWork() *work {
	return &work{now: r.Clock.Now(), ids: r.IDs, mine: map[mine]int{}, handover: r.Handover()}
}

// create adds a transaction that is new.
func (w *work) create(d transaction.Decision) {
	w.made = append(w.made, d.Transaction)
	w.follow(d)
}

// change adds what became of a transaction that was there.
func (w *work) change(d transaction.Decision) {
	w.changed = append(w.changed, d.Transaction)
	w.follow(d)
}

func (w *work) follow(d transaction.Decision) {
	t := d.Transaction
	w.postings = append(w.postings, d.Postings...)
	for _, name := range d.Events {
		w.events = append(w.events, event.Event{ID: ident.NewWebhook(w.ids.New, t.UpdatedAt), Platform: t.Platform,
			Type: event.IncomingPayment, Name: name, Subject: t.ID.UUID(), At: t.UpdatedAt, Resource: t})
	}
	switch d.Next {
	case transaction.NoStep:
	case transaction.StepTimeOut:
		w.later(t, d.Next, t.Approval.Until)
	default:
		w.then(t.Platform, d.Next, t.ID.UUID())
	}
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

// later makes a transaction due at a time, in any process.
func (w *work) later(t transaction.Transaction, step transaction.Step, due time.Time) {
	w.jobs = append(w.jobs, ports.Job{ID: w.ids.New(w.now), Platform: t.Platform, Step: step, Due: due, Subjects: []uuid.UUID{t.ID.UUID()}})
}

func (w *work) write(ctx context.Context, tx ports.Tx) error {
	if err := tx.CreateTransactions(ctx, w.made); err != nil {
		return err
	}
	if err := tx.UpdateTransactions(ctx, w.changed); err != nil {
		return err
	}
	if err := tx.AddJobs(ctx, w.jobs); err != nil {
		return err
	}
	return booking.Write(ctx, tx, booking.Batch{Postings: w.postings, Events: w.events, Held: w.held, Now: w.now, IDs: w.ids})
}

// goOn follows up what was committed: events are sent, and the jobs of this process
// start without a look into the database.
func (r *Receiving) goOn(w *work) {
	if len(w.events) > 0 {
		r.Committed()
	}
	if w.handover == 0 {
		return
	}
	jobs := make([]ports.Job, 0, len(w.mine))
	for _, i := range w.mine {
		jobs = append(jobs, w.jobs[i])
	}
	r.HandOver(jobs)
}

// settle decides about the transactions of jobs in one unit of work, and ends the jobs
// in it.
func (r *Receiving) settle(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey,
	decide func(*work, transaction.Transaction) error) error {
	var done *work
	err := r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		done = r.newWork()
		if len(keys) > 0 {
			locked, err := tx.LockTransactions(ctx, keys)
			if err != nil {
				return err
			}
			for _, t := range locked {
				if err := decide(done, t); err != nil {
					return err
				}
			}
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return done.write(ctx, tx)
	})
	if err != nil {
		return err
	}
	r.goOn(done)
	return nil
}

func keyOf(t transaction.Transaction) ports.TransactionKey {
	return ports.TransactionKey{Platform: t.Platform, ID: t.ID}
}

func transactionKeys(jobs []ports.Job) []ports.TransactionKey {
	var keys []ports.TransactionKey
	for _, j := range jobs {
		for _, subject := range j.Subjects {
			key := ports.TransactionKey{Platform: j.Platform}
			ident.Set(&key.ID, subject)
			keys = append(keys, key)
		}
	}
	return keys
}
