package payments

import (
	"context"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// originalsOf returns the payments that brought the money of transactions that are refunded: the collection or the
// receipt.
func (s *Service) originalsOf(ctx context.Context, refunded []ports.Payout) (map[ports.TransactionKey]ports.Original, error) {
	var collected []ports.TransactionKey
	received := map[ident.Platform][]ident.Receipt{}
	for _, p := range refunded {
		switch t := p.Transaction; {
		case t.HasCollected():
			collected = append(collected, transactionKey(t))
		case !t.Receipt.IsZero():
			received[t.Platform] = append(received[t.Platform], t.Receipt)
		}
	}
	originals := map[ports.TransactionKey]ports.Original{}
	if err := s.addCollected(ctx, collected, originals); err != nil {
		return nil, err
	}
	for platform, ids := range received {
		receipts, err := s.Store.Receipts(ctx, platform, ids)
		if err != nil {
			return nil, err
		}
		payments, err := s.originalsOfReceipts(ctx, receipts)
		if err != nil {
			return nil, err
		}
		for _, p := range refunded {
			if original, found := payments[p.Transaction.Receipt]; found && p.Transaction.Platform == platform {
				originals[transactionKey(p.Transaction)] = original
			}
		}
	}
	return originals, nil
}

// addCollected adds the collections of transactions.
func (s *Service) addCollected(ctx context.Context, keys []ports.TransactionKey, originals map[ports.TransactionKey]ports.Original) error {
	if len(keys) == 0 {
		return nil
	}
	ids, err := s.Store.RailPartnerIDs(ctx, keys, ports.CallCollect)
	if err != nil {
		return err
	}
	collections, err := s.Store.Collections(ctx, keys)
	if err != nil {
		return err
	}
	for _, c := range collections {
		key := transactionKey(c.Transaction)
		originals[key] = ports.Original{PartnerID: ids[key], Collection: c.Transaction.ID, Payer: &c.Account}
	}
	return nil
}

// originalsOfReceipts returns the payments that brought receipts, with their payers as far as partners have named them.
func (s *Service) originalsOfReceipts(ctx context.Context, receipts []transaction.Receipt) (map[ident.Receipt]ports.Original, error) {
	originals := make(map[ident.Receipt]ports.Original, len(receipts))
	ids := map[ident.Platform][]ident.Receipt{}
	for _, r := range receipts {
		originals[r.ID] = ports.Original{PartnerID: r.PartnerID}
		ids[r.Platform] = append(ids[r.Platform], r.ID)
	}
	for platform, ids := range ids {
		payers, err := s.Store.ReceiptPayers(ctx, platform, ids)
		if err != nil {
			return nil, err
		}
		for id, payer := range payers {
			originals[id] = ports.Original{PartnerID: originals[id].PartnerID, Payer: &payer}
		}
	}
	return originals, nil
}

// storableReceipt returns a receipt as it is kept.
func storableReceipt(r ports.RailReceipt) ports.RailReceipt {
	r.Receipt = r.Storable()
	return r
}

// appendPayer adds the payer of a receipt, if the partner has named it. The money is for a customer, or for nobody who is
// known or will be erased later.
func appendPayer(payers []ports.ReceiptPayer, r ports.RailReceipt, of *customer.Customer) []ports.ReceiptPayer {
	if r.Payer == nil {
		return payers
	}
	payer := ports.ReceiptPayer{Platform: r.Platform, Receipt: r.ID, Account: *r.Payer}
	if of != nil && !of.Deleted() {
		payer.Customer = of.ID
	}
	return append(payers, payer)
}
