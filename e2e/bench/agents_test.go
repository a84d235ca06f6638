package main

import (
	"strings"
	"testing"

	"causeway/e2e/kit"
)

func TestRunWorkers_AgentAtItsLimit(t *testing.T) {
	// What does not fit in the limit of an agent is refused; it is counted and measured apart from the payments, moves no
	// money and waits for no webhook.
	t.Parallel()
	b, _ := newFakeBench(t, 3, "agent-hot", nil)
	c := b.customers[0]
	before := b.agentUsage(t.Context(), c)
	const limit = fittingPayments*rampAmount + rampAmount/2
	change := kit.Object{"spendingLimits": kit.Object{"dailyLimit": limit}}
	if err := b.platform.Call(t.Context(), "PATCH", "/agents/"+c.agentID+"/policy", change, nil); err != nil {
		t.Fatal(err)
	}
	p := phase{inFlight: 8, kind: agentTransfersOut, customers: b.customers[:1]}
	all, err := b.runWorkers(t.Context(), p, limitedTo(fittingPayments+100))
	if err != nil {
		t.Fatal(err)
	}

	first, last := reading{at: all[0].due}, reading{at: all[0].completed}
	for _, s := range all {
		if s.due.Before(first.at) {
			first.at = s.due
		}
		if !s.completed.Before(last.at) {
			last.at = s.completed.Add(1)
		}
	}
	m := newMeasurement(p, all, first, last)
	if m.completed != fittingPayments+100 || m.refused != 100 || m.refusal.p50 <= 0 || m.send.p50 <= 0 {
		t.Errorf("%+v", m)
	}
	after := b.agentUsage(t.Context(), c)
	if err := checkAgentLimit(before, after, fittingPayments, limit); err != nil || c.netMoved.Load() != -fittingPayments*rampAmount {
		t.Errorf("moved %d: %v", c.netMoved.Load(), err)
	}
	if err := try(func() { b.checkAccountBalances(t.Context()) }); err != nil {
		t.Error(err)
	}
}

func TestCheckAgentLimit(t *testing.T) {
	// Spending above the limit, and less or other spending than fits, are errors. A new day has a limit of its own.
	t.Parallel()
	const day, spent = "2026-03-14", fittingPayments * rampAmount
	before := agentUsage{5, day}
	for _, c := range []struct {
		after           agentUsage
		payments, limit int64
		want            string
	}{
		{agentUsage{5 + spent, day}, fittingPayments, 5 + spent, ""},
		{agentUsage{5 + spent, day}, fittingPayments, 4 + spent, "above its limit"},
		{agentUsage{5 + spent + rampAmount, day}, fittingPayments + 1, 5 + spent + rampAmount, "has made 201 payments"},
		{agentUsage{5 + spent - rampAmount, day}, fittingPayments - 1, 5 + spent, "has made 199 payments"},
		{agentUsage{4 + spent, day}, fittingPayments, 5 + spent, "want 200 payments"},
		{agentUsage{rampAmount, "2026-03-15"}, fittingPayments, 5 + spent, ""},
		{agentUsage{6 + spent, "2026-03-15"}, fittingPayments, 5 + spent, "above its limit"},
	} {
		err := checkAgentLimit(before, c.after, c.payments, c.limit)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
