package transaction

import (
	"causeway/ledger"
)

// Funding is where the money of a transaction comes from.
type Funding string

// The fundings.
const (
	// JustInTime: the payer pays in once the price is known.
	JustInTime Funding = "JUST_IN_TIME"
	// Balance: an internal account pays.
	Balance Funding = "BALANCE"
	// Pull: it is collected from an external account.
	Pull Funding = "PULL"
)

// Flow is what decides which way the money of a transaction takes through the books.
type Flow struct {
	Type    Type
	Funding Funding
	// Internal: it ends in an internal account, and so has arrived once it is converted.
	Internal bool
	// Converts: another currency arrives than was sent.
	Converts bool
}

// Flow is that of the transaction.
func (t Transaction) Flow() Flow {
	s := Flow{Type: t.Type, Funding: JustInTime, Internal: !t.Destination.InternalAccount.IsZero(),
		Converts: t.Pricing.Sent.Currency != t.Pricing.Received.Currency}
	switch {
	case !t.Source.InternalAccount.IsZero():
		s.Funding = Balance
	case !t.Source.ExternalAccount.IsZero():
		s.Funding = Pull
	}
	return s
}

// Accounts are the internal accounts at both ends, as the books know them.
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

// Kinds are the postings that a transaction of this shape has in state s, each
// exactly once: what it went through, and then the refund.
func (w Flow) Kinds(s State) []ledger.Kind {
	if w.Type == Incoming {
		return w.incomingKinds(s)
	}
	var kinds []ledger.Kind
	if s.Stage != NoFundsMoved && w.Funding != Balance {
		kinds = append(kinds, ledger.KindJITReceived)
	}
	if s.Stage == Converted || s.Stage == Delivered {
		kinds = append(kinds, w.conversionKind())
	}
	if s.Stage == Delivered && !w.Internal {
		kinds = append(kinds, ledger.KindDelivered)
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
	kinds = append(kinds, ledger.KindRefundOwed)
	switch s.Refund {
	case RefundCompleted:
		kinds = append(kinds, ledger.KindRefundPaid)
	case RefundUnpaid:
		kinds = append(kinds, ledger.KindRefundFailed)
	case NoRefund, RefundPending:
	}
	return kinds
}

// fundingKind is the posting with which money that somebody pays in arrives.
func (w Flow) fundingKind() ledger.Kind {
	if w.Type == Incoming {
		return ledger.KindDeposit
	}
	return ledger.KindJITReceived
}

// conversionKind is the posting that sets money on its way to whom it is for.
func (w Flow) conversionKind() ledger.Kind {
	if w.Converts {
		return ledger.KindConverted
	}
	return ledger.KindTransferOut
}

// incomingKinds are the postings of an incoming transaction: the account is credited when
// it completes, and not before.
func (w Flow) incomingKinds(s State) []ledger.Kind {
	switch {
	case s.Status != Completed:
		return nil
	case w.Funding == Pull:
		return []ledger.Kind{ledger.KindTransferIn}
	default:
		return []ledger.Kind{ledger.KindDeposit}
	}
}
