package payments

import (
	"context"
	"fmt"
	"time"

	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

const (
	// contradictedDelay is when a rail is asked again about a payment that it has contradicted: it may still return it.
	contradictedDelay = 24 * time.Hour
	// maxRecordedReplies is how many replies about a payment are searched for the one that has ended it.
	maxRecordedReplies = 500
)

// ends are the states of a payment that verdicts say it has ended in.
var ends = map[ports.Verdict]rail.State{ports.Done: rail.Done, ports.Refused: rail.Refused, ports.CancelledByUser: rail.Refused,
	ports.Returned: rail.Returned}

// endOf returns how that has ended which a call is about, and what it is called there.
func endOf(call ports.RailCall, t transaction.Transaction) (rail.State, rail.Kind) {
	switch call {
	case ports.CallSend, ports.CallStatus:
		return t.PayoutEnd(), rail.Payout
	case ports.CallCollect, ports.CallCollectionStatus:
		return t.CollectionEnd(), rail.Collection
	case ports.CallRefund:
		return t.RefundEnd(), rail.Refund
	default:
		return "", ""
	}
}

// compare keeps an outcome that contradicts the recorded end of a payment as a contradiction. It reports whether it does.
func (w work) compare(call ports.RailCall, t transaction.Transaction, o ports.Outcome, recorded rail.Said) bool {
	end, kind := endOf(call, t)
	reported, final := ends[o.Verdict]
	if !final || end == "" || kind.CompareEnds(end, reported) != rail.Contradicts {
		return false
	}
	recorded.State = string(end)
	c := rail.Contradiction{Platform: t.Platform, Kind: kind, Subject: t.ID.UUID(), Name: rail.EndToEndID(t.ID.UUID()), Recorded: recorded,
		Reported: rail.Said{State: string(reported), At: w.Now, PartnerID: o.PartnerID, Code: o.Code, Text: o.Text}}
	if !o.ReturnedAt.IsZero() {
		c.Reported.At = o.ReturnedAt
	}
	c.Problem = contradictionProblem(kind, t.ID.String(), end, reported)
	w.Contradict(c)
	return true
}

func contradictionProblem(kind rail.Kind, name string, recorded, reported rail.State) string {
	return fmt.Sprintf("the %s %s is recorded as %s, and the partner says now that it is %s: ask it where the money is, and post what is "+
		"missing as an adjustment",
		kind.Word(), name, recorded, reported)
}

// askUnknownCode keeps the reason of a rejection or a return that no standard has, for a person to ask what it means. The payment
// ends as with any other reason.
func (w work) askUnknownCode(call ports.RailCall, t transaction.Transaction, o ports.Outcome) {
	end, kind := endOf(call, t)
	if kind.CompareEnds(end, ends[o.Verdict]) == rail.Changes {
		w.contradictCode(rail.Contradiction{Platform: t.Platform, Kind: kind, Subject: t.ID.UUID(), Name: rail.EndToEndID(t.ID.UUID())}, o)
	}
}

// contradictCode keeps what was said of a payment, if its reason is a code that no standard has. Recorded is what follows from it.
func (w work) contradictCode(c rail.Contradiction, o ports.Outcome) {
	reported := ends[o.Verdict]
	if reported == rail.Done || reported == "" || !transaction.IsUnknownCode(o.Code) {
		return
	}
	c.Recorded = rail.Said{State: string(reported), At: w.Now}
	c.Reported = rail.Said{State: string(reported), At: o.ReturnedAt, PartnerID: o.PartnerID, Code: o.Code, Text: o.Text}
	c.Problem = fmt.Sprintf("the partner gives the reason %s for which the %s %s is %s, and no standard has that code: it is recorded as "+
		"with any other reason; ask the partner what it means",
		o.Code, c.Kind.Word(), c.Name, reported)
	w.Contradict(c)
}

// askEnded asks the rails about payouts and collections that have ended and of which there is news. What they say is compared with
// what is recorded, and settles nothing.
func (s *Service) askEnded(ctx context.Context, ended []transaction.Transaction) ([]answers, error) {
	var payouts, collections []ports.TransactionKey
	for _, t := range ended {
		if end := t.PayoutEnd(); end != "" && end != rail.Done { // one that is done is asked about anyway
			payouts = append(payouts, transactionKey(t))
		}
		if t.CollectionEnd() == rail.Refused {
			collections = append(collections, transactionKey(t))
		}
	}
	recorded := map[ports.TransactionKey]rail.Said{}
	settle := func(call ports.RailCall) func(work, transaction.Transaction, ports.Outcome) error {
		return func(w work, t transaction.Transaction, o ports.Outcome) error {
			w.compare(call, t, o, recorded[transactionKey(t)])
			return nil
		}
	}
	var all []answers
	if len(payouts) > 0 {
		a, err := s.askPayouts(ctx, payouts, ports.CallStatus, func(transaction.State) bool { return true },
			func(ctx context.Context, rail ports.Rail, payouts []ports.Payout) []ports.Outcome {
				return rail.Status(ctx, payouts)
			})
		if err != nil {
			return nil, err
		}
		a.applies, a.settle = func(t transaction.Transaction) bool { return t.PayoutEnd() != "" }, settle(ports.CallStatus)
		all = append(all, a)
	}
	if len(collections) > 0 {
		a, err := s.askCollections(ctx, collections, ports.CallCollectionStatus,
			func(t transaction.Transaction) bool { return t.CollectionEnd() != "" },
			settle(ports.CallCollectionStatus), ports.Rail.CollectionStatus)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	for _, a := range all {
		for key, o := range a.outcomes {
			if _, final := ends[o.Verdict]; !final {
				continue
			}
			replies, err := s.Store.RailReplies(ctx, key.Platform, key.ID.UUID(), maxRecordedReplies)
			if err != nil {
				return nil, err
			}
			recorded[key] = lastEnd(replies)
		}
	}
	return all, nil
}

// lastEnd returns what was said with the last reply about a payment or collection that has ended it.
func lastEnd(replies []ports.RailReply) (said rail.Said) {
	for _, r := range replies {
		if _, final := ends[r.Verdict]; final && r.Call != ports.CallRefund && r.Call != ports.CallSendBack {
			said = rail.Said{At: r.At, PartnerID: r.PartnerID, Code: r.Code, Text: r.Text}
		}
	}
	return said
}
