package evm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/eth"
	"causeway/ports"
)

// creditPause is how long a transfer to a wallet is not made again after it has failed, for each time that it has: what it costs is lost.
const creditPause = 10 * time.Minute

// creditAgain returns the outcome of a payment that the ledger shows in its wallet although its transfer has failed: that of another one,
// which is made once none of those before can be in a block any more.
func (r *Rail) creditAgain(ctx context.Context, o order) ports.Outcome {
	log := r.log.WithField("subject", o.subject)
	sent, err := r.creditsOf(ctx, o.subject)
	if err != nil {
		log.WithError(err).Warn("the transfers of a payment to a wallet are not read; will retry")
		return ports.Outcome{Verdict: ports.Unknown}
	}
	o.subject = creditSubject(o.subject, len(sent))
	var open *Transaction
	for _, t := range sent {
		switch t.State {
		case Confirmed:
			return r.outcome(t)
		case Pending:
			open = &t
		default:
		}
	}
	if open != nil {
		o.subject = open.Subject
	} else if why, at, err := r.whyNotAgain(ctx, o, sent); err != nil || why != "" {
		log.WithError(err).Warn("a transfer to a wallet has failed, and is not made again at present: " + why)
		if err != nil {
			return ports.Outcome{Verdict: ports.Unknown}
		}
		outcome := r.waiting(why)
		outcome.RetryAt = later(outcome.RetryAt, at)
		return outcome
	}
	outcome := r.transfer(ctx, WalletCredit, 1, func(int) (order, *ports.Outcome) { return o, nil })[0]
	if outcome.Verdict == ports.Refused && outcome.Accepted { // it has failed just now
		outcome = r.waiting("the transfer has failed, and is made again: " + outcome.Text)
	}
	return outcome
}

// creditsOf returns the transfers of a payment to a wallet, in the order in which they were made.
func (r *Rail) creditsOf(ctx context.Context, payment uuid.UUID) (sent []Transaction, err error) {
	for {
		next, err := r.store.OfAnyConnection(ctx, r.name, WalletCredit, creditSubject(payment, len(sent)))
		if err != nil || len(next) == 0 {
			return sent, err
		}
		sent = append(sent, next[0])
	}
}

// creditSubject returns the subject of a transfer of a payment to a wallet: of the first one the payment. Subjects are unique, so each
// process makes the same transfer.
func creditSubject(payment uuid.UUID, before int) uuid.UUID {
	if before == 0 {
		return payment
	}
	return uuid.NewSHA1(payment, fmt.Appendf(nil, "causeway:evm:credit:%d", before))
}

// isMadeAgain reports whether a subject is that of a transfer after the first one.
func isMadeAgain(subject uuid.UUID) bool { return subject.Version() == derivedVersion }

// derivedVersion is that of ids that follow from other ids.
const derivedVersion = 5

// whyNotAgain returns why a payment to a wallet whose transfers have failed gets no other one at present, and until when if that is known;
// empty if it gets one.
func (r *Rail) whyNotAgain(ctx context.Context, o order, failed []Transaction) (why string, until time.Time, err error) {
	if len(failed) == 0 {
		return "", until, errors.New("no transfer is stored of it")
	}
	last := failed[len(failed)-1]
	if until = last.UpdatedAt.Add(time.Duration(len(failed)) * creditPause); r.clock.Now().Before(until) {
		why = fmt.Sprintf("the transfer has failed (%d); the next one is made from %s on", len(failed), until.UTC().Format(time.RFC3339))
		return why, until, nil
	}
	state, err := r.state(ctx) // before the events: those of later blocks are asked for
	if err != nil {
		return "", until, err
	}
	switch found, err := r.hasUnstored(ctx, WantedTransfer{r.tokenTransfer(r.wallet, nil, o), o.made}, state.Position); {
	case err != nil:
		return "", until, err
	case found:
		why = perhapsPaid
	case last.State == Reverted && last.Connection == r.name && !r.staysInBlock(ctx, last):
		why = "the transfer has failed, and not all nodes say that its block is final"
	}
	return why, until, nil
}

// perhapsPaid says why a payment to a wallet is not made.
const perhapsPaid = "a transfer of this amount has left for the wallet, and no record has it; look at it in causeway rails inbox list"

// waitForForgotten has payments to wallets wait that may be made by a transfer that no record has: the database has lost it. It returns the
// indexes of the others. The blocks that were not read yet are asked for only if nonces are used there that no record has.
func (r *Rail) waitForForgotten(ctx context.Context, s *session, orders []order, fresh []int, outcomes []ports.Outcome) (others []int,
	err error) {
	wanted := make([]WantedTransfer, len(fresh))
	for n, i := range fresh {
		wanted[n] = WantedTransfer{r.tokenTransfer(r.wallet, nil, orders[i]), orders[i].made}
	}
	found, err := r.store.UnknownTransfers(ctx, r.name, wanted)
	if err != nil {
		return nil, err
	}
	known, err := r.store.KnowsNonces(ctx, r.name, r.wallet, s.position, s.funds.nonce)
	if err != nil {
		return nil, err
	}
	unread := make([]bool, len(fresh))
	if !known {
		if unread, err = r.unreadTransfers(ctx, wanted, s.position); err != nil {
			return nil, err
		}
	}
	for n, i := range fresh {
		if !found[n] && !unread[n] {
			others = append(others, i)
			continue
		}
		r.log.WithField("subject", orders[i].subject).Error("a payment to a wallet is not made: " + perhapsPaid)
		outcomes[i] = r.waiting(perhapsPaid)
	}
	return others, nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// staysInBlock reports whether every node says that the block of a transaction is final by the rules of the chain, as far as it has some.
func (r *Rail) staysInBlock(ctx context.Context, t Transaction) bool {
	for _, n := range r.nodes.list {
		var own, final *block
		byNumber := &request{Method: "eth_getBlockByNumber", Params: []any{quantity(t.Block.Number), false}, Result: &own}
		byTag := &request{Method: "eth_getBlockByNumber", Params: []any{finalized, false}, Result: &final}
		if err := r.nodes.sendTo(ctx, n, []*request{byNumber, byTag}); err != nil || byNumber.Err != nil {
			return false
		}
		if own == nil || eth.Hash(own.Hash) != t.Block.Hash || byTag.Err == nil && (final == nil || uint64(final.Number) < t.Block.Number) {
			return false
		}
	}
	return true
}
