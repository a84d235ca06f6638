package payments

import (
	"context"
	"slices"

	"causeway/app/internal/batch"
	"causeway/app/internal/limiting"
	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/limit"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

type receiveCommand struct {
	receipt     ports.RailReceipt
	idempotency *ports.IdempotentRequest
	// simulated is the request for a simulated payment to the reference of the receipt, which completes it; nil for others.
	simulated *SendRequest
}

// Receive receives a payment from a rail, and returns the transaction that it funds. A payment with
// an unknown reference is held as unmatched funds and returns REFERENCE_NOT_FOUND; so is one that the
// account cannot hold, which returns AMOUNT_OUT_OF_RANGE. A receipt with the rail and the partner's id
// of an earlier one changes nothing.
func (s *Service) Receive(ctx context.Context, r transaction.Receipt, claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	return s.receiveBatcher.Do(ctx, r.Platform, receiveCommand{receipt: storableReceipt(ports.RailReceipt{Receipt: r}), idempotency: claim})
}

func (s *Service) receiveBatch(ctx context.Context, commands []receiveCommand) ([]batch.Result[transaction.Transaction], error) {
	rules, err := s.limits(ctx, commands[0].receipt.Platform)
	if err != nil {
		return nil, err
	}
	return runBatch(ctx, s, len(commands), func(ctx context.Context, tx Tx, done work, results []batch.Result[transaction.Transaction]) error {
		commands := slices.Clone(commands) // the unit of work may run again
		received, err := s.completeSimulated(ctx, tx, commands, results)
		if err != nil || len(received) == 0 {
			return err
		}
		receipts := make([]transaction.Receipt, len(received))
		for n, i := range received {
			receipts[n] = commands[i].receipt.Receipt
		}
		taken, err := tx.SaveReceipts(ctx, receipts)
		if err != nil {
			return err
		}
		var about []transaction.Transaction
		var limited []limit.Payment
		var payers []ports.ReceiptPayer
		for n, t := range taken {
			if t.Transaction != nil {
				about = append(about, *t.Transaction)
				if t.IsNew && t.Transaction.Type == transaction.Outgoing {
					limited = append(limited, limiting.PaymentOf(t.Transaction.Pricing.Sent, t.Parties.Customer))
				}
			}
			if t.IsNew {
				payers = appendPayer(payers, commands[received[n]].receipt, t.Parties.Customer)
			}
		}
		if err := tx.SaveReceiptPayers(ctx, payers); err != nil {
			return err
		}
		balances, err := done.lockBalances(ctx, tx, about)
		if err != nil {
			return err
		}
		if err := done.limits.Lock(ctx, tx, receipts[0].Platform, rules, limited); err != nil {
			return err
		}
		for n, i := range received {
			c := commands[i]
			results[i].Value, results[i].Err = done.receive(c.receipt.Receipt, taken[n], balances)
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return nil
	})
}

// receive decides about one receipt, after those before it in the batch.
func (w work) receive(r transaction.Receipt, taken ports.SavedReceipt, balances ledger.Balances) (transaction.Transaction, error) {
	if taken.Transaction == nil {
		if taken.IsNew {
			w.PostUnmatched(r, r.Unmatched())
		}
		return transaction.Transaction{}, fault.New(fault.ReferenceNotFound,
			"No quote has the reference %.80q. The payment of %s was received and is kept as unmatched; "+
				"check the reference, which must be the one of the quote's payment instructions.", r.Reference, r.Amount)
	}
	t := w.Latest(*taken.Transaction)
	if !taken.IsNew {
		return t, nil
	}
	taken.Parties.OwnershipLimits = w.ownership
	if c := taken.Parties.Customer; !t.Customer.IsZero() && (c == nil || c.Deleted()) {
		r.Originator = nil // the data of the customer may have been erased, and nothing would erase this
	}
	d, err := t.Receive(r, taken.Parties, w.Now)
	if err == nil && t.StartsWith(d) && w.limits.Check(&d.Transaction, taken.Parties.Customer) != nil {
		d, err = t.RefuseFunds(r, w.Now)
	}
	if err != nil {
		return t, err
	}
	if t.Flow().Internal {
		if err := applyPostings(balances, d); fault.Is(err, fault.AmountOutOfRange) {
			w.PostUnmatched(r, r.RejectedByAccount())
			return t, uow.WithUnmatchedNote(err)
		} else if err != nil {
			return t, err
		}
	}
	if d.Next == transaction.StepSendBack {
		w.Post(d.Postings...)
		w.Enqueue(r.Platform, transaction.StepSendBack, r.ID.UUID())
	} else {
		if t.StartsWith(d) {
			w.limits.Count(d.Transaction)
		}
		w.Update(d)
	}
	return d.Transaction, nil
}
