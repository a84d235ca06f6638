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
// another order, are all the same; of a subject that is not known, or of which no rail knows more, nothing is asked. What a rail
// says now of a payment that has ended is compared with what is recorded.
//
// The call is a job of its own beside that of the next step. So it is also made if that job is running now and has asked
// already, and it ends when the rail has replied: the job of the step continues as before. A receipt has no state that
// could be locked, so for one that is sent back that job itself is made due.
func (s *Service) CallAgain(ctx context.Context, subjects []ports.RailSubject) error {
	byPlatform, seen := map[ident.Platform][]uuid.UUID{}, map[ports.RailSubject]bool{}
	for _, subject := range subjects {
		if !seen[subject] {
			seen[subject] = true
			byPlatform[subject.Platform] = append(byPlatform[subject.Platform], subject.Subject)
		}
	}
	for platform, news := range byPlatform {
		for batch := range slices.Chunk(news, maxNewsPerJob) {
			if err := s.addNews(ports.ForPlatform(ctx, platform), platform, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) addNews(ctx context.Context, platform ident.Platform, subjects []uuid.UUID) error {
	var w work
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		w = s.newWork()
		for _, subject := range subjects {
			w.Enqueue(platform, transaction.StepCallAgain, subject)
		}
		if err := tx.HastenJobs(ctx, platform, transaction.StepSendBack, subjects, w.Now); err != nil {
			return err
		}
		return w.Write(ctx, tx)
	})
	if err == nil {
		s.afterCommit(w)
	}
	return err
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
	subjects := inOrder(keys, read)
	for _, t := range subjects {
		for _, step := range t.RailSteps() {
			byStep[step] = append(byStep[step], transactionKey(t))
		}
	}
	replied, err := s.askEnded(ctx, subjects)
	if err != nil {
		return err
	}
	for _, step := range []transaction.Step{transaction.StepCollect, transaction.StepPull, transaction.StepDeliver,
		transaction.StepCheckReturn, transaction.StepRefund, transaction.StepCheckCollection} {
		if len(byStep[step]) == 0 {
			continue
		}
		a, err := s.ask(ctx, step, byStep[step])
		if err != nil {
			return err
		}
		replied = append(replied, a)
	}
	contradictions, err := s.askEndedRefunds(ctx, jobs)
	if err != nil {
		return err
	}
	return s.settleAnswers(ctx, jobs, append(replied, answers{contradictions: contradictions})...)
}

// isNews reports whether what is running for a transaction is a job of news, and not that of its step.
func (w work) isNews(t transaction.Transaction) bool {
	return w.running[t.ID.UUID()].Step == transaction.StepCallAgain
}
