package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

// authorizations returns whether the nonce of each transfer was used as of the final block, as every node says that answers, and that
// block.
func (r *Rail) authorizations(ctx context.Context, open []debit) (used []bool, final block, err error) {
	h, err := r.head(ctx)
	if err != nil {
		return nil, final, err
	}
	blocks, err := r.blocksAt(ctx, []uint64{h.final})
	if err != nil {
		return nil, final, err
	}
	if !h.any || blocks[h.final] == nil {
		return nil, final, errors.New("there is no final block yet")
	}
	for _, n := range r.nodes.list {
		said, err := r.authorizationsOf(ctx, n, open, blocks[h.final])
		if err != nil {
			r.log.WithError(err).Warn("a node does not say which authorisations were used")
			continue
		}
		for i := range used {
			if used[i] != said[i] {
				return nil, final, errors.New("the nodes disagree about an authorisation; waiting until they agree")
			}
		}
		used = said
	}
	if used == nil {
		return nil, final, errors.New("no node says which authorisations were used")
	}
	return used, *blocks[h.final], nil
}

// authorizationsOf asks one node, which must have the same final block.
func (r *Rail) authorizationsOf(ctx context.Context, n *node, open []debit, final *block) ([]bool, error) {
	var own *block
	at := quantity(uint64(final.Number))
	header := &request{Method: "eth_getBlockByNumber", Params: []any{at, false}, Result: &own}
	requests := []*request{header}
	replies := make([]hexBytes, len(open))
	asked := make([]*request, len(open))
	for i, d := range open {
		if d.Method != wallet.ByAuthorization || d.ChainID != r.chain.id {
			continue // its transactions alone say whether it was made, or another chain does
		}
		asked[i] = callContract(d.contract, eth.StateCall(d.from, d.Nonce), at, &replies[i])
		requests = append(requests, asked[i])
	}
	if err := r.nodes.sendTo(ctx, n, requests); err != nil {
		return nil, err
	}
	switch {
	case header.Err != nil:
		return nil, header.Err
	case own == nil || own.Hash != final.Hash:
		return nil, errors.New("the node has another final block")
	}
	used := make([]bool, len(open))
	for i, reply := range replies {
		if asked[i] == nil {
			continue
		}
		word, err := eth.Uint(reply)
		if asked[i].Err != nil {
			err = asked[i].Err
		}
		switch {
		case err == nil:
			used[i] = word.Sign() != 0
		case !open[i].elsewhere || asked[i].Err != nil && !isRefusedCall(err):
			return nil, err
		default: // the contract of another connection may take no authorisations any more
		}
	}
	return used, nil
}

// codeUsed is the code of a transfer whose nonce was used by somebody else.
const codeUsed = "AUTHORIZATION_USED"

// useTimeout bounds the searches for the uses of nonces in one job.
const useTimeout = 10 * time.Second

