package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/quoting"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
)

type exchangeRateBody struct {
	SourceCurrency         currency         `json:"sourceCurrency" doc:"What is sent."`
	SendingAmount          httpapi.Minor    `json:"sendingAmount" doc:"The amount the example is for."`
	MinSendingAmount       httpapi.Minor    `json:"minSendingAmount" doc:"The least that can be sent at once."`
	MaxSendingAmount       httpapi.Minor    `json:"maxSendingAmount" doc:"The most that can be sent at once."`
	DestinationCurrency    currency         `json:"destinationCurrency" doc:"What arrives."`
	DestinationPaymentRail string           `json:"destinationPaymentRail" doc:"The rail it arrives by." example:"RTP"`
	ReceivingAmount        httpapi.Minor    `json:"receivingAmount" doc:"What sendingAmount becomes, fees taken off; 0 when it does not cover them."`
	ExchangeRate           httpapi.Decimal  `json:"exchangeRate" doc:"Smallest receiving units for one smallest sending unit."`
	Fees                   exchangeRateFees `json:"fees" doc:"What it costs, in the smallest sending unit."`
	UpdatedAt              httpapi.Time     `json:"updatedAt" doc:"When the rate was made; it stands for about five minutes."`
}

type exchangeRateFees struct {
	Fixed httpapi.Minor `json:"fixed" doc:"The fixed part."`
	Total httpapi.Minor `json:"total" doc:"Fixed and variable part together."`
}

type exchangeRateListResponse struct {
	Data []exchangeRateBody `json:"data" doc:"One line a corridor."`
}

func registerRates(a *httpapi.API, quotes Quotes) {
	type wanted struct {
		SourceCurrency      string   `query:"sourceCurrency" doc:"What is sent; without it, every currency you use."`
		DestinationCurrency []string `query:"destinationCurrency,explode" doc:"What arrives; may be repeated. Without it, every live currency."`
		SendingAmount       int64    `query:"sendingAmount" minimum:"0" maximum:"9000000000000000" default:"10000" doc:"The amount to price, in the smallest sending unit."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getExchangeRates", Path: "/exchange-rates", Tag: tagRates, Summary: "Get exchange rates", Permission: platform.View,
		Description: "What each corridor costs now, with your fees. Rates stand for about five minutes; only a quote locks one. " +
			"Limits are the corridor's, or your own for the currency where those are narrower. A corridor whose rate is too old to price on is left out, or refused where both its currencies are named.",
		Errors: []fault.Code{fault.InvalidCurrency, fault.QuoteRequestFailed},
	}, func(ctx context.Context, call httpapi.Call, in *wanted) ([]quoting.CorridorRate, error) {
		rates := quoting.RatesRequest{From: money.Currency(in.SourceCurrency), Sending: in.SendingAmount}
		for _, to := range in.DestinationCurrency {
			rates.To = append(rates.To, money.Currency(to))
		}
		return quotes.Rates(ctx, call.Principal.Platform, rates)
	}, func(rates []quoting.CorridorRate) exchangeRateListResponse {
		body := exchangeRateListResponse{Data: make([]exchangeRateBody, len(rates))}
		for i, r := range rates {
			body.Data[i] = exchangeRateBody{
				SourceCurrency: renderCurrency(r.From), SendingAmount: minor(r.Sending), MinSendingAmount: minor(r.Minimum), MaxSendingAmount: minor(r.Maximum),
				DestinationCurrency: renderCurrency(r.To), DestinationPaymentRail: string(r.Rail), ReceivingAmount: minor(r.Receiving),
				ExchangeRate: httpapi.Decimal{Rate: r.Rate}, Fees: exchangeRateFees{Fixed: minor(r.FixedFee), Total: minor(r.TotalFee)}, UpdatedAt: httpapi.NewTime(r.UpdatedAt),
			}
		}
		return body
	})
}
