package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// TrialBalanceAmounts are the four figures of a line.
type TrialBalanceAmounts struct {
	Opening httpapi.BigMinor `json:"opening" doc:"Debits minus credits before the period: what is owed to somebody stands below zero."`
	Debits  httpapi.BigMinor `json:"debits" doc:"What was debited in the period."`
	Credits httpapi.BigMinor `json:"credits" doc:"What was credited in the period."`
	Closing httpapi.BigMinor `json:"closing" doc:"Opening, plus debits, minus credits."`
}

func renderTrialBalanceAmounts(c accounting.TrialBalanceColumns) TrialBalanceAmounts {
	return TrialBalanceAmounts{httpapi.NewBigMinor(c.Opening), httpapi.NewBigMinor(c.Debits), httpapi.NewBigMinor(c.Credits), httpapi.NewBigMinor(c.Closing)}
}

type trialBalanceLineBody struct {
	Path     string           `json:"path" doc:"The account; with detail=group, its line of the chart." example:"rails/RTP"`
	Currency httpapi.Currency `json:"currency" doc:"The currency of the account." example:"USD"`
	Class    string           `json:"class" enum:"asset,liability,income,expense,trading" doc:"What the account is."`
	TrialBalanceAmounts
}

type trialBalanceTotalBody struct {
	Currency httpapi.Currency `json:"currency" doc:"The currency." example:"USD"`
	Balanced bool             `json:"balanced" doc:"Whether opening and closing add up to zero and debits equal credits. Double entry says they always do."`
	TrialBalanceAmounts
}

type trialBalanceBody struct {
	From   *httpapi.Time           `json:"from,omitempty" doc:"The first moment of the period; left out where it begins with the first posting."`
	To     *httpapi.Time           `json:"to,omitempty" doc:"The last moment of the period; left out where it ends with the last posting."`
	By     string                  `json:"by" enum:"recorded,effective" doc:"By which time of the postings."`
	Lines  []trialBalanceLineBody  `json:"lines" doc:"By currency and path; accounts that nothing was posted to by the end of the period are left out."`
	Totals []trialBalanceTotalBody `json:"totals" doc:"The sums of the lines, one a currency."`
}

func renderTrialBalance(b accounting.TrialBalance) trialBalanceBody {
	body := trialBalanceBody{From: optionalTime(b.From), To: optionalTime(b.Last()), By: timeKindName(b.By),
		Lines: make([]trialBalanceLineBody, len(b.Lines)), Totals: make([]trialBalanceTotalBody, len(b.Totals))}
	for i, l := range b.Lines {
		body.Lines[i] = trialBalanceLineBody{l.Path, httpapi.Currency(l.Currency), string(l.Class), renderTrialBalanceAmounts(l.TrialBalanceColumns)}
	}
	for i, s := range b.Totals {
		body.Totals[i] = trialBalanceTotalBody{httpapi.Currency(s.Currency), s.Balanced(), renderTrialBalanceAmounts(s.TrialBalanceColumns)}
	}
	return body
}

type incomeBody struct {
	By      string             `json:"by" enum:"recorded,effective" doc:"By which time of the postings."`
	Periods []incomePeriodBody `json:"periods" doc:"One after the other, without a gap."`
}

type incomePeriodBody struct {
	From  httpapi.Time     `json:"from" doc:"The first moment of the period."`
	To    httpapi.Time     `json:"to" doc:"The last moment of the period."`
	Lines []incomeLineBody `json:"lines" doc:"By currency and account; those that earned nothing are left out."`
}

type incomeLineBody struct {
	Path     string           `json:"path" doc:"The account." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"The currency." example:"USD"`
	Earned   httpapi.BigMinor `json:"earned" doc:"What was earned, less what was given back."`
}

func renderIncome(r accounting.Income) incomeBody {
	body := incomeBody{By: timeKindName(r.By), Periods: make([]incomePeriodBody, len(r.Periods))}
	for i, p := range r.Periods {
		period := incomePeriodBody{httpapi.NewTime(p.From), httpapi.NewTime(p.Last()), make([]incomeLineBody, len(p.Lines))}
		for j, l := range p.Lines {
			period.Lines[j] = incomeLineBody{l.Path, httpapi.Currency(l.Currency), httpapi.NewBigMinor(l.Amount)}
		}
		body.Periods[i] = period
	}
	return body
}

