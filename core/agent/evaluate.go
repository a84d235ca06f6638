package agent

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// Payment is a payment that an agent asks for.
type Payment struct {
	Type ActionType
	// Account is the internal account that pays, or that a transfer in credits; zero if an external account pays
	// a quote.
	Account ident.InternalAccount
	// Amount is what is sent, with fees.
	Amount money.Amount
}

// Converter converts an amount of zero or more into another currency, at the market rate and rounded up. Its
// error is temporary if there is no rate, and of money.ErrOverflow if the result does not fit.
type Converter func(a money.Amount, to money.Currency) (money.Amount, error)

// Evaluation is what a policy says about something that an agent asks for.
type Evaluation struct {
	Decision Decision
	// Reasons are all the reasons of the decision, in the order in which they are checked; empty if it is ALLOWED.
	Reasons []Reason
	// Spend is the amount of a payment in the currency of the limits; zero for what sends no money, and if it is more than
	// one movement of money can be, and so above every limit.
	Spend money.Amount
}

// Evaluate returns what the policy says about a payment that starts now; counters are those of the month of now.
// The limits hold whether or not the platform has to approve the payment. Errors: those of convert, and one for an
// amount below 1.
func (a Agent) Evaluate(p Payment, counters Counters, now time.Time, convert Converter) (Evaluation, error) {
	if p.Amount.Minor < 1 {
		return Evaluation{}, fmt.Errorf("the agent %s cannot send %s", a.ID, p.Amount)
	}
	spend, err := convertUp(p.Amount, a.Policy.Limits.Currency, convert)
	if err != nil {
		return Evaluation{}, err
	}
	reasons := a.generalReasons(permissionFor[p.Type])
	if !a.Policy.allows(p.Account) {
		reasons = append(reasons, accountReason(p.Account))
	}
	exceeded, err := a.exceededLimits(p, spend, counters, now, convert)
	if err != nil {
		return Evaluation{}, err
	}
	if !possible(spend) {
		spend = money.Amount{}
	}
	if reasons = append(reasons, exceeded...); len(reasons) > 0 {
		return Evaluation{Decision: Refused, Reasons: reasons, Spend: spend}, nil
	}
	if reasons, err = a.Policy.approvalReasons(p, convert); err != nil {
		return Evaluation{}, err
	}
	if len(reasons) > 0 {
		return Evaluation{Decision: NeedsApproval, Reasons: reasons, Spend: spend}, nil
	}
	return Evaluation{Decision: Allowed, Spend: spend}, nil
}

// permissionFor lists the permission that each type of payment needs.
var permissionFor = map[ActionType]Permission{ExecuteQuote: ExecuteQuotes, TransferOut: CreateTransfers, TransferIn: CreateTransfers}

// EvaluateQuote returns what the policy says about the creation of a quote: from is the internal account that
// pays, or zero, and pulled reports whether an external account pays.
func (a Agent) EvaluateQuote(from ident.InternalAccount, pulled bool) Evaluation {
	reasons := a.generalReasons(CreateQuotes)
	if (pulled || !from.IsZero()) && !a.Policy.allows(from) {
		reasons = append(reasons, accountReason(from))
	}
	return refusedFor(reasons)
}

// EvaluateAccounts returns what the policy says about the creation or the deletion of an external account.
func (a Agent) EvaluateAccounts() Evaluation {
	return refusedFor(a.generalReasons(ManageExternalAccounts))
}

func refusedFor(reasons []Reason) Evaluation {
	if len(reasons) > 0 {
		return Evaluation{Decision: Refused, Reasons: reasons}
	}
	return Evaluation{Decision: Allowed}
}

// Approved returns the evaluation after the approval of the platform: what needed approval is allowed.
func (e Evaluation) Approved() Evaluation {
	if e.Decision == NeedsApproval {
		e.Decision, e.Reasons = Allowed, nil
	}
	return e
}

// Err returns FORBIDDEN with all reasons if the policy refuses, or nil.
func (e Evaluation) Err() error {
	if e.Decision != Refused {
		return nil
	}
	all := make([]map[string]any, len(e.Reasons))
	for i, r := range e.Reasons {
		all[i] = map[string]any{"code": string(r.Code), "message": r.Message}
	}
	return &fault.Error{Code: fault.Forbidden, Message: e.Reasons[0].Message, Reason: string(e.Reasons[0].Code),
		Details: map[string]any{"reasons": all}}
}

// generalReasons returns the reasons that do not depend on accounts and amounts.
func (a Agent) generalReasons(need Permission) (reasons []Reason) {
	if a.Paused {
		reasons = append(reasons, Reason{AgentPaused, "The agent is paused and can start nothing. Ask the platform to resume it."})
	}
	if !slices.Contains(a.Policy.Permissions, need) {
		reasons = append(reasons, Reason{PermissionMissing, fmt.Sprintf("The policy of this agent does not have the permission %s. Ask the "+
			"platform to add it.", need)})
	}
	return reasons
}

