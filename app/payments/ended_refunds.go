package payments

import (
	"context"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/ports"
)

// askEndedRefunds asks the rails about refunds that have ended and of which there is news, and about receipts sent back. It returns
// what contradicts the records: nothing else is posted for a refund that has ended.
func (s *Service) askEndedRefunds(ctx context.Context, news []ports.Job) ([]rail.Contradiction, error) {
	var keys []ports.RailPaymentKey
	for _, job := range news {
		for _, subject := range job.Subjects {
			for _, kind := range []rail.Kind{rail.Refund, rail.SendBack} {
				keys = append(keys, ports.RailPaymentKey{Platform: job.Platform, ID: subject, Kind: kind})
			}
		}
	}
	recorded, err := s.Store.RailPayments(ctx, keys)
	if err != nil {
		return nil, err
	}
	var ended []rail.Payment
	var refunds []ports.Refund
	for _, key := range keys {
		p, exists := recorded[key]
		if !exists || !p.State.IsEnd() {
			continue
		}
		refund := ports.Refund{ID: p.ID, Platform: p.Platform, Rail: p.Rail, Amount: p.Amount}
		if p.Kind == rail.Refund {
			refund.Payout = &ports.Payout{}
		}
		ended, refunds = append(ended, p), append(refunds, refund)
		delete(recorded, key) // the subject of several jobs is asked about once
	}
	outcomes := callRails(ctx, s, refunds, s.Rails.RailFor, func(r ports.Refund) ident.Platform { return r.Platform },
		func(ctx context.Context, connected ports.Rail, batch []ports.Refund) []ports.Outcome {
			return ports.RefundStatus(ctx, connected, batch)
		})
	var found []rail.Contradiction
	for i, o := range outcomes {
		if c, contradicts := contradictRefund(ended[i], o); contradicts {
			found = append(found, c)
		}
	}
	return found, nil
}

// contradictRefund returns what a partner says of a refund that has ended, if it cannot be true beside what is recorded.
func contradictRefund(p rail.Payment, o ports.Outcome) (rail.Contradiction, bool) {
	reported, final := ends[o.Verdict]
	if !final || p.Kind.CompareEnds(p.State, reported) != rail.Contradicts {
		return rail.Contradiction{}, false
	}
	name := rail.EndToEndID(p.ID)
	return rail.Contradiction{Platform: p.Platform, Kind: p.Kind, Subject: p.ID, Name: name,
		Recorded: rail.Said{State: string(p.State), At: p.SettledAt, Amount: p.Amount, PartnerID: p.PartnerID},
		Reported: rail.Said{State: string(reported), At: o.ReturnedAt, PartnerID: o.PartnerID, Code: o.Code, Text: o.Text},
		Problem:  contradictionProblem(p.Kind, name, p.State, reported)}, true
}
