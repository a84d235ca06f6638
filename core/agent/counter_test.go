package agent_test

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

func TestCounters_Add(t *testing.T) {
	t.Parallel()
	// A payment is added to the counter of its day and currency, and the counters before it stay as they were.
	before := agent.Counters{{"2026-03-14", "USD", 1, 5}, {"2026-03-13", "EUR", 2, 7}}
	for name, c := range map[string]struct {
		day    string
		amount money.Amount
		want   agent.Counters
	}{
		"counted": {"2026-03-14", money.Amount{Minor: 6, Currency: "USD"}, agent.Counters{{"2026-03-14", "USD", 2, 11},
			{"2026-03-13", "EUR", 2, 7}}},
		"day": {"2026-03-15", money.Amount{Minor: 6, Currency: "USD"},
			append(slices.Clone(before), agent.Counter{Day: "2026-03-15", Currency: "USD", Transactions: 1, Spent: 6})},
		"currency": {"2026-03-14", money.Amount{Minor: 6, Currency: "EUR"},
			append(slices.Clone(before), agent.Counter{Day: "2026-03-14", Currency: "EUR", Transactions: 1, Spent: 6})},
	} {
		got, err := before.Add(c.day, c.amount)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	if _, err := before.Add("2026-03-14", money.Amount{Minor: math.MaxInt64, Currency: "USD"}); !fault.Is(err, fault.AmountOutOfRange) {
		t.Error(err)
	}
	if before[0].Spent != 5 || len(before) != 2 {
		t.Errorf("changed %v", before)
	}
}

func TestAgent_UsageConverts(t *testing.T) {
	t.Parallel()
	// The usage is that of the day and of the month, in the currency of the limits, whatever it is: each currency
	// is added up exactly and then rounded up. Another currency of the limits needs no change of the counters.
	counters := agent.Counters{{"2026-03-14", "USD", 2, 10_00}, {"2026-03-14", "EUR", 1, 1}, {"2026-03-01", "EUR", 3, 2},
		{"2026-03-02", "JPY", 1, 5}, {"2026-02-14", "USD", 4, 99}}
	for currency, want := range map[money.Currency]agent.Usage{
		"USD": {3, 10_00 + 2, "2026-03-14", 10_00 + 4 + 5, "2026-03"},
		"EUR": {3, 8_00 + 1, "2026-03-14", 8_00 + 3 + 4, "2026-03"},
	} {
		got, err := spender(func(a *agent.Agent) { a.Policy.Limits.Currency = currency }).UsageAt(counters, now, atRates)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", currency, got, err, want)
		}
	}
}

// worth are the exact values of one minor unit of each currency, at which the model converts.
var worth = map[money.Currency]*big.Rat{"USD": big.NewRat(1, 1), "EUR": big.NewRat(5, 4), "JPY": big.NewRat(7, 10)}

// convertExactly converts at the rates of worth, and rounds up.
func convertExactly(a money.Amount, to money.Currency) (money.Amount, error) {
	exact := new(big.Rat).Mul(big.NewRat(a.Minor, 1), new(big.Rat).Quo(worth[a.Currency], worth[to]))
	whole, rest := new(big.Int).QuoRem(exact.Num(), exact.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return money.Amount{Minor: whole.Int64(), Currency: to}, nil
}

// paid is a payment of the model.
type paid struct {
	at     time.Time
	amount money.Amount
	failed bool
}

// history is a second, slow and exact implementation of what the limits are about: a list of payments.
type history []paid

// of returns the exact value in a currency, and the number, of the payments of a period ("2026-03-14", "2026-03")
// that did not fail.
func (h history) of(layout string, at time.Time, currency money.Currency) (sum *big.Rat, n int64) {
	sum = new(big.Rat)
	for _, p := range h {
		if !p.failed && p.at.UTC().Format(layout) == at.UTC().Format(layout) {
			sum.Add(sum, new(big.Rat).Mul(big.NewRat(p.amount.Minor, 1), new(big.Rat).Quo(worth[p.amount.Currency], worth[currency])))
			n++
		}
	}
	return sum, n
}

func TestAgent_NoLimitIsExceededInAnyOrder(t *testing.T) {
	t.Parallel()
	// Payments, failures that give back, changes of the policy, approvals, days and months come in any order. What
	// is allowed never exceeds a limit that holds at that time, and what is refused for a limit would have exceeded
	// it, but for the rounding of each currency.
	rapid.Check(t, func(t *rapid.T) {
		at := time.Date(2026, 3, 30, 20, 0, 0, 0, time.UTC)
		a := drawSpender(t)
		var made history
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				at = at.Add(time.Duration(rapid.IntRange(0, 30*60).Draw(t, "minutes")) * time.Minute)
			case 1:
				a = drawSpender(t)
			case 2:
				if len(made) > 0 {
					made[rapid.IntRange(0, len(made)-1).Draw(t, "failed")].failed = true
				}
			default:
				p := drawPayment(t)
				e, err := a.Evaluate(p, made.counters(agent.MonthOf(at)), at, convertExactly)
				if err != nil {
					t.Fatal(err)
				}
				after := append(slices.Clone(made), paid{at: at, amount: p.Amount})
				checkLimits(t, a, p, e, after, at)
				if rapid.Bool().Draw(t, "approved") {
					e = e.Approved()
				}
				if e.Decision == agent.Allowed {
					made = after
				}
			}
		}
		checkUsage(t, a, made, at)
	})
}

