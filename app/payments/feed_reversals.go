package payments

import (
	"context"
	"fmt"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// takeReversals undoes receipts that the partner took back. The reversal of a receipt that is not known yet is kept
// aside until that arrives.
func (f *Feeds) takeReversals(ctx context.Context, p *piece, reversals []ports.ReceiptReversal) error {
	now := f.service.Clock.Now()
	for _, reversal := range reversals {
		of, err := reversal.Platform, p.checkPlatform(reversal.Platform)
		if err != nil {
			of = ident.Platform{}
		} else if err = f.takeReversal(ctx, p, reversal); err == nil {
			continue
		}
		item := ports.RailFeedItem{ID: f.service.IDs.New(now), Platform: of, Kind: ports.RailFeedReversal,
			Key: reversalKey(reversal.Rail, reversal.Receipt)}
		if err := p.failed(now, item, reversal, err); err != nil {
			return err
		}
	}
	return nil
}

func (f *Feeds) takeReversal(ctx context.Context, p *piece, reversal ports.ReceiptReversal) error {
	receipt, found, err := f.reversedReceipt(ctx, p, reversal)
	if err != nil {
		return err
	}
	if !found {
		return reject("the receipt %.100s on %s that was taken back is not known yet", reversal.Receipt, reversal.Rail)
	}
	now := f.service.Clock.Now()
	v := transaction.NewReceiptReversal(receipt, reversal.PartnerID, reversal.Code, reversal.Text, reversal.At, now)
	if err := f.service.ReverseReceipt(ctx, v); err != nil {
		return err
	}
	if err := f.Received.ReverseRailReceipt(ctx, receiptKey(receipt), v.At, now); err != nil || !transaction.IsUnknownCode(reversal.Code) {
		return err
	}
	return f.takeContradictions(p, []rail.Contradiction{{Platform: receipt.Platform, Name: receipt.PartnerID,
		Recorded: rail.Said{State: "RECEIVED", At: receipt.At, Amount: receipt.Amount, PartnerID: receipt.PartnerID},
		Reported: rail.Said{State: "REVERSED", At: reversal.At, PartnerID: reversal.PartnerID, Code: reversal.Code, Text: reversal.Text},
		Problem: fmt.Sprintf("the partner gives the reason %s for which it has taken back the receipt %s, and no standard has that code: it is "+
			"recorded as with any other reason; ask the partner what it means",
			reversal.Code, receipt.PartnerID)}})
}

// reversedReceipt returns the receipt that a reversal names: of its platform, or of the only platform of the
// connection that has it.
func (f *Feeds) reversedReceipt(ctx context.Context, p *piece, reversal ports.ReceiptReversal) (transaction.Receipt, bool, error) {
	platforms := p.platforms
	if !reversal.Platform.IsZero() {
		platforms = append(platforms[:0:0], reversal.Platform)
	}
	partnerID := transaction.Receipt{PartnerID: reversal.Receipt}.Storable().PartnerID
	keys := make([]ports.RailReceiptKey, len(platforms))
	for i, of := range platforms {
		keys[i] = ports.RailReceiptKey{Platform: of, Rail: reversal.Rail, PartnerID: partnerID}
	}
	found, err := f.Receipts.ReceiptsByPartnerID(ctx, keys)
	if err != nil || len(found) == 0 {
		return transaction.Receipt{}, false, err
	}
	if len(found) > 1 {
		return transaction.Receipt{}, false, reject("several platforms have a receipt %.100s on %s", reversal.Receipt, reversal.Rail)
	}
	for _, receipt := range found {
		return receipt, true, nil
	}
	return transaction.Receipt{}, false, nil
}

// reversalKey is that of a reversal that is kept aside: a receipt is taken back once.
func reversalKey(rail corridor.Rail, receipt string) string {
	return itemKey(string(rail) + "/" + receipt)
}

// retryReversals undoes receipts that have just arrived and whose reversal came before them.
func (f *Feeds) retryReversals(ctx context.Context, p *piece, receipts []transaction.Receipt) error {
	keys := make([]string, len(receipts))
	for i, r := range receipts {
		keys[i] = reversalKey(r.Rail, r.PartnerID)
	}
	if len(keys) == 0 {
		return nil
	}
	waiting, err := f.Feeds.RailFeedItemsByKey(ctx, p.Name, ports.RailFeedReversal, keys)
	if err != nil {
		return err
	}
	return f.retry(ctx, p.LiveConnection, waiting)
}
