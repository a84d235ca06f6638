package transaction

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Posted is a posting of a transaction as the ledger has it. Its digest is the hash of its whole content.
type Posted struct {
	ID                  uuid.UUID
	Kind                ledger.Kind
	Effective, Recorded time.Time
	Memo                string
	Digest              []byte
}

// Evidence is what a stored transaction is compared with.
type Evidence struct {
	// Posted are its postings in the order in which they were recorded.
	Posted []Posted
	// FromInternal, ToInternal, FromExternal and ToExternal are its accounts, also deleted ones: their ids,
	// owners and types. Nil for none.
	FromInternal, ToInternal *account.Internal
	FromExternal, ToExternal *account.External
	// CustomerDeleted reports whether its customer was deleted, whose external accounts may have been erased.
	CustomerDeleted bool
	// Receipt is the receipt that funded it; nil for none.
	Receipt *Receipt
	// HasQuote reports whether its quote exists.
	HasQuote bool
	// Authorizations are those of its payer, and ProtectedSince is since when the payments of its customer need one; zero for never.
	Authorizations []PaymentAuthorization
	ProtectedSince time.Time
	// RefundAccounts are the ledger paths of the accounts that can receive a refund of its customer.
	RefundAccounts []string
}

// CheckEvidence returns an error unless the evidence explains the whole transaction: its state, amounts,
// accounts, owners, receipt, refund and times are those from which its postings were made.
func (t Transaction) CheckEvidence(e Evidence) error {
	kinds := make([]ledger.Kind, len(e.Posted))
	for i, p := range e.Posted {
		kinds[i] = p.Kind
	}
	if err := t.Flow().CheckKinds(t.State, kinds); err != nil {
		return err
	}
	if !t.Quote.IsZero() {
		if !e.HasQuote {
			return fmt.Errorf("its quote %s does not exist", t.Quote)
		}
		if err := t.Pricing.check(); err != nil {
			return err
		}
	}
	for _, check := range []func(Evidence) error{t.checkAuthorizations, t.checkFunded, t.checkPostings, t.checkOwners, t.checkReceipt,
		t.checkRefund, t.checkTimes} {
		if err := check(e); err != nil {
			return err
		}
	}
	return nil
}

// checkPostings builds every posting from the transaction and compares it with the one that was posted. What was
// sent within one currency is only in the sum of what was received and of the fees.
func (t Transaction) checkPostings(e Evidence) error {
	if p := t.Pricing; !t.Flow().Converts && p.Sent.Minor != p.Received.Minor+p.Fees {
		return fmt.Errorf("it has sent %s, and %s was received after fees of %d", p.Sent, p.Received, p.Fees)
	}
	for _, p := range e.Posted {
		if !slices.ContainsFunc(t.explain(p, e.RefundAccounts), p.is) {
			return fmt.Errorf("its amounts, accounts or reference are not those of its posting %s (%s)", p.ID, p.Kind)
		}
	}
	return nil
}

