package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/agent"
	"causeway/core/ident"
)

type agentPolicyBody struct {
	Permissions          []string                     `json:"permissions" enum:"VIEW_TRANSACTIONS,CREATE_TRANSFERS,CREATE_QUOTES,EXECUTE_QUOTES,MANAGE_EXTERNAL_ACCOUNTS" doc:"What the agent may do."`
	DefaultExecutionMode string                       `json:"defaultExecutionMode" enum:"AUTO,APPROVAL_REQUIRED" doc:"Whether you have to approve what the agent starts."`
	SpendingLimits       agentSpendingLimitsBody      `json:"spendingLimits" doc:"How much the agent may spend."`
	AccountRestrictions  agentAccountRestrictionsBody `json:"accountRestrictions" doc:"From which accounts the agent may spend, and how."`
	ApprovalThresholds   agentApprovalThresholdsBody  `json:"approvalThresholds" doc:"Above which amount you have to approve a payment whose execution mode is AUTO."`
}

type agentSpendingLimitsBody struct {
	Currency              httpapi.Currency `json:"currency" doc:"Currency of the limits and of the usage."`
	PerTransactionLimit   httpapi.Minor    `json:"perTransactionLimit" doc:"Largest amount of a transaction." example:"5000"`
	DailyLimit            *httpapi.Minor   `json:"dailyLimit,omitempty" doc:"Largest amount of a day in UTC. Missing if there is none." example:"20000"`
	DailyTransactionLimit *int64           `json:"dailyTransactionLimit,omitempty" doc:"Largest number of transactions of a day in UTC. Missing if there is none." example:"20"`
	MonthlyLimit          *httpapi.Minor   `json:"monthlyLimit,omitempty" doc:"Largest amount of a calendar month in UTC. Missing if there is none." example:"100000"`
}

type agentAccountRestrictionsBody struct {
	AllowedAccountIDs *[]httpapi.ID[ident.InternalAccount] `json:"allowedAccountIds,omitempty" doc:"Internal accounts from which the agent may spend. Missing for all of the customer; empty for none."`
	AccountRules      []agentAccountRuleBody               `json:"accountRules" doc:"What differs for payments from single accounts."`
}

type agentAccountRuleBody struct {
	AccountID           httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of the internal account."`
	ExecutionMode       string                            `json:"executionMode,omitempty" enum:"AUTO,APPROVAL_REQUIRED" doc:"Execution mode of payments from the account. Missing for the default one."`
	PerTransactionLimit *httpapi.Minor                    `json:"perTransactionLimit,omitempty" doc:"Largest amount of a transaction from the account, in the currency of the spending limits. Missing for their limit." example:"2000"`
}

type agentApprovalThresholdsBody struct {
	Currency httpapi.Currency `json:"currency,omitempty" doc:"Currency of the amount."`
	Amount   *httpapi.Minor   `json:"amount,omitempty" doc:"Amount above which you have to approve a payment. Missing if there is none." example:"2500"`
}

func renderAgentPolicy(p agent.Policy) agentPolicyBody {
	body := agentPolicyBody{
		Permissions: []string{}, DefaultExecutionMode: string(p.DefaultMode),
		SpendingLimits: agentSpendingLimitsBody{
			Currency: httpapi.Currency(p.Limits.Currency), PerTransactionLimit: httpapi.Minor(p.Limits.PerTransaction),
			DailyLimit: limit[httpapi.Minor](p.Limits.Daily), DailyTransactionLimit: limit[int64](p.Limits.DailyTransactions),
			MonthlyLimit: limit[httpapi.Minor](p.Limits.Monthly),
		},
		AccountRestrictions: agentAccountRestrictionsBody{AccountRules: []agentAccountRuleBody{}},
		ApprovalThresholds: agentApprovalThresholdsBody{Currency: httpapi.Currency(p.Threshold.Currency),
			Amount: (*httpapi.Minor)(p.Threshold.Amount)},
	}
	for _, permission := range p.Permissions {
		body.Permissions = append(body.Permissions, string(permission))
	}
	if p.AllowedAccounts != nil {
		ids := make([]httpapi.ID[ident.InternalAccount], len(p.AllowedAccounts))
		for i, id := range p.AllowedAccounts {
			ids[i] = httpapi.NewID(id)
		}
		body.AccountRestrictions.AllowedAccountIDs = &ids
	}
	for _, rule := range p.AccountRules {
		body.AccountRestrictions.AccountRules = append(body.AccountRestrictions.AccountRules, agentAccountRuleBody{
			AccountID: httpapi.NewID(rule.Account), ExecutionMode: string(rule.Mode), PerTransactionLimit: limit[httpapi.Minor](rule.PerTransaction),
		})
	}
	return body
}

