package evm

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/evm/eth"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// The codes with which a payment is refused. The first ones are decided before anything is signed.
const (
	codeInvalidAddress = "INVALID_ADDRESS"
	codeWrongChain     = "WRONG_CHAIN"
	codeUnsupported    = "UNSUPPORTED"
	codeNoPayer        = "NO_PAYER"
	codeContractPayer  = "CONTRACT_PAYER"
	codeReverted       = "REVERTED"
	codeNonceUsed      = "NONCE_USED"
)

// returnWatch is how long a payment is looked at again after it was delivered.
const returnWatch = 24 * time.Hour

// order is a transfer of a token from the wallet.
type order struct {
	subject   uuid.UUID
	platform  ident.Platform
	recipient eth.Address
	currency  money.Currency
	amount    *big.Int
	// made is when the payment was made, of one to an embedded wallet.
	made time.Time
}

// Send sends payouts.
func (r *Rail) Send(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	return r.transfer(ctx, Payout, len(payouts), func(i int) (order, *ports.Outcome) {
		p := payouts[i]
		return r.order(p.Transaction.ID.UUID(), p.Transaction.Platform, p.Account, p.Transaction.Pricing.Received)
	})
}

// Refund sends money back to the address that it came from.
func (r *Rail) Refund(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return r.transfer(ctx, Refund, len(refunds), func(i int) (order, *ports.Outcome) {
		f := refunds[i]
		if f.Internal {
			return order{subject: f.ID}, &ports.Outcome{Verdict: ports.Done}
		}
		if f.Original.Payer == nil {
			return order{subject: f.ID}, refusal(codeNoPayer, "the payer's address is unknown")
		}
		return r.order(f.ID, f.Platform, *f.Original.Payer, f.Amount)
	})
}

// Status returns the present outcomes. A payout that was never sent is unknown.
func (r *Rail) Status(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
	subjects := make([]uuid.UUID, len(payouts))
	for i, p := range payouts {
		subjects[i] = p.Transaction.ID.UUID()
	}
	outcomes := make([]ports.Outcome, len(payouts))
	stored, err := r.present(ctx, Payout, subjects)
	if err != nil {
		r.log.WithError(err).Warn("status of payouts not read; will retry")
	}
	for i, subject := range subjects {
		outcomes[i].Verdict = ports.Unknown
		if t, ok := stored[subject]; ok {
			outcomes[i] = r.outcome(t)
		}
	}
	return outcomes
}

// Collect refuses: nobody can take money from an address of another.
func (r *Rail) Collect(_ context.Context, collections []ports.Collection) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(collections))
	for i := range outcomes {
		outcomes[i] = ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed, Code: codeUnsupported,
			Text: "money cannot be collected from an address on a chain"}
	}
	return outcomes
}

// CollectionStatus returns Unknown: there are no collections.
func (r *Rail) CollectionStatus(_ context.Context, collections []ports.Collection) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(collections))
	for i := range outcomes {
		outcomes[i].Verdict = ports.Unknown
	}
	return outcomes
}

// order returns what is to be transferred, or the outcome of what can never be.
func (r *Rail) order(subject uuid.UUID, p ident.Platform, to account.External, amount money.Amount) (order, *ports.Outcome) {
	o := order{subject: subject, platform: p, currency: amount.Currency, amount: big.NewInt(amount.Minor)}
	if _, ok := r.tokens[amount.Currency]; !ok || amount.Minor <= 0 {
		return o, refusal(codeUnsupported, fmt.Sprintf("%s is not sent on %s", amount.Currency, r.rail))
	}
	if to.Type != r.chain.account {
		return o, refusal(codeWrongChain, fmt.Sprintf("an account of the type %s is not on %s", to.Type, r.rail))
	}
	var err error
	if o.recipient, err = eth.ParseAddress(to.Fields["address"]); err != nil {
		return o, refusal(codeInvalidAddress, err.Error())
	}
	if r.isForbidden(o.recipient) {
		return o, refusal(codeInvalidAddress, "the address is that of nobody, of a token or of this wallet")
	}
	return o, nil
}

// isForbidden reports whether money that is sent to an address is lost, or does not leave the wallet.
func (r *Rail) isForbidden(a eth.Address) bool {
	if a == (eth.Address{}) || a == r.wallet {
		return true
	}
	for _, contract := range r.tokens {
		if a == contract {
			return true
		}
	}
	return false
}

