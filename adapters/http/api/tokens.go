package api

import (
	"context"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/platforms"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type apiTokenBody struct {
	ID           httpapi.ID[ident.Token]  `json:"id" doc:"Id of the token."`
	Name         string                   `json:"name" doc:"Name of the token." example:"Back office"`
	Permissions  []string                 `json:"permissions" enum:"VIEW,TRANSACT,MANAGE" doc:"Permissions of the token. VIEW reads; TRANSACT moves money; MANAGE changes customers, accounts, settings and tokens."`
	ClientID     string                   `json:"clientId" doc:"Client id: the user name for HTTP Basic authentication." example:"0199e3a47c5e7d219f0b3c1d2e4f5a6b"`
	ClientSecret string                   `json:"clientSecret,omitempty" doc:"Client secret: the password for HTTP Basic authentication. Returned only when the token is created; the service does not store it."`
	CreatedAt    httpapi.Time             `json:"createdAt" doc:"Time the token was created."`
	UpdatedAt    httpapi.Time             `json:"updatedAt" doc:"Time of the last change."`
	PersonID     httpapi.ID[ident.Person] `json:"personId,omitzero" doc:"Id of the person whom the token belongs to, and who may approve with it. Omitted for the token of a service, which approves nothing."`
}

func renderToken(i platforms.IssuedToken) apiTokenBody {
	body := apiTokenBody{
		ID: httpapi.NewID(i.Token.ID), Name: i.Token.Name, Permissions: make([]string, len(i.Token.Permissions)),
		ClientID: i.Token.ClientID, ClientSecret: i.Secret,
		CreatedAt: httpapi.NewTime(i.Token.CreatedAt), UpdatedAt: httpapi.NewTime(i.Token.UpdatedAt), PersonID: httpapi.NewID(i.Token.Person),
	}
	for n, permission := range i.Token.Permissions {
		body.Permissions[n] = string(permission)
	}
	return body
}

type apiTokenCreateRequest struct {
	Name        string   `json:"name" minLength:"1" maxLength:"200" doc:"Name of the token." example:"Back office"`
	Permissions []string `json:"permissions" enum:"VIEW,TRANSACT,MANAGE" minItems:"1" doc:"Permissions of the token. None includes another."`
}

// Resolve reports what core finds invalid.
func (r apiTokenCreateRequest) Resolve(huma.Context) []error {
	_, _, err := platform.NewToken(ident.Token{}, ident.Platform{}, r.Name, r.permissions(), [16]byte{}, [32]byte{}, time.Time{})
	return httpapi.FieldErrors(err)
}

func (r apiTokenCreateRequest) permissions() []platform.Permission {
	list := make([]platform.Permission, len(r.Permissions))
	for i, permission := range r.Permissions {
		list[i] = platform.Permission(permission)
	}
	return list
}

type listTokensParams struct {
	httpapi.Paging
	Name          string       `query:"name" doc:"Exact name of the token."`
	CreatedAfter  httpapi.Time `query:"createdAfter" doc:"Created at or after this time."`
	CreatedBefore httpapi.Time `query:"createdBefore" doc:"Created at or before this time."`
	UpdatedAfter  httpapi.Time `query:"updatedAfter" doc:"Updated at or after this time."`
	UpdatedBefore httpapi.Time `query:"updatedBefore" doc:"Updated at or before this time."`
}

func registerTokens(a *httpapi.API, service Platforms) {
	type getParams struct {
		TokenID httpapi.ID[ident.Token] `path:"tokenId" doc:"Id of the token."`
	}
	type createInput struct{ Body apiTokenCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createToken", Path: "/tokens", Tag: tagTokens, Summary: "Create a token", Permission: platform.Manage, Status: 201,
		Description: "Only this response contains the client secret; the service does not store it. A repeated request with the same " +
			"Idempotency-Key returns the token without its secret: " +
			"if the first response was lost, delete the token and create another. " +
			fmt.Sprintf("A platform has at most %d tokens, beside those of people.", platform.MaxTokens),
		Errors: []fault.Code{fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (platforms.IssuedToken, error) {
		return service.CreateToken(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, in.Body.Name,
			in.Body.permissions())
	}, renderToken)

	httpapi.GetPage(a, httpapi.Operation{
		ID: "listTokens", Path: "/tokens", Tag: tagTokens, Summary: "List tokens", Permission: platform.View,
		Description: "Newest first, without secrets. All filters must match; times are inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listTokensParams, page ports.Paging) (ports.Page[platform.Token], error) {
		return service.Tokens(ctx, call.Principal.Platform, ports.TokenFilter{
			Paging: page, Name: in.Name,
			Created: inclusiveInterval(in.CreatedAfter, in.CreatedBefore),
			Updated: inclusiveInterval(in.UpdatedAfter, in.UpdatedBefore),
		})
	}, func(t platform.Token) apiTokenBody { return renderToken(platforms.IssuedToken{Token: t}) },
		func(t platform.Token) ident.Token { return t.ID })

	httpapi.Get(a, httpapi.Operation{
		ID: "getTokenById", Path: "/tokens/{tokenId}", Tag: tagTokens, Summary: "Get a token", Permission: platform.View,
		Description: "Returns a token without its secret.", Errors: []fault.Code{fault.TokenNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (platforms.IssuedToken, error) {
		return service.Token(ctx, call.Principal.Platform, in.TokenID.Value)
	}, renderToken)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteTokenById", Path: "/tokens/{tokenId}", Tag: tagTokens, Summary: "Delete a token", Permission: platform.Manage,
		Description: "The token stops working at once, even if it authenticates this request. The last token with the permission MANAGE cannot " +
			"be deleted.",
		Errors: []fault.Code{fault.TokenNotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (struct{}, error) {
		return struct{}{}, service.DeleteToken(ctx, call.Principal.Platform, call.Author(), in.TokenID.Value)
	}, renderNoBody)
}

// renderNoBody renders the empty response of a successful operation.
func renderNoBody(struct{}) httpapi.NoBody { return httpapi.NoBody{} }
