package api

import (
	"context"
	"time"

	httpapi "causeway/adapters/http"
	"causeway/app/monthend"
	"causeway/core/exchange"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	runs "causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// MonthEnd holds the use cases of postings at the end of a month.
type MonthEnd interface {
	Revalue(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest,
		m period.Month) (proposal.Outcome[monthend.Revaluation], error)
	Result(ctx context.Context, p ident.Platform, m period.Month) (monthend.Revaluation, error)
	MeasuredTable(r monthend.Revaluation) monthend.Table
	Changes(ctx context.Context, p ident.Platform, from, to time.Time, in money.Currency) (monthend.PositionChanges, error)
	DeferFees(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest,
		m period.Month) (proposal.Outcome[monthend.FeeDeferral], error)
	Deferral(ctx context.Context, p ident.Platform, m period.Month) (monthend.FeeDeferral, error)
	InTransitTable(d monthend.FeeDeferral) monthend.Table
	PostAllowance(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
		m period.Month) (proposal.Outcome[monthend.Allowance], error)
	AllowanceOf(ctx context.Context, p ident.Platform, m period.Month) (monthend.Allowance, error)
}

// monthEndTimeout is enough to read a month with some million conversions.
const monthEndTimeout = 10 * time.Minute

// MonthEndRun says which run of a month counts, and who made it.
type MonthEndRun struct {
	Month      monthText                   `json:"month" doc:"Month of the result."`
	Run        int                         `json:"run" doc:"Number of the run that counts. Each run with another result than the one before has the next number." example:"1"`
	PostedAt   httpapi.Time                `json:"postedAt" doc:"Time of the run."`
	TokenID    httpapi.ID[ident.Token]     `json:"tokenId,omitzero" doc:"Id of the token that requested the run. Omitted if the operator of the service did."`
	Actor      string                      `json:"actor,omitempty" doc:"Name of the person: from Causeway-Actor, or of the operator." example:"Ana Lima"`
	Approval   *approvalBody               `json:"approval,omitempty" doc:"Approval of the run by a second person, if it needed four eyes."`
	PostingIDs []httpapi.ID[ident.Posting] `json:"postingIds" doc:"Ids of the postings of the result. Empty if it is zero."`
	LastRead   int64                       `json:"lastPosting" doc:"Number of the last posting of the platform that the run read." example:"84211"`
}

func renderRun(r runs.Run) MonthEndRun {
	run := MonthEndRun{Month: monthText(r.Month.String()), Run: r.Number, PostedAt: httpapi.NewTime(r.At), TokenID: httpapi.NewID(r.By.Token),
		Actor: r.By.Actor, Approval: renderApproval(r.Approval),
		PostingIDs: make([]httpapi.ID[ident.Posting], len(r.Postings)), LastRead: r.LastSeq}
	for i, id := range r.Postings {
		var posting ident.Posting
		posting.SetUUID(id)
		run.PostingIDs[i] = httpapi.NewID(posting)
	}
	return run
}

type exchangeResultBody struct {
	MonthEndRun
	FunctionalCurrency string                 `json:"functionalCurrency" doc:"Functional currency of the platform. All results and values are in its smallest unit." example:"USD"`
	UnrealisedResult   string                 `json:"unrealisedResult" enum:"REVERSE,KEEP" doc:"REVERSE: the unrealised result was reversed at the start of the next month. KEEP: it stays, and the next month posts the change."`
	From               httpapi.Time           `json:"from" doc:"Start of the time that the result covers: the start of the month, or of an earlier month that was closed without a result."`
	OpeningRatesKeptAt httpapi.Time           `json:"openingRatesKeptAt" doc:"Time at which the opening rates were kept."`
	RatesKeptAt        httpapi.Time           `json:"ratesKeptAt" doc:"Time at which the closing rates were kept."`
	OpeningResult      httpapi.BigMinor       `json:"openingResult" doc:"What was earned in earlier books, posted to equity/retained-earnings: by the position before its first revalued month, and by opening balances. It is no income."`
	Realised           []exchangeRealisedBody `json:"realised" doc:"Realised result, by origin and currency."`
	Positions          []exchangePositionBody `json:"positions" doc:"Position in each foreign currency at the end of the month, with its unrealised result."`
	Translations       []translationBody      `json:"translations" doc:"Income, expense and own funds in foreign currencies that were posted in the month, at the market rates of their times, by account and currency. Entries between two such accounts are left out, such as the closing of a year."`
	Translated         httpapi.BigMinor       `json:"translated" doc:"Value of all such entries up to the end of the month, at the rates of their times. fx/valuation is this minus the closing value."`
	Cash               httpapi.BigMinor       `json:"functionalPosition" doc:"Position in the functional currency at the end of the month."`
	Changes            PositionValueChanges   `json:"changes" doc:"What changed the value of the position."`
}

type exchangeRealisedBody struct {
	Origin   string           `json:"origin" enum:"CONVERSION,REVERSAL,SETTLEMENT,ADJUSTMENT,INCOME_AND_EXPENSE,OWN_FUNDS" doc:"CONVERSION: a payment was converted. REVERSAL: a conversion was undone, at the market rate of that time. SETTLEMENT: the position was settled with a liquidity provider. ADJUSTMENT: any other posting on fx/position. INCOME_AND_EXPENSE, OWN_FUNDS: income, expense or own funds closed a part of the position."`
	Currency httpapi.Currency `json:"currency" doc:"Foreign currency." example:"EUR"`
	Amount   httpapi.BigMinor `json:"amount" doc:"Realised result. Negative for a loss."`
	Postings int64            `json:"postings" doc:"Number of postings on the position in the currency. One between two foreign currencies counts for both, and so does one of two origins." example:"1204"`
}

type exchangePositionBody struct {
	Currency   httpapi.Currency `json:"currency" doc:"Foreign currency." example:"EUR"`
	Quantity   httpapi.BigMinor `json:"quantity" doc:"Position, in the smallest unit of the currency: assets less what is owed. Positive if there is more than is owed."`
	Cost       httpapi.BigMinor `json:"cost" doc:"Weighted average cost of the position; negative for a negative position."`
	Rate       *httpapi.Decimal `json:"rate,omitempty" doc:"Closing rate: smallest units of the functional currency per smallest unit of the currency. Omitted for a position of 0."`
	RateAt     *httpapi.Time    `json:"rateAt,omitempty" doc:"Time of the rate."`
	RateSource string           `json:"rateSource,omitempty" doc:"Source of the rate, as in the FX position." example:"ECB"`
	Value      httpapi.BigMinor `json:"value" doc:"Position at the closing rate, rounded towards zero."`
	Unrealised httpapi.BigMinor `json:"unrealised" doc:"Unrealised result: value minus cost."`
	Carried    httpapi.BigMinor `json:"carried" doc:"Part of the unrealised result that an earlier month has posted and not reversed."`
}

type translationBody struct {
	Account  string           `json:"account" doc:"Path of the account. The platform's balances are together, as platform/<InternalAccount>." example:"income/fees"`
	Currency httpapi.Currency `json:"currency" doc:"Foreign currency." example:"EUR"`
	Quantity httpapi.BigMinor `json:"quantity" doc:"Credits minus debits, in the smallest unit of the currency."`
	Value    httpapi.BigMinor `json:"value" doc:"Value in the functional currency at the market rates of their times, rounded half to even."`
	Postings int64            `json:"postings" doc:"Number of postings. 0 for an account that only carries a remainder." example:"1204"`
	// Remainder is a text, because it may have 62 decimals.
	Remainder string `json:"remainder,omitempty" doc:"What the exact value is above value, in its smallest unit, as a decimal. It is carried into the next month. Omitted if it is 0." example:"-0.25"`
}

// PositionValueChanges are the parts of a change of the value of the FX position.
type PositionValueChanges struct {
	Opening     httpapi.BigMinor `json:"openingValue" doc:"Value of the position at the start, at the market rates of that time."`
	Conversions httpapi.BigMinor `json:"conversions" doc:"Change by conversions: what each bought less what it sold, at the market rates of its time."`
	Reversals   httpapi.BigMinor `json:"reversals" doc:"Change by reversals. Negative if conversions were undone at worse rates than they were made."`
	Settlements httpapi.BigMinor `json:"settlements" doc:"Change by settlements."`
	Adjustments httpapi.BigMinor `json:"adjustments" doc:"Change by other postings."`
	Income      httpapi.BigMinor `json:"incomeAndExpense" doc:"Change by income less expense in foreign currencies, at the market rates of their times."`
	OwnFunds    httpapi.BigMinor `json:"ownFunds" doc:"Change by equity and balances of the platform in foreign currencies, at the market rates of their times."`
	Openings    httpapi.BigMinor `json:"openingBalances" doc:"Change by opening balances, which were earned in earlier books."`
	RateChanges httpapi.BigMinor `json:"rateChanges" doc:"Change by market rates."`
	Closing     httpapi.BigMinor `json:"closingValue" doc:"Value of the position at the end: the sum of all others."`
}

func bigMinor(minor int64) httpapi.BigMinor { return httpapi.NewBigMinor(money.TotalOf(minor)) }

func renderChangeParts(c runs.Changes) PositionValueChanges {
	return PositionValueChanges{Opening: bigMinor(c.Opening), Conversions: bigMinor(c.ByOrigin[exchange.Conversion]),
		Reversals:   bigMinor(c.ByOrigin[exchange.Reversal]),
		Settlements: bigMinor(c.ByOrigin[exchange.Settlement]), Adjustments: bigMinor(c.ByOrigin[exchange.Adjustment]),
		Income: bigMinor(c.ByOrigin[exchange.IncomeAndExpense]), OwnFunds: bigMinor(c.ByOrigin[exchange.OwnFunds]),
		Openings: bigMinor(c.ByOrigin[exchange.Opening]), RateChanges: bigMinor(c.RateChanges), Closing: bigMinor(c.Closing)}
}

func renderExchangeResult(r monthend.Revaluation) exchangeResultBody {
	body := exchangeResultBody{MonthEndRun: renderRun(r.Run), FunctionalCurrency: string(r.Result.Functional), UnrealisedResult: "REVERSE",
		From: httpapi.NewTime(r.Result.From), OpeningRatesKeptAt: httpapi.NewTime(r.Result.OpeningRatesKeptAt),
		RatesKeptAt:   httpapi.NewTime(r.Result.RatesKeptAt),
		OpeningResult: bigMinor(r.Result.Opening), Realised: make([]exchangeRealisedBody, len(r.Result.Realised)),
		Positions:    make([]exchangePositionBody, len(r.Result.Lines)),
		Translations: make([]translationBody, len(r.Result.Translations)), Translated: bigMinor(r.Result.Translated),
		Cash: bigMinor(r.Result.Cash), Changes: renderChangeParts(r.Result.Changes)}
	if r.Result.Keep {
		body.UnrealisedResult = "KEEP"
	}
	for i, o := range r.Result.Realised {
		body.Realised[i] = exchangeRealisedBody{string(o.Origin), httpapi.Currency(o.Currency), bigMinor(o.Amount), o.Trades}
	}
	for i, t := range r.Result.Translations {
		body.Translations[i] = translationBody{t.Account, httpapi.Currency(t.Currency), bigMinor(t.Quantity), bigMinor(t.Value), t.Postings, ""}
		if !t.Remainder.IsZero() {
			body.Translations[i].Remainder = t.Remainder.String()
		}
	}
	for i, l := range r.Result.Lines {
		body.Positions[i] = exchangePositionBody{Currency: httpapi.Currency(l.Currency), Quantity: bigMinor(l.Quantity), Cost: bigMinor(l.Cost),
			RateAt: optionalTime(l.RateAt), RateSource: l.RateSource,
			Value: bigMinor(l.Value), Unrealised: bigMinor(l.Unrealised), Carried: bigMinor(l.Carried)}
		if l.Quantity != 0 {
			body.Positions[i].Rate = &httpapi.Decimal{Rate: l.Rate}
		}
	}
	return body
}

type exchangeChangesBody struct {
	From               httpapi.Time     `json:"from" doc:"Time of the opening value. Its whole millisecond is before the changes."`
	To                 httpapi.Time     `json:"to" doc:"Time of the closing value. Its whole millisecond is included."`
	ReportingCurrency  httpapi.Currency `json:"reportingCurrency" doc:"Currency of the values." example:"USD"`
	OpeningRatesKeptAt httpapi.Time     `json:"openingRatesKeptAt" doc:"Time at which the opening rates were kept."`
	RatesKeptAt        httpapi.Time     `json:"ratesKeptAt" doc:"Time at which the closing rates were kept."`
	PositionValueChanges
}

func renderExchangeChanges(c monthend.PositionChanges) exchangeChangesBody {
	return exchangeChangesBody{httpapi.NewTime(c.From), httpapi.NewTime(c.To), httpapi.Currency(c.Currency),
		httpapi.NewTime(c.FromRatesKeptAt), httpapi.NewTime(c.ToRatesKeptAt), renderChangeParts(c.Changes)}
}

type deferredFeesBody struct {
	MonthEndRun
	Payments int64             `json:"payments" doc:"Number of payments whose money was in transit at the end of the month." example:"17"`
	Fees     []deferredFeeBody `json:"fees" doc:"Deferred fees, one amount per currency."`
}

type deferredFeeBody struct {
	Currency httpapi.Currency `json:"currency" doc:"Currency of the fees." example:"USD"`
	Amount   httpapi.BigMinor `json:"amount" doc:"Deferred fees, in the smallest unit."`
}

func renderDeferredFees(d monthend.FeeDeferral) deferredFeesBody {
	body := deferredFeesBody{renderRun(d.Run), d.Payments, make([]deferredFeeBody, len(d.Fees))}
	for i, fee := range d.Fees {
		body.Fees[i] = deferredFeeBody{httpapi.Currency(fee.Currency), bigMinor(fee.Minor)}
	}
	return body
}

type monthParams struct {
	Month monthText `path:"month" doc:"Month, as YYYY-MM." example:"2026-10"`
}

type monthReportParams struct {
	httpapi.ReportFormat
	Month monthText `path:"month" doc:"Month, as YYYY-MM." example:"2026-10"`
}

func registerMonthEnd(a *httpapi.API, service MonthEnd) {
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "postExchangeResult", Path: "/ledger/exchange-result/{month}/post", Tag: tagLedger, Summary: "Post the exchange result of a month",
		Permission: platform.Manage,
		Description: "Computes the exchange result of a soft-closed month (IAS 21) in the functional currency of the platform and posts it, " +
			"effective at the end of the month: " +
			"the realised result of every posting on the position, at weighted average cost, and the unrealised result of the position at the " +
			"closing rates. The position in a currency is what the platform has in it on its own account: `fx/position`, and income, expense, " +
			"equity and balances of the platform in foreign currencies, which are translated at the rates of their times. " +
			"Afterwards `fx/valuation` is what was translated, minus the value of the position. " +
			"With the policy REVERSE the unrealised result is reversed at the start of the next month.\n\n" +
			"It can be repeated until the month is closed: nothing is posted if nothing has changed; otherwise the former postings are reversed " +
			"and new ones posted. " +
			"What the position had earned before the first month of a platform, and the result of opening balances, goes to " +
			"`equity/retained-earnings`. Months are revalued in order.",
		Timeout: monthEndTimeout, Errors: []fault.Code{fault.MonthArchived},
	}, 200, exchangeResultBody{}), func(ctx context.Context, call httpapi.Call,
		in *monthParams) (proposal.Outcome[monthend.Revaluation], error) {
		month, err := in.Month.parse()
		if err != nil {
			return proposal.Outcome[monthend.Revaluation]{}, err
		}
		return service.Revalue(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, month)
	}, renderOutcome(200, renderExchangeResult))

	result := func(ctx context.Context, call httpapi.Call, in *monthReportParams) (monthend.Revaluation, error) {
		month, err := in.Month.parse()
		if err != nil {
			return monthend.Revaluation{}, err
		}
		return service.Result(ctx, call.Principal.Platform, month)
	}
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "getExchangeResult", Path: "/ledger/exchange-result/{month}", Tag: tagLedger, Summary: "Get the exchange result of a month",
		Permission: platform.View,
		Description: "Returns the exchange result of a month as it was posted, and what changed the value of the position, to the " +
			"smallest unit. " +
			"With format=csv, every conversion and other posting on the position with its result, one line per currency, as long as the market " +
			"rates of the month are kept (ten years).",
		Errors: []fault.Code{fault.NotFound, fault.Conflict, fault.MonthArchived},
	}, result, renderExchangeResult, func(ctx context.Context, call httpapi.Call, in *monthReportParams) (monthend.Table, error) {
		found, err := result(ctx, call, in)
		return service.MeasuredTable(found), err
	})

	type changesParams struct {
		httpapi.ReportFormat
		From              httpapi.Time     `query:"from" required:"true" doc:"Time of the opening value." example:"2026-10-01T00:00:00Z"`
		To                httpapi.Time     `query:"to" required:"true" doc:"Time of the closing value." example:"2026-10-15T12:00:00Z"`
		ReportingCurrency httpapi.Currency `query:"reportingCurrency" default:"USD" doc:"Currency of the values."`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getExchangeChanges", Path: "/ledger/exchange-changes", Tag: tagLedger, Summary: "Explain a change of the FX position",
		Permission: platform.View,
		Description: "Explains how the value of the foreign exchange position changed between any two times for which market rates were kept " +
			"in the 24 hours before, by effective time: " +
			"opening value, conversions, reversals, settlements, adjustments, income and expense, own funds, opening balances, market rates and " +
			"closing value. Currencies other than the reporting currency are foreign. The parts add up exactly. Each posting counts with the " +
			"market rates of its time.",
		Timeout: monthEndTimeout, Errors: []fault.Code{fault.InvalidCurrency, fault.Conflict, fault.MonthArchived},
	}, func(ctx context.Context, call httpapi.Call, in *changesParams) (monthend.PositionChanges, error) {
		return service.Changes(ctx, call.Principal.Platform, in.From.Time, in.To.Time, money.Currency(in.ReportingCurrency))
	}, renderExchangeChanges, monthend.PositionChanges.Table)

	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "postDeferredFees", Path: "/ledger/deferred-fees/{month}/post", Tag: tagLedger, Summary: "Defer the fees of payments in transit",
		Permission: platform.Manage,
		Description: "For platforms that recognise fees at delivery: moves the fees of payments that are converted, and neither delivered nor " +
			"undone at the end of a soft-closed month, from `income/fees` to `liability/deferred-fees`, and back at the start of the next month. " +
			"It can be repeated until the month is closed, as the exchange result.",
		Timeout: monthEndTimeout, Errors: []fault.Code{fault.MonthArchived},
	}, 200, deferredFeesBody{}), func(ctx context.Context, call httpapi.Call,
		in *monthParams) (proposal.Outcome[monthend.FeeDeferral], error) {
		month, err := in.Month.parse()
		if err != nil {
			return proposal.Outcome[monthend.FeeDeferral]{}, err
		}
		return service.DeferFees(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, month)
	}, renderOutcome(200, renderDeferredFees))

	deferral := func(ctx context.Context, call httpapi.Call, in *monthReportParams) (monthend.FeeDeferral, error) {
		month, err := in.Month.parse()
		if err != nil {
			return monthend.FeeDeferral{}, err
		}
		return service.Deferral(ctx, call.Principal.Platform, month)
	}
	httpapi.GetLongReport(a, httpapi.Operation{
		ID: "getDeferredFees", Path: "/ledger/deferred-fees/{month}", Tag: tagLedger, Summary: "Get the deferred fees of a month",
		Permission: platform.View,
		Description: "Returns the fees that were deferred at the end of a month. With format=csv, every payment that was in transit, one line " +
			"per currency.",
		Errors: []fault.Code{fault.NotFound},
	}, deferral, renderDeferredFees, func(ctx context.Context, call httpapi.Call, in *monthReportParams) (monthend.Table, error) {
		found, err := deferral(ctx, call, in)
		return service.InTransitTable(found), err
	})
}
