package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	httpapi "causeway/adapters/http"
	"causeway/app/agents"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Agents holds the use cases of the agent operations.
type Agents interface {
	Create(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest, r agent.Request) (agents.Created,
		error)
	Self(ctx context.Context, caller platform.Principal) (agent.WithUsage, error)
	List(ctx context.Context, p ident.Platform, f ports.AgentFilter) (ports.Page[agent.WithUsage], error)
	Get(ctx context.Context, p ident.Platform, id ident.Agent) (agent.WithUsage, error)
	Update(ctx context.Context, p ident.Platform, by platform.Author, id ident.Agent, change agent.Change) (agent.WithUsage, error)
	UpdatePolicy(ctx context.Context, p ident.Platform, by platform.Author, id ident.Agent, change agent.PolicyChange) (agent.WithUsage,
		error)
	Delete(ctx context.Context, p ident.Platform, by platform.Author, id ident.Agent) error
	IssueCode(ctx context.Context, p ident.Platform, idempotent *ports.IdempotentRequest, id ident.Agent) (agents.IssuedCode, error)
	CodeStatus(ctx context.Context, p ident.Platform, code string) (agents.IssuedCode, error)
	Redeem(ctx context.Context, code string) (agents.Paired, error)
	// Attempts returns entries of the audit trail of an agent, which may have been deleted.
	Attempts(ctx context.Context, p ident.Platform, f ports.AgentAttemptFilter) (ports.Page[agent.Attempt], error)
}

type agentBody struct {
	ID          httpapi.ID[ident.Agent]    `json:"id" doc:"Id of the agent."`
	Name        string                     `json:"name" doc:"Name of the agent." example:"Travel assistant"`
	CustomerID  httpapi.ID[ident.Customer] `json:"customerId" doc:"Id of the customer for whom the agent pays."`
	IsPaused    bool                       `json:"isPaused" doc:"Whether the agent is paused. A paused agent cannot start anything; it can still read."`
	IsConnected bool                       `json:"isConnected" doc:"Whether a program is paired with the agent: a device code was redeemed."`
	Policy      agentPolicyBody            `json:"policy" doc:"What the agent may do."`
	Usage       agentUsageBody             `json:"usage" doc:"What the agent has spent."`
	CreatedAt   httpapi.Time               `json:"createdAt" doc:"Time the agent was created."`
	UpdatedAt   httpapi.Time               `json:"updatedAt" doc:"Time of the last change."`
}

type agentUsageBody struct {
	DailyTransactionCount int           `json:"dailyTransactionCount" doc:"Number of transactions on the day, without those that failed." example:"0"`
	DailySpend            httpapi.Minor `json:"dailySpend" doc:"Amount spent on the day, in the smallest unit of the currency of the spending limits. Amounts of other currencies are converted at the present rate. More than 9000000000000000 is shown as that." example:"0"`
	DailyResetDate        string        `json:"dailyResetDate" format:"date" doc:"The day, in UTC." example:"2026-03-14"`
	MonthlySpend          httpapi.Minor `json:"monthlySpend" doc:"Amount spent in the month, likewise." example:"0"`
	MonthlyResetMonth     string        `json:"monthlyResetMonth" doc:"The month, in UTC." example:"2026-03"`
}

func renderAgent(a agent.WithUsage) agentBody {
	return agentBody{
		ID: httpapi.NewID(a.ID), Name: a.Name, CustomerID: httpapi.NewID(a.Customer), IsPaused: a.Paused, IsConnected: a.Connected(),
		Policy: renderAgentPolicy(a.Policy), Usage: renderAgentUsage(a.Usage),
		CreatedAt: httpapi.NewTime(a.CreatedAt), UpdatedAt: httpapi.NewTime(a.UpdatedAt),
	}
}

func renderAgentUsage(u agent.Usage) agentUsageBody {
	return agentUsageBody{DailyTransactionCount: u.DailyTransactionCount, DailySpend: httpapi.Minor(u.DailySpend), DailyResetDate: u.Day,
		MonthlySpend: httpapi.Minor(u.MonthlySpend), MonthlyResetMonth: u.Month}
}

