package payments

import (
	"context"

	"github.com/google/uuid"

	"causeway/app/internal/jobs"
	"causeway/app/internal/uow"
	"causeway/core/settlement"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// work is what one unit of work decides about payments.
type work struct {
	*uow.Work
	retry     jobs.RetryPolicy
	timetable *settlement.Timetable
	// running are the jobs that are being run, by subject.
	running map[uuid.UUID]ports.Job
}

func (s *Service) newWork() work {
	return work{Work: uow.NewWork(s.Clock.Now(), s.IDs, s.LocalLease()), retry: s.JobRetry, timetable: s.Timetable}
}

// newJobWork is newWork for jobs that are being run.
func (s *Service) newJobWork(running []ports.Job) work {
	w := s.newWork()
	w.running = map[uuid.UUID]ports.Job{}
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
	s.Submit(w.LocalJobs())
	s.ReportFailed(w.FailedJobs())
}

// settle locks transactions, decides about each, and finishes the jobs in the same unit of work.
func (s *Service) settle(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey, decide func(work, transaction.Transaction) error) error {
	return s.settleWithReplies(ctx, jobs, keys, nil, decide)
}

// settleOutcomes is settle for transactions about which a rail was called: it decides on the
// outcomes and records the replies.
func (s *Service) settleOutcomes(ctx context.Context, jobs []ports.Job, call ports.RailCall, outcomes map[ports.TransactionKey]ports.Outcome,
	decide func(work, transaction.Transaction, ports.Outcome) error) error {
	now := s.Clock.Now()
	keys, replies := make([]ports.TransactionKey, 0, len(outcomes)), make([]ports.RailReply, 0, len(outcomes))
	for key, outcome := range outcomes {
		keys = append(keys, key)
		replies = append(replies, ports.RailReply{Platform: key.Platform, Subject: key.ID.UUID(), Call: call, At: now, Outcome: outcome})
	}
	return s.settleWithReplies(ctx, jobs, keys, replies, func(w work, t transaction.Transaction) error {
		return decide(w, t, outcomes[transactionKey(t)])
	})
}

func (s *Service) settleWithReplies(ctx context.Context, jobs []ports.Job, keys []ports.TransactionKey, replies []ports.RailReply,
	decide func(work, transaction.Transaction) error) error {
	var done work
	begin := func() *uow.Work {
		done = s.newJobWork(jobs)
		for _, r := range replies {
			done.RecordReply(r)
		}
		return done.Work
	}
	_, err := uow.Settle(ctx, s.Store, begin, jobs, keys, func(_ *uow.Work, t transaction.Transaction) error { return decide(done, t) })
	if err == nil {
		s.afterCommit(done)
	}
	return err
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
func (w work) lockBalances(ctx context.Context, tx ports.Tx, transactions []transaction.Transaction) (ledger.Balances, error) {
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