// explain returns the postings that a posted one can be by the transaction. Only a refund has several: it may
// have been paid to one of some accounts.
func (t Transaction) explain(p Posted, refundAccounts []string) []ledger.Posting {
	at := p.Effective
	switch p.Kind {
	case ledger.KindDeposit, ledger.KindTransferIn:
		return []ledger.Posting{t.creditPosting(at)}
	case ledger.KindUnmatchedAssigned:
		// Its id and its memo are those of the assignment.
		header := ledger.Header{ID: p.ID, Platform: t.Platform, Transaction: t.ID, Effective: at, Memo: p.Memo}
		if t.Type == Incoming {
			return []ledger.Posting{ledger.UnmatchedAssigned(header, t.DestinationAccount, t.Pricing.Received)}
		}
		return []ledger.Posting{ledger.UnmatchedAssigned(header, ledger.FundingJIT, t.Funded)}
	case ledger.KindJITReceived:
		return []ledger.Posting{t.received(t.Funded, at)}
	case ledger.KindConverted, ledger.KindTransferOut:
		return []ledger.Posting{t.converted(at)}
	case ledger.KindWalletDebit:
		return []ledger.Posting{t.walletDebited(at)}
	case ledger.KindDelivered, ledger.KindWalletCredit:
		return []ledger.Posting{t.delivered(at)}
	case ledger.KindReturned:
		return []ledger.Posting{t.returned(at)}
	case ledger.KindReversal:
		if t.State.Stage == NoFundsMoved {
			return []ledger.Posting{t.walletDebitReversed(at)}
		}
		return []ledger.Posting{t.conversionReversed(at)}
	case ledger.KindRefundOwed:
		return []ledger.Posting{t.refundOwed(at)}
	case ledger.KindRefundFailed:
		return []ledger.Posting{t.refundFailed(at)}
	case ledger.KindRefundPaid:
		possible := []ledger.Posting{t.refundPaid(t.SourceAccount, at)}
		for _, to := range refundAccounts {
			possible = append(possible, t.refundPaid(to, at))
		}
		return possible
	default:
		return nil
	}
}

// is reports whether the posting is another one, which may have been redated when it was posted.
func (p Posted) is(explained ledger.Posting) bool {
	if digest := explained.Digest(); slices.Equal(digest[:], p.Digest) {
		return true
	}
	day, redated := ledger.RedatedFrom(p.Memo)
	if !redated {
		return false
	}
	explained.Effective = day
	digest := explained.Redate(p.Effective).Digest()
	return slices.Equal(digest[:], p.Digest)
}

// checkFunded checks the amount that was received, from which a refund is computed.
func (t Transaction) checkFunded(Evidence) error {
	want := t.Funded
	switch flow := t.Flow(); {
	case flow.Invoiced && t.State.Stage == Received: // of any amount, as its postings say
	case flow.Invoiced && t.State.Status == Completed:
		want = t.Pricing.Sent
	case t.Type == Incoming, flow.Funding == Balance, t.State.Stage == NoFundsMoved:
		want = money.Amount{}
	case flow.Funding == Pull, flow.Funding == Wallet:
		want = t.Pricing.Sent
	case t.State.Stage != Received:
		want = t.Pricing.Sent
	}
	if t.Funded != want {
		return fmt.Errorf("it has received %s, and should have received %s", t.Funded, want)
	}
	return nil
}

// checkOwners checks that the accounts are those of the ledger, and belong to the customer.
func (t Transaction) checkOwners(e Evidence) error {
	for _, end := range []struct {
		name string
		Endpoint
		path     string
		internal *account.Internal
		external *account.External
	}{{"source", t.Source, t.SourceAccount, e.FromInternal, e.FromExternal}, {"destination", t.Destination, t.DestinationAccount,
		e.ToInternal, e.ToExternal}} {
		switch {
		case !end.InternalAccount.IsZero() && end.internal == nil:
			return fmt.Errorf("its %s %s does not exist", end.name, end.InternalAccount)
		case !end.InternalAccount.IsZero() && (end.internal.LedgerPath() != end.path || end.internal.Currency != end.Currency):
			return fmt.Errorf("its %s %s is %s in %s, and its ledger account is %s in %s", end.name, end.InternalAccount,
				end.internal.LedgerPath(), end.internal.Currency, end.path, end.Currency)
		case !end.ExternalAccount.IsZero() && end.external == nil && !e.CustomerDeleted:
			return fmt.Errorf("its %s %s does not exist", end.name, end.ExternalAccount)
		}
	}
	from, to := ownerOf(e.FromInternal, e.FromExternal), ownerOf(e.ToInternal, e.ToExternal)
	switch {
	case t.Type == Incoming && to != t.Customer:
		return fmt.Errorf("it is a payment to %s, and its account belongs to %s", t.Customer, to)
	case t.Type == Outgoing && !from.IsZero() && from != t.Customer:
		return fmt.Errorf("it is a payment of %s, and the account that paid belongs to %s", t.Customer, from)
	case t.Type == Outgoing && from.IsZero() && !to.IsZero() && to != t.Customer && (t.Source.IsJustInTime() || t.Customer.IsZero()):
		return fmt.Errorf("it is a payment of %s, and the account that received belongs to %s", t.Customer, to)
	}
	return nil
}

