package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

// debit is a transfer from an embedded wallet whose outcome is not stored.
type debit struct {
	wallet.ChainTransfer
	index  int
	stored *Transaction // that has failed; nil for none
	from   eth.Address
	// contract and to are those that its owner has signed for.
	contract, to eth.Address
	// elsewhere: these, or the chain, are those of another connection, which may have sent its authorisation.
	elsewhere bool
}

// debitTransaction returns a transaction of the transfer with a call, without its nonce and gas.
func (r *Rail) debitTransaction(d debit, purpose Purpose, data []byte) Transaction {
	t := r.tokenTransfer(r.wallet, r.keyPath(eth.HotPath()),
		order{subject: d.Transaction.UUID(), platform: d.Platform, recipient: r.wallet, currency: money.USDB, amount: big.NewInt(d.Value)})
	t.Purpose, t.Data = purpose, data
	return t
}

// Debit implements ports.WalletChain: what the keys of wallets sign moves tokens to the wallet of the connection, which pays the gas.
func (r *Rail) Debit(ctx context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(transfers))
	subjects := make([]uuid.UUID, len(transfers))
	for i, t := range transfers {
		outcomes[i].Verdict, subjects[i] = ports.Unknown, t.Transaction.UUID()
	}
	stored, err := r.present(ctx, WalletDebit, subjects)
	if err != nil {
		r.log.WithError(err).Warn("transactions not read; will retry")
		return outcomes
	}
	var open []debit
	for i, t := range transfers {
		before, known := stored[subjects[i]]
		if known && (before.State == Pending || before.State == Confirmed) {
			outcomes[i] = withoutReturns(r.outcome(before))
			continue
		}
		d, err := r.newDebit(ctx, i, t)
		switch {
		case fault.Is(err, fault.ServiceUnavailable):
		case err != nil && !known:
			outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed, Code: codeWrongChain, Text: err.Error()}
		case err != nil:
			r.log.WithError(err).WithField("subject", subjects[i]).Error("a transfer from a wallet is not decided")
		default:
			if known {
				d.stored = &before
			}
			open = append(open, d)
		}
	}
	fresh, used, final := r.decide(ctx, open, outcomes)
	if len(fresh) > 0 {
		r.sendDebits(ctx, fresh, outcomes)
	}
	r.decideUsed(ctx, used, final, outcomes)
	return outcomes
}

// newDebit returns a transfer from a wallet, or why it is none of this chain, contract and wallet of the connection. One by authorisation
// is returned anyway: its nonce and its time decide.
func (r *Rail) newDebit(ctx context.Context, index int, t ports.WalletTransfer) (d debit, err error) {
	via, err := r.Settlement(ctx)
	if err != nil {
		return d, err
	}
	d.index = index
	d.ChainTransfer, err = wallet.ParseChainTransfer(t.Payload)
	switch {
	case err != nil || d.Transaction != t.Transaction || d.Platform != t.Wallet.Platform || d.Account != t.Wallet.Account ||
		d.Value != t.Amount.Minor || t.Amount.Currency != money.USDB:
		return d, errors.New("its owner has signed for no transfer on this chain; create a new quote")
	}
	if d.from, err = r.wallets.Address(ctx, t.Wallet); err != nil {
		r.log.WithError(err).Error("the address of a wallet is not known; will retry")
		return d, fault.New(fault.ServiceUnavailable, "The custody is not available.")
	}
	authorization, domain, err := d.Authorization(d.from)
	d.contract, d.to = domain.Contract, authorization.To
	switch d.elsewhere = !d.IsVia(*via); {
	case !d.elsewhere:
		return d, err
	case d.Method == wallet.ByAuthorization && err == nil: // it is decided by its nonce and its time
		return d, nil
	}
	// A process that found another way before may be about to send it.
	if why, err := r.giveUp(ctx, d, 0); err != nil || why != "" {
		r.log.WithError(err).WithField("subject", d.Transaction).Warn("a transfer by another way is not refused; will retry: " + why)
		return d, fault.New(fault.ServiceUnavailable, "Whether the transfer was made is not known yet.")
	}
	return d, errElsewhere
}

// errElsewhere is the error for a transfer that is none of the connection.
var errElsewhere = errors.New("its owner has signed for another chain, token, recipient or method; create a new quote")

// signDebit signs a transfer with the key of the wallet.
func (r *Rail) signDebit(ctx context.Context, p ident.Platform, subject uuid.UUID, terms wallet.Terms) (wallet.SignedTransfer, error) {
	payment := ports.TransactionKey{Platform: p}
	payment.ID.SetUUID(subject)
	signed, err := r.wallets.SignTransfer(ctx, payment, terms)
	if err == nil && signed.Terms.Nonce != terms.Nonce {
		err = errOtherNonce
	}
	return signed, err
}

// errOtherNonce is the error for a transfer that was signed with another nonce before, which something else has used.
var errOtherNonce = errors.New("the nonce that the transfer was signed with is used: it cannot be sent, and fails at the end of its time")

// codeExpired is the code of a transfer that the chain has not taken in time.
const codeExpired = "AUTHORIZATION_EXPIRED"

// lastMinutes is how long before the end of its time a transfer is no longer sent, in seconds: it would seldom be in a block in time.
const lastMinutes = 120