type fxPositionBody struct {
	At                httpapi.Time         `json:"at" doc:"The moment of the positions."`
	By                string               `json:"by" enum:"recorded,effective" doc:"By which time of the postings."`
	ReportingCurrency httpapi.Currency     `json:"reportingCurrency" doc:"What they are valued in." example:"USD"`
	ValuedAt          httpapi.Time         `json:"valuedAt" doc:"When they were valued."`
	Value             *httpapi.BigMinor    `json:"value,omitempty" doc:"What all of it would be worth, in the smallest unit of the reporting currency; left out when a line could not be valued."`
	Lines             []fxPositionLineBody `json:"lines" doc:"One a currency."`
}

type fxPositionLineBody struct {
	Currency httpapi.Currency  `json:"currency" doc:"The currency." example:"BTC"`
	Position httpapi.BigMinor  `json:"position" doc:"Above zero: the service has taken more of it than it has given."`
	Rate     *httpapi.Decimal  `json:"rate,omitempty" doc:"The market's rate: smallest units of the reporting currency for one smallest unit. Left out when the market has none now."`
	RateAt   *httpapi.Time     `json:"rateAt,omitempty" doc:"When the rate was made."`
	Value    *httpapi.BigMinor `json:"value,omitempty" doc:"The position at that rate, rounded towards zero."`
}

func renderFXPosition(p accounting.FXPosition) fxPositionBody {
	body := fxPositionBody{At: httpapi.NewTime(p.AsOf), By: timeKindName(p.By), ReportingCurrency: httpapi.Currency(p.ValuationCurrency), ValuedAt: httpapi.NewTime(p.ValuedAt),
		Lines: make([]fxPositionLineBody, len(p.Lines))}
	if p.AllValued {
		body.Value = &httpapi.BigMinor{Total: p.Value}
	}
	for i, l := range p.Lines {
		line := fxPositionLineBody{Currency: httpapi.Currency(l.Currency), Position: httpapi.NewBigMinor(l.Position), RateAt: optionalTime(l.RateAt)}
		if !l.Rate.IsZero() {
			line.Rate = &httpapi.Decimal{Rate: l.Rate}
		}
		if l.Valued {
			line.Value = &httpapi.BigMinor{Total: l.Value}
		}
		body.Lines[i] = line
	}
	return body
}

func registerLedgerReports(a *httpapi.API, f Accounting) {
	type trial struct {
		TimeBasis
		TimeRange
		Detail string `query:"detail" enum:"account,group" default:"account" doc:"account: a line for each account. group: a line for each line of the chart, so that all customers are one."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getTrialBalance", Path: "/ledger/trial-balance", Tag: tagLedger, Summary: "Get the trial balance", Permission: platform.View,
		Description: "For each currency and account: the balance before the period, what was debited and credited in it, and the balance after it. " +
			"In every currency the opening and the closing column add up to zero, and debits equal credits; `totals` says so. All of one moment.",
		Errors: []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *trial) (accounting.TrialBalance, error) {
		return f.TrialBalance(ctx, call.Principal.Platform, accounting.TrialBalanceQuery{By: in.kind(), Interval: inclusiveInterval(in.From, in.To), Grouped: in.Detail == "group"})
	}, renderTrialBalance)

	type income struct {
		TimeBasis
		From   httpapi.Time `query:"from" required:"true" doc:"The first moment."`
		To     httpapi.Time `query:"to" doc:"The last moment; without it, now."`
		Period string       `query:"period" enum:"day,month" default:"month" doc:"How long the periods are; days and months are those of UTC."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getIncome", Path: "/ledger/income", Tag: tagLedger, Summary: "Get income and fees by period", Permission: platform.View,
		Description: "What the service earned, by period, currency and account. The first period begins with `from` and the last ends with `to`; at most 100 are answered at once.",
		Errors:      []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *income) (accounting.Income, error) {
		return f.Income(ctx, call.Principal.Platform, accounting.IncomeQuery{By: in.kind(), Interval: inclusiveInterval(in.From, in.To), Granularity: accounting.Granularity(in.Period)})
	}, renderIncome)

	type fx struct {
		TimeBasis
		At                httpapi.Time     `query:"at" doc:"The positions as they were at the end of this moment; without it, now."`
		ReportingCurrency httpapi.Currency `query:"reportingCurrency" default:"USD" doc:"The currency to value them in."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getFXPosition", Path: "/ledger/fx-position", Tag: tagLedger, Summary: "Get the FX position", Permission: platform.View,
		Description: "What the service holds for trade in each currency, and what that would be worth at the present rate of the market.",
		Errors:      []fault.Code{fault.InvalidCurrency, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *fx) (accounting.FXPosition, error) {
		return f.FXPosition(ctx, call.Principal.Platform, ports.Cutoff{By: in.kind(), Moment: in.At.Time}, money.Currency(in.ReportingCurrency))
	}, renderFXPosition)
}
