package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/platform"
)

const tagDiscoveries = "Discoveries"

type institutionBody struct {
	BankName    string           `json:"bankName" doc:"Code of the institution, for the bankName of an account." example:"ZENITH_BANK"`
	DisplayName string           `json:"displayName" doc:"Display name." example:"Zenith Bank"`
	Country     httpapi.Country  `json:"country" doc:"Country of the institution." example:"NG"`
	Currency    httpapi.Currency `json:"currency" doc:"Currency that the institution receives." example:"NGN"`
}

type discoveryListResponse struct {
	Data []institutionBody `json:"data" doc:"Institutions, by country, currency and code."`
}

func registerDiscoveries(a *httpapi.API) {
	type listParams struct {
		Country  string `query:"country" doc:"Country of the institution: ISO 3166-1 alpha-2 code of a country with a live corridor." example:"NG"`
		Currency string `query:"currency" doc:"Currency that the institution receives." example:"NGN"`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getDiscoveries", Path: "/discoveries", Tag: tagDiscoveries, Summary: "List receiving institutions", Permission: platform.View,
		Description: "Returns the banks and mobile operators that can receive payments. " +
			"A country or currency without a live corridor is refused. Not paginated. Accounts in NGN, PHP and ZAR " +
			"must name one of these banks, by its bankName or displayName. Elsewhere the list is not complete: other institutions may also be paid.",
	}, func(_ context.Context, _ httpapi.Call, in *listParams) ([]corridor.Institution, error) {
		return corridor.FindInstitutions(corridor.InstitutionFilter{Country: in.Country, Currency: money.Currency(in.Currency)})
	}, func(found []corridor.Institution) discoveryListResponse {
		body := discoveryListResponse{Data: make([]institutionBody, len(found))}
		for i, f := range found {
			body.Data[i] = institutionBody{BankName: f.Code, DisplayName: f.Name, Country: httpapi.Country(f.Country),
				Currency: httpapi.Currency(f.Currency)}
		}
		return body
	})
}
