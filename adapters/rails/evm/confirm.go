package evm

import (
	"context"
	"math/big"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
)

// seen is what the chain says about a pending transaction.
type seen struct {
	Transaction
	mined *receipt // of the version that is in a block
	next  uint64   // the sender's next nonce on the chain
}

// refresh asks about pending transactions, stores how those with enough confirmations have ended, and sends those again
// that are in no block. It reports whether it stored something.
func (r *Rail) refresh(ctx context.Context, transactions []Transaction) (changed bool, err error) {
	var pending []Transaction
	for _, t := range transactions {
		if t.State == Pending {
			pending = append(pending, t)
		}
	}
	if len(pending) == 0 {
		return false, nil
	}
	h, err := r.head(ctx)
	if err != nil {
		return false, err
	}
	found, err := r.look(ctx, pending)
	if err != nil {
		return false, err
	}
	changed, missing, err := r.conclude(ctx, h, found)
	if err != nil {
		return changed, err
	}
	again := make([]Transaction, len(missing))
	for i, s := range missing {
		again[i] = s.Transaction
	}
	r.broadcast(ctx, again)
	return changed, nil
}

// look asks for the receipts of every version, and for the nonces of the senders.
func (r *Rail) look(ctx context.Context, pending []Transaction) ([]seen, error) {
	senders := map[eth.Address]*hexUint{}
	var requests []*request
	receipts := make([][]*receipt, len(pending))
	for i, t := range pending {
		receipts[i] = make([]*receipt, len(t.Attempts))
		for n, a := range t.Attempts {
			requests = append(requests, &request{Method: "eth_getTransactionReceipt", Params: []any{eth.FormatHash(a.Hash)},
				Result: &receipts[i][n]})
		}
		if senders[t.Sender] == nil {
			senders[t.Sender] = new(hexUint)
			requests = append(requests, &request{Method: "eth_getTransactionCount", Params: []any{eth.FormatAddress(t.Sender), "latest"},
				Result: senders[t.Sender]})
		}
	}
	if err := r.nodes.call(ctx, requests...); err != nil {
		return nil, err
	}
	found := make([]seen, len(pending))
	for i, t := range pending {
		found[i] = seen{Transaction: t, next: uint64(*senders[t.Sender])}
		for n, one := range receipts[i] {
			if one != nil && eth.Hash(one.Hash) == t.Attempts[n].Hash {
				found[i].mined = one
			}
		}
	}
	return found, nil
}

// conclude stores how transactions have ended, and returns those that are in no block and can still be.
func (r *Rail) conclude(ctx context.Context, h head, found []seen) (changed bool, missing []seen, err error) {
	final, err := r.finalReceipts(ctx, h, found)
	if err != nil {
		return false, nil, err
	}
	for _, s := range found {
		if s.mined == nil && s.next <= s.Nonce {
			missing = append(missing, s)
			continue
		}
		c, ended := r.ending(ctx, h, s, final)
		if !ended {
			continue
		}
		done, err := r.store.Conclude(ctx, s.Transaction, c)
		if err != nil {
			return changed, nil, err
		}
		changed = changed || done
	}
	return changed, missing, nil
}

// finalReceipts returns the transactions that are in a block with enough confirmations, as all nodes say.
func (r *Rail) finalReceipts(ctx context.Context, h head, found []seen) (map[eth.Hash]bool, error) {
	var numbers []uint64
	for _, s := range found {
		if s.mined != nil && h.isFinal(uint64(s.mined.BlockNumber)) {
			numbers = append(numbers, uint64(s.mined.BlockNumber))
		}
	}
	blocks, err := r.blocksAt(ctx, distinct(numbers))
	if err != nil {
		return nil, err
	}
	var final []receipt
	for _, s := range found {
		// A block with another hash is not final yet, or the node is about to change its chain.
		if s.mined != nil && blocks[uint64(s.mined.BlockNumber)] != nil && blocks[uint64(s.mined.BlockNumber)].Hash == s.mined.BlockHash {
			final = append(final, *s.mined)
		}
	}
	return r.agreed(ctx, final), nil
}

// ending returns how a transaction has ended, and false as long as that is open.
func (r *Rail) ending(ctx context.Context, h head, s seen, final map[eth.Hash]bool) (c Conclusion, ended bool) {
	if s.mined == nil { // a node knows a transaction with its nonce, and not which
		return Conclusion{State: Lost, Native: r.chain.native, Changed: s.isPayment(), At: r.clock.Now()},
			h.read && r.isLost(ctx, h, s.Transaction) && !r.isForgotten(ctx, s.Transaction)
	}
	if !final[eth.Hash(s.mined.Hash)] {
		return c, false
	}
	state, differs, err := r.stateOf(s.Transaction, *s.mined)
	if err != nil {
		r.log.WithError(err).WithField("transaction", eth.FormatHash(eth.Hash(s.mined.Hash))).Error("a transaction is not concluded")
		return c, false
	}
	c = r.conclusion(s.Transaction, *s.mined, state)
	c.Differs = differs
	return c, true
}

func (s seen) isPayment() bool { return isPayment(s.Transaction) }

// isPayment reports whether a transaction is about a payment of a platform, not an errand of the wallet.
func isPayment(t Transaction) bool {
	return t.Purpose == Payout || t.Purpose == Refund
}

// conclusion returns what is stored of a transaction that has ended in a block.
func (r *Rail) conclusion(t Transaction, mined receipt, state State) Conclusion {
	c := Conclusion{State: state, Hash: eth.Hash(mined.Hash), Block: mined.block(), Fee: mined.fee(), Native: r.chain.native,
		Changed: isPayment(t), At: r.clock.Now()}
	c.Holdings = r.holdings(t, c.State, c.Fee)
	return c
}