func ownerOf(internal *account.Internal, external *account.External) ident.Customer {
	switch {
	case internal != nil:
		return internal.Customer
	case external != nil:
		return external.Customer
	default:
		return ident.Customer{}
	}
}

// checkReceipt checks the receipt of the money against the posting that recorded it.
func (t Transaction) checkReceipt(e Evidence) error {
	received := slices.IndexFunc(e.Posted, func(p Posted) bool {
		return p.Kind == ledger.KindJITReceived || p.Kind == ledger.KindDeposit || p.Kind == ledger.KindUnmatchedAssigned
	})
	amount := t.Funded
	if t.Type == Incoming && !t.Flow().Invoiced {
		amount = t.Pricing.Received
	}
	switch r := e.Receipt; {
	case t.Receipt.IsZero() && received >= 0 && t.Type == Outgoing && t.Flow().Funding == JustInTime:
		return errors.New("it was funded and has no receipt")
	case t.Receipt.IsZero():
		return nil
	case r == nil:
		return fmt.Errorf("its receipt %s does not exist", t.Receipt)
	case received < 0:
		return fmt.Errorf("it has the receipt %s, and no posting has received it", t.Receipt)
	case r.Amount != amount || r.Rail != t.SourceRail:
		return fmt.Errorf("its receipt %s is of %s on %s, and its posting of %s on %s", r.ID, r.Amount, r.Rail, amount, t.SourceRail)
	case e.Posted[received].Kind == ledger.KindUnmatchedAssigned:
		return nil // it has another reference, and was received before
	case r.Reference != t.Reference:
		return fmt.Errorf("its receipt %s has the reference %q, and its postings have %q", r.ID, r.Reference, t.Reference)
	case !e.Posted[received].isAt(r.At):
		return fmt.Errorf("its receipt %s was received at %s, and its posting is effective at %s", r.ID, formatTime(r.At),
			formatTime(e.Posted[received].Effective))
	}
	return nil
}

// checkRefund checks why money was refunded: the postings of a late payment and of a wrong one are alike.
func (t Transaction) checkRefund(e Evidence) error {
	if t.Refund == nil || t.Type == Incoming {
		return nil
	}
	late := t.State.Status == Expired
	if late != (t.Refund.Reason == RefundTimeout) || late && t.State.Stage != Received {
		return fmt.Errorf("it is %s, and was refunded because of %s", t.State, t.Refund.Reason)
	}
	if e.Receipt == nil || t.State.Stage != Received {
		return nil
	}
	switch wrong := t.State.Reason == FundingAmountMismatch; {
	case late == e.Receipt.At.Before(t.ExpiresAt):
		return fmt.Errorf("it is %s, its money was received at %s, and its quote expired at %s", t.State, formatTime(e.Receipt.At),
			formatTime(t.ExpiresAt))
	case !late && wrong != (t.Funded != t.Pricing.Sent):
		return fmt.Errorf("it failed because of %s, has received %s, and its quote is of %s", t.State.Reason, t.Funded, t.Pricing.Sent)
	}
	return nil
}

// maxClockStep is how much later than a posting the change that made it may be dated: the clocks of two
// processes differ, and a change is never dated before the one before it.
const maxClockStep = time.Minute

