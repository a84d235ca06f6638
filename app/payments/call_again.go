package payments

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// maxNewsPerJob is how many subjects are called about together.
const maxNewsPerJob = 256

// CallAgain makes the rails be called at once about payments, collections, refunds and receipts sent back of which there is
// news. What is called for is decided by the state at the time of the call, so that news of any kind, that come twice or in
// another order, are all the same; of a subject that is not known, or of which no rail knows more, nothing is asked.
//
// The call is a job of its own beside that of the next step. So it is also made if that job is running now and has asked
// already, and it ends when the rail has replied: the job of the step continues as before.
func (s *Service) CallAgain(ctx context.Context, subjects []ports.RailSubject) error {
	for batch := range slices.Chunk(subjects, maxNewsPerJob) {
		var w work
		err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
			w = s.newWork()
			seen := map[ports.RailSubject]bool{}
			for _, subject := range batch {
				if !seen[subject] {
					seen[subject] = true
					w.Enqueue(subject.Platform, transaction.StepCallAgain, subject.Subject)
				}
			}
			return w.Write(ctx, tx)
		})
		if err != nil {
			return err
		}
		s.afterCommit(w)
	}
	return nil
}

// callAboutNews calls the rails about the subjects of jobs in every way that fits their states, and settles all outcomes in
// one unit of work.
func (s *Service) callAboutNews(ctx context.Context, jobs []ports.Job) error {
	keys := uow.TransactionKeys(jobs)
	read, err := s.Store.TransactionsByKey(ctx, keys)
	if err != nil {
		return err
	}
	byStep := map[transaction.Step][]ports.TransactionKey{}
	for _, t := range inOrder(keys, read) {
		for _, step := range t.RailSteps() {
			byStep[step] = append(byStep[step], transactionKey(t))
		}
	}
	var replied []answers
	for _, about := range []struct {
		step transaction.Step
		ask  func(context.Context, []ports.TransactionKey) (answers, error)
	}{
		{transaction.StepCollect, s.askCollect}, {transaction.StepPull, s.askPull}, {transaction.StepDeliver, s.askDeliver},
		{transaction.StepCheckReturn, s.askReturns}, {transaction.StepRefund, s.askRefunds}, {transaction.StepCheckCollection, s.askCollectionReturns},
	} {
		if len(byStep[about.step]) == 0 {
			continue
		}
		a, err := about.ask(ctx, byStep[about.step])
		if err != nil {
			return err
		}
		replied = append(replied, a)
	}
	sentBack, err := s.askSentBack(ctx, jobs, read)
	if err != nil {
		return err
	}
	return s.settleWithReceipts(ctx, jobs, sentBack, replied...)
}

// askSentBack calls the rails about those subjects that are receipts which are being sent back. Only those about which
// a rail was called before are: others are not to be sent back, or their job has not begun.
func (s *Service) askSentBack(ctx context.Context, jobs []ports.Job, transactions map[ports.TransactionKey]transaction.Transaction) ([]sentBack, error) {
	var begun []ports.Job
	for _, j := range jobs {
		subjects := slices.Clone(j.Subjects)
		var err error
		j.Subjects = slices.DeleteFunc(subjects, func(subject uuid.UUID) bool {
			key := ports.TransactionKey{Platform: j.Platform}
			ident.SetUUID(&key.ID, subject)
			if _, known := transactions[key]; known || err != nil {
				return true
			}
			var sending bool
			sending, err = s.isSendingBack(ctx, j.Platform, subject)
			return !sending
		})
		if err != nil {
			return nil, err
		}
		if len(j.Subjects) > 0 {
			begun = append(begun, j)
		}
	}
	if len(begun) == 0 {
		return nil, nil
	}
	return s.callToSendBack(ctx, begun)
}

// maxReplies is how many replies of a receipt are read: those after it end in one of them.
const maxReplies = 1000

// isSendingBack reports whether a rail was called to send a receipt back, and has not refused it.
func (s *Service) isSendingBack(ctx context.Context, p ident.Platform, receipt uuid.UUID) (sending bool, err error) {
	replies, err := s.Store.RailReplies(ctx, p, receipt, maxReplies)
	for _, r := range replies {
		if r.Call == ports.CallSendBack {
			sending = r.Verdict == ports.Waiting || r.Verdict == ports.Unknown
		}
	}
	return sending, err
}

// isNews reports whether what is running for a transaction is a job of news, and not that of its step.
func (w work) isNews(t transaction.Transaction) bool {
	return w.running[t.ID.UUID()].Step == transaction.StepCallAgain
}
