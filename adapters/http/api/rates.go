package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
)

type exchangeRateBody struct {
	SourceCurrency         currency         `json:"sourceCurrency" doc:"Currency sent."`
	SendingAmount          httpapi.Minor    `json:"sendingAmount" doc:"Amount sent, in the smallest unit of the source currency."`
	MinSendingAmount       httpapi.Minor    `json:"minSendingAmount" doc:"Minimum amount of a payment, in the smallest unit of the source currency."`
	MaxSendingAmount       httpapi.Minor    `json:"maxSendingAmount" doc:"Maximum amount of a payment, in the smallest unit of the source currency."`
	DestinationCurrency    currency         `json:"destinationCurrency" doc:"Currency received."`
	DestinationPaymentRail string           `json:"destinationPaymentRail" doc:"Payment rail of the payout: of a cryptocurrency, the network, as cryptoNetwork has it." example:"RTP"`
	ReceivingAmount        httpapi.Minor    `json:"receivingAmount" doc:"Amount received for sendingAmount after fees, in the smallest unit of the destination currency. 0 if sendingAmount does not cover the fees."`
	ExchangeRate           httpapi.Decimal  `json:"exchangeRate" doc:"Exact rate: smallest units of the destination currency per smallest unit of the source currency."`
	Fees                   exchangeRateFees `json:"fees" doc:"Fees, in the smallest unit of the source currency."`
	UpdatedAt              httpapi.Time     `json:"updatedAt" doc:"Time of the rate. Rates are valid for about five minutes."`
}

type exchangeRateFees struct {
	Fixed httpapi.Minor `json:"fixed" doc:"Fixed fee, in the smallest unit of the source currency."`
	Total httpapi.Minor `json:"total" doc:"Total fee, fixed and variable, in the smallest unit of the source currency."`
}

type exchangeRateListResponse struct {
	Data []exchangeRateBody `json:"data" doc:"Rates, one per corridor."`
}

func registerRates(a *httpapi.API, service Quotes) {
	type listParams struct {
		SourceCurrency      string   `query:"sourceCurrency" doc:"Currency sent. Defaults to all your currencies."`
		DestinationCurrency []string `query:"destinationCurrency" doc:"Currencies received: repeat the parameter, or separate them by commas. Defaults to all live currencies."`
		SendingAmount       int64    `query:"sendingAmount" minimum:"0" maximum:"9000000000000000" default:"10000" doc:"Amount sent, in the smallest unit of the source currency."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getExchangeRates", Path: "/exchange-rates", Tag: tagRates, Summary: "List exchange rates", Permission: platform.View,
		Description: "Returns the current rate and fees of each corridor. Rates are valid for about five minutes; only a quote locks a rate. " +
			"Limits are those of the corridor, or your own for the currency if narrower. A corridor without a current rate is omitted; if both " +
			"its currencies are given, the request fails.",
		Errors: []fault.Code{fault.InvalidCurrency, fault.QuoteRequestFailed},
	}, func(ctx context.Context, call httpapi.Call, in *listParams) ([]payments.CorridorRate, error) {
		request := payments.RatesRequest{From: money.Currency(in.SourceCurrency), Sending: in.SendingAmount}
		for _, to := range in.DestinationCurrency {
			request.To = append(request.To, money.Currency(to))
		}
		return service.Rates(ctx, call.Principal.Platform, request)
	}, func(rates []payments.CorridorRate) exchangeRateListResponse {
		body := exchangeRateListResponse{Data: make([]exchangeRateBody, len(rates))}
		for i, r := range rates {
			body.Data[i] = exchangeRateBody{
				SourceCurrency: renderCurrency(r.From), SendingAmount: minor(r.Sending), MinSendingAmount: minor(r.Minimum),
				MaxSendingAmount:    minor(r.Maximum),
				DestinationCurrency: renderCurrency(r.To), DestinationPaymentRail: r.Rail.PublicName(), ReceivingAmount: minor(r.Receiving),
				ExchangeRate: httpapi.Decimal{Rate: r.Rate}, Fees: exchangeRateFees{Fixed: minor(r.FixedFee), Total: minor(r.TotalFee)},
				UpdatedAt: httpapi.NewTime(r.UpdatedAt),
			}
		}
		return body
	})
}
