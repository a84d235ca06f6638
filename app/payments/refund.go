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

// refund sends refunds: to the internal account or the wallet that paid, crypto that was paid in to the
// customer's internal account that can pay, and all else to where it was paid from.
func (s *Service) refund(ctx context.Context, jobs []ports.Job) error {
	payouts, err := s.Store.Payouts(ctx, uow.TransactionKeys(jobs))
	if err != nil {
		return err
	}
	homes, err := s.refundAccounts(ctx, payouts)
	if err != nil {
		return err
	}
	var refunds []ports.Refund
	var toWallets []ports.WalletCredit
	for _, payout := range payouts {
		t := payout.Transaction
		if t.State.Refund != transaction.RefundPending {
			continue
		}
		if t.Flow().Funding == transaction.Wallet {
			toWallets = append(toWallets, ports.WalletCredit{Transaction: t, Wallet: ports.WalletID{Platform: t.Platform, Account: t.Source.InternalAccount},
				Amount: t.Refundable(), Refunded: &payout})
			continue
		}
		_, inside := homes[t.ID]
		refunds = append(refunds, ports.Refund{ID: t.ID.UUID(), Platform: t.Platform,
			Rail: t.SourceRail, Reference: t.Refund.Reference, Amount: t.Refundable(), Payout: &payout, Internal: inside})
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for i, o := range s.credit(ctx, toWallets) {
		outcomes[transactionKey(toWallets[i].Transaction)] = o
	}
	for i, o := range s.sendRefunds(ctx, refunds) {
		outcomes[transactionKey(refunds[i].Payout.Transaction)] = o
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

func (s *Service) sendRefunds(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return callRails(ctx, s, refunds, s.Rails.RailFor, func(r ports.Refund) ident.Platform { return r.Platform },
		func(ctx context.Context, rail ports.Rail, batch []ports.Refund) []ports.Outcome {
			return rail.Refund(ctx, batch)
		})
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
		w.callAgain(t.Platform, transaction.StepRefund, t.ID.UUID(), o)
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
		case t.Flow().Funding == transaction.Balance, t.Flow().Funding == transaction.Wallet:
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
	receipts, err := s.receiptsOf(ctx, jobs)
	if err != nil {
		return err
	}
	homes, err := s.surplusAccounts(ctx, receipts)
	if err != nil {
		return err
	}
	refunds := make([]ports.Refund, len(receipts))
	for i, r := range receipts {
		_, inside := homes[r.ID]
		var named ident.Transaction // used as the reference if the payer gave none
		ident.SetUUID(&named, r.ID.UUID())
		refunds[i] = ports.Refund{ID: r.ID.UUID(), Platform: r.Platform, Rail: r.Rail,
			Reference: transaction.RefundReference(named, r.Reference), Amount: r.Amount, Internal: inside}
	}
	outcomes := s.sendRefunds(ctx, refunds)
	var w work
	err = s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		w = s.newJobWork(jobs)
		for i, r := range receipts {
			to, inside := homes[r.ID]
			if !inside {
				to = r.Rail.LedgerPath()
			}
			w.RecordReply(ports.RailReply{Platform: r.Platform, Subject: r.ID.UUID(), Call: ports.CallSendBack, At: w.Now, Outcome: outcomes[i]})
			w.settleSendBack(r, outcomes[i], to)
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil {
			return err
		}
		return w.Write(ctx, tx)
	})
	if err == nil {
		s.afterCommit(w)
	}
	return err
}

// receiptsOf reads the receipts that are the subjects of jobs.
func (s *Service) receiptsOf(ctx context.Context, jobs []ports.Job) ([]transaction.Receipt, error) {
	ids := map[ident.Platform][]ident.Receipt{}
	for _, job := range jobs {
		for _, subject := range job.Subjects {
			var id ident.Receipt
			ident.SetUUID(&id, subject)
			ids[job.Platform] = append(ids[job.Platform], id)
		}
	}
	var receipts []transaction.Receipt
	for platform, ids := range ids {
		found, err := s.Store.Receipts(ctx, platform, ids)
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, found...)
	}
	return receipts, nil
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
		w.callAgain(r.Platform, transaction.StepSendBack, r.ID.UUID(), o)
	}
}
