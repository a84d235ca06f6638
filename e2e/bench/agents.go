package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"causeway/e2e/kit"
)

// farLimit is a limit that no agent reaches, in cents.
const farLimit = fundingAmount

// createAgent creates the agent of a customer, which may pay up to limits that are far away, and pairs the worker with it.
func (b *bench) createAgent(ctx context.Context, c *customer, i int) {
	policy := kit.Object{
		"permissions": []string{"CREATE_QUOTES", "EXECUTE_QUOTES", "CREATE_TRANSFERS"}, "defaultExecutionMode": "AUTO",
		"spendingLimits": kit.Object{"currency": "USD", "perTransactionLimit": rampAmount, "dailyLimit": farLimit,
			"dailyTransactionLimit": 1_000_000, "monthlyLimit": farLimit},
		"accountRestrictions": kit.Object{"allowedAccountIds": []string{c.accountID}},
		"approvalThresholds":  kit.Object{"currency": "USD", "amount": rampAmount},
	}
	var created struct {
		Agent      struct{ ID string }
		DeviceCode struct{ Code string }
	}
	check(b.platform.Call(ctx, "POST", "/agents", kit.Object{"name": "Bench", "customerId": c.id, "policy": policy}, &created))
	// Each agent has an address of its own on loopback, because only so many codes can be redeemed from one.
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+i>>16), byte(i>>8), byte(i))}}
	program := *b.platform.Client
	program.ClientID = ""
	program.HTTP = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	var redeemed struct{ AccessToken string }
	check(program.Call(ctx, "POST", "/agents/device-codes/"+created.DeviceCode.Code+"/redeem", nil, &redeemed))
	c.agentID, c.agent = created.Agent.ID, caller{"/agents/me", "Bearer " + redeemed.AccessToken}
}

// compareAgents compares payouts by the agents of all customers with those of the platform.
func (b *bench) compareAgents(ctx context.Context) {
	b.report.compareRates(agents, 3, b.customersSide(ctx, "Payouts/s by the platform", payouts, nil),
		b.customersSide(ctx, "Payouts/s by agents", agentPayouts, nil), "Agents to platform", goal{})
}

// agentUsage is what an agent has spent.
type agentUsage struct {
	DailySpend     int64
	DailyResetDate string
}

// fittingPayments is how many payments an agent can still make when its limit is set.
const fittingPayments = 200

// measureAgentLimit measures transfers by one agent, and then those that are refused because it has reached its daily limit.
func (b *bench) measureAgentLimit(ctx context.Context) {
	c := b.customers[0]
	p := phase{part: "agent-hot", name: "transfers by one agent", kind: agentTransfersOut, inFlight: b.inFlight, customers: b.customers[:1],
		warmUp: 2 * time.Second, duration: b.brief()}
	below := b.runPhase(ctx, p)
	if below.refused > 0 {
		failf("%d payments of an agent below its limits were refused", below.refused)
	}
	before, done := b.agentUsage(ctx, c), b.done[p.kind]
	limit := before.DailySpend + fittingPayments*rampAmount + rampAmount/2
	change := kit.Object{"spendingLimits": kit.Object{"dailyLimit": limit}}
	check(b.platform.Call(ctx, "PATCH", "/agents/"+c.agentID+"/policy", change, nil))
	p.name = "transfers refused by the daily limit"
	reached := b.runPhase(ctx, p)
	after := b.agentUsage(ctx, c)
	check(checkAgentLimit(before, after, b.done[p.kind]-done, limit))
	b.report.add(agents, fmt.Sprintf("Transfers/s by one agent below its daily limit, %d in flight", p.inFlight), below.perSecond)
	b.report.add(agents, work[p.kind].request+" then, "+latencyColumn, below.send)
	b.report.add(agents, "Transfers/s refused after it reached the limit",
		float64(reached.refused)/float64(reached.completed)*reached.perSecond)
	b.report.add(agents, "Refusal then, "+latencyColumn, reached.refusal)
	b.report.add(agents, "Daily limit, and what was spent of it", fmt.Sprintf("$%s, $%s", dollars(limit), dollars(after.DailySpend)))
}

func dollars(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

func (b *bench) agentUsage(ctx context.Context, c *customer) agentUsage {
	var agent struct{ Usage agentUsage }
	check(b.platform.Call(ctx, "GET", "/agents/"+c.agentID, nil, &agent))
	return agent.Usage
}

// checkAgentLimit checks that an agent has made the payments that fit in its limit since its usage was read, and that they
// are what it has spent. If a new day has begun (UTC), the new day has a limit of its own.
func checkAgentLimit(before, after agentUsage, payments, limit int64) error {
	switch {
	case after.DailySpend > limit:
		return fmt.Errorf("an agent has spent %d cents on %s, above its limit of %d", after.DailySpend, after.DailyResetDate, limit)
	case after.DailyResetDate != before.DailyResetDate:
		return nil
	case payments != fittingPayments || after.DailySpend != before.DailySpend+payments*rampAmount:
		return fmt.Errorf("an agent has made %d payments and spent %d cents; want %d payments, and %d spent before", payments, after.DailySpend,
			fittingPayments, before.DailySpend)
	}
	return nil
}