// holdings returns how a transaction has changed what deposit addresses hold.
func (r *Rail) holdings(t Transaction, state State, fee *big.Int) []Holding {
	change := func(address eth.Address, c money.Currency, received, sent *big.Int) Holding {
		return Holding{Address: address, Currency: c, Received: received, Sent: sent, Wallet: t.isAtWallet()}
	}
	var changes []Holding
	switch {
	case t.Purpose == TopUp && state == Confirmed:
		changes = append(changes, change(t.Recipient, r.chain.native, t.Value, new(big.Int)))
		for currency := range r.sweepFrom { // so that the sweep goes on at once
			changes = append(changes, change(t.Recipient, currency, new(big.Int), new(big.Int)))
		}
	case t.Purpose == WalletTopUp && state == Confirmed:
		changes = append(changes, change(t.Recipient, r.chain.native, t.Value, new(big.Int)))
	case t.Purpose == WalletDebit:
		if t.isByOwner() {
			changes = append(changes, change(t.Sender, r.chain.native, new(big.Int), fee))
		}
		if state == Confirmed {
			changes = append(changes, change(t.payer(), t.Currency, new(big.Int), t.Amount))
		}
	case (t.Purpose == WalletCredit || t.Purpose == WalletRefund) && state == Confirmed:
		changes = append(changes, change(t.Recipient, t.Currency, t.Amount, new(big.Int)))
	case t.Purpose == Sweep:
		changes = append(changes, change(t.Sender, r.chain.native, new(big.Int), fee))
		if state == Confirmed {
			changes = append(changes, change(t.Sender, t.Currency, new(big.Int), t.Amount))
		}
	}
	return changes
}

// isLost reports whether every node says that another transaction has the nonce of a transaction, in a block that is final
// by the number of confirmations and by the chain's own rules, and that none of its versions is known. A node that does
// not answer leaves it open.
func (r *Rail) isLost(ctx context.Context, h head, t Transaction) bool {
	if !h.any {
		return false
	}
	for _, n := range r.nodes.list {
		var final, finalized hexUint
		sender := eth.FormatAddress(t.Sender)
		byTag := &request{Method: "eth_getTransactionCount", Params: []any{sender, "finalized"}, Result: &finalized}
		requests := []*request{byTag, {Method: "eth_getTransactionCount", Params: []any{sender, quantity(h.final)}, Result: &final}}
		known := make([]any, len(t.Attempts))
		mined := make([]*receipt, len(t.Attempts))
		for i, a := range t.Attempts {
			requests = append(requests, &request{Method: "eth_getTransactionByHash", Params: []any{eth.FormatHash(a.Hash)}, Result: &known[i]},
				&request{Method: "eth_getTransactionReceipt", Params: []any{eth.FormatHash(a.Hash)}, Result: &mined[i]})
		}
		if err := r.nodes.sendTo(ctx, n, requests); err != nil {
			return false
		}
		for _, request := range requests {
			if request.Err != nil && request != byTag {
				return false
			}
		}
		if uint64(final) <= t.Nonce || byTag.Err == nil && uint64(finalized) <= t.Nonce {
			return false
		}
		for i := range t.Attempts {
			if known[i] != nil || mined[i] != nil {
				return false
			}
		}
	}
	return true
}

// isForgotten reports whether a transfer that no record has may be the one of a transaction: a version of it that the database has lost.
// Then the payment is neither refunded nor made anew: it stays open for an operator.
func (r *Rail) isForgotten(ctx context.Context, t Transaction) bool {
	made := madeAt(t.Subject)
	if made.IsZero() { // what has its nonce was in no block when it was signed
		made = t.CreatedAt
	}
	forgotten, err := r.store.UnknownTransfers(ctx, r.name, []WantedTransfer{{t, made}})
	if err != nil || forgotten[0] {
		r.log.WithError(err).WithField("subject", t.Subject).Error("another transaction has the nonce of a payment, and pays the same, or it " +
			"cannot be known whether; look at it in causeway rails inbox list")
	}
	return err != nil || forgotten[0]
}

// checkConcluded asks again about transactions in blocks after one, and takes back how they have ended if their blocks
// vanished.
func (r *Rail) checkConcluded(ctx context.Context, after uint64) error {
	for {
		page, err := r.store.ConcludedTransactions(ctx, r.name, after, pageSize)
		if err != nil || len(page) == 0 {
			return err
		}
		numbers := make([]uint64, len(page))
		for i, t := range page {
			numbers[i] = t.Block.Number
		}
		blocks, err := r.blocksAt(ctx, distinct(numbers))
		if err != nil {
			return err
		}
		for _, t := range page {
			b := blocks[t.Block.Number]
			if b == nil || eth.Hash(b.Hash) == t.Block.Hash {
				continue // a node that lags does not know the block yet
			}
			if err := r.reopen(ctx, t); err != nil {
				return err
			}
		}
		if len(page) < pageSize {
			return nil
		}
		if last := page[len(page)-1].Block.Number; last > after+1 {
			after = last - 1
		} else {
			after++
		}
	}
}

// reopen makes a transaction pending whose block vanished.
func (r *Rail) reopen(ctx context.Context, t Transaction) error {
	r.log.WithField("transaction", eth.FormatHash(t.Hash)).WithField("block", t.Block.Number).Warn("the block of a transaction vanished; it " +
		"is sent again")
	c := Conclusion{State: Pending, Native: r.chain.native, Changed: isPayment(t), At: r.clock.Now()}
	for _, change := range r.holdings(t, t.State, t.Fee) {
		change.Received, change.Sent = new(big.Int).Neg(change.Received), new(big.Int).Neg(change.Sent)
		c.Holdings = append(c.Holdings, change)
	}
	_, err := r.store.Conclude(ctx, t, c)
	return err
}
