package payments

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// refund sends refunds: to the internal account that paid, crypto that was paid in to the customer's
// internal account that can pay, and all else to where it was paid from.
func (s *Service) refund(ctx context.Context, jobs []ports.Job) error {
	payouts, err := s.Store.Payouts(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	homes, err := s.refundAccounts(ctx, payouts)
	if err != nil {
		return err
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for _, payout := range payouts {
		t := payout.Transaction
		if t.State.Refund != transaction.RefundPending {
			continue
		}
		_, inside := homes[t.ID]
		outcomes[ports.TransactionKey{Platform: t.Platform, ID: t.ID}] = s.sendRefund(ctx, ports.Refund{ID: t.ID.UUID(), Platform: t.Platform,
			Rail: t.SourceRail, Reference: t.Refund.Reference, Amount: t.Refundable(), Payout: &payout, Internal: inside})
	}
	return s.settleOutcomes(ctx, jobs, ports.CallRefund, outcomes, func(w work, t transaction.Transaction, o ports.Outcome) error {
		if t.State.Refund != transaction.RefundPending {
			return nil // settled by an earlier attempt
		}
		to, inside := homes[t.ID]
		if !inside {
			to = t.SourceAccount
		}
		return w.settleRefund(t, o, to)
	})
}

func (s *Service) sendRefund(ctx context.Context, r ports.Refund) ports.Outcome {
	rail, err := s.Rails.RailFor(r.Platform)
	if err != nil {
		s.Log.WithError(err).WithField("refund", r.ID.String()).Error("no rail for a refund")
		return ports.Outcome{Verdict: ports.Unknown, RetryAt: s.Clock.Now().Add(noRailDelay)}
	}
	return rail.Refund(ctx, []ports.Refund{r})[0]
}

func (w work) settleRefund(t transaction.Transaction, o ports.Outcome, to string) error {
	var d transaction.Decision
	var err error
	switch o.Verdict {
	case ports.Done:
		d, err = t.RefundPaid(to, w.Now)
	case ports.Refused:
		d, err = t.RefundFailed(w.Now)
	default:
		w.EnqueueAt(t.Platform, transaction.StepRefund, t.ID.UUID(), retryTime(o, w.Now))
		return nil
	}
	if err == nil {
		w.Update(d)
	}
	return err
}

// refundAccounts returns the ledger paths of internal accounts that receive refunds. An account for
// crypto that was paid in is opened if it does not exist.
func (s *Service) refundAccounts(ctx context.Context, payouts []ports.Payout) (map[ident.Transaction]string, error) {
	homes := map[ident.Transaction]string{}
	for _, payout := range payouts {
		t := payout.Transaction
		switch {
		case t.State.Refund != transaction.RefundPending:
		case t.Flow().Funding == transaction.Balance:
			homes[t.ID] = t.SourceAccount
		case t.Refundable().Currency.IsCrypto():
			home, err := s.ensureRefundAccount(ctx, t, t.Refundable().Currency)
			if err != nil {
				return nil, err
			}
			homes[t.ID] = home.LedgerPath()
		}
	}
	return homes, nil
}

// ensureRefundAccount returns the account for refunds of the customer in a currency, and opens it if it
// does not exist.
func (s *Service) ensureRefundAccount(ctx context.Context, t transaction.Transaction, currency money.Currency) (account.Internal, error) {
	now := s.Clock.Now()
	opened, err := account.NewRefundAccount(ident.NewInternalAccount(s.IDs.New, now), t.Platform, t.Customer, currency, now)
	if err != nil {
		return opened, err
	}
	err = s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) (err error) {
		opened, err = uow.EnsureAccount(ctx, tx, opened)
		return err
	})
	return opened, err
}

// sendBack sends back surplus and unmatched receipts: crypto of a known customer to their internal
// account, and all else to where it was paid from.
func (s *Service) sendBack(ctx context.Context, jobs []ports.Job) error {
	for _, job := range jobs {
		ids := make([]ident.Receipt, len(job.Subjects))
		for i, subject := range job.Subjects {
			ident.SetUUID(&ids[i], subject)
		}
		receipts, err := s.Store.Receipts(ctx, job.Platform, ids)
		if err != nil {
			return err
		}
		homes, err := s.surplusAccounts(ctx, receipts)
		if err != nil {
			return err
		}
		w := s.newWork()
		for _, r := range receipts {
			to, inside := homes[r.ID]
			if !inside {
				to = r.Rail.LedgerPath()
			}
			var named ident.Transaction // used as the reference if the payer gave none
			ident.SetUUID(&named, r.ID.UUID())
			outcome := s.sendRefund(ctx, ports.Refund{ID: r.ID.UUID(), Platform: r.Platform, Rail: r.Rail,
				Reference: transaction.RefundReference(named, r.Reference), Amount: r.Amount, Internal: inside})
			w.RecordReply(ports.RailReply{Platform: r.Platform, Subject: r.ID.UUID(), Call: ports.CallSendBack, At: w.Now, Outcome: outcome})
			w.settleSendBack(r, outcome, to)
		}
		if err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
			if err := tx.FinishJobs(ctx, []ports.Job{job}); err != nil {
				return err
			}
			return w.Write(ctx, tx)
		}); err != nil {
			return err
		}
	}
	return nil
}

// surplusAccounts returns the ledger paths of internal accounts that receive surplus crypto.
func (s *Service) surplusAccounts(ctx context.Context, receipts []transaction.Receipt) (map[ident.Receipt]string, error) {
	var keys []ports.ReferenceKey
	for _, r := range receipts {
		if r.Amount.Currency.IsCrypto() && r.Reference != "" {
			keys = append(keys, ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference})
		}
	}
	homes := map[ident.Receipt]string{}
	if len(keys) == 0 {
		return homes, nil
	}
	paid, err := s.Store.TransactionsByReference(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, r := range receipts {
		t, known := paid[ports.ReferenceKey{Platform: r.Platform, Reference: r.Reference}]
		if !known || !r.Amount.Currency.IsCrypto() {
			continue
		}
		home, err := s.ensureRefundAccount(ctx, t, r.Amount.Currency)
		if err != nil {
			return nil, err
		}
		homes[r.ID] = home.LedgerPath()
	}
	return homes, nil
}

// settleSendBack posts the outcome of a receipt that was sent back to a ledger path. The posting's
// id is derived from the receipt, so a repeated outcome is posted once.
func (w work) settleSendBack(r transaction.Receipt, o ports.Outcome, to string) {
	switch o.Verdict {
	case ports.Done:
		w.Post(r.SentBack(to, w.Now))
	case ports.Refused:
		w.PostUnmatched(r, r.SendBackFailed(w.Now))
	default:
		w.EnqueueAt(r.Platform, transaction.StepSendBack, r.ID.UUID(), retryTime(o, w.Now))
	}
}