// counters returns what a store would have counted in a month, one payment after the other.
func (h history) counters(month string) (c agent.Counters) {
	for _, p := range h {
		if agent.MonthOf(p.at) != month || p.failed {
			continue
		}
		var err error
		if c, err = c.Add(agent.DayOf(p.at), p.amount); err != nil {
			panic(err)
		}
	}
	return c
}

// drawSpender returns an agent with small limits, some of which are absent.
func drawSpender(t *rapid.T) agent.Agent {
	currency := rapid.SampledFrom([]money.Currency{"USD", "EUR", "JPY"})
	limit := func(highest int64, label string) int64 { return rapid.Int64Range(0, highest).Draw(t, label) }
	a := spender()
	a.Policy.Limits = agent.SpendingLimits{Currency: currency.Draw(t, "currency of the limits"), PerTransaction: 1 + limit(60, "transaction"),
		Daily: limit(150, "day"), DailyTransactions: limit(6, "transactions of a day"), Monthly: limit(300, "month")}
	a.Policy.DefaultMode = rapid.SampledFrom(agent.ExecutionModes).Draw(t, "mode")
	if rapid.Bool().Draw(t, "restricted") {
		a.Policy.AllowedAccounts = []ident.InternalAccount{dollars.ID}
	}
	if rapid.Bool().Draw(t, "with a threshold") {
		threshold := limit(40, "threshold")
		a.Policy.Threshold = agent.ApprovalThreshold{Currency: currency.Draw(t, "currency of the threshold"), Amount: &threshold}
	}
	if rapid.Bool().Draw(t, "with a rule") {
		a.Policy.AccountRules = []agent.AccountRule{{Account: euros.ID,
			Mode:           rapid.SampledFrom([]agent.ExecutionMode{"", agent.Auto, agent.ApprovalRequired}).Draw(t, "mode of the rule"),
			PerTransaction: limit(80, "limit of the rule")}}
	}
	return a
}

func drawPayment(t *rapid.T) agent.Payment {
	return agent.Payment{Type: rapid.SampledFrom(agent.ActionTypes).Draw(t, "type"),
		Account: rapid.SampledFrom([]ident.InternalAccount{dollars.ID, euros.ID, {}}).Draw(t, "account"),
		Amount: money.Amount{Minor: rapid.Int64Range(1, 70).Draw(t, "amount"),
			Currency: rapid.SampledFrom([]money.Currency{"USD", "EUR", "JPY"}).Draw(t, "currency")}}
}