func refusal(code, text string) *ports.Outcome {
	return &ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, Code: code, Text: text}
}

// transfer returns the outcomes of orders. Those that have a transaction are looked at first, so that nothing that was
// signed is ever refused for another reason.
func (r *Rail) transfer(ctx context.Context, purpose Purpose, n int, at func(int) (order, *ports.Outcome)) []ports.Outcome {
	outcomes := make([]ports.Outcome, n)
	orders := make([]order, n)
	final := make([]*ports.Outcome, n)
	subjects := make([]uuid.UUID, n)
	for i := range outcomes {
		outcomes[i].Verdict = ports.Unknown
		orders[i], final[i] = at(i)
		subjects[i] = orders[i].subject
	}
	stored, err := r.present(ctx, purpose, subjects)
	if err != nil {
		r.log.WithError(err).Warn("transactions not read; will retry")
		return outcomes
	}
	var fresh []int
	for i, subject := range subjects {
		switch t, ok := stored[subject]; {
		case ok:
			outcomes[i] = r.outcome(t)
		case final[i] != nil:
			outcomes[i] = *final[i]
		default:
			fresh = append(fresh, i)
		}
	}
	if len(fresh) > 0 {
		r.sendNew(ctx, purpose, orders, fresh, outcomes)
	}
	return outcomes
}

// present returns the transactions of subjects as the chain has them now, as far as a node can be asked.
func (r *Rail) present(ctx context.Context, purpose Purpose, subjects []uuid.UUID) (map[uuid.UUID]Transaction, error) {
	stored, err := r.store.Transactions(ctx, r.name, purpose, subjects)
	if err != nil {
		return nil, err
	}
	if changed, err := r.refresh(ctx, stored); err != nil {
		r.log.WithError(err).Warn("transactions not checked; will retry")
	} else if changed {
		if stored, err = r.store.Transactions(ctx, r.name, purpose, subjects); err != nil {
			return nil, err
		}
	}
	found := make(map[uuid.UUID]Transaction, len(stored))
	for _, t := range stored {
		found[t.Subject] = t
	}
	return found, nil
}

// outcome returns the outcome that the state of a transaction stands for.
func (r *Rail) outcome(t Transaction) ports.Outcome {
	o := ports.Outcome{Verdict: ports.Waiting, Accepted: true, Text: "sent; waiting for confirmations",
		RetryAt: r.clock.Now().Add(r.retryDelay())}
	switch t.State {
	case Confirmed:
		o = ports.Outcome{Verdict: ports.Done, PartnerID: eth.FormatHash(t.Hash), TransactionHash: eth.FormatHash(t.Hash)}
		if until := t.UpdatedAt.Add(returnWatch); until.After(r.clock.Now()) {
			o.RetryAt = until
		}
	case Reverted:
		o = ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: transaction.CounterpartyPostFailed, PartnerID: eth.FormatHash(t.Hash),
			Code: codeReverted, Text: "the contract refused the transfer"}
	case Lost:
		o = ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: transaction.CounterpartyPostFailed,
			Code: codeNonceUsed, Text: "another program has used the nonce of the transaction, so it can never be in a block"}
	default:
		if t.Settled { // its block vanished, and it is sent again
			o = ports.Outcome{Verdict: ports.Done, RetryAt: o.RetryAt}
		}
	}
	if o.Verdict == ports.Refused && t.Settled {
		o.Verdict, o.Reason, o.ReturnedAt = ports.Returned, "", t.UpdatedAt
	}
	return o
}

// sendNew signs and sends the orders with the given indexes.
func (r *Rail) sendNew(ctx context.Context, purpose Purpose, orders []order, fresh []int, outcomes []ports.Outcome) {
	session, wait, err := r.newSession(ctx)
	if err != nil {
		r.log.WithError(err).Warn("payments not sent; will retry")
		return
	}
	if wait != "" {
		for _, i := range fresh {
			outcomes[i] = r.waiting(wait)
		}
		return
	}
	switch purpose {
	case Refund:
		if fresh, err = r.refuseContracts(ctx, orders, fresh, outcomes); err != nil {
			r.log.WithError(err).Warn("payers of refunds not looked up; will retry")
		}
	case WalletCredit, WalletRefund:
		if fresh, err = r.waitForForgotten(ctx, session, orders, fresh, outcomes); err != nil {
			r.log.WithError(err).Warn("forgotten payments to wallets not looked up; will retry")
		}
	default:
	}
	if len(fresh) == 0 {
		return
	}
	calls := make([]Transaction, len(fresh))
	for n, i := range fresh {
		calls[n] = r.tokenTransfer(r.wallet, r.keyPath(eth.HotPath()), orders[i])
		calls[n].Purpose = purpose
	}
	estimates, err := r.estimate(ctx, calls)
	if err != nil {
		r.log.WithError(err).Warn("payments not sent; will retry")
		return
	}
	var added []Transaction
	for n, i := range fresh {
		outcomes[i] = r.sendOne(ctx, session, calls[n], estimates[n], &added)
	}
	r.broadcast(ctx, added)
}