type agentDeviceCodeBody struct {
	Code      string                  `json:"code" doc:"Device code, for a person to type into the program. Upper and lower case are the same, and the hyphens and AGENT can be left out. Returned only when the code is issued, and empty in the response to a repeated request: the service stores a hash of it." example:"AGENT-K7QF-M2XP"`
	AgentID   httpapi.ID[ident.Agent] `json:"agentId" doc:"Id of the agent with which the code pairs a program."`
	ExpiresAt httpapi.Time            `json:"expiresAt" doc:"Time from which the code cannot be redeemed: 24 hours after it was issued."`
	Redeemed  bool                    `json:"redeemed" doc:"Whether the code was redeemed."`
}

func renderDeviceCode(c agents.IssuedCode) agentDeviceCodeBody {
	return agentDeviceCodeBody{Code: c.Code, AgentID: httpapi.NewID(c.Agent), ExpiresAt: httpapi.NewTime(c.ExpiresAt), Redeemed: c.Redeemed()}
}

type agentCreateResponse struct {
	Agent      agentBody           `json:"agent" doc:"The agent."`
	DeviceCode agentDeviceCodeBody `json:"deviceCode" doc:"The code that pairs a program with the agent."`
}

type agentDeviceCodeStatusResponse struct {
	Code     string `json:"code" doc:"Device code." example:"AGENT-K7QF-M2XP"`
	Redeemed bool   `json:"redeemed" doc:"Whether the code was redeemed."`
}

type agentDeviceCodeRedeemResponse struct {
	AgentID     httpapi.ID[ident.Agent] `json:"agentId" doc:"Id of the agent."`
	AgentName   string                  `json:"agentName" doc:"Name of the agent." example:"Travel assistant"`
	AccessToken string                  `json:"accessToken" doc:"Access token: send it as Authorization: Bearer. Returned only here; the service stores a hash of it." example:"agt_5f3c0d9a71b24e86a0c95e1f7d2b483c6e19f0a85d7c42b3916e8f04a7d5c213"`
	Policy      agentPolicyBody         `json:"policy" doc:"What the agent may do."`
}

type agentCreateRequest struct {
	Name       string                     `json:"name" minLength:"1" maxLength:"100" doc:"Name of the agent, in one line." example:"Travel assistant"`
	CustomerID httpapi.ID[ident.Customer] `json:"customerId" doc:"Id of the customer for whom the agent pays."`
	Policy     agentPolicyRequest         `json:"policy" doc:"What the agent may do."`
}

func (r agentCreateRequest) request() agent.Request {
	return agent.Request{Name: r.Name, Customer: r.CustomerID.Value, Policy: r.Policy.change()}
}

// Resolve reports what core finds invalid without the accounts of the customer.
func (r agentCreateRequest) Resolve(huma.Context) []error {
	request := r.request()
	_, err := agent.New(request, customer.Customer{ID: request.Customer}, accountsIn(request.Policy), placeholderAgent, time.Time{})
	return httpapi.FieldErrors(err)
}

// placeholderAgent is the id of an agent that is only checked.
var placeholderAgent = ident.NewAgent(func(time.Time) uuid.UUID { return uuid.Max }, time.Time{})

type agentUpdateRequest struct {
	Name     *string `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"Name of the agent, in one line." example:"Travel assistant"`
	IsPaused *bool   `json:"isPaused,omitempty" doc:"Whether the agent is paused."`
}

func (r agentUpdateRequest) change() agent.Change {
	return agent.Change{Name: r.Name, Paused: r.IsPaused}
}

// Resolve reports what core finds invalid.
func (r agentUpdateRequest) Resolve(huma.Context) []error {
	_, err := agent.Agent{}.Update(r.change(), time.Time{})
	return httpapi.FieldErrors(err)
}

type listAgentsParams struct {
	httpapi.Paging
	CustomerID    httpapi.ID[ident.Customer] `query:"customerId" doc:"Id of the customer."`
	IsPaused      httpapi.OptionalBool       `query:"isPaused" doc:"Whether the agent is paused."`
	IsConnected   httpapi.OptionalBool       `query:"isConnected" doc:"Whether a program is paired with the agent."`
	CreatedAfter  httpapi.Time               `query:"createdAfter" doc:"Created at or after this time."`
	CreatedBefore httpapi.Time               `query:"createdBefore" doc:"Created at or before this time."`
	UpdatedAfter  httpapi.Time               `query:"updatedAfter" doc:"Updated at or after this time."`
	UpdatedBefore httpapi.Time               `query:"updatedBefore" doc:"Updated at or before this time."`
}