// limit returns a limit, or nil for zero, which is none.
func limit[T ~int64](n int64) *T {
	if n == 0 {
		return nil
	}
	value := T(n)
	return &value
}

type agentPolicyRequest struct {
	Permissions          []string                         `json:"permissions" enum:"VIEW_TRANSACTIONS,CREATE_TRANSFERS,CREATE_QUOTES,EXECUTE_QUOTES,MANAGE_EXTERNAL_ACCOUNTS" minItems:"1" doc:"What the agent may do. VIEW_TRANSACTIONS includes balances; none includes another."`
	DefaultExecutionMode string                           `json:"defaultExecutionMode" enum:"AUTO,APPROVAL_REQUIRED" doc:"Whether you have to approve what the agent starts."`
	SpendingLimits       agentSpendingLimitsRequest       `json:"spendingLimits" doc:"How much the agent may spend."`
	AccountRestrictions  *agentAccountRestrictionsRequest `json:"accountRestrictions,omitempty" doc:"From which accounts the agent may spend, and how. Default: all internal accounts of the customer, without rules of their own."`
	ApprovalThresholds   *agentApprovalThresholdsRequest  `json:"approvalThresholds,omitempty" doc:"Above which amount you have to approve a payment whose execution mode is AUTO. Default: none."`
}

type agentSpendingLimitsRequest struct {
	Currency              httpapi.Currency                `json:"currency" doc:"Currency of the limits and of the usage."`
	PerTransactionLimit   httpapi.Minor                   `json:"perTransactionLimit" minimum:"1" doc:"Largest amount of a transaction." example:"5000"`
	DailyLimit            httpapi.Optional[httpapi.Minor] `json:"dailyLimit,omitempty" minimum:"1" doc:"Largest amount of a day in UTC. Null or missing: none." example:"20000"`
	DailyTransactionLimit httpapi.Optional[int64]         `json:"dailyTransactionLimit,omitempty" minimum:"1" maximum:"1000000" doc:"Largest number of transactions of a day in UTC. Null or missing: none." example:"20"`
	MonthlyLimit          httpapi.Optional[httpapi.Minor] `json:"monthlyLimit,omitempty" minimum:"1" doc:"Largest amount of a calendar month in UTC. Null or missing: none." example:"100000"`
}

type agentAccountRestrictionsRequest struct {
	AllowedAccountIDs httpapi.Optional[[]httpapi.ID[ident.InternalAccount]] `json:"allowedAccountIds,omitempty" maxItems:"100" doc:"Internal accounts of the customer from which the agent may spend. Null: all of them; an empty list: none."`
	AccountRules      *[]agentAccountRuleRequest                            `json:"accountRules,omitempty" maxItems:"100" doc:"What differs for payments from single accounts; one rule for an account."`
}

type agentAccountRuleRequest struct {
	AccountID           httpapi.ID[ident.InternalAccount] `json:"accountId" doc:"Id of an internal account of the customer."`
	ExecutionMode       string                            `json:"executionMode,omitempty" enum:"AUTO,APPROVAL_REQUIRED" doc:"Execution mode of payments from the account. Default: that of the policy."`
	PerTransactionLimit httpapi.Optional[httpapi.Minor]   `json:"perTransactionLimit,omitempty" minimum:"1" doc:"Largest amount of a transaction from the account, in the currency of the spending limits. Null or missing: their limit." example:"2000"`
}

type agentApprovalThresholdsRequest struct {
	Currency *httpapi.Currency               `json:"currency,omitempty" doc:"Currency of the amount. Required with it."`
	Amount   httpapi.Optional[httpapi.Minor] `json:"amount,omitempty" doc:"Amount above which you have to approve a payment. Null: none." example:"2500"`
}

func (r agentPolicyRequest) change() agent.PolicyChange {
	limits := agentSpendingLimitsUpdate{
		Currency: &r.SpendingLimits.Currency, PerTransactionLimit: &r.SpendingLimits.PerTransactionLimit,
		DailyLimit: r.SpendingLimits.DailyLimit, DailyTransactionLimit: r.SpendingLimits.DailyTransactionLimit,
		MonthlyLimit: r.SpendingLimits.MonthlyLimit,
	}
	return agentPolicyUpdateRequest{
		Permissions: &r.Permissions, DefaultExecutionMode: &r.DefaultExecutionMode, SpendingLimits: &limits,
		AccountRestrictions: r.AccountRestrictions, ApprovalThresholds: r.ApprovalThresholds,
	}.change()
}

