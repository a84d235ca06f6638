package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/core/discovery"
	"causeway/core/money"
	"causeway/core/platform"
)

const tagDiscoveries = "Discoveries"

type institutionBody struct {
	BankName    string           `json:"bankName" doc:"The institution's code; where an account asks for a bankName, send this." example:"ZENITH_BANK"`
	DisplayName string           `json:"displayName" doc:"The name people know it by." example:"Zenith Bank"`
	Country     httpapi.Country  `json:"country" doc:"Where it is." example:"NG"`
	Currency    httpapi.Currency `json:"currency" doc:"What it receives there." example:"NGN"`
}

type discoveryListResponse struct {
	Data []institutionBody `json:"data" doc:"The institutions, in order of country, currency and code."`
}

func registerDiscoveries(a *httpapi.API) {
	type wanted struct {
		Country  string `query:"country" doc:"Those in one country: a code of two upper-case letters that a live corridor leads to." example:"NG"`
		Currency string `query:"currency" doc:"Those that receive one currency." example:"NGN"`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getDiscoveries", Path: "/discoveries", Tag: tagDiscoveries, Summary: "List receiving institutions", Permission: platform.View,
		Description: "The banks and mobile operators that money can be sent to, by the names that beneficiaries know them by. Without filters, all of them; " +
			"a filter that no live corridor has is refused. The list is not paged, and is not complete: an institution that is missing may still be paid.",
	}, func(_ context.Context, _ httpapi.Call, in *wanted) ([]discovery.Institution, error) {
		return discovery.Find(discovery.Filter{Country: in.Country, Currency: money.Currency(in.Currency)})
	}, func(found []discovery.Institution) discoveryListResponse {
		body := discoveryListResponse{Data: make([]institutionBody, len(found))}
		for i, f := range found {
			body.Data[i] = institutionBody{BankName: f.Code, DisplayName: f.Name, Country: httpapi.Country(f.Country), Currency: httpapi.Currency(f.Currency)}
		}
		return body
	})
}
