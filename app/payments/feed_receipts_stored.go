package payments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// findStored sets the platforms of receipts that have none and are stored already: a reference that is known meanwhile, or
// another platform for unmatched money, does not make other money of what is reported again.
func (f *Feeds) findStored(ctx context.Context, p *piece, receipts []ports.RailReceipt) error {
	if len(p.platforms) < 2 {
		return nil // there is nothing to choose from
	}
	var keys []ports.RailReceiptKey
	for _, r := range receipts {
		for _, of := range p.platforms {
			if r.Platform.IsZero() {
				keys = append(keys, ports.RailReceiptKey{Platform: of, Rail: r.Rail, PartnerID: r.PartnerID})
			}
		}
	}
	owners := map[ports.RailReceiptKey]ident.Platform{} // keys without a platform
	for chunk := range slices.Chunk(keys, maxReferenceKeys) {
		stored, err := f.Receipts.ReceiptsByPartnerID(ctx, chunk)
		if err != nil {
			return err
		}
		for key := range stored {
			owners[ports.RailReceiptKey{Rail: key.Rail, PartnerID: key.PartnerID}] = key.Platform
		}
	}
	for i, r := range receipts {
		if r.Platform.IsZero() {
			receipts[i].Platform = owners[ports.RailReceiptKey{Rail: r.Rail, PartnerID: r.PartnerID}]
		}
	}
	return nil
}

// compareStored compares receipts with what is stored after they were taken. It removes the faults of those that are stored:
// their money is unmatched funds, or was received before. One whose id was that of other money is rejected: it was not taken.
func (f *Feeds) compareStored(ctx context.Context, p *piece, receipts []transaction.Receipt, problems []error) error {
	var keys []ports.RailReceiptKey
	for i, r := range receipts {
		if problems[i] == nil || isFinalFault(problems[i]) {
			keys = append(keys, receiptKey(r))
		}
	}
	stored, err := f.Receipts.ReceiptsByPartnerID(ctx, keys)
	if err != nil {
		return err
	}
	var again []int // receipts that are stored with another id: they were reported before
	keys = keys[:0]
	for i, r := range receipts {
		if problems[i] != nil && !isFinalFault(problems[i]) {
			continue
		}
		before, found := stored[receiptKey(r)]
		switch {
		case !found && problems[i] != nil:
			problems[i] = fmt.Errorf("not stored: %w", problems[i])
		case !found || before.ID == r.ID:
			problems[i] = nil
		case before.Amount != r.Amount:
			problems[i] = reject("the partner's id %.100s on %s is that of %s, and now of %s", r.PartnerID, r.Rail, before.Amount, r.Amount)
		default:
			problems[i] = nil
			again, keys = append(again, i), append(keys, receiptKey(r))
		}
	}
	return f.compareConnections(ctx, p, receipts, stored, again, keys, problems)
}

// compareConnections rejects receipts that were reported before over another connection, unless they are the same in
// everything: partners with the same ids, and not one account whose connection has a new name.
func (f *Feeds) compareConnections(ctx context.Context, p *piece, receipts []transaction.Receipt,
	stored map[ports.RailReceiptKey]transaction.Receipt,
	again []int, keys []ports.RailReceiptKey, problems []error) error {
	connections, err := f.Received.RailReceiptConnections(ctx, keys)
	if err != nil {
		return err
	}
	for _, i := range again {
		r, before, over := receipts[i], stored[receiptKey(receipts[i])], connections[receiptKey(receipts[i])]
		if over != "" && over != p.Name && (r.Reference != before.Reference || !r.At.Truncate(time.Microsecond).Equal(before.At)) {
			problems[i] = reject("the partner's id %.100s on %s is that of other money, which the connection %s has reported",
				r.PartnerID, r.Rail, over)
		}
	}
	return nil
}
