package evm

import (
	"context"
	"errors"
	"math/big"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// codeExpired is the code of a transfer that the chain has not taken in time.
const codeExpired = "AUTHORIZATION_EXPIRED"

// lastMinutes is how long before the end of its time a transfer is no longer sent, in seconds: it would seldom be in a block in time.
const lastMinutes = 120

// decide sets the outcomes of transfers that have no transaction that can still succeed, by the state of their authorisations, and returns
// those that can be sent. A transfer is refused only once nothing can move it any more.
func (r *Rail) decide(ctx context.Context, open []debit, outcomes []ports.Outcome) (fresh []debit) {
	if len(open) == 0 {
		return nil
	}
	used, final, err := r.authorizations(ctx, open)
	if err != nil {
		r.log.WithError(err).Warn("authorisations not read; will retry")
		return nil
	}
	for i, d := range open {
		switch {
		case used[i]:
			outcomes[d.index] = ports.Outcome{Verdict: ports.Done, PartnerID: eth.FormatHash(d.authorization.Nonce)}
		case uint64(final.Timestamp) >= d.authorization.ValidBefore:
			outcomes[d.index] = ports.Outcome{Verdict: ports.Refused, Accepted: d.stored != nil, Reason: transaction.QuoteExecutionFailed,
				Code: codeExpired, Text: "the chain has not taken the transfer in the time that its owner has signed for"}
		case d.stored != nil:
			outcomes[d.index] = r.waiting("the contract has refused the transfer; it can no longer be sent, and fails at the end of its time")
		case uint64(final.Timestamp)+lastMinutes >= d.authorization.ValidBefore:
			outcomes[d.index] = r.waiting("the transfer is too late to be sent, and fails at the end of its time")
		default:
			fresh = append(fresh, d)
		}
	}
	return fresh
}

// authorizations returns whether each transfer was made as of the final block, as every node says that answers, and that block.
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
	requests := []*request{{Method: "eth_getBlockByNumber", Params: []any{at, false}, Result: &own}}
	replies := make([]hexBytes, len(open))
	for i, d := range open {
		call := eth.StateCall(d.authorization.From, d.authorization.Nonce)
		requests = append(requests, callContract(r.tokens[money.USDB], call, at, &replies[i]))
	}
	if err := r.nodes.sendTo(ctx, n, requests); err != nil {
		return nil, err
	}
	for _, request := range requests {
		if request.Err != nil {
			return nil, request.Err
		}
	}
	if own == nil || own.Hash != final.Hash {
		return nil, errors.New("the node has another final block")
	}
	used := make([]bool, len(open))
	for i, reply := range replies {
		word, err := eth.Uint(reply)
		if err != nil {
			return nil, err
		}
		used[i] = word.Sign() != 0
	}
	return used, nil
}

// sendDebits signs and sends transactions with the authorisations of wallets.
func (r *Rail) sendDebits(ctx context.Context, fresh []debit, outcomes []ports.Outcome) {
	session, wait, err := r.newSession(ctx)
	if err != nil {
		r.log.WithError(err).Warn("transfers from wallets not sent; will retry")
		return
	}
	if wait != "" {
		for _, d := range fresh {
			outcomes[d.index] = r.waiting(wait)
		}
		return
	}
	now := r.clock.Now()
	calls := make([]Transaction, len(fresh))
	for i, d := range fresh {
		calls[i] = Transaction{Connection: r.name, Sender: r.wallet, Path: r.keyPath(eth.HotPath()), Purpose: WalletDebit, Subject: d.subject,
			Platform: d.platform, To: r.tokens[money.USDB], Value: new(big.Int),
			Data:      eth.ReceiveCall(d.authorization, d.signed.V, d.signed.R, d.signed.S),
			Recipient: r.wallet, Currency: money.USDB, Amount: d.authorization.Value, State: Pending, CreatedAt: now, UpdatedAt: now}
	}
	estimates, err := r.estimate(ctx, calls)
	if err != nil {
		r.log.WithError(err).Warn("gas not estimated; will retry")
		return
	}
	var added []Transaction
	for i, d := range fresh {
		if isRevert(estimates[i].err) { // as long as nothing was sent, it can pass later, or fails at the end of its time
			outcomes[d.index] = r.waiting("the contract does not take the transfer at present: " + estimates[i].err.Error())
			continue
		}
		outcomes[d.index] = withoutReturns(r.sendOne(ctx, session, calls[i], estimates[i], &added))
	}
	r.broadcast(ctx, added)
}
