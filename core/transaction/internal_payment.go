package transaction

import (
	"time"

	"causeway/core/fault"
	"causeway/ledger"
)

// WithSender returns the decisions about both sides of a payment between two customers of a platform: d, about the
// incoming transaction, and what follows for the one of its sender, which is sent. They are to be written in one
// commit. An approved payment goes through transit/internal, so that no account at a partner is posted to, and a
// declined one is refunded to its sender. A CONFLICT fault says that the sender has the money already.
func (d Decision) WithSender(sent Transaction, now time.Time) ([]Decision, error) {
	received := d.Transaction
	switch {
	case received.State.Status == Pending:
		return []Decision{d}, nil
	case received.State.Status == Completed && !sent.State.InTransit():
		return nil, fault.New(fault.Conflict, "The payment cannot be received: the transaction of its sender, %s, is %s.", sent.ID, sent.State)
	case received.State.Status == Completed:
		return d.deliveredBy(sent, now)
	case !sent.State.InTransit():
		return []Decision{d}, nil
	}
	refused, err := sent.Refuse(CounterpartyPostFailed, now)
	return []Decision{d, refused}, err
}

// deliveredBy returns the decisions that settle both sides. The sender's posting is the first, so that the balance
// of transit/internal is never negative.
func (d Decision) deliveredBy(sent Transaction, now time.Time) ([]Decision, error) {
	sent.DestinationAccount, d.Transaction.SourceAccount = ledger.TransitInternal, ledger.TransitInternal
	delivered, err := sent.Deliver(now)
	if err != nil {
		return nil, err
	}
	d.Postings = append(delivered.Postings, d.Transaction.creditPosting(d.Transaction.SettledAt))
	delivered.Postings = nil
	return []Decision{d, delivered}, nil
}
