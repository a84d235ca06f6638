package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/monthend"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/proposal"
)

type allowanceBody struct {
	MonthEndRun
	Allowances []currencyAllowanceBody `json:"allowances" doc:"Allowances, one per currency."`
}

type currencyAllowanceBody struct {
	Currency  httpapi.Currency `json:"currency" doc:"Currency of the receivables." example:"USD"`
	Owed30    httpapi.BigMinor `json:"owed30" doc:"What was owed for up to 30 days since the return at the end of the month, in the smallest unit."`
	Owed60    httpapi.BigMinor `json:"owed60" doc:"What was owed for 31 to 60 days."`
	Owed90    httpapi.BigMinor `json:"owed90" doc:"What was owed for 61 to 90 days."`
	OwedOver  httpapi.BigMinor `json:"owedOver90" doc:"What was owed for more than 90 days."`
	Rates     string           `json:"rates" doc:"Percentages of these parts; empty if no allowance was made any more." example:"1,5,25,100"`
	Before    httpapi.BigMinor `json:"before" doc:"Allowance that there was without this run."`
	Allowance httpapi.BigMinor `json:"allowance" doc:"Allowance at the end of the month. The difference to before was posted."`
}

func renderAllowance(a monthend.Allowance) allowanceBody {
	body := allowanceBody{renderRun(a.Run), make([]currencyAllowanceBody, len(a.Allowances))}
	for i, c := range a.Allowances {
		body.Allowances[i] = currencyAllowanceBody{httpapi.Currency(c.Currency), bigMinor(c.Owed[0]), bigMinor(c.Owed[1]), bigMinor(c.Owed[2]),
			bigMinor(c.Owed[3]), c.Rates.String(), bigMinor(c.Before), bigMinor(c.Required)}
	}
	return body
}

func registerAllowance(a *httpapi.API, service MonthEnd) {
	httpapi.Post(a, withFourEyes(httpapi.Operation{
		ID: "postReceivablesAllowance", Path: "/ledger/receivables-allowance/{month}/post", Tag: tagLedger,
		Summary: "Post the allowance for receivables of a month", Permission: platform.Manage,
		Description: "For platforms with `receivablesAllowance` in their accounting policies: computes what of the receivables is " +
			"expected to be " +
			"lost at the end of a soft-closed month, by the days since the return (IFRS 9), and posts the difference to what there is between " +
			"`expense/write-offs` and `allowance/receivables`. It can be repeated until the month is closed, as the exchange result, and is " +
			"posted before it.",
		Timeout: monthEndTimeout, Errors: []fault.Code{fault.MonthArchived},
	}, 200, allowanceBody{}), func(ctx context.Context, call httpapi.Call, in *monthParams) (proposal.Outcome[monthend.Allowance], error) {
		month, err := in.Month.parse()
		if err != nil {
			return proposal.Outcome[monthend.Allowance]{}, err
		}
		return service.PostAllowance(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, month)
	}, renderOutcome(200, renderAllowance))

	httpapi.GetReport(a, httpapi.Operation{
		ID: "getReceivablesAllowance", Path: "/ledger/receivables-allowance/{month}", Tag: tagLedger,
		Summary: "Get the allowance for receivables of a month", Permission: platform.View,
		Description: "Returns the allowance for receivables of a month as it was posted. With format=csv, one line per currency.",
		Errors:      []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *monthReportParams) (monthend.Allowance, error) {
		month, err := in.Month.parse()
		if err != nil {
			return monthend.Allowance{}, err
		}
		return service.AllowanceOf(ctx, call.Principal.Platform, month)
	}, renderAllowance, monthend.Allowance.Table)
}
