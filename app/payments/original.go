package payments

import (
	"context"

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
		byID := map[ident.Receipt]transaction.Receipt{}
		for _, r := range receipts {
			byID[r.ID] = r
		}
		for _, p := range refunded {
			if r, found := byID[p.Transaction.Receipt]; found && p.Transaction.Platform == platform {
				originals[transactionKey(p.Transaction)] = originalOf(r)
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

// originalOf returns the payment that brought a receipt.
func originalOf(r transaction.Receipt) ports.Original { return ports.Original{PartnerID: r.PartnerID} }