type agentPolicyUpdateRequest struct {
	Permissions          *[]string                        `json:"permissions,omitempty" enum:"VIEW_TRANSACTIONS,CREATE_TRANSFERS,CREATE_QUOTES,EXECUTE_QUOTES,MANAGE_EXTERNAL_ACCOUNTS" minItems:"1" doc:"What the agent may do. The list replaces the previous one."`
	DefaultExecutionMode *string                          `json:"defaultExecutionMode,omitempty" enum:"AUTO,APPROVAL_REQUIRED" doc:"Whether you have to approve what the agent starts."`
	SpendingLimits       *agentSpendingLimitsUpdate       `json:"spendingLimits,omitempty" doc:"The limits to change."`
	AccountRestrictions  *agentAccountRestrictionsRequest `json:"accountRestrictions,omitempty" doc:"The restrictions to change. Each list replaces the previous one."`
	ApprovalThresholds   *agentApprovalThresholdsRequest  `json:"approvalThresholds,omitempty" doc:"The threshold to change."`
}

type agentSpendingLimitsUpdate struct {
	Currency              *httpapi.Currency               `json:"currency,omitempty" doc:"Currency of the limits and of the usage. The limits that are not sent keep their numbers."`
	PerTransactionLimit   *httpapi.Minor                  `json:"perTransactionLimit,omitempty" minimum:"1" doc:"Largest amount of a transaction." example:"5000"`
	DailyLimit            httpapi.Optional[httpapi.Minor] `json:"dailyLimit,omitempty" minimum:"1" doc:"Largest amount of a day in UTC. Null removes it." example:"20000"`
	DailyTransactionLimit httpapi.Optional[int64]         `json:"dailyTransactionLimit,omitempty" minimum:"1" maximum:"1000000" doc:"Largest number of transactions of a day in UTC. Null removes it." example:"20"`
	MonthlyLimit          httpapi.Optional[httpapi.Minor] `json:"monthlyLimit,omitempty" minimum:"1" doc:"Largest amount of a calendar month in UTC. Null removes it." example:"100000"`
}

// Resolve reports what core finds invalid without the stored policy and the accounts of the customer.
func (r agentPolicyUpdateRequest) Resolve(huma.Context) []error {
	change := r.change()
	stored := agent.Agent{Policy: agent.Policy{Threshold: agent.ApprovalThreshold{Currency: "USD"}}}
	_, err := stored.UpdatePolicy(change, accountsIn(change), time.Time{})
	return httpapi.FieldErrors(err)
}

func (r agentPolicyUpdateRequest) change() agent.PolicyChange {
	change := agent.PolicyChange{Permissions: r.Permissions, DefaultMode: r.DefaultExecutionMode}
	if l := r.SpendingLimits; l != nil {
		change.Limits = &agent.LimitsChange{
			Currency: (*string)(l.Currency), PerTransaction: (*int64)(l.PerTransactionLimit),
			Daily: changedLimit(l.DailyLimit), DailyTransactions: changedLimit(l.DailyTransactionLimit), Monthly: changedLimit(l.MonthlyLimit),
		}
	}
	if restrictions := r.AccountRestrictions; restrictions != nil {
		change.AllowedAccounts = httpapi.MapOptional(restrictions.AllowedAccountIDs,
			func(ids []httpapi.ID[ident.InternalAccount]) []ident.InternalAccount {
				accounts := make([]ident.InternalAccount, len(ids))
				for i, id := range ids {
					accounts[i] = id.Value
				}
				return accounts
			})
		if restrictions.AccountRules != nil {
			rules := make([]agent.AccountRuleRequest, len(*restrictions.AccountRules))
			for i, rule := range *restrictions.AccountRules {
				rules[i] = agent.AccountRuleRequest{Account: rule.AccountID.Value, Mode: rule.ExecutionMode,
					PerTransaction: (*int64)(rule.PerTransactionLimit.Value)}
			}
			change.AccountRules = &rules
		}
	}
	if t := r.ApprovalThresholds; t != nil {
		change.Threshold = &agent.ThresholdChange{Currency: (*string)(t.Currency), Amount: changedLimit(t.Amount)}
	}
	return change
}

// changedLimit returns nil for a limit that does not change, and a pointer to nil for one that is removed.
func changedLimit[T ~int64](o httpapi.Optional[T]) **int64 {
	return httpapi.MapOptional(o, func(n T) *int64 { value := int64(n); return &value })
}
