package e2e

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

func TestLimits_HoldOverTwoProcesses(t *testing.T) {
	t.Parallel()
	// Payments that two processes of the service accept at the same time never send more on a day than the limit. What is above it is
	// refused with what is left, also as a quote, and what is too large with its size. The operator sees what was sent, and
	// each change is recorded.
	h := newTestEnv(t)
	env := []string{"DATABASE_URL=" + h.databaseURL}
	customer := h.createCustomer()
	account := h.fundedAccount(customer)
	bank := h.post("/customers/external-accounts", usAccountBody(customer)).wantStatus(201).text("id")
	limits := func(command, currency string, more ...string) string {
		return mustRunCommand(t, env, append([]string{"platform", "limits", command, currency, "--platform", h.platformID,
			"--actor", "ana"}, more...)...)
	}
	limits("set", "USD", "--customer", "each", "--per-payment", "600", "--daily", "3000")
	// Servers that start after the change follow it at once.
	servers := []*process{startServer(t, h.databaseURL), startServer(t, h.databaseURL)}
	first, second := h.withServer(servers[0]), h.withServer(servers[1])
	transfer := func(amount int) object {
		return object{"source": object{"accountId": account}, "destination": object{"accountId": bank}, "amount": amount}
	}
	first.post("/transfer-out", transfer(601)).wantError(400, "TRANSACTION_SIZE_LIMIT_EXCEEDED")
	first.post("/quotes", kit.RampQuoteBody(customer, h.createWallet(customer, ""), "SENDING", 601)).wantError(400,
		"TRANSACTION_SIZE_LIMIT_EXCEEDED")

	statuses := countByStatus(h.postConcurrently(40, servers, func(int) string { return "/transfer-out" },
		func(int) any { return transfer(500) }, func(int) string { return uuid.NewString() }))

	if statuses["Created "] != 6 || statuses["Too Many Requests DAILY_VOLUME_LIMIT_EXCEEDED"] != 34 {
		t.Errorf("statuses %v, want 6 times 201 and 34 times 429", statuses)
	}
	refused := second.post("/transfer-out", transfer(100)).wantError(429, "DAILY_VOLUME_LIMIT_EXCEEDED").wantValues(map[string]any{
		"details.limit": 3000, "details.remaining": 0, "details.amount": 100, "details.currency": "USD"})
	if refused.header.Get("Retry-After") != "" || refused.header.Get("X-Should-Retry") != "false" {
		t.Errorf("headers %v", refused.header)
	}
	list := mustRunCommand(t, env, "platform", "limits", "list", "--platform", h.platformID, "--customer", customer, "--output", "csv")
	if !strings.Contains(list, "USD,each,,6.00,30.00,30.00,0.00,") {
		t.Errorf("listed:\n%s", list)
	}
	limits("clear", "USD", "--customer", "each")
	h.withServer(startServer(t, h.databaseURL)).post("/transfer-out", transfer(601)).wantStatus(201)
	if n := h.queryInt("SELECT count(*) FROM operator_actions WHERE action IN ('SET_LIMIT', 'CLEAR_LIMIT') AND actor = 'ana'"); n != 2 {
		t.Errorf("%d changes are recorded, want 2", n)
	}
}