// decideUsed sets the outcomes of transfers whose nonces are used as of the final block, as far as there is time: the others stay unknown,
// and are asked about again. The job keeps half of its time, to record the outcomes.
func (r *Rail) decideUsed(ctx context.Context, used []debit, final block, outcomes []ports.Outcome) {
	timeout := useTimeout
	if deadline, bounded := ctx.Deadline(); bounded {
		timeout = min(timeout, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	// In another order each time, so that a search without an end keeps no others from theirs.
	rand.Shuffle(len(used), func(i, j int) { used[i], used[j] = used[j], used[i] })
	for _, d := range used {
		if ctx.Err() != nil {
			return
		}
		outcomes[d.index] = r.outcomeOfUse(ctx, d, final)
	}
}

// outcomeOfUse returns the outcome of a transfer whose nonce is used as of the final block. That is no transfer yet: who has exported the
// key of the wallet can cancel the authorisation, or sign another one with its nonce. So the transaction that has used it decides.
func (r *Rail) outcomeOfUse(ctx context.Context, d debit, final block) ports.Outcome {
	log := r.log.WithField("subject", d.Transaction)
	u, err := r.useOf(ctx, d, final)
	switch {
	case err != nil:
		log.WithError(err).Warn("which transaction has used the nonce of a transfer is not known; will retry")
		return ports.Outcome{Verdict: ports.Unknown}
	case u == nil:
		return r.outcomeOfLateUse(ctx, d, final)
	}
	hash := eth.FormatHash(eth.Hash(u.Transaction))
	if u.paid {
		r.searches.end(d.Nonce)
		return ports.Outcome{Verdict: ports.Done, PartnerID: hash, TransactionHash: hash}
	}
	log.WithField("transaction", hash).Error("the owner of a wallet has used the nonce of a payment, which is refused")
	_, err = r.state(ctx) // it has the events
	if err == nil {
		err = r.store.Report(ctx, r.name, Event{Kind: Revoked, Platform: d.Platform, PartnerID: hash, Subject: d.Transaction.UUID(),
			Amount: money.Amount{Minor: d.Value, Currency: money.USDB}, Payer: d.from, At: u.at, Memo: d.Account.String()})
	}
	if err != nil {
		log.WithError(err).Warn("the use of a nonce is not reported; will retry")
		return ports.Outcome{Verdict: ports.Unknown}
	}
	r.searches.end(d.Nonce)
	return ports.Outcome{Verdict: ports.Refused, Accepted: d.stored != nil, Reason: transaction.QuoteExecutionFailed, Code: codeUsed,
		Text: "the owner of the wallet has cancelled it, or used its nonce for something else, with the transaction " + hash}
}

// outcomeOfLateUse returns the outcome of a transfer whose nonce is used, and not by a transaction that the node has in the time in which
// the transfer could be made.
func (r *Rail) outcomeOfLateUse(ctx context.Context, d debit, final block) ports.Outcome {
	why := "the nonce of the transfer is used, and the node has no event of that: it must keep the events of some hours"
	if !d.elsewhere && int64(final.Timestamp) >= d.ValidBefore {
		var err error
		if why, err = r.forgotten(ctx, d, d.ValidBefore); err != nil {
			r.log.WithError(err).Warn("a transfer from a wallet is not refused; will retry")
			return ports.Outcome{Verdict: ports.Unknown}
		}
	}
	if why == "" {
		return expired(d)
	}
	r.log.WithField("subject", d.Transaction).Error(why)
	return r.waiting(why)
}

// use is the transaction that has used the nonce of a transfer.
type use struct {
	event
	at   time.Time
	paid bool // it has made the transfer
}

// useOf returns the use of the nonce of a transfer until the final block, as all nodes say; nil if there is none in the time in which the
// transfer could be made.
func (r *Rail) useOf(ctx context.Context, d debit, final block) (*use, error) {
	found, err := r.findUse(ctx, d, final)
	if err != nil || found == nil {
		return nil, err
	}
	hash := eth.Hash(found.Transaction)
	var mined *receipt
	get := &request{Method: "eth_getTransactionReceipt", Params: []any{eth.FormatHash(hash)}, Result: &mined}
	if err := r.nodes.call(ctx, get); err != nil {
		return nil, err
	}
	hasUse := haveEvents([]event{*found})[hash]
	if err := hasUse(mined); err != nil {
		return nil, fmt.Errorf("the node that has an event %w", err)
	}
	times, err := r.timesOf(ctx, []transfer{{event: *found}})
	if err != nil {
		return nil, err
	}
	if doubt := r.agree(ctx, map[eth.Hash]func(*receipt) error{hash: func(own *receipt) error {
		if err := hasUse(own); err != nil || own.isLike(*mined) {
			return err
		}
		return fmt.Errorf("has another receipt of the transaction %s", eth.FormatHash(hash))
	}})[hash]; doubt != nil {
		return nil, doubt
	}
	u := &use{event: *found, at: times[uint64(found.BlockNumber)]}
	u.paid, err = r.hasPaid(d, *found, *mined)
	return u, err
}

// searches are how far the searches for the uses of nonces have come, so that a long one ends over several attempts: the use of each nonce
// is in a block before a number.
type searches struct {
	mu     sync.Mutex
	before map[eth.Hash]uint64
	// lastRange is how many blocks were read at once.
	lastRange atomic.Uint64
}

// maxSearches is how many searches are known; then they begin anew.
const maxSearches = 10_000

func (s *searches) reached(nonce eth.Hash) (before uint64, begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, begun = s.before[nonce]
	return before, begun
}

func (s *searches) reach(nonce eth.Hash, before uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before == nil || len(s.before) >= maxSearches {
		s.before = map[eth.Hash]uint64{}
	}
	s.before[nonce] = before
}

func (s *searches) end(nonce eth.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.before, nonce)
}

// findUse returns the event of the use of the nonce of a transfer, in the blocks in which the transfer could be made; nil if there is none.
// It reads from the last block of them back to when the payment was made.
func (r *Rail) findUse(ctx context.Context, d debit, final block) (*event, error) {
	before, begun := r.searches.reached(d.Nonce)
	if !begun {
		before = uint64(final.Number) + 1
		if int64(final.Timestamp) >= d.ValidBefore {
			var err error
			if before, err = r.blockSince(ctx, d.ValidBefore, uint64(final.Number)); err != nil {
				return nil, err
			}
		}
	}
	made := madeAt(d.Transaction.UUID()).Add(-outOfStep).Unix()
	kinds := []string{eth.FormatHash(eth.UsedTopic), eth.FormatHash(eth.CanceledTopic)}
	topics := []any{kinds, eth.AddressTopic(d.from), eth.FormatHash(d.Nonce)}
	for before > 0 {
		r.searches.reach(d.Nonce, before)
		from := before - min(r.searches.lastRange.Load(), before)
		last, events, err := r.readEvents(ctx, from, before-1, []string{eth.FormatAddress(d.contract)}, topics)
		switch {
		case err != nil: // also without an answer in time: the next attempt reads less
			if less := r.readsLess(context.WithoutCancel(ctx), &r.searches.lastRange, before-from, err); !less || ctx.Err() != nil {
				return nil, err
			}
			continue
		case last.Number == final.Number && last.Hash != final.Hash:
			return nil, errors.New("the chain has changed since its final block was read")
		}
		for _, e := range events {
			if is, _ := eth.IsUse(e.hashes(), d.from, d.Nonce); is && eth.Address(e.Address) == d.contract {
				return &e, nil
			}
		}
		r.readsMore(&r.searches.lastRange, events)
		if int64(last.Timestamp) < made {
			break
		}
		before = from
	}
	r.searches.end(d.Nonce)
	return nil, nil
}

// hasPaid reports whether a use is the transfer: by a transaction of the recipient, which alone can send the authorisation and sends the
// contract nothing else for this wallet, and with the tokens.
func (r *Rail) hasPaid(d debit, u event, mined receipt) (bool, error) {
	_, isTransfer := eth.IsUse(u.hashes(), d.from, d.Nonce)
	if !isTransfer || !isAddress(mined.From, d.to) || !isAddress(mined.To, d.contract) {
		return false, nil
	}
	arrived := new(big.Int)
	for _, e := range mined.Logs {
		t, ok := eth.DecodeTransfer(e.hashes(), e.Data)
		if ok && eth.Address(e.Address) == d.contract && t.From == d.from && t.To == d.to {
			arrived.Add(arrived, t.Amount)
		}
	}
	switch {
	case arrived.Sign() == 0:
		return false, errNoEvent
	case arrived.Cmp(big.NewInt(d.Value)) != 0:
		r.log.WithField("transaction", eth.FormatHash(eth.Hash(mined.Hash))).Errorf("of a transfer of %d, %s has arrived", d.Value, arrived)
	}
	return true, nil
}

// sections are as many blocks as are asked for at once to find the first one since a time.
const sections = 16

// blockSince returns the number of the first block from a time on; the one after the last one if there is none. It begins at the last one,
// because nodes may have forgotten old blocks.
func (r *Rail) blockSince(ctx context.Context, at int64, last uint64) (uint64, error) {
	first, end := uint64(0), last+1 // it is from first up to end
	narrow := func(numbers ...uint64) error {
		blocks, err := r.blocksAt(ctx, numbers)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			switch {
			case blocks[n] == nil:
				return fmt.Errorf("the node does not know block %d", n)
			case int64(blocks[n].Timestamp) >= at:
				end = n
				return nil
			}
			first = n + 1
		}
		return nil
	}
	for step := uint64(firstRange); first == 0 && step <= last; step *= 2 {
		if err := narrow(last - step); err != nil {
			return 0, err
		}
	}
	for first < end {
		numbers := make([]uint64, sections)
		for i := range numbers {
			numbers[i] = first + (end-first)*uint64(i+1)/(sections+1)
		}
		if err := narrow(distinct(numbers)...); err != nil {
			return 0, err
		}
	}
	return first, nil
}