func registerAgents(a *httpapi.API, service Agents) {
	type createInput struct{ Body agentCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createAgent", Path: "/agents", Tag: tagAgents, Summary: "Create an agent", Permission: platform.Manage, Status: 201,
		Experimental: true,
		Description: "Creates an agent of a customer, and a device code that pairs a program with it. Only this response contains the code: a " +
			"repeated request with the same Idempotency-Key returns an empty one. " +
			"If the first response was lost, regenerate the device code.",
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (agents.Created, error) {
		return service.Create(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, in.Body.request())
	}, func(c agents.Created) agentCreateResponse {
		return agentCreateResponse{Agent: renderAgent(c.Agent), DeviceCode: renderDeviceCode(c.Code)}
	})

	httpapi.GetPage(a, httpapi.Operation{
		ID: "listAgents", Path: "/agents", Tag: tagAgents, Summary: "List agents", Permission: platform.View, Experimental: true,
		Description: "Newest first. All filters must match; times are inclusive.",
	}, func(ctx context.Context, call httpapi.Call, in *listAgentsParams, page ports.Paging) (ports.Page[agent.WithUsage], error) {
		return service.List(ctx, call.Principal.Platform, ports.AgentFilter{
			Paging: page, Customer: in.CustomerID.Value,
			Paused: in.IsPaused.Pointer(), Connected: in.IsConnected.Pointer(),
			Created: inclusiveInterval(in.CreatedAfter, in.CreatedBefore),
			Updated: inclusiveInterval(in.UpdatedAfter, in.UpdatedBefore),
		})
	}, renderAgent, func(a agent.WithUsage) ident.Agent { return a.ID })

	type agentParams struct {
		AgentID httpapi.ID[ident.Agent] `path:"agentId" doc:"Id of the agent."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getAgentById", Path: "/agents/{agentId}", Tag: tagAgents, Summary: "Get an agent", Permission: platform.View, Experimental: true,
		Description: "Returns an agent with its policy and usage.", Errors: []fault.Code{fault.AgentNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *agentParams) (agent.WithUsage, error) {
		return service.Get(ctx, call.Principal.Platform, in.AgentID.Value)
	}, renderAgent)

	type updateInput struct {
		AgentID httpapi.ID[ident.Agent] `path:"agentId" doc:"Id of the agent."`
		Body    agentUpdateRequest
	}
	httpapi.Patch(a, httpapi.Operation{
		ID: "updateAgent", Path: "/agents/{agentId}", Tag: tagAgents, Summary: "Rename, pause or resume an agent", Permission: platform.Manage,
		Experimental: true,
		Description:  "Send `name`, `isPaused` or both. A pause is effective at once: the agent can start nothing until it is resumed.",
		Errors:       []fault.Code{fault.AgentNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *updateInput) (agent.WithUsage, error) {
		return service.Update(ctx, call.Principal.Platform, call.Author(), in.AgentID.Value, in.Body.change())
	}, renderAgent)

	type policyInput struct {
		AgentID httpapi.ID[ident.Agent] `path:"agentId" doc:"Id of the agent."`
		Body    agentPolicyUpdateRequest
	}
	httpapi.Patch(a, httpapi.Operation{
		ID: "updateAgentPolicy", Path: "/agents/{agentId}/policy", Tag: tagAgents, Summary: "Update the policy of an agent",
		Permission: platform.Manage, Experimental: true,
		Description: "Changes the fields that are sent, at once. `permissions`, `allowedAccountIds` and `accountRules` are replaced whole; " +
			"null removes a limit. " +
			"After a change of the currency of the spending limits, the limits are amounts of the new currency: send new ones with it.",
		Errors: []fault.Code{fault.AgentNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *policyInput) (agent.WithUsage, error) {
		return service.UpdatePolicy(ctx, call.Principal.Platform, call.Author(), in.AgentID.Value, in.Body.change())
	}, renderAgent)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteAgent", Path: "/agents/{agentId}", Tag: tagAgents, Summary: "Delete an agent", Permission: platform.Manage, Experimental: true,
		Description: "The access token of the program and the device codes stop working at once. Deleting a customer deletes its agents.",
		Errors:      []fault.Code{fault.AgentNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *agentParams) (struct{}, error) {
		return struct{}{}, service.Delete(ctx, call.Principal.Platform, call.Author(), in.AgentID.Value)
	}, renderNoBody)

	registerDeviceCodes(a, service)
}

func registerOwnAgent(a *httpapi.API, service Agents) {
	httpapi.Get(a, httpapi.Operation{
		ID: "getAgentMe", Path: "/agents/me", Tag: tagForAgents, Summary: "Get the calling agent", Agent: true, Experimental: true,
		Description: "Returns the agent of the access token, with its policy and usage, also while it is paused.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (agent.WithUsage, error) {
		return service.Self(ctx, call.Principal)
	}, renderAgent)
}

// redeemLimit limits the redemption of device codes, which needs no credentials: a code has 40 random bits.
var redeemLimit = httpapi.PublicLimit{
	PerAddress: httpapi.Rate{PerSecond: 0.2, Burst: 20},
	PerPath:    httpapi.Rate{PerSecond: 0.1, Burst: 5},
}

func registerDeviceCodes(a *httpapi.API, service Agents) {
	type agentParams struct {
		AgentID httpapi.ID[ident.Agent] `path:"agentId" doc:"Id of the agent."`
	}
	type codeParams struct {
		Code string `path:"code" maxLength:"64" doc:"Device code." example:"AGENT-K7QF-M2XP"`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "regenerateAgentDeviceCode", Path: "/agents/{agentId}/device-codes", Tag: tagAgents, Summary: "Regenerate the device code",
		Permission: platform.Manage, Status: 201, Experimental: true,
		Description: "Issues a new device code for an agent that no program is paired with. Older codes can no longer be redeemed. To replace " +
			"the access token of a paired program, delete the agent and create another one.",
		Errors: []fault.Code{fault.AgentNotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *agentParams) (agents.IssuedCode, error) {
		return service.IssueCode(ctx, call.Principal.Platform, call.IdempotentRequest, in.AgentID.Value)
	}, renderDeviceCode)

	httpapi.Get(a, httpapi.Operation{
		ID: "getAgentDeviceCodeStatus", Path: "/agents/device-codes/{code}/status", Tag: tagAgents, Summary: "Get the status of a device code",
		Permission: platform.View, Experimental: true,
		Description: "Tells whether a program has redeemed a device code.", Errors: []fault.Code{fault.DeviceCodeNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *codeParams) (agents.IssuedCode, error) {
		return service.CodeStatus(ctx, call.Principal.Platform, in.Code)
	}, func(c agents.IssuedCode) agentDeviceCodeStatusResponse {
		return agentDeviceCodeStatusResponse{Code: c.Code, Redeemed: c.Redeemed()}
	})

	httpapi.Post(a, httpapi.Operation{
		ID: "redeemAgentDeviceCode", Path: "/agents/device-codes/{code}/redeem", Tag: tagAgents, Summary: "Redeem a device code", Public: true,
		PublicLimit: &redeemLimit, Experimental: true,
		Description: "The program calls this once, without credentials, and keeps the access token. The response is not stored, so an " +
			"Idempotency-Key has no effect: if the response was lost, delete the agent and create another one. " +
			"A client address that tries many codes gets 429.",
		Errors: []fault.Code{fault.DeviceCodeNotFound, fault.DeviceCodeAlreadyRedeemed, fault.DeviceCodeExpired},
	}, func(ctx context.Context, _ httpapi.Call, in *codeParams) (agents.Paired, error) {
		return service.Redeem(ctx, in.Code)
	}, func(p agents.Paired) agentDeviceCodeRedeemResponse {
		return agentDeviceCodeRedeemResponse{AgentID: httpapi.NewID(p.Agent.ID), AgentName: p.Agent.Name, AccessToken: p.AccessToken,
			Policy: renderAgentPolicy(p.Agent.Policy)}
	})
}

// accountsIn returns the accounts that a policy names as accounts of the customer, to check everything else.
func accountsIn(ch agent.PolicyChange) []account.Internal {
	var found []account.Internal
	if ch.AllowedAccounts != nil {
		for _, id := range *ch.AllowedAccounts {
			found = append(found, account.Internal{ID: id})
		}
	}
	if ch.AccountRules != nil {
		for _, rule := range *ch.AccountRules {
			found = append(found, account.Internal{ID: rule.Account})
		}
	}
	return found
}
