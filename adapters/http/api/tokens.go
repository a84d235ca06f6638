package api

import (
	"context"
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
	ID           httpapi.ID[ident.Token] `json:"id" doc:"The token."`
	Name         string                  `json:"name" doc:"What people call it." example:"Back office"`
	Permissions  []string                `json:"permissions" enum:"VIEW,TRANSACT,MANAGE" doc:"What it may do. VIEW reads; TRANSACT moves money; MANAGE changes customers, accounts, settings and tokens."`
	ClientID     string                  `json:"clientId" doc:"The user of HTTP Basic authentication." example:"0199e3a47c5e7d219f0b3c1d2e4f5a6b"`
	ClientSecret string                  `json:"clientSecret,omitempty" doc:"The password of HTTP Basic authentication. Told once, when the token is made, and stored nowhere."`
	CreatedAt    httpapi.Time            `json:"createdAt" doc:"When it was made."`
	UpdatedAt    httpapi.Time            `json:"updatedAt" doc:"When it last changed."`
}

func renderToken(i platforms.IssuedToken) apiTokenBody {
	body := apiTokenBody{
		ID: httpapi.NewID(i.Token.ID), Name: i.Token.Name, Permissions: make([]string, len(i.Token.Permissions)),
		ClientID: i.Token.ClientID, ClientSecret: i.Secret,
		CreatedAt: httpapi.NewTime(i.Token.CreatedAt), UpdatedAt: httpapi.NewTime(i.Token.UpdatedAt),
	}
	for n, permission := range i.Token.Permissions {
		body.Permissions[n] = string(permission)
	}
	return body
}

type apiTokenCreateRequest struct {
	Name        string   `json:"name" minLength:"1" maxLength:"200" doc:"What people call it." example:"Back office"`
	Permissions []string `json:"permissions" enum:"VIEW,TRANSACT,MANAGE" minItems:"1" doc:"What it may do; none includes another."`
}

// Resolve asks core what else is wrong.
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
	Name          string       `query:"name" doc:"With exactly this name."`
	CreatedAfter  httpapi.Time `query:"createdAfter" doc:"Made at this moment or later."`
	CreatedBefore httpapi.Time `query:"createdBefore" doc:"Made at this moment or earlier."`
	UpdatedAfter  httpapi.Time `query:"updatedAfter" doc:"Changed at this moment or later."`
	UpdatedBefore httpapi.Time `query:"updatedBefore" doc:"Changed at this moment or earlier."`
}

func registerTokens(a *httpapi.API, tokens Platforms) {
	type one struct {
		TokenID httpapi.ID[ident.Token] `path:"tokenId" doc:"The token."`
	}
	type create struct{ Body apiTokenCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createToken", Path: "/tokens", Tag: tagTokens, Summary: "Create a token", Permission: platform.Manage, Status: 201,
		Description: "The answer carries the secret, once. It is stored nowhere, so a repeated request with the same Idempotency-Key is answered with the token and without its secret: " +
			"if the first answer was lost, delete the token and create another.",
	}, func(ctx context.Context, call httpapi.Call, in *create) (platforms.IssuedToken, error) {
		return tokens.CreateToken(ctx, call.Principal, call.IdempotentRequest, in.Body.Name, in.Body.permissions())
	}, renderToken)

	httpapi.Get(a, httpapi.Operation{
		ID: "listTokens", Path: "/tokens", Tag: tagTokens, Summary: "List tokens", Permission: platform.View,
		Description: "The newest first, without their secrets. Filters add up; moments are inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listTokensParams) (ports.Page[platform.Token], error) {
		after, err := httpapi.CursorID[ident.Token](in.Cursor)
		if err != nil {
			return ports.Page[platform.Token]{}, err
		}
		return tokens.Tokens(ctx, call.Principal, ports.TokenFilter{
			Paging: ports.Paging{Limit: in.Limit, After: after.UUID()}, Name: in.Name,
			Created: inclusiveInterval(in.CreatedAfter, in.CreatedBefore),
			Updated: inclusiveInterval(in.UpdatedAfter, in.UpdatedBefore),
		})
	}, func(p ports.Page[platform.Token]) httpapi.Page[apiTokenBody] {
		return renderPage(p, func(t platform.Token) apiTokenBody { return renderToken(platforms.IssuedToken{Token: t}) },
			func(t platform.Token) string { return t.ID.String() })
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "getTokenById", Path: "/tokens/{tokenId}", Tag: tagTokens, Summary: "Get a token", Permission: platform.View,
		Description: "One token, without its secret.", Errors: []fault.Code{fault.TokenNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *one) (platforms.IssuedToken, error) {
		return tokens.Token(ctx, call.Principal, in.TokenID.Value)
	}, renderToken)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteTokenById", Path: "/tokens/{tokenId}", Tag: tagTokens, Summary: "Delete a token", Permission: platform.Manage,
		Description: "The token stops working at once, also when it is the one that asks. The last token with MANAGE cannot be deleted: nobody could create another.",
		Errors:      []fault.Code{fault.TokenNotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *one) (struct{}, error) {
		return struct{}{}, tokens.DeleteToken(ctx, call.Principal, in.TokenID.Value)
	}, renderNoBody)
}

// renderNoBody is the answer of an operation that says no more than that it is done.
func renderNoBody(struct{}) httpapi.NoBody { return httpapi.NoBody{} }