// allows reports whether the agent may use an internal account, or, for zero, external accounts to pay.
func (p Policy) allows(account ident.InternalAccount) bool {
	return p.AllowedAccounts == nil || slices.Contains(p.AllowedAccounts, account)
}

func accountReason(account ident.InternalAccount) Reason {
	if account.IsZero() {
		return Reason{AccountNotAllowed, "The policy allows payments from certain internal accounts only, and an external account would pay. " +
			"Use one of the allowed accounts."}
	}
	return Reason{AccountNotAllowed, fmt.Sprintf("The policy does not allow the account %s. Use one of the allowed accounts.", account)}
}

// exceededLimits returns the reasons for which a payment would exceed limits. Amounts are converted only for
// limits that there are.
func (a Agent) exceededLimits(p Payment, spend money.Amount, counters Counters, now time.Time,
	convert Converter) (reasons []Reason, err error) {
	limits, sends := a.Policy.Limits, p.shownAs(spend)
	if limit := a.Policy.perTransaction(p.Account); spend.Minor > limit {
		reasons = append(reasons, Reason{PerTransactionLimit,
			fmt.Sprintf("The payment sends %s, and the limit of a transaction is %s. Send less.",
				sends, limits.amount(limit))})
	}
	if limits.Daily > 0 {
		spent, err := counters.spent(DayOf(now), limits.Currency, convert)
		if err != nil {
			return nil, err
		}
		if left := limits.Daily - spent; spend.Minor > left {
			reasons = append(reasons, Reason{DailyLimit, fmt.Sprintf("The payment sends %s, and %s of the daily limit of %s is left. Send less, "+
				"or wait until the next day (UTC).",
				sends, limits.amount(max(left, 0)), limits.amount(limits.Daily))})
		}
	}
	if limits.DailyTransactions > 0 && counters.Transactions(DayOf(now)) >= limits.DailyTransactions {
		reasons = append(reasons, Reason{DailyTransactionsMet, fmt.Sprintf("The agent has made the %d transactions that the policy allows in a "+
			"day. Wait until the next day (UTC).",
			limits.DailyTransactions)})
	}
	if limits.Monthly > 0 {
		spent, err := counters.spent(MonthOf(now), limits.Currency, convert)
		if err != nil {
			return nil, err
		}
		if left := limits.Monthly - spent; spend.Minor > left {
			reasons = append(reasons, Reason{MonthlyLimit, fmt.Sprintf("The payment sends %s, and %s of the monthly limit of %s is left. Send "+
				"less, or wait until the next month (UTC).",
				sends, limits.amount(max(left, 0)), limits.amount(limits.Monthly))})
		}
	}
	return reasons, nil
}

// rule returns the rule of an account; the zero rule if it has none.
func (p Policy) rule(account ident.InternalAccount) AccountRule {
	for _, r := range p.AccountRules {
		if r.Account == account {
			return r
		}
	}
	return AccountRule{}
}

func (p Policy) perTransaction(account ident.InternalAccount) int64 {
	if own := p.rule(account).PerTransaction; own > 0 {
		return own
	}
	return p.Limits.PerTransaction
}

func (l SpendingLimits) amount(minor int64) money.Amount {
	return money.Amount{Minor: minor, Currency: l.Currency}
}

// approvalReasons returns the reasons for which the platform has to approve a payment.
func (p Policy) approvalReasons(payment Payment, convert Converter) (reasons []Reason, err error) {
	mode, of := p.DefaultMode, "each payment"
	if own := p.rule(payment.Account).Mode; own != "" {
		mode, of = own, fmt.Sprintf("each payment with the account %s", payment.Account)
	}
	if mode != Auto {
		reasons = append(reasons, Reason{ModeRequiresApproval, "The policy asks for approval of " + of + "."})
	}
	if p.Threshold.Amount == nil {
		return reasons, nil
	}
	amount, err := convertUp(payment.Amount, p.Threshold.Currency, convert)
	if err != nil {
		return nil, err
	}
	if threshold := (money.Amount{Minor: *p.Threshold.Amount, Currency: p.Threshold.Currency}); amount.Minor > threshold.Minor {
		reasons = append(reasons, Reason{AboveThreshold, fmt.Sprintf("The payment sends %s, and the policy asks for approval above %s.",
			payment.shownAs(amount), threshold)})
	}
	return reasons, nil
}

// possible reports whether one movement of money can be of an amount.
func possible(a money.Amount) bool { return a.Minor <= money.MaxMinor }

// shownAs returns the amount of a payment in another currency, or as it is sent if it is not possible there.
func (p Payment) shownAs(converted money.Amount) money.Amount {
	if possible(converted) {
		return converted
	}
	return p.Amount
}

// convertUp returns an amount in another currency, or the highest possible amount if it does not fit: that is
// above every limit.
func convertUp(a money.Amount, to money.Currency, convert Converter) (money.Amount, error) {
	if a.Currency == to {
		return a, nil
	}
	converted, err := convert(a, to)
	if errors.Is(err, money.ErrOverflow) {
		return money.Amount{Minor: math.MaxInt64, Currency: to}, nil
	}
	return converted, err
}
