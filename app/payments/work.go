package payments

import (
	"context"

	"github.com/google/uuid"

	"causeway/app/internal/jobs"
	"causeway/app/internal/limiting"
	"causeway/app/internal/returns"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/core/tracing"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// work is what one unit of work decides about payments.
type work struct {
	*uow.Work
	retry     jobs.RetryPolicy
	recorder  returns.Recorder
	timetable *settlement.Timetable
	ownership account.OwnershipLimits
	// running are the jobs that are being run, by subject.
	running map[uuid.UUID]ports.Job
	// repeated are the subjects of running jobs of news that are called about again.
	repeated map[uuid.UUID]bool
	// traces are those of the payments of running jobs that are traced.
	traces map[uuid.UUID]tracing.Context
	limits *limiting.Limiter
	// late are decisions that lock more than transactions.
	late *[]func(context.Context, Tx) error
	// due are the payouts of the jobs that this process runs at once.
	due *payoutsRead
}

func (s *Service) newWork() work {
	now := s.Clock.Now()
	return work{Work: uow.NewWork(now, s.IDs, s.LocalLease()), retry: s.JobRetry, recorder: s.recorder(), timetable: s.Timetable,
		ownership: s.OwnershipLimits, limits: limiting.New(now), late: new([]func(context.Context, Tx) error), due: &payoutsRead{}}
}

// newJobWork is newWork for jobs that are being run.
func (s *Service) newJobWork(running []ports.Job) work {
	w := s.newWork()
	w.running, w.repeated, w.traces = map[uuid.UUID]ports.Job{}, map[uuid.UUID]bool{}, map[uuid.UUID]tracing.Context{}
	for _, j := range running {
		for _, subject := range j.Subjects {
			w.running[subject] = j
		}
	}
	return w
}

// afterCommit hands the new jobs to the workers of this process, which then need not read them
// from the database.
func (s *Service) afterCommit(w work) {
	s.due.add(w.due)
	s.Submit(w.LocalJobs())
	s.ReportFailed(w.FailedJobs())
}

// settle locks transactions, decides about each, and finishes the jobs in the same unit of work.
func (s *Service) settle(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey,
	decide func(work, transaction.Transaction) error) error {
	return s.settleWith(ctx, jobs, keys, func(work) {}, decide)
}

// answers are what rails have replied to one kind of call about transactions.
type answers struct {
	call     ports.RailCall
	outcomes map[ports.TransactionKey]ports.Outcome
	// applies reports whether a transaction is in a state that the call is for.
	applies func(transaction.Transaction) bool
	// settle decides what follows.
	settle func(work, transaction.Transaction, ports.Outcome) error
	spans  callSpans
	// contradictions are kept beside: what was replied about refunds that have ended.
	contradictions []rail.Contradiction
}

// settleAnswers is settle for transactions about which rails were called: it decides on the outcomes and records the
// replies.
func (s *Service) settleAnswers(ctx context.Context, jobs []ports.Job, all ...answers) error {
	now := s.Clock.Now()
	var keys []ports.TransactionKey
	var replies []ports.RailReply
	seen := map[ports.TransactionKey]bool{}
	for _, a := range all {
		for key, outcome := range a.outcomes {
			replies = append(replies, ports.RailReply{Platform: key.Platform, Subject: key.ID.UUID(), Call: a.call, At: now, Outcome: outcome})
			if !seen[key] {
				keys, seen[key] = append(keys, key), true
			}
		}
	}
	begin := func(w work) {
		for _, r := range replies {
			w.RecordReply(r)
		}
		for _, a := range all {
			for _, c := range a.contradictions {
				w.Contradict(c)
			}
		}
	}
	err := s.settleWith(ctx, jobs, keys, begin, func(w work, t transaction.Transaction) error {
		for _, a := range all {
			if err := w.settleAnswer(a, t); err != nil {
				return err
			}
		}
		return nil
	})
	for _, a := range all {
		a.spans.endJobs(jobs, err)
	}
	return err
}

func (w work) settleAnswer(a answers, t transaction.Transaction) error {
	o, asked := a.outcomes[transactionKey(t)]
	latest := w.Latest(t)
	if !asked {
		return nil
	}
	if a.applies(latest) {
		w.askUnknownCode(a.call, latest, o)
		return a.settle(w, latest, o)
	}
	// Another attempt has settled it meanwhile. If this answer says otherwise, the rail is asked which of the two is newer. A
	// refund that is done is not asked about again.
	end, kind := endOf(a.call, latest)
	reported, final := ends[o.Verdict]
	switch {
	case !final || end == "" || kind.CompareEnds(end, reported) == rail.Repeats:
	case kind == rail.Refund:
		w.decideAtWrite(func(ctx context.Context, tx Tx) error { return w.compareRefund(ctx, tx, a.call, latest, o) })
	default:
		w.Enqueue(t.Platform, transaction.StepCallAgain, t.ID.UUID())
	}
	return nil
}

// compareRefund compares an answer about a refund with how it has ended. One whose money was taken back has paid what is owed for that,
// so that the rail may have refused it.
func (w work) compareRefund(ctx context.Context, tx Tx, call ports.RailCall, t transaction.Transaction, o ports.Outcome) error {
	_, takenBack, err := tx.LockReceivableOf(ctx, t.Platform, t.ID)
	if err == nil && !takenBack {
		w.compare(call, t, o, rail.Said{})
	}
	return err
}

// settleWith is settle that calls begin before it decides.
func (s *Service) settleWith(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey, begin func(work),
	decide func(work, transaction.Transaction) error) error {
	var done work
	err := uow.Settle(ctx, s.Store, jobs, keys, func() uow.Decisions[Tx] {
		done = s.newJobWork(jobs)
		begin(done)
		return decisions{done, decide}
	})
	if err == nil {
		s.afterCommit(done)
	}
	return err
}

// decisions implements uow.Decisions.
type decisions struct {
	work
	decide func(work, transaction.Transaction) error
}

// Decide implements uow.Decisions.
func (d decisions) Decide(t transaction.Transaction) error {
	if t.Trace != "" {
		d.traces[t.ID.UUID()] = t.Trace
	}
	return d.decide(d.work, t)
}

// decideAtWrite adds a decision that locks more than transactions. It is made when the work is written, and adds to it.
func (w work) decideAtWrite(decide func(context.Context, Tx) error) {
	*w.late = append(*w.late, decide)
}

// Write makes the late decisions, and writes everything collected.
func (w work) Write(ctx context.Context, tx Tx) error {
	for _, decide := range *w.late {
		if err := decide(ctx, tx); err != nil {
			return err
		}
	}
	if err := w.limits.Write(ctx, tx); err != nil {
		return err
	}
	if err := w.Work.Write(ctx, tx); err != nil {
		return err
	}
	return w.due.read(ctx, tx, w.LocalJobs())
}

// update adds a decision, unless it failed.
func (w work) update(d transaction.Decision, err error) error {
	if err == nil {
		w.Update(d)
	}
	return err
}

// lockBalances locks the internal accounts that transactions debit or credit, and returns a copy
// of their balances.
func (w work) lockBalances(ctx context.Context, tx Tx, transactions []transaction.Transaction) (ledger.Balances, error) {
	var accounts []ledger.Account
	seen := map[ledger.Account]bool{}
	for _, t := range transactions {
		for _, a := range t.Accounts() {
			if !seen[a] {
				seen[a] = true
				accounts = append(accounts, a)
			}
		}
	}
	return w.LockBalances(ctx, tx, accounts)
}

// inOrder returns the transactions that were read, each once, in the order of the keys.
func inOrder(keys []ports.TransactionKey, read map[ports.TransactionKey]transaction.Transaction) []transaction.Transaction {
	ordered := make([]transaction.Transaction, 0, len(read))
	seen := map[ports.TransactionKey]bool{}
	for _, key := range keys {
		if t, exists := read[key]; exists && !seen[key] {
			ordered, seen[key] = append(ordered, t), true
		}
	}
	return ordered
}

func transactionKey(t transaction.Transaction) ports.TransactionKey {
	return ports.TransactionKey{Platform: t.Platform, ID: t.ID}
}
