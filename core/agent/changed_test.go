package agent_test

import (
	"fmt"
	"testing"

	"causeway/core/agent"
)

func TestChanged_NamesFieldsAsTheAPI(t *testing.T) {
	t.Parallel()
	// The name is personal, and has no values.
	// Amounts are of the currency of the limits; what is not limited is empty, and a field that is as before is left out.
	before := agent.Agent{Name: "Travel", Policy: agent.Policy{Permissions: []agent.Permission{agent.ViewTransactions},
		DefaultMode: agent.Auto,
		Limits:      agent.SpendingLimits{Currency: "USD", PerTransaction: 50_00, Daily: 200_00}}}
	after := before
	after.Name = "Travel of Ana"
	after.Paused = true
	after.Policy.Permissions = []agent.Permission{agent.ViewTransactions, agent.CreateQuotes}
	after.Policy.Limits.PerTransaction, after.Policy.Limits.Daily = 80_00, 0
	after.Policy.Threshold = agent.ApprovalThreshold{Currency: "USD", Amount: new(int64)}

	got := fmt.Sprint(agent.Changed(before, after))

	want := "[approvalThresholds.amount: none → 0.00 USD isPaused: false → true name changed permissions: VIEW_TRANSACTIONS → " +
		"VIEW_TRANSACTIONS, CREATE_QUOTES " +
		"spendingLimits.dailyLimit: 200.00 USD → none spendingLimits.perTransactionLimit: 50.00 USD → 80.00 USD]"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if same := agent.Changed(after, after); len(same) != 0 {
		t.Errorf("the same agent differs in %v", same)
	}
}
