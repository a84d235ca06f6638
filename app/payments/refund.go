package payments

import (
	"context"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// refund sends refunds: to the internal account or the wallet that paid, crypto that was paid in to the
// customer's internal account that can pay, and all else to where it was paid from. A rail that does not know the payer, as of an invoice
// of an incoming payment, refuses that, and a person decides about the money.
func (s *Service) refund(ctx context.Context, jobs []ports.Job) error {
	return s.callAbout(ctx, jobs, s.askRefunds)
}

func (s *Service) askRefunds(ctx context.Context, keys []ports.TransactionKey) (answers, error) {
	began := time.Now()
	payouts, err := s.Store.Payouts(ctx, keys)
	if err != nil {
		return answers{}, err
	}
	payouts = dueOf(payouts, isRefunding)
	homes, err := s.refundAccounts(ctx, payouts)
	if err != nil {
		return answers{}, err
	}
	originals, err := s.originalsOf(ctx, payouts)
	if err != nil {
		return answers{}, err
	}
	var refunds []ports.Refund
	var toWallets []ports.WalletCredit
	var started callSpans
	for _, payout := range payouts {
		s.startCall(&started, began, ports.CallRefund, &payout.Transaction)
		t := payout.Transaction
		if t.Flow().Funding == transaction.Wallet {
			toWallets = append(toWallets, ports.WalletCredit{Transaction: t, Wallet: ports.WalletID{Platform: t.Platform,
				Account: t.Source.InternalAccount},
				Amount: t.Refundable(), Refunded: &payout})
			continue
		}
		_, inside := homes[t.ID]
		refunds = append(refunds, ports.Refund{ID: t.ID.UUID(), Platform: t.Platform,
			Rail: t.SourceRail, Reference: t.Refund.Reference, Amount: t.Refundable(), Original: originals[transactionKey(t)],
			Payout: &payout, Internal: inside})
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for i, o := range s.credit(ctx, toWallets) {
		outcomes[transactionKey(toWallets[i].Transaction)] = o
	}
	for i, o := range s.sendRefunds(ctx, refunds) {
		outcomes[transactionKey(refunds[i].Payout.Transaction)] = o
	}
	started.endCalls(outcomes)
	return answers{call: ports.CallRefund, outcomes: outcomes, spans: started, applies: isRefunding, settle: func(w work,
		t transaction.Transaction, o ports.Outcome) error {
		to, inside := homes[t.ID]
		if !inside {
			to = t.SourceAccount
		}
		return w.settleRefund(t, o, to, inside)
	}}, nil
}

// isRefunding reports whether a refund is to be sent, or in progress.
func isRefunding(t transaction.Transaction) bool { return t.State.Refund == transaction.RefundPending }

func (s *Service) sendRefunds(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return callRails(ctx, s, refunds, s.Rails.RailFor, func(r ports.Refund) ident.Platform { return r.Platform },
		func(ctx context.Context, rail ports.Rail, batch []ports.Refund) []ports.Outcome {
			return rail.Refund(ctx, batch)
		})
}

func (w work) settleRefund(t transaction.Transaction, o ports.Outcome, to string, inside bool) error {
	var d transaction.Decision
	var err error
	switch o.Verdict {
	case ports.Done:
		if inside {
			w.decideAtWrite(func(ctx context.Context, tx Tx) error { return w.refundInside(ctx, tx, t, to) })
			return nil
		}
		d, err = t.RefundPaid(to, w.Now)
	case ports.Refused, ports.Returned: // the platform has the money again, unless it was taken back meanwhile
		w.decideAtWrite(func(ctx context.Context, tx Tx) error {
			if owed, err := w.recorder.Refund(ctx, tx, w.Work, t); err != nil || owed {
				return err
			}
			return w.update(t.RefundFailed(w.Now))
		})
		return nil
	default:
		w.callAgain(t.Platform, transaction.StepRefund, t.ID.UUID(), o)
		return nil
	}
	if err == nil {
		w.Update(d)
	}
	return err
}

// refundInside completes a refund to an internal account. If the money was taken back, it pays what is owed for that.
func (w work) refundInside(ctx context.Context, tx Tx, t transaction.Transaction, to string) error {
	if owed, err := w.recorder.Refund(ctx, tx, w.Work, t); err != nil || owed {
		return err
	}
	return w.update(t.RefundPaid(to, w.Now))
}

// paysOwed returns the receivable of a transaction whose money was taken back, and reports whether its refund pays that: it does
// unless it had left to the payer before.
func (s *Service) paysOwed(ctx context.Context, t transaction.Transaction) (owed ports.ReceivableDetails, pays bool, err error) {
	owed, exists, err := s.Store.ReceivableOf(ctx, t.Platform, t.ID)
	if err != nil || !exists {
		return owed, false, err
	}
	if !s.canStop(t.Platform) {
		return owed, !t.Refund.InitiatedAt.Before(owed.CreatedAt), nil
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) (err error) {
		pays, err = s.stop(ctx, tx, rail.Refund, t.Platform, t.ID.UUID(), t.SourceRail, t.Refundable(),
			transaction.TakenBackReason(owed.ReasonCode))
		return err
	})
	return owed, pays, err
}

// refundAccounts returns the ledger paths of internal accounts that receive refunds: the one that owes the money if it was
// taken back. An account for crypto that was paid in is opened if it does not exist.
func (s *Service) refundAccounts(ctx context.Context, payouts []ports.Payout) (map[ident.Transaction]string, error) {
	homes := map[ident.Transaction]string{}
	for _, payout := range payouts {
		t := payout.Transaction
		owed, paysOwed, err := s.paysOwed(ctx, t)
		if err != nil {
			return nil, err
		}
		switch {
		case paysOwed:
			homes[t.ID] = owed.AccountPath
		case t.Flow().Funding == transaction.Balance, t.Flow().Funding == transaction.Wallet:
			homes[t.ID] = t.SourceAccount
		case t.RefundsInside(t.Refundable()):
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
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) (err error) {
		opened, err = uow.EnsureAccount(ctx, tx, opened)
		return err
	})
	return opened, err
}

// sendBack sends back surplus and unmatched receipts: crypto of a known payer to their internal
// account, and all else to where it was paid from.
func (s *Service) sendBack(ctx context.Context, jobs []ports.Job) error {
	replied, err := s.callToSendBack(ctx, jobs)
	if err != nil {
		return err
	}
	return s.settleWith(ctx, jobs, nil, func(w work) {
		for _, r := range replied {
			w.settleSendBack(r)
		}
	}, nil)
}

// sentBack is a receipt about which a rail was called to send it back to a ledger path.
type sentBack struct {
	receipt transaction.Receipt
	outcome ports.Outcome
	to      string
}

// callToSendBack calls the rails to send back the receipts of jobs.
func (s *Service) callToSendBack(ctx context.Context, jobs []ports.Job) ([]sentBack, error) {
	receipts, err := s.receiptsOf(ctx, jobs)
	if err != nil {
		return nil, err
	}
	homes, err := s.surplusAccounts(ctx, receipts)
	if err != nil {
		return nil, err
	}
	originals, err := s.originalsOfReceipts(ctx, receipts)
	if err != nil {
		return nil, err
	}
	refunds := make([]ports.Refund, len(receipts))
	for i, r := range receipts {
		_, inside := homes[r.ID]
		var named ident.Transaction // used as the reference if the payer gave none
		named.SetUUID(r.ID.UUID())
		refunds[i] = ports.Refund{ID: r.ID.UUID(), Platform: r.Platform, Rail: r.Rail,
			Reference: transaction.RefundReference(named, r.Reference), Amount: r.Amount, Original: originals[r.ID], Internal: inside}
	}
	replied := make([]sentBack, len(receipts))
	for i, o := range s.sendRefunds(ctx, refunds) {
		to, inside := homes[receipts[i].ID]
		if !inside {
			to = receipts[i].Rail.LedgerPath()
		}
		replied[i] = sentBack{receipts[i], o, to}
	}
	return replied, nil
}

// receiptsOf reads the receipts that are the subjects of jobs.
func (s *Service) receiptsOf(ctx context.Context, jobs []ports.Job) ([]transaction.Receipt, error) {
	ids := map[ident.Platform][]ident.Receipt{}
	for _, job := range jobs {
		for _, subject := range job.Subjects {
			var id ident.Receipt
			id.SetUUID(subject)
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
		if !known || !t.RefundsInside(r.Amount) {
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

// settleSendBack records and posts the outcome of a receipt that was sent back. The posting's id is derived from the
// receipt, so a repeated outcome is posted once.
func (w work) settleSendBack(b sentBack) {
	r, o := b.receipt, b.outcome
	w.RecordReply(ports.RailReply{Platform: r.Platform, Subject: r.ID.UUID(), Call: ports.CallSendBack, At: w.Now, Outcome: o})
	w.contradictCode(rail.Contradiction{Platform: r.Platform, Kind: rail.SendBack, Subject: r.ID.UUID(), Name: rail.EndToEndID(r.ID.UUID())},
		o)
	switch o.Verdict {
	case ports.Done:
		w.Post(r.SentBack(b.to, w.Now))
		w.decideAtWrite(func(ctx context.Context, tx Tx) error {
			return refundedAgain(ctx, tx, w.Work, r, transaction.RefundCompleted)
		})
	case ports.TakenBack: // recorded with the reversal
	case ports.Refused, ports.Returned: // the platform has the money again, unless it was taken back meanwhile
		w.decideAtWrite(func(ctx context.Context, tx Tx) error { return w.sendBackFailed(ctx, tx, r) })
	default:
		w.callAgain(r.Platform, transaction.StepSendBack, r.ID.UUID(), o)
	}
}

// sendBackFailed posts that a receipt was not sent back: the money is unmatched. If it was taken back by the payer's bank, that has
// posted it, or it was counted as lost and is not.
func (w work) sendBackFailed(ctx context.Context, tx Tx, r transaction.Receipt) error {
	if _, _, err := tx.LockUnmatched(ctx, r.Platform, r.ID); err != nil {
		return err
	}
	reversed, err := tx.IsReceiptReversed(ctx, r.Platform, r.ID)
	if err != nil {
		return err
	}
	if !reversed {
		w.PostUnmatched(r, r.SendBackFailed(w.Now))
		return refundedAgain(ctx, tx, w.Work, r, transaction.RefundUnpaid)
	}
	if err := refundedAgain(ctx, tx, w.Work, r, transaction.RefundCompleted); err != nil {
		return err
	}
	key := ports.RailPaymentKey{Platform: r.Platform, ID: r.ID.UUID(), Kind: rail.SendBack}
	locked, err := tx.LockRailPayments(ctx, []ports.RailPaymentKey{key})
	if err == nil && locked[key].State != rail.Cancelled {
		w.Post(r.LossRecovered(w.Now))
	}
	return err
}

// refundedAgain records what has become of the failed refund of a transaction, if a receipt is sent back for it.
func refundedAgain(ctx context.Context, tx Tx, w *uow.Work, r transaction.Receipt, to transaction.RefundStatus) error {
	id, err := tx.RefundSentAs(ctx, r.Platform, r.ID)
	if err != nil || id.IsZero() {
		return err
	}
	key := ports.TransactionKey{Platform: r.Platform, ID: id}
	locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
	if err != nil {
		return err
	}
	d, err := locked[key].RefundAgain(to, w.Now)
	if err == nil {
		w.Update(d)
	}
	return err
}