// checkTimes checks the times of the changes against the postings that they made.
func (t Transaction) checkTimes(e Evidence) error {
	if len(e.Posted) == 0 {
		return nil
	}
	var refundedAt, refundSettledAt time.Time
	if t.Refund != nil {
		if refundedAt = t.Refund.InitiatedAt; !t.isRefundedAgain() {
			refundSettledAt = t.Refund.SettledAt
		}
	}
	settles := []ledger.Kind{ledger.KindDelivered, ledger.KindWalletCredit}
	switch flow := t.Flow(); {
	case flow.Invoiced:
		settles = []ledger.Kind{flow.conversionKind()}
	case t.Type == Incoming:
		settles = []ledger.Kind{ledger.KindDeposit, ledger.KindTransferIn, ledger.KindUnmatchedAssigned}
	case flow.Internal:
		settles = []ledger.Kind{flow.conversionKind()}
	}
	for _, c := range []struct {
		name  string
		at    time.Time
		exact bool
		kinds []ledger.Kind
	}{
		{"settled", t.SettledAt, t.Type == Incoming, settles},
		{"refunded", refundedAt, true, []ledger.Kind{ledger.KindRefundOwed}},
		{"refund completed", refundSettledAt, false, []ledger.Kind{ledger.KindRefundPaid}},
	} {
		i := slices.IndexFunc(e.Posted, func(p Posted) bool { return slices.Contains(c.kinds, p.Kind) })
		switch {
		case i < 0 && !c.at.IsZero():
			return fmt.Errorf("it was %s at %s, and no posting says so", c.name, formatTime(c.at))
		case i >= 0 && (c.at.IsZero() || c.exact && !e.Posted[i].isAt(c.at) || !e.Posted[i].isDated(c.at)):
			return fmt.Errorf("it was %s at %s, and its posting %s was effective at %s and recorded at %s", c.name, formatTime(c.at),
				e.Posted[i].ID, formatTime(e.Posted[i].Effective), formatTime(e.Posted[i].Recorded))
		}
	}
	return t.checkFirstAndLast(e.Posted[0], e.Posted[len(e.Posted)-1])
}

// checkFirstAndLast checks when the transaction was created and when it changed last, if that was with a posting.
func (t Transaction) checkFirstAndLast(first, last Posted) error {
	switch {
	case t.CreatedAt.After(first.latest()):
		return fmt.Errorf("it was created at %s, and its posting %s recorded at %s", formatTime(t.CreatedAt), first.ID,
			formatTime(first.Recorded))
	case t.State.IsFinal() && t.State != (State{Status: Expired}) && !t.isRefundedAgain() && !last.isDated(t.UpdatedAt),
		t.UpdatedAt.Before(last.earliest()):
		return fmt.Errorf("it changed last at %s, and its last posting %s was effective at %s and recorded at %s", formatTime(t.UpdatedAt),
			last.ID, formatTime(last.Effective), formatTime(last.Recorded))
	}
	return nil
}

// isRefundedAgain reports whether the refund failed and was sent again. That has postings of its receipt, and none of the transaction.
func (t Transaction) isRefundedAgain() bool {
	return t.State.Refund == RefundUnpaid && t.Refund.Again != NoRefund
}

// isAt reports whether the posting was made for a time, which may have been in a month that was closed.
func (p Posted) isAt(at time.Time) bool {
	if day, redated := ledger.RedatedFrom(p.Memo); redated && p.Effective.UnixMicro() != at.UnixMicro() {
		return at.UTC().Format(time.DateOnly) == day.Format(time.DateOnly)
	}
	return p.Effective.UnixMicro() == at.UnixMicro()
}

// isDated reports whether a change at a time can have made the posting.
func (p Posted) isDated(at time.Time) bool { return !at.Before(p.earliest()) && !at.After(p.latest()) }

func (p Posted) earliest() time.Time {
	if day, redated := ledger.RedatedFrom(p.Memo); redated && day.Before(p.Effective) {
		return day
	}
	return p.Effective.Truncate(time.Microsecond)
}

func (p Posted) latest() time.Time {
	if p.Effective.After(p.Recorded) {
		if _, redated := ledger.RedatedFrom(p.Memo); !redated {
			return p.Effective.Add(maxClockStep)
		}
	}
	return p.Recorded.Add(maxClockStep)
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return "no time"
	}
	return t.UTC().Format(time.RFC3339Nano)
}
