package monthend

import (
	"context"

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
	return s.feeDeferral().run(ctx, s, p, by, request, m)
}

// DeferFeesAlone is DeferFees by an operator on the command line, who needs no second person.
func (s *Service) DeferFeesAlone(ctx context.Context, p ident.Platform, by platform.Author, m period.Month) (FeeDeferral, error) {
	return s.feeDeferral().runAlone(ctx, s, p, by, m)
}

// inTransit are the payments in transit and their fees.
type inTransit struct {
	lines []monthend.InTransit
	fees  []money.Amount
}

func (s *Service) feeDeferral() operation[inTransit, FeeDeferral] {
	return operation[inTransit, FeeDeferral]{"postDeferredFees", ledger.KindFeeDeferral, s.computeDeferral,
		func(tx Tx, ctx context.Context, run monthend.Run, t inTransit) error {
			return tx.SavePaymentsInTransit(ctx, run, t.lines)
		},
		func(run monthend.Run, t inTransit) FeeDeferral {
			return FeeDeferral{run, countPayments(t.lines), t.fees}
		}, FeeDeferral.figures}
}

func (s *Service) computeDeferral(ctx context.Context, d *draft) (t inTransit, err error) {
	deferred := d.settings.FeeRecognition == books.AtDelivery
	if !deferred && !d.current.Exists() {
		f := fault.New(fault.Conflict, "The platform recognises fees at conversion. Set feeRecognition to DELIVERY with PUT /ledger/settings, "+
			"`causeway ledger settings set`, or on the page Settings of the books first.")
		f.Reason = "Fees are recognised at conversion"
		return t, f
	}
	if t.lines, d.run.LastSeq, err = s.reader().InTransit(ctx, d.run, d.previous); err != nil {
		return t, err
	}
	if !deferred {
		for i := range t.lines {
			t.lines[i].Fee = 0
		}
	}
	t.fees, err = monthend.DeferredFees(t.lines)
	d.postings = monthend.FeePostings(d.run, t.fees)
	return t, err
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
