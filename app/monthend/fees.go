package monthend

import (
	"context"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ledger"
	"causeway/ports"
)

// FeeDeferral is the deferral of the fees of a month with the run that posted it.
type FeeDeferral struct {
	Run monthend.Run
	// Payments is the number of payments in transit at the end of the month, Fees what they paid, by currency:
	// what is deferred.
	Payments int64
	Fees     []money.Amount
}

// DeferFees moves the fees of payments that are in transit at the end of a soft-closed month into the next one, or
// makes a proposal of that. A repetition posts nothing if nothing has changed. Once fees are recognised at conversion
// again, it takes back what it deferred. The payments in transit are in memory. Faults: CONFLICT if the month does not
// take it, or if fees are recognised at conversion; those of foureyes.Run.
func (s *Service) DeferFees(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
	m period.Month) (proposal.Outcome[FeeDeferral], error) {
	return foureyes.Run(ctx, s.foureyes(), s.feeDeferral(), p, by, request, deferralRequest{Month: m.String()})
}

// DeferFeesAlone is DeferFees by an operator on the command line, who needs no second person.
func (s *Service) DeferFeesAlone(ctx context.Context, p ident.Platform, by platform.Author, m period.Month) (FeeDeferral, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.feeDeferral(), p, by, nil, deferralRequest{Month: m.String()})
	return done.Done, err
}

// deferralRequest is the stored form of a request to defer fees, with the payments in transit and their fees.
type deferralRequest struct {
	Month string `json:"month"`
	draft draft
	lines []monthend.InTransit
	fees  []money.Amount
}

func (s *Service) feeDeferral() foureyes.Operation[Tx, deferralRequest, FeeDeferral] {
	return foureyes.Operation[Tx, deferralRequest, FeeDeferral]{ID: "postDeferredFees", Action: books.ActionClose, Prepare: s.computeDeferral,
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r deferralRequest) (FeeDeferral, string, error) {
			run, made, err := r.draft.write(ctx, tx, c, func(run monthend.Run) error { return tx.SavePaymentsInTransit(ctx, run, r.lines) })
			return FeeDeferral{run, countPayments(r.lines), r.fees}, made, err
		}, Figures: FeeDeferral.figures}
}

func (s *Service) computeDeferral(ctx context.Context, p ident.Platform, r deferralRequest) (_ deferralRequest, err error) {
	if r.draft, err = s.draft(ctx, p, ledger.KindFeeDeferral, r.Month); err != nil {
		return r, err
	}
	deferred := r.draft.settings.FeeRecognition == books.AtDelivery
	if !deferred && !r.draft.current.Exists() {
		f := fault.New(fault.Conflict, "The platform recognises fees at conversion. Set feeRecognition to DELIVERY with PUT /ledger/settings "+
			"or `causeway ledger settings set` first.")
		f.Reason = "Fees are recognised at conversion"
		return r, f
	}
	lines, lastSeq, err := s.reader().InTransit(ctx, r.draft.run, r.draft.previous)
	if err != nil {
		return r, amountFault(err)
	}
	if !deferred {
		for i := range lines {
			lines[i].Fee = 0
		}
	}
	r.draft.run.LastSeq, r.lines = lastSeq, lines
	if r.fees, err = monthend.DeferredFees(lines); err != nil {
		return r, amountFault(err)
	}
	r.draft.postings = monthend.FeePostings(r.draft.run, r.fees)
	return r, nil
}

func countPayments(lines []monthend.InTransit) (n int64) {
	for i, l := range lines {
		if i == 0 || l.Transaction != lines[i-1].Transaction {
			n++
		}
	}
	return n
}

// Deferral returns the deferral of the fees of a month. Fault: NOT_FOUND.
func (s *Service) Deferral(ctx context.Context, p ident.Platform, m period.Month) (FeeDeferral, error) {
	run, err := s.run(ctx, p, ledger.KindFeeDeferral, m)
	if err != nil {
		return FeeDeferral{}, err
	}
	found := FeeDeferral{Run: run}
	sums, last := map[money.Currency]int64{}, ident.Transaction{}
	err = s.Results.PaymentsInTransit(ctx, run, func(l monthend.InTransit) (err error) {
		if l.Transaction != last {
			found.Payments, last = found.Payments+1, l.Transaction
		}
		sums[l.Currency], err = money.AddMinor(sums[l.Currency], l.Fee)
		return err
	})
	found.Fees = monthend.AmountsOf(sums)
	return found, err
}
