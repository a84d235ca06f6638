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

// TrialBalanceAmounts holds the four amounts of a trial balance line.
type TrialBalanceAmounts struct {
	Opening httpapi.BigMinor `json:"opening" doc:"Opening balance: debits minus credits before the period, in the smallest unit. Negative for liabilities."`
	Debits  httpapi.BigMinor `json:"debits" doc:"Debits in the period, in the smallest unit."`
	Credits httpapi.BigMinor `json:"credits" doc:"Credits in the period, in the smallest unit."`
	Closing httpapi.BigMinor `json:"closing" doc:"Closing balance: opening plus debits minus credits, in the smallest unit."`
}

func renderTrialBalanceAmounts(c accounting.TrialBalanceColumns) TrialBalanceAmounts {
	return TrialBalanceAmounts{httpapi.NewBigMinor(c.Opening), httpapi.NewBigMinor(c.Debits), httpapi.NewBigMinor(c.Credits),
		httpapi.NewBigMinor(c.Closing)}
}

type trialBalanceLineBody struct {
	Path     string           `json:"path" doc:"Path of the account; with detail=group, the chart line." example:"rails/RTP"`
	Currency httpapi.Currency `json:"currency" doc:"Currency of the account." example:"USD"`
	Class    string           `json:"class" enum:"asset,liability,equity,income,expense,trading" doc:"Class of the account."`
	TrialBalanceAmounts
	GLAccount
}

type trialBalanceTotalBody struct {
	Currency httpapi.Currency `json:"currency" doc:"Currency." example:"USD"`
	Balanced bool             `json:"balanced" doc:"Whether opening and closing balances sum to zero and debits equal credits."`
	TrialBalanceAmounts
}

type trialBalanceBody struct {
	From   *httpapi.Time           `json:"from,omitempty" doc:"Start of the period, inclusive. Omitted if it starts with the first posting."`
	To     *httpapi.Time           `json:"to,omitempty" doc:"End of the period, exclusive. Omitted if it ends with the last posting."`
	By     string                  `json:"by" enum:"recorded,effective" doc:"Time used for the report."`
	Lines  []trialBalanceLineBody  `json:"lines" doc:"Lines by currency and path, for accounts with postings up to the end of the period."`
	Totals []trialBalanceTotalBody `json:"totals" doc:"Totals, one per currency."`
}

func renderTrialBalance(b accounting.TrialBalance) trialBalanceBody {
	body := trialBalanceBody{From: optionalTime(b.From), To: optionalTime(b.To), By: timeKindName(b.By),
		Lines: make([]trialBalanceLineBody, len(b.Lines)), Totals: make([]trialBalanceTotalBody, len(b.Totals))}
	for i, l := range b.Lines {
		body.Lines[i] = trialBalanceLineBody{l.Path, httpapi.Currency(l.Currency), string(l.Class),
			renderTrialBalanceAmounts(l.TrialBalanceColumns), renderGLAccount(l.GL)}
	}
	for i, s := range b.Totals {
		body.Totals[i] = trialBalanceTotalBody{httpapi.Currency(s.Currency), s.Balanced(), renderTrialBalanceAmounts(s.TrialBalanceColumns)}
	}
	return body
}

type incomeBody struct {
	By      string             `json:"by" enum:"recorded,effective" doc:"Time used for the report."`
	Periods []incomePeriodBody `json:"periods" doc:"Consecutive periods."`
}

type incomePeriodBody struct {
	From  httpapi.Time     `json:"from" doc:"Start of the period, inclusive."`
	To    httpapi.Time     `json:"to" doc:"End of the period, exclusive."`
	Lines []incomeLineBody `json:"lines" doc:"Lines by currency and account, without zero amounts."`
}

type incomeLineBody struct {
	Path     string           `json:"path" doc:"Path of the account." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"Currency of the account." example:"USD"`
	Earned   httpapi.BigMinor `json:"earned" doc:"Income less reversals, in the smallest unit."`
}

func renderIncome(r accounting.Income) incomeBody {
	body := incomeBody{By: timeKindName(r.By), Periods: make([]incomePeriodBody, len(r.Periods))}
	for i, p := range r.Periods {
		period := incomePeriodBody{httpapi.NewTime(p.From), httpapi.NewTime(p.To), make([]incomeLineBody, len(p.Lines))}
		for j, l := range p.Lines {
			period.Lines[j] = incomeLineBody{l.Path, httpapi.Currency(l.Currency), httpapi.NewBigMinor(l.Amount)}
		}
		body.Periods[i] = period
	}
	return body
}

type fxPositionBody struct {
	At                httpapi.Time         `json:"at" doc:"Time of the positions."`
	By                string               `json:"by" enum:"recorded,effective" doc:"Time used for the report."`
	ReportingCurrency httpapi.Currency     `json:"reportingCurrency" doc:"Currency of the values." example:"USD"`
	ValuedAt          *httpapi.Time        `json:"valuedAt,omitempty" doc:"Time at which the rates were the current market rates. Omitted if no rates were kept for the time of the positions; then there are no values."`
	RatesKeptSince    *httpapi.Time        `json:"ratesKeptSince,omitempty" doc:"Time since which market rates are kept. Only if valuedAt is omitted and any rates are kept."`
	Value             *httpapi.BigMinor    `json:"value,omitempty" doc:"Total value, in the smallest unit of the reporting currency. Omitted if a line could not be valued."`
	Lines             []fxPositionLineBody `json:"lines" doc:"Positions, one per currency."`
}

