package transaction

import (
	"causeway/ledger"
)

// Funding is how a transaction is funded.
type Funding string

// The kinds of funding.
const (
	// JustInTime: the payer pays after the quote is created.
	JustInTime Funding = "JUST_IN_TIME"
	// Balance: an internal account is debited.
	Balance Funding = "BALANCE"
	// Pull: an external account is debited.
	Pull Funding = "PULL"
	// Wallet: an embedded wallet is debited, with its owner's signature.
	Wallet Funding = "WALLET"
)

// Flow is what determines the postings of a transaction.
type Flow struct {
	Type    Type
	Funding Funding
	// Internal: the destination is an internal account, so the payment is complete once it is
	// converted.
	Internal bool
	// ToWallet: the destination is an embedded wallet, which is paid on its chain. Transactions to a
	// wallet that name no rail are Internal: they are of a time when the wallet was credited at once.
	ToWallet bool
	// Invoiced: an incoming payment that is paid by an invoice, and may convert.
	Invoiced bool
	// Converts: the receiving currency differs from the sending one.
	Converts bool
}

// Flow returns the flow of the transaction.
func (t Transaction) Flow() Flow {
	inside := !t.Destination.InternalAccount.IsZero()
	flow := Flow{Type: t.Type, Funding: JustInTime, Internal: inside && t.DestinationRail == "", ToWallet: inside && t.DestinationRail != "",
		Converts: t.Pricing.Sent.Currency != t.Pricing.Received.Currency, Invoiced: t.isInvoiced()}
	switch {
	case t.Type == Outgoing && ledger.IsWallet(t.SourceAccount): // an incoming one is an assigned refund, which failed
		flow.Funding = Wallet
	case !t.Source.InternalAccount.IsZero():
		flow.Funding = Balance
	case !t.Source.ExternalAccount.IsZero():
		flow.Funding = Pull
	}
	return flow
}

// Accounts returns the ledger accounts of the internal accounts that pay and receive.
func (t Transaction) Accounts() []ledger.Account {
	var accounts []ledger.Account
	if !t.Source.InternalAccount.IsZero() {
		accounts = append(accounts, ledger.Account{Platform: t.Platform, Path: t.SourceAccount, Currency: t.Pricing.Sent.Currency})
	}
	if !t.Destination.InternalAccount.IsZero() {
		accounts = append(accounts, ledger.Account{Platform: t.Platform, Path: t.DestinationAccount, Currency: t.Pricing.Received.Currency})
	}
	return accounts
}

// Kinds returns the kinds of postings that a transaction with this flow has in state s, each
// exactly once: those of its payment, and then those of its refund.
func (f Flow) Kinds(s State) []ledger.Kind {
	if f.Type == Incoming {
		return f.incomingKinds(s)
	}
	kinds := f.fundingKinds(s)
	if s.Stage == Converted || s.Stage == Delivered {
		kinds = append(kinds, f.conversionKind())
	}
	if s.Stage == Delivered && !f.Internal {
		kinds = append(kinds, f.deliveryKind())
	}
	if s.Refund == NoRefund {
		return kinds
	}
	if s.Stage == Delivered {
		kinds = append(kinds, ledger.KindReturned)
	}
	if s.Stage != Received {
		kinds = append(kinds, ledger.KindReversal)
	}
	return append(kinds, s.Refund.kinds()...)
}

// kinds returns the kinds of the postings of a refund.
func (s RefundStatus) kinds() []ledger.Kind {
	switch s {
	case RefundPending:
		return []ledger.Kind{ledger.KindRefundOwed}
	case RefundCompleted:
		return []ledger.Kind{ledger.KindRefundOwed, ledger.KindRefundPaid}
	case RefundUnpaid:
		return []ledger.Kind{ledger.KindRefundOwed, ledger.KindRefundFailed}
	default:
		return nil
	}
}

// fundingKinds returns the kinds of the postings that fund an outgoing transaction in state s. A wallet
// is debited when the payment is executed, and has its money again if the chain refuses the transfer.
func (f Flow) fundingKinds(s State) []ledger.Kind {
	switch {
	case f.Funding == Balance:
		return nil
	case f.Funding != Wallet && s.Stage != NoFundsMoved:
		return []ledger.Kind{ledger.KindJITReceived}
	case f.Funding != Wallet || s.Status == Pending || s.Status == PendingAuthorization || s.Status == Expired ||
		s.Reason == SCANotCompleted:
		return nil
	case s.Status == Failed && s.Stage == NoFundsMoved:
		return []ledger.Kind{ledger.KindWalletDebit, ledger.KindReversal}
	default:
		return []ledger.Kind{ledger.KindWalletDebit}
	}
}

// deliveryKind returns the kind of the posting that moves money out of transit.
func (f Flow) deliveryKind() ledger.Kind {
	if f.ToWallet {
		return ledger.KindWalletCredit
	}
	return ledger.KindDelivered
}

// fundingKind returns the kind of the posting that records money paid in.
func (f Flow) fundingKind() ledger.Kind {
	if f.Type == Incoming {
		return ledger.KindDeposit
	}
	return ledger.KindJITReceived
}

// conversionKind returns the kind of the posting that moves money into transit.
func (f Flow) conversionKind() ledger.Kind {
	if f.Converts {
		return ledger.KindConverted
	}
	return ledger.KindTransferOut
}

// incomingKinds returns the kinds of postings of an incoming transaction: the account is credited
// when the transaction completes, and not before. What cannot be credited is refunded.
func (f Flow) incomingKinds(s State) []ledger.Kind {
	switch {
	case s.Refund != NoRefund:
		return append([]ledger.Kind{ledger.KindJITReceived}, s.Refund.kinds()...)
	case s.Status != Completed:
		return nil
	case f.Invoiced:
		return []ledger.Kind{ledger.KindJITReceived, f.conversionKind()}
	case f.Funding == Pull:
		return []ledger.Kind{ledger.KindTransferIn}
	default:
		return []ledger.Kind{ledger.KindDeposit}
	}
}
