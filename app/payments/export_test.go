package payments

import (
	"context"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// PendingExecutions returns the number of requests to execute a quote that wait for a batch.
func (s *Service) PendingExecutions() int { return s.executeBatcher.Waiting() }

// ReceiveInternal, Send and TransferOutWithID are what jobs call, for tests of repeated calls.

func (s *Service) ReceiveInternal(ctx context.Context, sent transaction.Transaction) (ports.Outcome, bool, error) {
	return s.receiveInternal(ctx, sent)
}

func (s *Service) Send(ctx context.Context, rail ports.Rail, payouts []ports.Payout) []ports.Outcome {
	return s.send(ctx, rail, payouts)
}

func (s *Service) TransferOutWithID(ctx context.Context, id ident.Transaction, out transaction.TransferOut) error {
	return s.transferOutWithID(ctx, id, out)
}
