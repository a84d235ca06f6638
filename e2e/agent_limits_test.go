package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// awaitDay returns when the day (UTC), whose limits a test reaches, does not end soon.
func awaitDay(t *testing.T) {
	t.Helper()
	now := time.Now().UTC()
	if left := now.Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now); left < time.Minute {
		select {
		case <-time.After(left):
		case <-t.Context().Done():
		}
	}
}

func newKey(int) string { return uuid.NewString() }

func TestAgentPayments_ConcurrentPaymentsNeverExceedLimit(t *testing.T) {
	t.Parallel()
	// An agent has used all of a limit but its last unit, and makes two hundred payments of that unit at once, on two
	// servers, half of them transfers and half executions of quotes. One is made, the others are refused, and all are in
	// the audit trail.
	const each = 10_00
	awaitDay(t)
	h := newTestEnv(t, noRateLimit...)
	servers := []*process{h.server, startServer(t, h.databaseURL, noRateLimit...)}
	for reason, limits := range map[string]object{
		"DAILY_LIMIT":             {"dailyLimit": 3*each - 1},
		"DAILY_TRANSACTION_LIMIT": {"dailyTransactionLimit": 2},
		"MONTHLY_LIMIT":           {"monthlyLimit": 2 * each},
	} {
		a := h.newPayingAgent()
		a.setPolicy(object{"spendingLimits": limits})
		quote := a.quoteBody(each)
		quotes := a.postConcurrently(100, servers, func(int) string { return "/agents/me/quotes" }, func(int) any { return quote }, newKey)
		a.transferOut(each).wantStatus(201)

		transfers := func(i int) bool { return i/2%2 == 0 } // so that each server has both
		responses := a.postConcurrently(200, servers, func(i int) string {
			if transfers(i) {
				return "/agents/me/transfer-out"
			}
			return "/agents/me/quotes/" + quotes[i/4*2+i%2].wantStatus(201).text("id") + "/execute"
		}, func(i int) any {
			if transfers(i) {
				return a.transferBody(a.bank, each)
			}
			return nil
		}, newKey)

		if n := countByStatus(responses); n["Created "]+n["OK "] != 1 || n["Forbidden FORBIDDEN"] != 199 {
			t.Errorf("%s: responses %v", reason, n)
		}
		for _, r := range responses {
			if r.status == 403 {
				r.wantRefused(reason)
			} else {
				r.wantValues(map[string]any{"status": "APPROVED", "agentId": a.id})
			}
		}
		a.wantUsage(2, 2*each)
		h.get("/customers/internal-accounts?currency=USD&customerId=" + a.customer).wantValues(
			map[string]any{"data.0.balance.amount": 1000_00 - 2*each})
		for decision, want := range map[string]int64{"REFUSED": 199, "ALLOWED": 102} { // quotes included
			if n := h.queryInt("SELECT count(*) FROM agent_attempts WHERE agent_id = $1 AND decision = $2", uuidOf(a.id), decision); n != want {
				t.Errorf("%s: %d attempts are %s, want %d", reason, n, decision, want)
			}
		}
	}
}

func TestAgentPayments_ConcurrentApprovalsNeverExceedLimit(t *testing.T) {
	t.Parallel()
	// Forty payments wait for approval, and the limit has room for one of them. All are approved at once on two servers,
	// and half of them rejected as well. Each is decided once; one is made, and the other approved ones have failed.
	const each = 10_00
	awaitDay(t)
	h := newTestEnv(t, noRateLimit...)
	servers := []*process{h.server, startServer(t, h.databaseURL, noRateLimit...)}
	a := h.newPayingAgent(object{"defaultExecutionMode": "APPROVAL_REQUIRED"})
	a.setPolicy(object{"spendingLimits": object{"dailyLimit": each}})
	asked := a.postConcurrently(40, servers, func(int) string { return "/agents/me/transfer-out" },
		func(int) any { return a.transferBody(a.bank, each) }, newKey)
	for _, r := range asked {
		r.wantStatus(201).wantValues(map[string]any{"status": "PENDING_APPROVAL"})
	}

	decided := h.postConcurrently(60, servers, func(i int) string {
		return "/agents/" + a.id + "/actions/" + asked[i%40].text("id") + map[bool]string{true: "/approve", false: "/reject"}[i < 40]
	}, func(int) any { return nil }, newKey)

	if n := countByStatus(decided); n["OK "] != 40 || n["Conflict ACTION_NOT_PENDING_APPROVAL"] != 20 {
		t.Errorf("responses %v", n)
	}
	n := map[string]int{}
	for _, r := range asked {
		action := a.get("/agents/me/actions/" + r.text("id")).wantStatus(200)
		n[action.text("status")]++
		if action.text("status") == "FAILED" && !strings.Contains(action.text("failureReason"), "daily limit") {
			t.Errorf("failed for another reason: %s", action.body)
		}
	}
	if n["APPROVED"] != 1 || n["FAILED"]+n["REJECTED"] != 39 || n["FAILED"] < 19 {
		t.Errorf("actions %v", n)
	}
	a.wantUsage(1, each)
	h.get("/customers/internal-accounts?currency=USD&customerId=" + a.customer).wantValues(
		map[string]any{"data.0.balance.amount": 1000_00 - each})
}