// revoked says that the owner of a wallet has used up the nonce of a payment.
func revoked(e Event) rail.Contradiction {
	var id ident.Transaction
	id.SetUUID(e.Subject)
	return rail.Contradiction{Platform: e.Platform, Name: id.String(), Recorded: rail.Said{State: "FAILED", Amount: e.Amount},
		Reported: rail.Said{State: "NONCE_USED", At: e.At, Amount: e.Amount, PartnerID: e.PartnerID},
		Problem: fmt.Sprintf("%s of %s was not paid: who has exported the key of the embedded wallet %s has cancelled it, or used its nonce "+
			"for something else, with the transaction %s. The money is in the wallet; what that transaction has moved is in another report, "+
			"so post nothing for this one", e.Amount, id, e.Memo, e.PartnerID)}
}

// isAddress reports whether an address is there, and another one.
func isAddress(a *hexAddress, other eth.Address) bool { return a != nil && eth.Address(*a) == other }

// isLike reports whether two nodes say the same of a transaction.
func (r receipt) isLike(o receipt) bool {
	same := func(a, b *hexAddress) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	return r.Hash == o.Hash && r.BlockHash == o.BlockHash && r.Status == o.Status && same(r.From, o.From) && same(r.To, o.To) &&
		slices.EqualFunc(r.Logs, o.Logs, event.isSame)
}
