package payments

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// debitWallets transfers what the owners of wallets have signed for, on their chain.
func (s *Service) debitWallets(ctx context.Context, jobs []ports.Job) error {
	began := time.Now()
	transactions, err := s.transactionsOf(ctx, jobs, isCollecting)
	if err != nil {
		return err
	}
	transfers, altered := make([]ports.WalletTransfer, len(transactions)), map[ident.Transaction]error{}
	var started callSpans
	for i, t := range transactions {
		s.startCall(&started, began, ports.CallCollect, &t)
		if !quote.PayloadMatches(t.Payload, t) {
			altered[t.ID] = notAsSigned(t)
		}
		transfers[i] = ports.WalletTransfer{Wallet: ports.WalletID{Platform: t.Platform, Account: t.Source.InternalAccount},
			Transfer: wallet.Transfer{Transaction: t.ID, Account: t.Source.InternalAccount, Amount: t.Pricing.Sent, Network: string(t.SourceRail),
				Payload: t.Payload}}
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	for i, o := range callChains(ctx, s, transfers,
		func(t *ports.WalletTransfer) ident.Platform { return t.Wallet.Platform },
		func(ctx context.Context, t *ports.WalletTransfer) (err error) {
			if err := altered[t.Transaction]; err != nil {
				return err // the key of the wallet signs only what its owner did
			}
			return s.authorize(ctx, t)
		},
		func(ctx context.Context, chain ports.WalletChain, batch []ports.WalletTransfer) []ports.Outcome {
			return chain.Debit(ctx, batch)
		}) {
		outcomes[transactionKey(transactions[i])] = o
	}
	started.endCalls(outcomes)
	return s.settleAnswers(ctx, jobs, answers{call: ports.CallCollect, outcomes: outcomes, spans: started, applies: isCollecting,
		settle: work.settleCollection})
}

// authorize has the key of a wallet certify a transfer, unless its payload says how it moves on a chain: that has it signed.
func (s *Service) authorize(ctx context.Context, t *ports.WalletTransfer) (err error) {
	if _, unsettled := wallet.ParseChainTransfer(t.Payload); unsettled != nil {
		t.Certificate, err = s.Custody.Sign(ctx, t.Wallet, t.Statement())
	}
	return err
}

// creditWallets transfers payments to wallets on their chain.
func (s *Service) creditWallets(ctx context.Context, jobs []ports.Job) error {
	return s.payWallets(ctx, jobs, func(t transaction.Transaction) bool { return t.State.InTransit() }, work.settlePayout)
}

// settleWallets transfers to wallets on their chain what payments to UMA addresses have credited: those are settled at once on both sides.
// It is repeated until the chain has done it, which makes a transfer again that has failed for good.
func (s *Service) settleWallets(ctx context.Context, jobs []ports.Job) error {
	return s.payWallets(ctx, jobs, isCreditedWallet, func(w work, t transaction.Transaction, o ports.Outcome) error {
		if o.Verdict != ports.Done {
			w.callAgain(t.Platform, transaction.StepSettleWallet, t.ID.UUID(), o)
		}
		return nil
	})
}

// isCreditedWallet reports whether a wallet was credited with a payment to a UMA address.
func isCreditedWallet(t transaction.Transaction) bool {
	return t.Type == transaction.Incoming && t.State.Status == transaction.Completed && t.Destination.UMA != "" &&
		ledger.IsWallet(t.DestinationAccount)
}

// payWallets transfers payments to wallets on their chain, whose state is still the one that the call is for.
func (s *Service) payWallets(ctx context.Context, jobs []ports.Job, applies func(transaction.Transaction) bool,
	settle func(work, transaction.Transaction, ports.Outcome) error) error {
	began := time.Now()
	transactions, err := s.transactionsOf(ctx, jobs, applies)
	if err != nil {
		return err
	}
	outcomes := map[ports.TransactionKey]ports.Outcome{}
	transactions = slices.DeleteFunc(transactions, func(t transaction.Transaction) bool { return s.refuseChanged(t, outcomes) })
	credits := make([]ports.WalletCredit, len(transactions))
	var started callSpans
	for i, t := range transactions {
		s.startCall(&started, began, ports.CallSend, &t)
		credits[i] = ports.WalletCredit{Transaction: t, Wallet: ports.WalletID{Platform: t.Platform, Account: t.Destination.InternalAccount},
			Amount: t.Pricing.Received, Credited: isCreditedWallet(t)}
	}
	for i, o := range s.credit(ctx, credits) {
		outcomes[transactionKey(transactions[i])] = o
	}
	started.endCalls(outcomes)
	return s.settleAnswers(ctx, jobs, answers{call: ports.CallSend, outcomes: outcomes, spans: started, applies: applies, settle: settle})
}

// transactionsOf returns the transactions of jobs for which the work is still to be done.
func (s *Service) transactionsOf(ctx context.Context, jobs []ports.Job, isWaiting func(transaction.Transaction) bool) (
	[]transaction.Transaction, error) {
	keys := uow.TransactionKeys(jobs)
	read, err := s.Store.TransactionsByKey(ctx, keys)
	return slices.DeleteFunc(inOrder(keys, read), func(t transaction.Transaction) bool { return !isWaiting(t) }), err
}

// credit calls the chains to transfer coins to wallets, and returns one outcome for each credit.
func (s *Service) credit(ctx context.Context, credits []ports.WalletCredit) []ports.Outcome {
	return callChains(ctx, s, credits,
		func(c *ports.WalletCredit) ident.Platform { return c.Wallet.Platform },
		func(ctx context.Context, c *ports.WalletCredit) (err error) {
			c.Key, err = s.Custody.WalletKey(ctx, c.Wallet)
			return err
		},
		func(ctx context.Context, chain ports.WalletChain, batch []ports.WalletCredit) []ports.Outcome {
			return chain.Credit(ctx, batch)
		})
}

// maxCustodyCalls is how many calls of custody run at the same time for the jobs of a batch.
const maxCustodyCalls = 4

// callChains prepares items with the help of custody and calls their chains. An item that cannot be
// prepared, or whose chain cannot be called, has the outcome Unknown.
func callChains[T any](ctx context.Context, s *Service, items []T, platformOf func(*T) ident.Platform,
	prepare func(context.Context, *T) error,
	call func(context.Context, ports.WalletChain, []T) []ports.Outcome) []ports.Outcome {
	if len(items) == 0 {
		return nil
	}
	outcomes, failed := make([]ports.Outcome, len(items)), make([]error, len(items))
	var preparing errgroup.Group
	preparing.SetLimit(maxCustodyCalls)
	for i := range items {
		preparing.Go(func() error {
			defer func() {
				if p := recover(); p != nil {
					failed[i] = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
			}()
			failed[i] = prepare(ctx, &items[i])
			return nil
		})
	}
	_ = preparing.Wait() // each error is that of its item
	var ready []T
	var positions []int
	for i := range items {
		if outcomes[i].Verdict = ports.Unknown; failed[i] != nil {
			s.Log.WithError(failed[i]).WithField("platform", platformOf(&items[i]).String()).Error("the key of a wallet cannot be used; will retry")
			continue
		}
		ready, positions = append(ready, items[i]), append(positions, i)
	}
	for n, outcome := range callRails(ctx, s, ready, s.Chains.ChainFor, func(item T) ident.Platform { return platformOf(&item) }, call) {
		outcomes[positions[n]] = outcome
	}
	return outcomes
}