type fxPositionLineBody struct {
	Currency httpapi.Currency  `json:"currency" doc:"Currency of the position." example:"BTC"`
	Position httpapi.BigMinor  `json:"position" doc:"Position, in the smallest unit. Positive if the service bought more of the currency than it sold."`
	Rate     *httpapi.Decimal  `json:"rate,omitempty" doc:"Market rate: smallest units of the reporting currency per smallest unit of the currency. Omitted if none is available."`
	RateAt   *httpapi.Time     `json:"rateAt,omitempty" doc:"Time of the rate."`
	Source   string            `json:"rateSource,omitempty" doc:"Source of the rate: ECB (reference rates of the European Central Bank), SIMULATED (simulated market), FIXED (counts as one US dollar), or two of them joined by +. Omitted in the reporting currency." example:"ECB"`
	Value    *httpapi.BigMinor `json:"value,omitempty" doc:"Value of the position, in the smallest unit of the reporting currency, rounded towards zero."`
}

func renderFXPosition(p accounting.FXPosition) fxPositionBody {
	body := fxPositionBody{At: httpapi.NewTime(p.AsOf), By: timeKindName(p.By), ReportingCurrency: httpapi.Currency(p.ValuationCurrency),
		ValuedAt: optionalTime(p.RatesKeptAt), RatesKeptSince: optionalTime(p.FirstRatesAt),
		Lines: make([]fxPositionLineBody, len(p.Lines))}
	if p.AllValued {
		body.Value = &httpapi.BigMinor{Total: p.Value}
	}
	for i, l := range p.Lines {
		line := fxPositionLineBody{Currency: httpapi.Currency(l.Currency), Position: httpapi.NewBigMinor(l.Position),
			RateAt: optionalTime(l.RateAt), Source: l.RateSource}
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

func registerLedgerReports(a *httpapi.API, service Accounting) {
	type trialBalanceParams struct {
		httpapi.ReportFormat
		TimeBasis
		TimeRange
		Detail string `query:"detail" enum:"account,group" default:"account" doc:"Level of detail. account: one line per account. group: one line per line of the chart of accounts, with all customers in one line."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getTrialBalance", Path: "/ledger/trial-balance", Tag: tagLedger, Summary: "Get the trial balance", Permission: platform.View,
		Description: "Returns the opening balance, debits, credits and closing balance of each account and currency, from one snapshot. " +
			"In every currency the opening and closing balances sum to zero and debits equal credits; see `totals`. With format=csv, lines " +
			"without totals.",
		Errors: []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *trialBalanceParams) (accounting.TrialBalance, error) {
		return service.TrialBalance(ctx, call.Principal.Platform, accounting.TrialBalanceQuery{By: in.kind(), Interval: in.interval(),
			Grouped: in.Detail == "group"})
	}, renderTrialBalance, accounting.TrialBalance.Table)

	type incomeParams struct {
		httpapi.ReportFormat
		TimeBasis
		From   httpapi.Time `query:"from" required:"true" doc:"Start of the report, inclusive."`
		To     httpapi.Time `query:"to" doc:"End of the report, exclusive. Defaults to now."`
		Period string       `query:"period" enum:"day,month" default:"month" doc:"Length of the periods: UTC days or months."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getIncome", Path: "/ledger/income", Tag: tagLedger, Summary: "Get income by period", Permission: platform.View,
		Description: "Returns the income of the service by period, currency and account. The first period starts at `from` and the last ends " +
			"at `to`; at most 100 periods are returned. With format=csv, one line per period, currency and account.",
		Errors: []fault.Code{fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *incomeParams) (accounting.Income, error) {
		return service.Income(ctx, call.Principal.Platform, accounting.IncomeQuery{By: in.kind(), Interval: TimeRange{in.From, in.To}.interval(),
			Granularity: accounting.Granularity(in.Period)})
	}, renderIncome, accounting.Income.Table)

	type fxPositionParams struct {
		httpapi.ReportFormat
		TimeBasis
		At                httpapi.Time     `query:"at" doc:"Time of the positions, inclusive. Defaults to now."`
		ReportingCurrency httpapi.Currency `query:"reportingCurrency" default:"USD" doc:"Currency of the values."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getFXPosition", Path: "/ledger/fx-position", Tag: tagLedger, Summary: "Get the FX position", Permission: platform.View,
		Description: "Returns the foreign exchange position in each currency, and its value at the market rates of that time. " +
			"Rates are kept every hour, and when a present position is valued at rates older than five minutes, for ten years. A position is " +
			"valued at the last rates kept before its time, so the answer for a past time stays the same. " +
			"If none were kept in the 24 hours before, there is no value. With format=csv, one line per currency, with rates between major units.",
		Errors: []fault.Code{fault.InvalidCurrency, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *fxPositionParams) (accounting.FXPosition, error) {
		return service.FXPosition(ctx, call.Principal.Platform, ports.Cutoff{By: in.kind(), Moment: in.At.Time},
			money.Currency(in.ReportingCurrency))
	}, renderFXPosition, accounting.FXPosition.Table)
}