// decide sets the outcomes of transfers that have no transaction that can still succeed, by the state of their authorisations, and returns
// those that can be sent, and those whose nonce was used as of the final block. A transfer is refused only once nothing can move it any
// more.
func (r *Rail) decide(ctx context.Context, open []debit, outcomes []ports.Outcome) (fresh, used []debit, final block) {
	if len(open) == 0 {
		return nil, nil, final
	}
	isUsed, final, err := r.authorizations(ctx, open)
	if err != nil {
		r.log.WithError(err).Warn("authorisations not read; will retry")
		return nil, nil, final
	}
	for i, d := range open {
		switch {
		case isUsed[i]:
			used = append(used, d)
		case int64(final.Timestamp) >= d.ValidBefore:
			switch why, err := r.giveUp(ctx, d, d.ValidBefore); {
			case err != nil:
				r.log.WithError(err).Warn("a transfer from a wallet is not refused; will retry")
			case why != "":
				outcomes[d.index] = r.waiting(why)
			default:
				outcomes[d.index] = expired(d)
			}
		case d.elsewhere:
			outcomes[d.index] = r.waiting("another connection may have sent it; if not, it fails at the end of its time: " + errElsewhere.Error())
		case d.stored != nil:
			outcomes[d.index] = r.waiting("the contract has refused the transfer; it can no longer be sent, and fails at the end of its time")
		case int64(final.Timestamp)+lastMinutes >= d.ValidBefore:
			outcomes[d.index] = r.waiting("the transfer is too late to be sent, and fails at the end of its time")
		default:
			fresh = append(fresh, d)
		}
	}
	return fresh, used, final
}

// expired refuses a transfer after its time.
func expired(d debit) ports.Outcome {
	return ports.Outcome{Verdict: ports.Refused, Accepted: d.stored != nil, Reason: transaction.QuoteExecutionFailed, Code: codeExpired,
		Text: "the chain has not taken the transfer in the time that its owner has signed for"}
}

// sendDebits takes the next step of transfers.
func (r *Rail) sendDebits(ctx context.Context, fresh []debit, outcomes []ports.Outcome) {
	session, wait, err := r.newSession(ctx)
	if err != nil {
		r.log.WithError(err).Warn("transfers from wallets not sent; will retry")
		return
	}
	var added []Transaction
	var authorized []debit
	for _, d := range fresh {
		switch {
		case wait != "":
			outcomes[d.index] = r.waiting(wait)
		case d.Method == wallet.ByAuthorization:
			authorized = append(authorized, d)
		default:
			outcome, err := r.takeStep(ctx, session, d, &added)
			outcomes[d.index] = r.stepOutcome(d, outcome, err)
		}
	}
	if len(authorized) > 0 {
		r.sendAuthorizations(ctx, session, authorized, outcomes, &added)
	}
	r.broadcast(ctx, added)
}

// stepOutcome returns the outcome of a step of a transfer.
func (r *Rail) stepOutcome(d debit, outcome ports.Outcome, err error) ports.Outcome {
	switch {
	case errors.Is(err, errOtherNonce), errors.Is(err, wallet.ErrTooLate):
		outcome = r.waiting(err.Error())
	case isRevert(err): // as long as nothing was sent, it can pass later, or fails at the end of its time
		outcome = r.waiting("the contract does not take the transfer at present: " + err.Error())
	case err != nil:
		r.log.WithError(err).WithField("subject", d.Transaction).Warn("a transfer from a wallet is not sent; will retry")
		return ports.Outcome{Verdict: ports.Unknown}
	}
	return withoutReturns(outcome)
}

// maxSigning is how many authorisations are signed at a time.
const maxSigning = 4

// sendAuthorizations sends authorisations, which the keys of the wallets sign.
func (r *Rail) sendAuthorizations(ctx context.Context, s *session, debits []debit, outcomes []ports.Outcome, added *[]Transaction) {
	calls := make([]Transaction, len(debits))
	failed := make([]error, len(debits))
	var signing errgroup.Group
	signing.SetLimit(maxSigning)
	for i, d := range debits {
		signing.Go(func() error {
			defer func() {
				if failure := recover(); failure != nil {
					failed[i] = fmt.Errorf("signing a transfer: %v", failure)
				}
			}()
			calls[i], failed[i] = r.authorizedTransfer(ctx, d)
			return nil
		})
	}
	_ = signing.Wait()
	var signed []Transaction
	var of []debit
	for i, d := range debits {
		if failed[i] != nil {
			outcomes[d.index] = r.stepOutcome(d, ports.Outcome{}, failed[i])
			continue
		}
		signed, of = append(signed, calls[i]), append(of, d)
	}
	estimates, err := r.estimate(ctx, signed)
	for i, d := range of {
		var outcome ports.Outcome
		failed := err
		if failed == nil {
			failed = estimates[i].err
		}
		if failed == nil {
			outcome = r.sendOne(ctx, s, signed[i], estimates[i], added)
		}
		outcomes[d.index] = r.stepOutcome(d, outcome, failed)
	}
}

// authorizedTransfer returns the transaction with an authorisation, which the key of the wallet signs.
func (r *Rail) authorizedTransfer(ctx context.Context, d debit) (t Transaction, err error) {
	signed, err := r.signDebit(ctx, d.Platform, d.Transaction.UUID(), wallet.Terms{})
	if err != nil {
		return t, err
	}
	authorization, _, err := d.Authorization(d.from)
	return r.debitTransaction(d, WalletDebit, eth.ReceiveCall(authorization, signed.V, signed.R, signed.S)), err
}

// sendEstimated sends a transaction of the wallet of the connection. The error is that of the contract, if it would refuse it.
func (r *Rail) sendEstimated(ctx context.Context, s *session, t Transaction, added *[]Transaction) (ports.Outcome, error) {
	estimates, err := r.estimate(ctx, []Transaction{t})
	if err = firstError(err, estimates); err != nil {
		return ports.Outcome{}, err
	}
	return r.sendOne(ctx, s, t, estimates[0], added), nil
}