// checkLimits compares an evaluation with the exact history after the payment.
func checkLimits(t *rapid.T, a agent.Agent, p agent.Payment, e agent.Evaluation, after history, at time.Time) {
	limits := a.Policy.Limits
	alone := history{after[len(after)-1]}
	transaction, _ := alone.of(time.DateOnly, at, limits.Currency)
	day, n := after.of(time.DateOnly, at, limits.Currency)
	month, _ := after.of("2006-01", at, limits.Currency)
	highest := limits.PerTransaction
	if len(a.Policy.AccountRules) > 0 && a.Policy.AccountRules[0].Account == p.Account && a.Policy.AccountRules[0].PerTransaction > 0 {
		highest = a.Policy.AccountRules[0].PerTransaction
	}
	reasons := codes(e.Reasons)
	for _, c := range []struct {
		code     agent.ReasonCode
		sum      *big.Rat
		limit    int64
		rounding int64 // what rounding up can add
	}{
		{agent.PerTransactionLimit, transaction, highest, 0}, // rounding up to a whole limit changes nothing
		{agent.DailyLimit, day, limits.Daily, int64(len(worth)) + 1},
		{agent.DailyTransactionsMet, big.NewRat(n, 1), limits.DailyTransactions, 0},
		{agent.MonthlyLimit, month, limits.Monthly, int64(len(worth)) + 1},
	} {
		refused, none := slices.Contains(reasons, c.code), c.code != agent.PerTransactionLimit && c.limit == 0
		switch {
		case none && refused:
			t.Fatalf("refused for %s, which is not limited", c.code)
		case !none && !refused && c.sum.Cmp(big.NewRat(c.limit, 1)) > 0:
			t.Fatalf("%s for %q: %s would exceed %s of %d", e.Decision, reasons, c.sum, c.code, c.limit)
		case refused && c.sum.Cmp(big.NewRat(c.limit-c.rounding, 1)) <= 0:
			t.Fatalf("refused for %s of %d, and %s would not exceed it", c.code, c.limit, c.sum)
		}
	}
	if restricted := a.Policy.AllowedAccounts != nil && p.Account != dollars.ID; restricted != slices.Contains(reasons,
		agent.AccountNotAllowed) {
		t.Fatalf("account %s: %q", p.Account, reasons)
	}
	if err := checkDecision(a, p, e); err != nil {
		t.Fatal(err)
	}
}

// checkDecision returns an error if the decision does not follow from the reasons, or a payment would run without
// an approval that the policy asks for.
func checkDecision(a agent.Agent, p agent.Payment, e agent.Evaluation) error {
	asks := slices.ContainsFunc(e.Reasons, func(r agent.Reason) bool {
		return r.Code == agent.ModeRequiresApproval || r.Code == agent.AboveThreshold
	})
	want := agent.Refused
	switch {
	case len(e.Reasons) == 0:
		want = agent.Allowed
	case asks:
		want = agent.NeedsApproval
	}
	if e.Decision != want {
		return fmt.Errorf("%s for %q", e.Decision, codes(e.Reasons))
	}
	if e.Decision != agent.Allowed {
		return nil
	}
	mode := a.Policy.DefaultMode
	if len(a.Policy.AccountRules) > 0 && a.Policy.AccountRules[0].Account == p.Account && a.Policy.AccountRules[0].Mode != "" {
		mode = a.Policy.AccountRules[0].Mode
	}
	value := new(big.Rat).Mul(big.NewRat(p.Amount.Minor, 1), worth[p.Amount.Currency])
	if limit := a.Policy.Threshold; limit.Amount != nil &&
		value.Cmp(new(big.Rat).Mul(big.NewRat(*limit.Amount, 1), worth[limit.Currency])) > 0 || mode != agent.Auto {
		return fmt.Errorf("allowed %s without approval: mode %s, threshold %+v", p.Amount, mode, limit)
	}
	return nil
}

// checkUsage compares the reported usage with the exact history.
func checkUsage(t *rapid.T, a agent.Agent, made history, at time.Time) {
	usage, err := a.UsageAt(made.counters(agent.MonthOf(at)), at, convertExactly)
	if err != nil {
		t.Fatal(err)
	}
	day, n := made.of(time.DateOnly, at, a.Policy.Limits.Currency)
	month, _ := made.of("2006-01", at, a.Policy.Limits.Currency)
	if usage.DailyTransactionCount != int(n) {
		t.Fatalf("%d transactions, want %d", usage.DailyTransactionCount, n)
	}
	for _, c := range []struct {
		reported int64
		exact    *big.Rat
	}{{usage.DailySpend, day}, {usage.MonthlySpend, month}} {
		low, high := c.exact, new(big.Rat).Add(c.exact, big.NewRat(int64(len(worth)), 1))
		if reported := big.NewRat(c.reported, 1); reported.Cmp(low) < 0 || reported.Cmp(high) >= 0 {
			t.Fatalf("reported %d, exactly %s", c.reported, c.exact)
		}
	}
}