func TestLedgerCheck_FindsDamageOfAgentPayments(t *testing.T) {
	t.Parallel()
	// The check of the ledger adds up again what agents have spent. Each kind of damage to a counter, a flag and an action
	// is found, and what is damaged is named.
	awaitDay(t)
	h := newTestEnv(t)
	hooks := h.startReceiver()
	a := h.newPayingAgent()
	made, failed := a.transferOut(10_00).wantStatus(201),
		a.post("/agents/me/transfer-out", a.transferBody(a.failingAccount, 20_00)).wantStatus(201)
	waiting := a.newQuote(5_00)
	hooks.checkEvents(failed.text("transaction.id"), "PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")
	env := []string{"DATABASE_URL=" + h.databaseURL}
	mustRunCommand(t, env, "ledger", "check")

	agent, other := "'"+uuidOf(a.id)+"'", "'"+uuid.NewString()+"'"
	payment, returned, unpaid := "'"+uuidOf(made.text("transaction.id"))+"'", "'"+uuidOf(failed.text("transaction.id"))+"'",
		"'"+uuidOf(waiting.text("transactionId"))+"'"
	action := "'" + uuidOf(made.text("id")) + "'"
	for _, c := range []struct{ table, damage, repair, where, named string }{
		{"agent_usage", "spent = spent + 1", "spent = spent - 1", "agent_id = " + agent, a.id},
		{"agent_usage", "transactions = transactions + 1", "transactions = transactions - 1", "agent_id = " + agent, a.id},
		{"agent_usage", "currency = 'EUR'", "currency = 'USD'", "agent_id = " + agent, a.id},
		{"agent_usage", "day = day - 1", "day = day + 1", "agent_id = " + agent, a.id},
		{"agent_usage", "agent_id = " + other, "agent_id = " + agent, "currency = 'USD'", a.id},
		{"transactions", "usage_given_back = true", "usage_given_back = false", "id = " + payment, made.text("transaction.id")},
		{"transactions", "usage_given_back = false", "usage_given_back = true", "id = " + returned, failed.text("transaction.id")},
		{"transactions", "usage_day = NULL, usage_given_back = NULL", "usage_day = created_at::date, usage_given_back = false",
			"id = " + payment, a.id},
		{"transactions", "usage_day = created_at::date, usage_given_back = false", "usage_day = NULL, usage_given_back = NULL",
			"id = " + unpaid, a.id},
		{"transactions", "agent_id = " + other, "agent_id = " + agent, "id = " + payment, made.text("id")},
		{"agent_actions", "transaction_id = " + other, "transaction_id = " + payment, "id = " + action, made.text("id")},
		{"agent_actions", "transaction_id = " + unpaid, "transaction_id = " + payment, "id = " + action, made.text("id")},
	} {
		h.exec("UPDATE " + c.table + " SET " + c.damage + " WHERE " + c.where)
		out, errOut, status := runCommand(t, env, "ledger", "check")
		if status == 0 || !strings.Contains(out+errOut, c.named) {
			t.Errorf("%s of %s is not found, or %s is not named:\n%s%s", c.damage, c.table, c.named, out, errOut)
		}
		h.exec("UPDATE " + c.table + " SET " + c.repair + " WHERE " + c.where)
	}
	mustRunCommand(t, env, "ledger", "check")
}