// recipientGas is what a transfer costs more if its recipient has spent everything since it was estimated. What is not used
// is not paid.
const recipientGas = 20_000

// delegation is what the code of an address begins with whose owner has a key and lets a contract act for it (EIP-7702).
var delegation = []byte{0xef, 0x01, 0x00}

// refuseContracts refuses refunds whose payer is a contract, and returns the indexes of the others. What is sent to an
// exchange, a bridge or a wallet shared by many is often credited to nobody, and the payer did not name it to be paid.
func (r *Rail) refuseContracts(ctx context.Context, orders []order, fresh []int, outcomes []ports.Outcome) (others []int, err error) {
	codes := make([]hexBytes, len(fresh))
	requests := make([]*request, len(fresh))
	for n, i := range fresh {
		requests[n] = &request{Method: "eth_getCode", Params: []any{eth.FormatAddress(orders[i].recipient), "latest"}, Result: &codes[n]}
	}
	if err := r.nodes.call(ctx, requests...); err != nil {
		return nil, err
	}
	for n, i := range fresh {
		if len(codes[n]) == 0 || bytes.HasPrefix(codes[n], delegation) {
			others = append(others, i)
			continue
		}
		outcomes[i] = *refusal(codeContractPayer, "the payer "+eth.FormatAddress(orders[i].recipient)+
			" is a contract, which may credit nobody: ask the payer for an address, and pay it out to that")
	}
	return others, nil
}

// sendOne signs and stores one transaction.
func (r *Rail) sendOne(ctx context.Context, s *session, t Transaction, e estimate, added *[]Transaction) ports.Outcome {
	if e.err != nil {
		return r.refusedByEstimate(ctx, s, t, e)
	}
	t.GasLimit = e.gas + recipientGas
	stored, addition, wait, err := r.add(ctx, s, t)
	switch {
	case err != nil:
		r.log.WithError(err).Warn("payment not sent; will retry")
		return ports.Outcome{Verdict: ports.Unknown}
	case wait != "":
		return r.waiting(wait)
	case addition == Added:
		*added = append(*added, stored)
	}
	return r.outcome(stored)
}

// refusedByEstimate returns the outcome of a transfer that a node says would fail. Only a contract that takes the same
// amount for the wallet itself, and not for the beneficiary, refuses the beneficiary; anything else may pass.
func (r *Rail) refusedByEstimate(ctx context.Context, s *session, t Transaction, e estimate) ports.Outcome {
	if !isRevert(e.err) {
		r.log.WithError(e.err).Warn("gas not estimated; will retry")
		return ports.Outcome{Verdict: ports.Unknown}
	}
	if s.funds.tokens[t.Currency].Cmp(t.Amount) < 0 {
		return r.waiting(tooLittle(t, s.funds.tokens[t.Currency]))
	}
	self := r.tokenTransfer(r.wallet, t.Path, order{recipient: r.wallet, currency: t.Currency, amount: t.Amount})
	if own, err := r.estimate(ctx, []Transaction{self}); err == nil && own[0].err == nil {
		return *refusal(codeReverted, "the contract does not transfer to this address: "+e.err.Error())
	}
	return r.waiting("the contract transfers nothing at present: " + e.err.Error())
}

func tooLittle(t Transaction, available *big.Int) string {
	return fmt.Sprintf("the wallet has %s minor units of %s, of which some may be on their way out; %s are needed", available,
		t.Currency, t.Amount)
}

func (r *Rail) waiting(text string) ports.Outcome {
	return ports.Outcome{Verdict: ports.Waiting, Text: text, RetryAt: r.clock.Now().Add(r.retryDelay())}
}
