package api

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/requestlog"
	"causeway/ports"
)

// RequestLog reads the log of API requests.
type RequestLog interface {
	List(ctx context.Context, p ident.Platform, f ports.RequestLogFilter) (ports.Page[requestlog.Entry], error)
	Entry(ctx context.Context, p ident.Platform, id ident.RequestLog) (requestlog.Entry, error)
}

// maskedWhole are the fields that say something about a person in forms that others show, such as a date or a listed text.
var maskedWhole = []string{
	"address", "annualIncomeRange", "beneficiary", "beneficiaryVerifiedData", "birthDate", "businessInfo", "businessType",
	"countriesOfOperation", "counterpartyInformation",
	"documentType", "entityType", "expectedMonthlyTransactionCount", "expectedMonthlyTransactionVolume",
	"expectedRecipientJurisdictions", "idType", "incorporatedOn", "nationality", "netWorthRange", "ownershipPercentage", "pepStatus",
	"personalInfo", "purposeOfAccount", "receiverCustomerInfo", "roles", "senderCustomerInfo", "sourceOfFunds", "sourceOfFundsCategories",
	"sourceOfWealthCategories",
}

type requestLogBody struct {
	ID             httpapi.ID[ident.RequestLog] `json:"id" doc:"Id of the entry. Ids increase in the order in which entries were written."`
	At             httpapi.Time                 `json:"at" doc:"Time the request arrived."`
	DurationMs     int64                        `json:"durationMs" doc:"Time until the response was sent, in milliseconds." example:"12"`
	Method         string                       `json:"method" doc:"Method of the request." example:"POST"`
	Path           string                       `json:"path" doc:"Path of the request, with *** in place of what may identify a person." example:"/2025-10-13/quotes"`
	Query          string                       `json:"query,omitempty" doc:"Query of the request, with *** in place of what may identify a person." example:"limit=20"`
	OperationID    string                       `json:"operationId,omitempty" doc:"Id of the operation in this description. Omitted if the path and the method are none." example:"createQuote"`
	Route          string                       `json:"route,omitempty" doc:"Path of the operation." example:"/2025-10-13/quotes"`
	Status         int                          `json:"status" doc:"HTTP status of the response." example:"201"`
	Code           string                       `json:"code,omitempty" doc:"Code of the error." example:"INVALID_INPUT"`
	Message        string                       `json:"message,omitempty" doc:"Message of the error, with *** in place of values of the request that are masked."`
	RequestID      string                       `json:"requestId" format:"uuid" doc:"Id in the header Request-Id of the response." example:"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	IdempotencyKey string                       `json:"idempotencyKey,omitempty" doc:"Idempotency-Key of the request."`
	Replayed       bool                         `json:"replayed" doc:"Whether the response was saved before, under the idempotency key."`
	TokenID        httpapi.ID[ident.Token]      `json:"tokenId,omitzero" doc:"Token that made the request, or whose secret was wrong."`
	AgentID        httpapi.ID[ident.Agent]      `json:"agentId,omitzero" doc:"Agent that made the request."`
	Request        requestLogContent            `json:"request" doc:"What was sent."`
	Response       requestLogContent            `json:"response" doc:"What was answered."`
	LostBefore     int64                        `json:"lostBefore,omitempty" doc:"Number of your requests before this one that are missing in the log, because the service was overloaded or its database did not respond."`
}

type requestLogContent struct {
	ContentType string         `json:"contentType,omitempty" doc:"Media type of the body. Omitted without a body." example:"application/json"`
	Size        int64          `json:"size" doc:"Size of the body, in bytes. 0 if it is not known, as that of a file." example:"214"`
	Body        requestLogJSON `json:"body,omitempty" doc:"Body, if it is JSON and kept: with *** in place of what may identify a person or is a secret. Only in GET /request-logs/{requestLogId}."`
	Cut         bool           `json:"cut,omitempty" doc:"Only if true: the body goes on. About the first 16 kB are kept."`
}

// requestLogJSON is a masked body, already encoded.
type requestLogJSON string

// MarshalJSON returns the JSON unchanged.
func (b requestLogJSON) MarshalJSON() ([]byte, error) { return []byte(b), nil }

// Schema returns that of any value.
func (requestLogJSON) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

func renderRequestLog(e requestlog.Entry) requestLogBody {
	return requestLogBody{
		ID: httpapi.NewID(e.ID), At: httpapi.NewTime(e.ArrivedAt), DurationMs: e.Duration.Round(time.Millisecond).Milliseconds(),
		Method: e.Method, Path: e.Path, Query: e.Query, OperationID: e.Operation, Route: e.Route,
		Status: e.Status, Code: e.Code, Message: e.Message,
		RequestID: e.RequestID.String(), IdempotencyKey: e.IdempotencyKey, Replayed: e.Replayed, TokenID: httpapi.NewID(e.Token),
		AgentID: httpapi.NewID(e.Agent), Request: renderLogContent(e.Request), Response: renderLogContent(e.Response),
		LostBefore: e.LostBefore,
	}
}

func renderLogContent(c requestlog.Content) requestLogContent {
	return requestLogContent{ContentType: c.Type, Size: c.Size, Body: requestLogJSON(c.Body), Cut: c.Cut}
}

type listRequestLogsParams struct {
	httpapi.Paging
	httpapi.Sorting
	Status         []statusFilter          `query:"status" maxItems:"20" doc:"Statuses, such as 409, or classes of them, such as 4xx. Those with one of them are returned."`
	Method         string                  `query:"method" enum:"GET,HEAD,POST,PUT,PATCH,DELETE" doc:"Method of the request."`
	OperationID    string                  `query:"operationId" maxLength:"100" doc:"Id of the operation." example:"createQuote"`
	PathPrefix     string                  `query:"pathPrefix" pattern:"^/" patternDescription:"a path, such as /quotes" maxLength:"500" doc:"Beginning of the path, with or without the version." example:"/quotes"`
	RequestID      string                  `query:"requestId" doc:"Id in the header Request-Id of the response, a UUID."`
	IdempotencyKey string                  `query:"idempotencyKey" maxLength:"255" doc:"Idempotency-Key of the request."`
	TokenID        httpapi.ID[ident.Token] `query:"tokenId" doc:"Token that made the request."`
	AgentID        httpapi.ID[ident.Agent] `query:"agentId" doc:"Agent that made the request."`
	StartDate      httpapi.Time            `query:"startDate" doc:"Arrived at or after this time."`
	EndDate        httpapi.Time            `query:"endDate" doc:"Arrived at or before this time."`
}

// statusFilter is a status or a class of statuses.
type statusFilter string

// Schema returns the schema of the form.
func (statusFilter) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Pattern: "^[1-5]([0-9]{2}|xx)$",
		PatternDescription: "a status such as 409, or a class such as 4xx", Examples: []any{"4xx"}}
}

// statusRange returns the statuses of a filter, which has been validated.
func (f statusFilter) statusRange() requestlog.StatusRange {
	if class, isClass := strings.CutSuffix(string(f), "xx"); isClass {
		first, _ := strconv.Atoi(class + "00")
		return requestlog.StatusRange{From: first, To: first + 99}
	}
	status, _ := strconv.Atoi(string(f))
	return requestlog.StatusRange{From: status, To: status}
}

func registerRequestLogs(a *httpapi.API, service RequestLog) {
	a.MaskWhole(maskedWhole...)
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listRequestLogs", Path: "/request-logs", Tag: tagRequestLogs, Summary: "List API requests", Permission: platform.View,
		Unlogged: true,
		Description: "Lists the requests that your tokens and agents have made in the last week, in the order in which they were answered; " +
			"the newest first by default. All filters must match; times are inclusive. Requests of a wrong secret are among them, and " +
			"those to paths that do not exist. Requests appear within a second of their response.",
	}, func(ctx context.Context, call httpapi.Call, in *listRequestLogsParams, page ports.Paging) (ports.Page[requestlog.Entry], error) {
		filter := ports.RequestLogFilter{
			Paging:       page,
			PathPrefixes: requestlog.PathPrefixes(httpapi.BasePath, in.PathPrefix),
			Method:       in.Method, Operation: in.OperationID, IdempotencyKey: in.IdempotencyKey,
			Token: in.TokenID.Value, Agent: in.AgentID.Value, Arrived: inclusiveInterval(in.StartDate, in.EndDate),
		}
		for _, status := range in.Status {
			filter.Statuses = append(filter.Statuses, status.statusRange())
		}
		if in.RequestID != "" {
			var err error
			if filter.RequestID, err = uuid.Parse(in.RequestID); err != nil {
				return ports.Page[requestlog.Entry]{}, fault.Invalid(fault.Field{Field: "requestId", Message: "must be a UUID"})
			}
		}
		return service.List(ctx, call.Principal.Platform, filter)
	}, renderRequestLog, func(e requestlog.Entry) ident.RequestLog { return e.ID })

	type getParams struct {
		ID httpapi.ID[ident.RequestLog] `path:"requestLogId" doc:"Id of the entry."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getRequestLog", Path: "/request-logs/{requestLogId}", Tag: tagRequestLogs, Summary: "Get an API request",
		Permission: platform.View, Unlogged: true,
		Description: "Returns a request with the bodies that are kept of it: those of all requests in a sandbox, and in production those of " +
			"failed ones, unless the operator of the service has set otherwise. They show values in forms that identify nobody, such as " +
			"amounts, ids, times and listed texts; all others are masked as `***`.",
		Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (requestlog.Entry, error) {
		return service.Entry(ctx, call.Principal.Platform, in.ID.Value)
	}, renderRequestLog)
}
