package transaction

import (
	"time"

	"causeway/core/money"
	"causeway/ledger"
)

// header returns the header of a posting of this transaction. A transaction has each kind of posting
// at most once, so the id is derived from the transaction and the kind, and posting it again has no
// effect.
func (t Transaction) header(kind ledger.Kind, at time.Time) ledger.Header {
	return ledger.Header{ID: ledger.DerivedID(t.ID.UUID(), kind, 0), Platform: t.Platform, Transaction: t.ID,
		Effective: at, Memo: t.Reference}
}

// creditPosting returns the posting that credits the account of an incoming transaction.
func (t Transaction) creditPosting(at time.Time) ledger.Posting {
	funds := ledger.IncomingFunds{Partner: t.SourceAccount, To: t.DestinationAccount, Amount: t.Pricing.Received}
	if t.isPulled() {
		return ledger.TransferIn(t.header(ledger.KindTransferIn, at), funds)
	}
	return ledger.Deposit(t.header(ledger.KindDeposit, at), funds)
}

func (t Transaction) received(amount money.Amount, at time.Time) ledger.Posting {
	return ledger.JITReceived(t.header(ledger.KindJITReceived, at), t.SourceAccount, amount)
}

// holdingAccount returns the ledger path that holds the money before it is converted.
func (t Transaction) holdingAccount() string {
	if t.Flow().Funding == Balance {
		return t.SourceAccount
	}
	return ledger.FundingJIT
}

// converted returns the posting that converts the money if necessary, and moves it to the internal
// account that receives it or into transit.
func (t Transaction) converted(at time.Time) ledger.Posting {
	flow, p := t.Flow(), t.Pricing
	to, feesTo := ledger.TransitPayouts, ledger.PlatformFeesPending
	if flow.Internal {
		to, feesTo = t.DestinationAccount, ledger.PlatformFees
	}
	serviceFees := p.Fees - p.PlatformFees
	if !flow.Converts {
		return ledger.TransferOut(t.header(ledger.KindTransferOut, at), ledger.OutgoingFunds{From: t.holdingAccount(), To: to,
			Amount: p.Received, Fees: serviceFees, PlatformFees: p.PlatformFees, PlatformFeesTo: feesTo})
	}
	return ledger.Converted(t.header(ledger.KindConverted, at), ledger.Conversion{
		From: t.holdingAccount(), To: to,
		Sent: p.Sent, Fees: serviceFees, PlatformFees: p.PlatformFees, PlatformFeesTo: feesTo, RoundingSent: p.RoundingSent,
		Received: p.Received, RoundingReceived: p.RoundingReceived,
	})
}

// conversionReversed returns the reversal of converted: the same entries with debit and credit
// swapped, at its own time.
func (t Transaction) conversionReversed(at time.Time) ledger.Posting {
	return ledger.Reverse(t.converted(at), ledger.DerivedID(t.ID.UUID(), ledger.KindReversal, 0), at, t.Reference)
}

func (t Transaction) walletDebited(at time.Time) ledger.Posting {
	return ledger.WalletDebit(t.header(ledger.KindWalletDebit, at), t.SourceAccount, t.Pricing.Sent)
}

// walletDebitReversed returns the reversal of walletDebited.
func (t Transaction) walletDebitReversed(at time.Time) ledger.Posting {
	return ledger.Reverse(t.walletDebited(at), ledger.DerivedID(t.ID.UUID(), ledger.KindReversal, 0), at, t.Reference)
}

func (t Transaction) delivered(at time.Time) ledger.Posting {
	if t.Flow().ToWallet {
		return ledger.WalletCredit(t.header(ledger.KindWalletCredit, at), t.DestinationAccount, t.Pricing.Received).
			EarningPlatformFees(t.platformFees())
	}
	return ledger.Delivered(t.header(ledger.KindDelivered, at), t.DestinationAccount, t.Pricing.Received).
		EarningPlatformFees(t.platformFees())
}

func (t Transaction) platformFees() money.Amount {
	return money.Amount{Minor: t.Pricing.PlatformFees, Currency: t.Pricing.Sent.Currency}
}

func (t Transaction) returned(at time.Time) ledger.Posting {
	return ledger.Returned(t.header(ledger.KindReturned, at), t.DestinationAccount, t.Pricing.Received).
		LosingPlatformFees(t.platformFees())
}

func (t Transaction) refundOwed(at time.Time) ledger.Posting {
	return ledger.RefundOwed(t.header(ledger.KindRefundOwed, at), t.holdingAccount(), t.Refundable())
}

func (t Transaction) refundPaid(to string, at time.Time) ledger.Posting {
	return ledger.RefundPaid(t.header(ledger.KindRefundPaid, at), to, t.Refundable())
}

func (t Transaction) refundFailed(at time.Time) ledger.Posting {
	return ledger.RefundFailed(t.header(ledger.KindRefundFailed, at), t.Refundable())
}
