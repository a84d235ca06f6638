package evm

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"causeway/adapters/rails/feed"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// pollTimeout bounds the work of one poll.
	pollTimeout = 2 * time.Minute
	// referenceOverlap is how long before the last known reference the next read begins: an account or quote can be
	// committed after another one that was created later.
	referenceOverlap = 30 * time.Minute
	// quotesBefore is how long before the first poll quotes were made that get an address.
	quotesBefore    = 24 * time.Hour
	maxReferences   = 1000
	maxFillPages    = 50
	concludedWindow = 256 // blocks before the final one whose transactions are looked at again
)

// Poll reads the chain, attends to transactions, and reports what was found after a cursor: the number of an event.
func (r *Rail) Poll(ctx context.Context, cursor string) (ports.RailReport, error) {
	var failure error
	report, err := feed.Poll(ctx, r.name, cursor, feed.MaxEvents, func(ctx context.Context) (more bool, err error) {
		ctx, cancel := context.WithTimeout(ctx, pollTimeout)
		defer cancel()
		more, failure = r.work(ctx)
		return more, failure
	}, r.store.Events, r.report)
	if err == nil && failure != nil {
		r.log.WithError(failure).Warn("the chain was not read to its end; will retry")
	}
	return report, err
}

// report adds an event to a report, and returns its number.
func (r *Rail) report(report *ports.RailReport, e Event) int64 {
	switch e.Kind {
	case Received:
		payer := r.payerAccount(e.Payer, e.Amount.Currency)
		hash, _, _ := strings.Cut(e.PartnerID, ":")
		report.Receipts = append(report.Receipts, ports.RailReceipt{Payer: payer,
			Receipt: transaction.Receipt{Platform: e.Platform, Rail: r.rail, PartnerID: e.PartnerID, Reference: e.Reference,
				Amount: e.Amount, At: e.At, Originator: transaction.OriginatorOf(payer, transaction.Originator{}), TransactionHash: hash}})
	case Reversed:
		report.Reversals = append(report.Reversals, ports.ReceiptReversal{Platform: e.Platform, Rail: r.rail, Receipt: e.Receipt,
			PartnerID: e.PartnerID,
			Code:      "REORGANISED", Text: e.Memo, At: e.At})
	case Fee:
		report.Fees = append(report.Fees, ports.RailFee{Platform: e.Platform, Rail: r.rail, PartnerID: e.PartnerID, Amount: e.Amount,
			At: e.At, Memo: e.Memo})
	case Changed:
		report.Changed = append(report.Changed, ports.RailSubject{Platform: e.Platform, Subject: e.Subject})
	case Differs:
		report.Contradictions = append(report.Contradictions, contradictionOf(e))
	case Unknown:
		report.Contradictions = append(report.Contradictions, unknownTransfer(e))
	case Moved:
		report.Contradictions = append(report.Contradictions, movedByOwner(e))
	case Revoked:
		report.Contradictions = append(report.Contradictions, revoked(e))
	case Undone:
		report.Contradictions = append(report.Contradictions, undone(e))
	case Issued:
		report.Addresses = append(report.Addresses, ports.WalletAddress{Platform: e.Platform, Reference: e.Reference,
			Instruction: r.walletInstruction(e.Payer)})
	}
	return e.Number
}

// kinds are those of the payments that transactions are about; others are errands of the wallet.
var kinds = map[Purpose]rail.Kind{Payout: rail.Payout, Refund: rail.Refund}

// contradictionOf returns what was sent with a transaction, and what the contract has made of it.
func contradictionOf(e Event) rail.Contradiction {
	sent, arrived, taken := amountOf(e.Transfer.Sent, e.Amount.Currency), amountOf(e.Transfer.Arrived, e.Amount.Currency),
		amountOf(e.Transfer.Taken, e.Amount.Currency)
	c := rail.Contradiction{Platform: e.Platform, Name: e.PartnerID, Recorded: rail.Said{State: "SENT", Amount: sent, PartnerID: e.PartnerID},
		Reported: rail.Said{State: "ARRIVED", At: e.At, Amount: arrived, PartnerID: e.PartnerID,
			Text: fmt.Sprintf("%s was taken from the sender", taken)},
		Content: taken.String()}
	what := "sweep " + e.PartnerID
	if Purpose(e.Memo) == WalletDebit {
		var id ident.Transaction
		id.SetUUID(e.Subject)
		what = "payment " + id.String() + " of an embedded wallet"
	}
	if kind, is := kinds[Purpose(e.Memo)]; is {
		c.Kind, c.Subject, c.Name = kind, e.Subject, rail.EndToEndID(e.Subject)
		what = kind.Word() + " " + c.Name
	}
	c.Problem = fmt.Sprintf("the %s of %s is done, and the contract of the token has passed on %s and taken %s: decide who bears the fee, "+
		"pay what is missing, and post what has left beside the payment",
		what, sent, arrived, taken)
	return c
}

// amountOf returns an amount of a transfer; the largest that there is for one that is larger.
func amountOf(n *big.Int, currency money.Currency) money.Amount {
	amount := money.Amount{Minor: money.MaxMinor, Currency: currency}
	if n.IsInt64() && n.Int64() < amount.Minor {
		amount.Minor = n.Int64()
	}
	return amount
}

// work does what is due. more says that blocks are left to read.
func (r *Rail) work(ctx context.Context) (more bool, err error) {
	if err := r.checkContracts(ctx); err != nil {
		return false, err
	}
	state, err := r.state(ctx)
	if err != nil {
		return false, err
	}
	h, err := r.head(ctx)
	if err != nil {
		return false, err
	}
	switch position, err := r.checkPosition(ctx, state); {
	case err != nil:
		return false, err
	case position == positionChanged:
		return true, r.rewind(ctx, state)
	case position == positionKept:
		// Addresses are issued after the head was asked for, so that those of every block up to it are known.
		complete, err := r.issueAddresses(ctx)
		if err != nil || !complete {
			return true, err
		}
		if more, err = r.scan(ctx, state, h); err != nil {
			return false, err
		}
		h.read = !more
	default: // the node lags behind; there is nothing to read
	}
	if err := r.checkConcluded(ctx, max(h.final, concludedWindow)-concludedWindow); err != nil {
		return more, err
	}
	if err := r.attend(ctx, h); err != nil {
		return more, err
	}
	return more, r.sweep(ctx)
}

// issueAddresses derives the addresses of new references, and reports whether every reference has one.
func (r *Rail) issueAddresses(ctx context.Context) (complete bool, err error) {
	query := ReferenceQuery{Connection: r.name, Rail: r.rail, Currencies: r.connection.Currencies, Platforms: r.connection.Platforms,
		Overlap: referenceOverlap, QuotesFrom: r.clock.Now().Add(-quotesBefore), Limit: maxReferences, Wallets: r.asset != ""}
	for range maxFillPages {
		found, err := r.store.UnknownReferences(ctx, query)
		if err != nil {
			return false, err
		}
		addresses := make([]DepositAddress, len(found.References))
		for i, reference := range found.References {
			addresses[i].PlatformReference = reference
			if addresses[i].Address, err = r.addressOf(ctx, reference); err != nil {
				return false, err
			}
		}
		if err := r.store.AddAddresses(ctx, r.name, addresses, found.Read); err != nil {
			return false, err
		}
		if !found.More {
			return true, nil
		}
	}
	return false, nil
}
