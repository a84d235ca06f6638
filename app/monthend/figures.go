package monthend

import (
	"time"

	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/ledger"
)

// runFigures is what a run posts. Those of run 2 and later replace those of the run before.
type runFigures struct {
	Kind     ledger.Kind      `json:"kind"`
	Run      int              `json:"run"`
	Postings []postingFigures `json:"postings"`
}

type postingFigures struct {
	Memo      string         `json:"memo"`
	Effective time.Time      `json:"effectiveAt"`
	Entries   []entryFigures `json:"entries"`
}

type entryFigures struct {
	Debit    string         `json:"debit"`
	Credit   string         `json:"credit"`
	Currency money.Currency `json:"currency"`
	Amount   int64          `json:"amount"`
}

func newRunFigures(run monthend.Run, postings []ledger.Posting) runFigures {
	f := runFigures{Kind: run.Kind, Run: run.Number, Postings: []postingFigures{}}
	for _, p := range postings {
		if len(p.Entries) == 0 {
			continue
		}
		posting := postingFigures{Memo: p.Memo, Effective: p.Effective}
		for _, e := range p.Entries {
			posting.Entries = append(posting.Entries, entryFigures{e.Debit, e.Credit, e.Currency, e.Amount})
		}
		f.Postings = append(f.Postings, posting)
	}
	return f
}

// exchangeFigures are the figures of an exchange result, in the smallest unit of the functional currency.
type exchangeFigures struct {
	runFigures
	Functional  money.Currency    `json:"functionalCurrency"`
	RatesKeptAt time.Time         `json:"ratesKeptAt"`
	Opening     int64             `json:"openingResult"`
	Realised    []realisedFigures `json:"realised"`
	Translated  int64             `json:"translated"`
	Positions   []positionFigures `json:"positions"`
}

type realisedFigures struct {
	Origin   string         `json:"origin"`
	Currency money.Currency `json:"currency"`
	Amount   int64          `json:"amount"`
}

type positionFigures struct {
	Currency   money.Currency `json:"currency"`
	Quantity   int64          `json:"quantity"`
	Cost       int64          `json:"cost"`
	Rate       string         `json:"rate,omitempty"`
	Value      int64          `json:"value"`
	Unrealised int64          `json:"unrealised"`
}

// figures returns what an approver approves.
func (r Revaluation) figures() (any, error) {
	postings, err := r.Result.Postings(r.Run)
	if err != nil {
		return nil, err
	}
	f := exchangeFigures{runFigures: newRunFigures(r.Run, postings), Functional: r.Result.Functional, RatesKeptAt: r.Result.RatesKeptAt,
		Opening: r.Result.Opening, Translated: r.Result.Translated, Realised: []realisedFigures{}, Positions: []positionFigures{}}
	for _, o := range r.Result.Realised {
		f.Realised = append(f.Realised, realisedFigures{string(o.Origin), o.Currency, o.Amount})
	}
	for _, l := range r.Result.Lines {
		position := positionFigures{Currency: l.Currency, Quantity: l.Quantity, Cost: l.Cost, Value: l.Value, Unrealised: l.Unrealised}
		if l.Quantity != 0 {
			position.Rate = l.Rate.String()
		}
		f.Positions = append(f.Positions, position)
	}
	return f, nil
}

// deferralFigures are the figures of a deferral of fees.
type deferralFigures struct {
	runFigures
	Payments int64        `json:"payments"`
	Fees     []feeFigures `json:"fees"`
}

type feeFigures struct {
	Currency money.Currency `json:"currency"`
	Amount   int64          `json:"amount"`
}

// figures returns what an approver approves.
func (d FeeDeferral) figures() (any, error) {
	f := deferralFigures{runFigures: newRunFigures(d.Run, monthend.FeePostings(d.Run, d.Fees)), Payments: d.Payments, Fees: []feeFigures{}}
	for _, fee := range d.Fees {
		f.Fees = append(f.Fees, feeFigures{fee.Currency, fee.Minor})
	}
	return f, nil
}
