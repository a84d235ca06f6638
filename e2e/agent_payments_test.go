package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

// allAgentPermissions is the permissions of an agent that may do everything.
var allAgentPermissions = []string{"VIEW_TRANSACTIONS", "CREATE_TRANSFERS", "CREATE_QUOTES", "EXECUTE_QUOTES", "MANAGE_EXTERNAL_ACCOUNTS"}

// payingAgent is an agent of a customer that has 1000 dollars and a US bank account.
type payingAgent struct {
	*client        // with the access token of the agent
	id             string
	customer       string
	dollars, bank  string // accounts
	platform       *tenant
	failingAccount string // payments to it fail
}

// newPayingAgent returns an agent of a new customer. It may do everything up to 50 dollars; changes are to its policy.
func (h *testEnv) newPayingAgent(changes ...object) *payingAgent {
	h.t.Helper()
	customer := h.createCustomer()
	a := &payingAgent{customer: customer, platform: h.tenant, dollars: h.fundedAccount(customer), bank: h.createBankAccount(customer)}
	a.failingAccount = h.post("/customers/external-accounts", kit.USAccountBody(customer, "002")).wantStatus(201).text("id")
	a.client, a.id = h.newAgentOf(customer, changes...)
	return a
}

// newAgentOf pairs an agent of a customer.
func (h *testEnv) newAgentOf(customer string, changes ...object) (agent *client, id string) {
	h.t.Helper()
	policy := object{"permissions": allAgentPermissions, "defaultExecutionMode": "AUTO", "spendingLimits": object{"currency": "USD",
		"perTransactionLimit": 50_00}}
	for _, change := range changes {
		maps.Copy(policy, change)
	}
	created := h.post("/agents", agentBody(customer, object{"policy": policy})).wantStatus(201)
	return h.redeem(created.text("deviceCode.code")), created.text("agent.id")
}

// transferOut asks for a transfer of an amount in cents to the bank account.
func (a *payingAgent) transferOut(amount int64) apiResponse {
	a.t.Helper()
	return a.post("/agents/me/transfer-out", a.transferBody(a.bank, amount))
}

func (a *payingAgent) transferBody(to string, amount int64) object {
	return object{"source": object{"accountId": a.dollars}, "destination": object{"accountId": to}, "amount": amount}
}

// newQuote creates a quote of an amount in cents that pays euros to a German account.
func (a *payingAgent) newQuote(amount int64) apiResponse {
	a.t.Helper()
	return a.post("/agents/me/quotes", a.quoteBody(amount)).wantStatus(201)
}

func (a *payingAgent) quoteBody(amount int64) object {
	return object{"source": object{"accountId": a.dollars}, "destination": object{"accountId": a.euroAccount()},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": amount}
}

// euroAccount returns the German account of the customer, which it registers first.
func (a *payingAgent) euroAccount() string {
	a.t.Helper()
	if found := a.platform.get("/customers/external-accounts?currency=EUR&customerId=" + a.customer).wantStatus(200); len(
		found.list("data")) > 0 {
		return found.text("data.0.id")
	}
	return a.platform.post("/customers/external-accounts",
		kit.AccountBody(a.customer, "EUR", object{"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013000",
			"beneficiary": testBeneficiary})).wantStatus(201).text("id")
}

func (a *payingAgent) preview(body object) apiResponse {
	a.t.Helper()
	return a.post("/agents/me/actions/preview", body).wantStatus(200)
}

// setPolicy changes the policy.
func (a *payingAgent) setPolicy(change object) {
	a.t.Helper()
	a.platform.patch("/agents/"+a.id+"/policy", change).wantStatus(200)
}

func (a *payingAgent) approve(action apiResponse) apiResponse {
	a.t.Helper()
	return a.platform.post("/agents/"+a.id+"/actions/"+action.text("id")+"/approve", nil)
}

func (a *payingAgent) reject(action apiResponse, body any) apiResponse {
	a.t.Helper()
	return a.platform.post("/agents/"+a.id+"/actions/"+action.text("id")+"/reject", body)
}

// wantUsage checks the usage of the day and the month.
func (a *payingAgent) wantUsage(count, spend int64) {
	a.t.Helper()
	a.get("/agents/me").wantStatus(200).wantValues(map[string]any{"usage.dailyTransactionCount": count, "usage.dailySpend": spend,
		"usage.monthlySpend": spend})
}

// wantRefused checks a refusal by the policy: the codes of all reasons, the first of which is the reason.
func (a apiResponse) wantRefused(codes ...string) apiResponse {
	a.t.Helper()
	a.wantError(403, "FORBIDDEN").wantValues(map[string]any{"reason": codes[0], "message": a.text("details.reasons.0.message")})
	if got := a.reasonCodes("details.reasons"); !slices.Equal(got, codes) {
		a.t.Errorf("%s: reasons %q, want %q", a.request, got, codes)
	}
	return a
}

// reasonCodes returns the codes of a list of reasons.
func (a apiResponse) reasonCodes(path string) (codes []string) {
	for i := range a.list(path) {
		codes = append(codes, a.text(fmt.Sprintf("%s.%d.code", path, i)))
	}
	return codes
}

// operations returns the operations and decisions of the audit trail, oldest first, such as
// "TRANSFER_OUT REFUSED".
func (a *payingAgent) operations() (list []string) {
	a.t.Helper()
	page := a.platform.get("/agents/" + a.id + "/attempts?sortOrder=asc&limit=100").wantStatus(200)
	for i := range page.list("data") {
		list = append(list, strings.TrimSpace(page.text(fmt.Sprintf("data.%d.operation", i))+" "+page.text(fmt.Sprintf("data.%d.decision", i))+
			" "+page.text(fmt.Sprintf("data.%d.error", i))))
	}
	return list
}

func (a *payingAgent) wantOperations(want ...string) {
	a.t.Helper()
	if got := a.operations(); !slices.Equal(got, want) {
		a.t.Errorf("attempts %q, want %q", got, want)
	}
}

func TestAgentPayments_PaysWithinThePolicy(t *testing.T) {
	t.Parallel()
	// An agent sees what a payment would cost and whether it is allowed, and makes it: each of the three kinds starts
	// at once, counts with the amount sent, and is visible to the agent and the platform, which sees who made it.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	a := h.newPayingAgent()

	quote := a.newQuote(20_00)
	a.preview(object{"quoteId": quote.text("id")}).wantValues(map[string]any{"decision": "ALLOWED", "reasons.0.code": "",
		"amount.amount": 20_00, "limitAmount.amount": 20_00, "usage.dailySpend": 0})
	executed := a.post("/agents/me/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
	out := a.transferOut(15_00).wantStatus(201)
	in := a.post("/agents/me/transfer-in", object{"source": object{"accountId": a.bank}, "destination": object{"accountId": a.dollars},
		"amount": 5_00}).wantStatus(201)

	executed.wantValues(map[string]any{"type": "EXECUTE_QUOTE", "status": "APPROVED", "agentId": a.id, "customerId": a.customer,
		"quote.id":       quote.text("id"),
		"transaction.id": quote.text("transactionId"), "transaction.agentId": a.id, "transferDetails": "", "rejectionReason": ""})
	out.wantValues(map[string]any{"type": "TRANSFER_OUT", "status": "APPROVED", "transferDetails.amount": 15_00,
		"transferDetails.currency":        "USD",
		"transferDetails.sourceAccountId": a.dollars, "transferDetails.destinationAccountId": a.bank, "transaction.sentAmount.amount": 15_00,
		"quote": ""})
	in.wantValues(map[string]any{"type": "TRANSFER_IN", "status": "APPROVED", "transferDetails.sourceAccountId": a.bank,
		"transferDetails.destinationAccountId": a.dollars,
		"transaction.type":                     "INCOMING", "transaction.agentId": a.id})
	a.wantUsage(3, 40_00)
	for _, action := range []apiResponse{executed, out} {
		hooks.checkEvents(action.text("transaction.id"), "PENDING", "PROCESSING", "COMPLETED")
	}
	a.get("/agents/me/transactions/" + out.text("transaction.id")).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED",
		"agentId": a.id})
	a.get("/agents/me/actions/" + executed.text("id")).wantStatus(200).wantValues(map[string]any{"quote.status": "COMPLETED",
		"transaction.status": "COMPLETED"})
	a.get("/agents/me/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "COMPLETED"})
	if listed := a.get("/agents/me/actions?status=APPROVED").wantStatus(200); len(listed.list("data")) != 3 ||
		listed.text("data.0.id") != in.text("id") {
		t.Errorf("actions %s", listed.body)
	}
	h.post("/transfer-out", a.transferBody(a.bank, 1_00)).wantStatus(201).wantValues(map[string]any{"agentId": ""})
	// with the deposit and that of the platform
	if own, all := h.get("/transactions?agentId="+a.id).wantStatus(200),
		a.get("/agents/me/transactions").wantStatus(200); len(own.list("data")) != 3 || len(all.list("data")) != 5 {
		t.Errorf("transactions of the agent %s\nand of the customer %s", own.body, all.body)
	}
	a.wantUsage(3, 40_00) // without that of the platform
	a.wantOperations("CREATE_QUOTE ALLOWED", "EXECUTE_QUOTE ALLOWED", "TRANSFER_OUT ALLOWED", "TRANSFER_IN ALLOWED")
	timeline := h.get("/transactions/" + executed.text("transaction.id") + "/timeline").wantStatus(200)
	i := timelineIndex(timeline, "AGENT")
	timeline.wantValues(map[string]any{i + ".agentAttempt.operation": "CREATE_QUOTE", i + ".agentAttempt.agentId": a.id})
}

func TestAgentPayments_EachLimitRefuses(t *testing.T) {
	t.Parallel()
	// Each limit allows exactly its amount and refuses one cent more, also if the payment would need approval.
	// The refusal has all reasons, and so has the preview, also if the payment would be below the smallest amount; it
	// creates nothing and counts nothing.
	h := newSharedEnv(t)
	limits := func(l object) object {
		l["currency"] = "USD"
		if l["perTransactionLimit"] == nil {
			l["perTransactionLimit"] = 500_00
		}
		return object{"spendingLimits": l}
	}
	for name, c := range map[string]struct {
		policy  func(a *payingAgent) object
		allowed []int64
		refused int64
		want    []string
	}{
		"per transaction": {func(*payingAgent) object { return limits(object{"perTransactionLimit": 20_00}) }, []int64{20_00, 20_00}, 20_01,
			[]string{"PER_TRANSACTION_LIMIT"}},
		"of the account": {func(a *payingAgent) object {
			return object{"accountRestrictions": object{"accountRules": []object{{"accountId": a.dollars, "perTransactionLimit": 10_00}}}}
		}, []int64{10_00}, 10_01, []string{"PER_TRANSACTION_LIMIT"}},
		"daily": {func(*payingAgent) object { return limits(object{"dailyLimit": 30_00}) }, []int64{10_00, 20_00}, 1_00,
			[]string{"DAILY_LIMIT"}},
		"number in a day": {func(*payingAgent) object { return limits(object{"dailyTransactionLimit": 2}) }, []int64{1_00, 1_00}, 1,
			[]string{"DAILY_TRANSACTION_LIMIT"}},
		"monthly": {func(*payingAgent) object { return limits(object{"monthlyLimit": 25_00}) }, []int64{10_00}, 15_01,
			[]string{"MONTHLY_LIMIT"}},
		"allowed accounts": {func(*payingAgent) object {
			return object{"accountRestrictions": object{"allowedAccountIds": []string{}}}
		}, nil, 1_00, []string{"ACCOUNT_NOT_ALLOWED"}},
		"permission": {func(*payingAgent) object { return object{"permissions": []string{"EXECUTE_QUOTES"}} }, nil, 1_00,
			[]string{"PERMISSION_MISSING"}},
		"all at once": {func(a *payingAgent) object {
			policy := limits(object{"perTransactionLimit": 10_00, "dailyLimit": 10_00, "dailyTransactionLimit": 1, "monthlyLimit": 10_00})
			policy["defaultExecutionMode"] = "AUTO"
			return policy
		}, []int64{10_00}, 10_01, []string{"PER_TRANSACTION_LIMIT", "DAILY_LIMIT", "DAILY_TRANSACTION_LIMIT", "MONTHLY_LIMIT"}},
	} {
		a := h.newPayingAgent()
		a.setPolicy(c.policy(a))
		total := int64(0)
		for _, amount := range c.allowed {
			a.transferOut(amount).wantStatus(201).wantValues(map[string]any{"status": "APPROVED"})
			total += amount
		}

		refusal := a.transferOut(c.refused).wantRefused(c.want...)
		a.setPolicy(object{"defaultExecutionMode": "APPROVAL_REQUIRED"})
		a.transferOut(c.refused).wantRefused(c.want...)
		preview := a.preview(object{"transferOut": a.transferBody(a.bank, c.refused)}).wantValues(map[string]any{"decision": "REFUSED",
			"amount.amount": c.refused, "reasons.0.message": refusal.text("message")})

		if got := preview.reasonCodes("reasons"); !slices.Equal(got, c.want) {
			t.Errorf("preview %q, want %q", got, c.want)
		}
		a.wantUsage(int64(len(c.allowed)), total)
		if actions, made := a.get("/agents/me/actions").wantStatus(200),
			h.get("/transactions?agentId="+a.id).wantStatus(200); len(actions.list("data")) != len(c.allowed) ||
			len(made.list("data")) != len(c.allowed) {
			t.Errorf("actions %s\ntransactions %s", actions.body, made.body)
		}
		if refused := h.get("/agents/" + a.id + "/attempts?decision=REFUSED").wantStatus(200); len(refused.list("data")) != 2 ||
			!slices.Equal(refused.reasonCodes("data.0.reasons"), c.want) || refused.int("data.0.amount.amount") != c.refused {
			t.Errorf("attempts %s", refused.body)
		}
		if t.Failed() {
			t.Fatalf("case: %s", name)
		}
	}
}

func TestAgentPayments_ForeignCurrencyIsConverted(t *testing.T) {
	t.Parallel()
	// A limit in another currency is compared with the converted amount, rounded up.
	h := newSharedEnv(t)
	a := h.newPayingAgent(object{"spendingLimits": object{"currency": "EUR", "perTransactionLimit": 1}})

	preview := a.preview(object{"transferOut": a.transferBody(a.bank, 30_00)}).wantValues(map[string]any{"decision": "REFUSED",
		"amount.currency.code": "USD", "limitAmount.currency.code": "EUR"})
	euros := preview.int("limitAmount.amount")
	a.setPolicy(object{"spendingLimits": object{"perTransactionLimit": euros - 1}})
	a.transferOut(30_00).wantRefused("PER_TRANSACTION_LIMIT")
	a.setPolicy(object{"spendingLimits": object{"currency": "VND"}})
	huge := a.preview(object{"transferOut": a.transferBody(a.bank, 9_000_000_000_000_000)}).wantValues(map[string]any{"decision": "REFUSED",
		"amount.amount": 9_000_000_000_000_000})
	if strings.Contains(string(huge.body), "limitAmount") || !strings.Contains(huge.text("reasons.0.message"), "sends 90000000000000.00 USD") {
		t.Errorf("more than there can be in the currency of the limits: %s", huge.body)
	}
	a.setPolicy(object{"spendingLimits": object{"currency": "EUR"}})
	a.setPolicy(object{"spendingLimits": object{"perTransactionLimit": euros}})
	a.transferOut(30_00).wantStatus(201)

	a.wantUsage(1, euros)
	a.setPolicy(object{"spendingLimits": object{"currency": "USD", "perTransactionLimit": 50_00}}) // the counters are exact
	a.wantUsage(1, 30_00)
}

func TestAgentPayments_PlatformApproves(t *testing.T) {
	t.Parallel()
	// A payment above the threshold waits, and the platform hears of it. Nothing moves until it approves; what it rejects
	// never runs. Each decision is final.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	a := h.newPayingAgent(object{"approvalThresholds": object{"currency": "USD", "amount": 10_00}})
	a.transferOut(10_00).wantStatus(201).wantValues(map[string]any{"status": "APPROVED"}) // not above

	waiting := a.transferOut(10_01).wantStatus(201).wantValues(map[string]any{"status": "PENDING_APPROVAL", "transaction": "",
		"transferDetails.amount": 10_01})
	quote := a.newQuote(20_00)
	a.preview(object{"quoteId": quote.text("id")}).wantValues(map[string]any{"decision": "APPROVAL_REQUIRED",
		"reasons.0.code": "APPROVAL_THRESHOLD"})
	execution := a.post("/agents/me/quotes/"+quote.text("id")+"/execute",
		nil).wantStatus(200).wantValues(map[string]any{"status": "PENDING_APPROVAL", "quote.status": "PENDING"})

	event := hooks.awaitDelivery("the event of the action", func(d delivery) bool {
		return d.event == "AGENT_ACTION.PENDING_APPROVAL" && d.text("agentAction.id") == execution.text("id")
	})
	if read := a.get("/agents/me/actions/" + execution.text("id")).wantStatus(200); !bytes.Contains(event.body,
		read.body[:len(read.body)-1]) || event.text("type") != "AGENT_ACTION" {
		t.Errorf("event %s\naction %s", event.body, read.body)
	}
	a.wantUsage(1, 10_00)
	for query, want := range map[string][]string{
		"": {execution.text("id"), waiting.text("id")}, "?sortOrder=asc&agentId=" + a.id: {waiting.text("id"), execution.text("id")},
		"?customerId=" + a.customer + "&limit=1": {execution.text("id")},
		"?endDate=2026-01-01T00:00:00Z":          nil, "?customerId=" + h.createCustomer(): nil,
	} {
		page := h.get("/agents/approvals" + query).wantStatus(200)
		var got []string
		for i := range page.list("data") {
			got = append(got, page.text(fmt.Sprintf("data.%d.id", i)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("approvals%s: %q, want %q", query, got, want)
		}
	}

	approved := a.approve(waiting).wantStatus(200).wantValues(map[string]any{"status": "APPROVED", "transaction.agentId": a.id,
		"transaction.sentAmount.amount": 10_01})
	rejected := a.reject(execution, object{"reason": "Not this supplier."}).wantStatus(200).wantValues(map[string]any{"status": "REJECTED",
		"rejectionReason": "Not this supplier.", "transaction": ""})

	hooks.checkEvents(approved.text("transaction.id"), "PENDING", "PROCESSING", "COMPLETED")
	for _, decided := range []apiResponse{approved, rejected} {
		a.approve(decided).wantError(409, "ACTION_NOT_PENDING_APPROVAL")
		a.reject(decided, nil).wantError(409, "ACTION_NOT_PENDING_APPROVAL")
	}
	a.get("/agents/me/quotes/" + quote.text("id")).wantStatus(200).wantValues(map[string]any{"status": "PENDING"})
	a.get("/agents/me/actions?status=REJECTED").wantStatus(200).wantValues(map[string]any{"data.0.rejectionReason": "Not this supplier.",
		"data.1": ""})
	a.wantUsage(2, 20_01)
	a.wantOperations("TRANSFER_OUT ALLOWED", "TRANSFER_OUT APPROVAL_REQUIRED", "CREATE_QUOTE ALLOWED", "EXECUTE_QUOTE APPROVAL_REQUIRED",
		"APPROVE_ACTION ALLOWED", "REJECT_ACTION REFUSED")
	if found := h.get("/agents/approvals").wantStatus(200); len(found.list("data")) != 0 {
		t.Errorf("still waiting: %s", found.body)
	}
}

func TestAgentPayments_ApprovalChecksEverythingAgain(t *testing.T) {
	t.Parallel()
	// What was allowed when the agent asked, and is not any more when the platform approves, fails and says why.
	h := newSharedEnv(t)
	for name, c := range map[string]struct {
		meanwhile func(a *payingAgent, quote apiResponse)
		code      string
		reason    string
	}{
		"quote expired": {func(_ *payingAgent, quote apiResponse) { h.expireQuote(quote) }, "QUOTE_EXPIRED", "expired"},
		"limit used up": {func(a *payingAgent, _ apiResponse) {
			a.setPolicy(object{"defaultExecutionMode": "AUTO", "spendingLimits": object{"dailyLimit": 30_00}})
			a.transferOut(15_00).wantStatus(201)
		}, "FORBIDDEN", "daily limit"},
		"account not allowed": {func(a *payingAgent, _ apiResponse) {
			a.setPolicy(object{"accountRestrictions": object{"allowedAccountIds": []string{}}})
		}, "FORBIDDEN", "account"},
		"funds": {func(a *payingAgent, _ apiResponse) {
			h.post("/transfer-out", a.transferBody(a.bank, h.usdBalance(a.customer))).wantStatus(201)
		}, "INSUFFICIENT_BALANCE", "Fund it"},
	} {
		a := h.newPayingAgent(object{"defaultExecutionMode": "APPROVAL_REQUIRED"})
		quote := a.newQuote(20_00)
		action := a.post("/agents/me/quotes/"+quote.text("id")+"/execute",
			nil).wantStatus(200).wantValues(map[string]any{"status": "PENDING_APPROVAL"})
		c.meanwhile(a, quote)

		failed := a.approve(action).wantStatus(200).wantValues(map[string]any{"status": "FAILED", "failureCode": c.code, "transaction": ""})

		if !strings.Contains(failed.text("failureReason"), c.reason) {
			t.Errorf("failureReason %q does not say %q", failed.text("failureReason"), c.reason)
		}
		a.approve(action).wantError(409, "ACTION_NOT_PENDING_APPROVAL")
		a.get("/agents/me/actions/" + action.text("id")).wantStatus(200).wantValues(map[string]any{"status": "FAILED",
			"failureReason": failed.text("failureReason")})
		if t.Failed() {
			t.Fatalf("case: %s", name)
		}
	}
}

func TestAgentPayments_FailedPaymentIsGivenBack(t *testing.T) {
	t.Parallel()
	// A payment that fails no longer counts, and what it took of a limit can be spent again.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	a := h.newPayingAgent(object{"spendingLimits": object{"currency": "USD", "perTransactionLimit": 50_00, "dailyLimit": 50_00,
		"dailyTransactionLimit": 1}})

	failing := a.post("/agents/me/transfer-out", a.transferBody(a.failingAccount, 50_00)).wantStatus(201)
	hooks.checkEvents(failing.text("transaction.id"), "PENDING", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")

	a.wantUsage(0, 0)
	a.transferOut(50_00).wantStatus(201)
	a.transferOut(1_00).wantRefused("DAILY_LIMIT", "DAILY_TRANSACTION_LIMIT")
}

func TestAgentPayments_PausedAgentOnlyReads(t *testing.T) {
	t.Parallel()
	// A paused agent starts nothing, on any server from the next request on, and reads what it could read before.
	h := newSharedEnv(t)
	second := secondServer(t)
	a := h.newPayingAgent()
	quote := a.newQuote(20_00)
	a.setPolicy(object{"defaultExecutionMode": "APPROVAL_REQUIRED"})
	waiting := a.transferOut(1_00).wantStatus(201).wantValues(map[string]any{"status": "PENDING_APPROVAL"})
	a.setPolicy(object{"defaultExecutionMode": "AUTO"})
	h.patch("/agents/"+a.id, object{"isPaused": true}).wantStatus(200)
	a.approve(waiting).wantError(409, "CONFLICT")

	for _, server := range []*client{a.client, a.withServer(second)} {
		server.post("/agents/me/transfer-out", a.transferBody(a.bank, 1_00)).wantRefused("AGENT_PAUSED")
		server.post("/agents/me/quotes/"+quote.text("id")+"/execute", nil).wantRefused("AGENT_PAUSED")
		server.post("/agents/me/quotes", a.quoteBody(5_00)).wantRefused("AGENT_PAUSED")
		server.delete("/agents/me/external-accounts/" + a.bank).wantRefused("AGENT_PAUSED")
		for _, path := range []string{"", "/transactions", "/internal-accounts", "/external-accounts", "/actions",
			"/quotes/" + quote.text("id")} {
			server.get("/agents/me" + path).wantStatus(200)
		}
	}
	h.patch("/agents/"+a.id, object{"isPaused": false}).wantStatus(200)
	a.approve(waiting).wantStatus(200).wantValues(map[string]any{"status": "APPROVED"})
	a.withServer(second).post("/agents/me/quotes/"+quote.text("id")+"/execute",
		nil).wantStatus(200).wantValues(map[string]any{"status": "APPROVED"})
}

func TestAgentPayments_PolicyChangeIsInForceEverywhere(t *testing.T) {
	t.Parallel()
	// A change of the policy on one server decides the next request on another one, and spending on both counts
	// together.
	h := newSharedEnv(t)
	second := secondServer(t)
	a := h.newPayingAgent(object{"spendingLimits": object{"currency": "USD", "perTransactionLimit": 50_00, "dailyLimit": 60_00}})
	body := func(amount int64) object { return a.transferBody(a.bank, amount) }

	a.transferOut(40_00).wantStatus(201)
	a.withServer(second).post("/agents/me/transfer-out", body(20_01)).wantRefused("DAILY_LIMIT")
	a.withServer(second).post("/agents/me/transfer-out", body(20_00)).wantStatus(201)
	h.withServer(second).patch("/agents/"+a.id+"/policy",
		object{"spendingLimits": object{"dailyLimit": 70_00, "perTransactionLimit": 5_00}}).wantStatus(200)
	a.transferOut(5_01).wantRefused("PER_TRANSACTION_LIMIT")
	a.transferOut(5_00).wantStatus(201)
	h.withServer(second).patch("/agents/"+a.id+"/policy", object{"permissions": []string{"CREATE_QUOTES"}}).wantStatus(200)
	a.transferOut(5_00).wantRefused("PERMISSION_MISSING")
	a.get("/agents/me/transactions").wantRefused("PERMISSION_MISSING")
	a.get("/agents/me/external-accounts").wantStatus(200)
}

func TestAgentPayments_DeletedInTheMiddle(t *testing.T) {
	t.Parallel()
	// While an agent pays on two servers, it is deleted. What was answered with success is there and nothing else; then
	// its token is refused, and what waited is rejected. The payments still name it.
	h := newTestEnv(t, noRateLimit...)
	servers := []*process{h.server, startServer(t, h.databaseURL, noRateLimit...)}
	a := h.newPayingAgent(object{"approvalThresholds": object{"currency": "USD", "amount": 40_00}})
	waiting := a.transferOut(45_00).wantStatus(201)
	// wantNoToken checks that the token is refused; after many such requests the client has to wait.
	wantNoToken := func(got apiResponse) {
		t.Helper()
		if got.status == 429 {
			got.wantError(429, "RATE_LIMITED").wantValues(map[string]any{"reason": "Too many failed authentications"})
			return
		}
		got.wantError(401, "UNAUTHORIZED")
	}
	var payments atomic.Int64
	var all sync.WaitGroup
	first := make(chan struct{})
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				got, err := a.withServer(servers[i%2]).withHeader("Idempotency-Key", uuid.NewString()).do(t.Context(), http.MethodPost,
					"/agents/me/transfer-out", a.transferBody(a.bank, 1_00))
				if err != nil {
					t.Error(err)
					return
				}
				if got.status != 201 {
					wantNoToken(got)
					return
				}
				if payments.Add(1) == 1 {
					close(first)
				}
			}
		})
	}
	<-first
	h.delete("/agents/" + a.id).wantStatus(204)
	all.Wait()

	paid := int(payments.Load())
	if made := int(h.get("/transactions?limit=1&agentId=" + a.id).wantStatus(200).int("totalCount")); made != paid {
		t.Errorf("%d payments were answered with success, and %d made", paid, made)
	}
	for _, server := range servers {
		wantNoToken(a.withServer(server).get("/agents/me"))
		wantNoToken(a.withServer(server).post("/agents/me/transfer-out", a.transferBody(a.bank, 1_00)))
	}
	a.approve(waiting).wantError(409, "ACTION_NOT_PENDING_APPROVAL")
	if found := h.get("/agents/approvals").wantStatus(200); len(found.list("data")) != 0 {
		t.Errorf("still waiting: %s", found.body)
	}
	if attempts := h.get("/agents/" + a.id + "/attempts?limit=1").wantStatus(200).int("totalCount"); attempts < int64(paid)+1 {
		t.Errorf("only %d attempts of %d payments are left", attempts, paid+1)
	}
	h.get("/transactions?limit=1&agentId=" + a.id).wantStatus(200).wantValues(map[string]any{"data.0.agentId": a.id})
}

func TestAgentPayments_WhatIsNotTheirsDoesNotExist(t *testing.T) {
	t.Parallel()
	// The resources of another customer, another agent and another platform are for an agent as ids that never were.
	h := newSharedEnv(t)
	a, b := h.newPayingAgent(), h.newPayingAgent(object{"defaultExecutionMode": "APPROVAL_REQUIRED"})
	sibling, _ := h.newAgentOf(a.customer)
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	stranger := other.createCustomer()
	strangerAccount, strangerBalance := other.createBankAccount(stranger), other.fundedAccount(stranger)
	quote, action := b.newQuote(5_00), b.transferOut(5_00).wantStatus(201)
	payment := h.post("/transfer-out", b.transferBody(b.bank, 1_00)).wantStatus(201)
	unknown := func(id string) string { return id[:strings.Index(id, ":")+1] + uuid.Must(uuid.NewV7()).String() }

	// same checks that a request with a foreign id gets the response for one that never was.
	same := func(code, foreign string, request func(c *client, id string) apiResponse) {
		t.Helper()
		for name, caller := range map[string]*client{"agent": a.client, "another agent of the customer": sibling} {
			got, want := request(caller, foreign).wantError(404, code), unknown(foreign)
			if never := request(caller, want); strings.ReplaceAll(string(got.body), foreign, want) != string(never.body) {
				t.Errorf("%s of an %s:\n%s\n%s", got.request, name, got.body, never.body)
			}
		}
	}
	get := func(path string) func(*client, string) apiResponse {
		return func(c *client, id string) apiResponse { return c.get(path + id) }
	}
	same("QUOTE_NOT_FOUND", quote.text("id"), get("/agents/me/quotes/"))
	same("QUOTE_NOT_FOUND", quote.text("id"),
		func(c *client, id string) apiResponse { return c.post("/agents/me/quotes/"+id+"/execute", nil) })
	same("QUOTE_NOT_FOUND", quote.text("id"), func(c *client, id string) apiResponse {
		return c.post("/agents/me/actions/preview", object{"quoteId": id})
	})
	same("AGENT_ACTION_NOT_FOUND", action.text("id"), get("/agents/me/actions/"))
	same("TRANSACTION_NOT_FOUND", payment.text("id"), get("/agents/me/transactions/"))
	for _, account := range []string{b.bank, strangerAccount,
		h.post("/platform/external-accounts", withoutCustomer(kit.USAccountBody("", "555"))).wantStatus(201).text("id")} {
		same("EXTERNAL_ACCOUNT_NOT_FOUND", account, get("/agents/me/external-accounts/"))
		same("EXTERNAL_ACCOUNT_NOT_FOUND", account,
			func(c *client, id string) apiResponse { return c.delete("/agents/me/external-accounts/" + id) })
		same("EXTERNAL_ACCOUNT_NOT_FOUND", account, func(c *client, id string) apiResponse {
			return c.post("/agents/me/transfer-out", a.transferBody(id, 1_00))
		})
		same("EXTERNAL_ACCOUNT_NOT_FOUND", account, func(c *client, id string) apiResponse {
			return c.post("/agents/me/actions/preview", object{"transferOut": a.transferBody(id, 1_00)})
		})
		same("EXTERNAL_ACCOUNT_NOT_FOUND", account, func(c *client, id string) apiResponse {
			return c.post("/agents/me/quotes", object{"source": object{"accountId": a.dollars}, "destination": object{"accountId": id},
				"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 5_00})
		})
	}
	for _, account := range []string{b.dollars, strangerBalance,
		h.get("/platform/internal-accounts?currency=USD").wantStatus(200).text("data.0.id")} {
		same("INTERNAL_ACCOUNT_NOT_FOUND", account, func(c *client, id string) apiResponse {
			return c.post("/agents/me/transfer-out", object{"source": object{"accountId": id}, "destination": object{"accountId": a.bank},
				"amount": 1_00})
		})
		same("INTERNAL_ACCOUNT_NOT_FOUND", account, func(c *client, id string) apiResponse {
			return c.post("/agents/me/quotes", object{"source": object{"accountId": id}, "destination": object{"accountId": a.euroAccount()},
				"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 5_00})
		})
	}
	for _, customer := range []string{b.customer, stranger} {
		same("USER_NOT_FOUND", customer, func(c *client, id string) apiResponse {
			return c.post("/agents/me/external-accounts", kit.USAccountBody(id, "555"))
		})
		same("USER_NOT_FOUND", customer, func(c *client, id string) apiResponse {
			return c.post("/agents/me/quotes", kit.RampQuoteBody(id, h.createWallet(a.customer, ""), "SENDING", 50_00))
		})
	}
	for _, path := range []string{"/agents/me/transactions", "/agents/me/transactions?accountIdentifier=" + b.dollars, "/agents/me/actions",
		"/agents/me/internal-accounts", "/agents/me/external-accounts"} {
		if listed := a.get(path).wantStatus(200); strings.Contains(string(listed.body), b.customer) ||
			strings.Contains(string(listed.body), stranger) {
			t.Errorf("%s lists %s", path, listed.body)
		}
	}

	// The platform names an action with its agent; another platform has neither.
	for _, decide := range []string{"/approve", "/reject"} {
		h.post("/agents/"+a.id+"/actions/"+action.text("id")+decide, nil).wantError(404, "AGENT_ACTION_NOT_FOUND")
		other.post("/agents/"+b.id+"/actions/"+action.text("id")+decide, nil).wantError(404, "AGENT_ACTION_NOT_FOUND")
	}
	for _, path := range []string{"/agents/approvals", "/agents/approvals?agentId=" + b.id, "/transactions?agentId=" + b.id} {
		if listed := other.get(path).wantStatus(200); len(listed.list("data")) != 0 {
			t.Errorf("another platform reads %s: %s", path, listed.body)
		}
	}
	b.approve(action).wantStatus(200).wantValues(map[string]any{"status": "APPROVED"})
}

// withoutCustomer returns an external account without customerId, which is that of the agent then.
func withoutCustomer(body object) object {
	delete(body, "customerId")
	return body
}

func TestAgentPayments_ExternalAccounts(t *testing.T) {
	t.Parallel()
	// An agent with the permission registers accounts of its customer without naming it, pays them and deletes them; one
	// without it reads the accounts if it may pay, and registers none. All of it is recorded.
	h := newSharedEnv(t)
	a := h.newPayingAgent()

	body := withoutCustomer(kit.USAccountBody("", "555"))
	created := a.post("/agents/me/external-accounts", body).wantStatus(201).wantValues(map[string]any{"customerId": a.customer,
		"status": "ACTIVE"})
	id := created.text("id")
	a.post("/agents/me/external-accounts", body).wantError(409, "CONFLICT")
	a.post("/agents/me/external-accounts", object{"currency": "USD", "accountInfo": object{"accountType": "US_ACCOUNT"}}).wantError(400,
		"INVALID_INPUT")
	named := a.post("/agents/me/external-accounts", kit.USAccountBody(a.customer, "555")).wantStatus(201)
	a.post("/agents/me/transfer-out", a.transferBody(id, 1_00)).wantStatus(201)
	a.setPolicy(object{"permissions": []string{"CREATE_TRANSFERS"}})
	a.get("/agents/me/external-accounts/" + id).wantStatus(200).wantValues(map[string]any{"id": id, "currency": "USD"})
	if listed := a.get("/agents/me/external-accounts?limit=1").wantStatus(200); listed.text("data.0.id") != named.text("id") ||
		listed.text("totalCount") != "4" {
		t.Errorf("listed %s", listed.body)
	}
	a.post("/agents/me/external-accounts", withoutCustomer(kit.USAccountBody("", "555"))).wantRefused("PERMISSION_MISSING")
	a.delete("/agents/me/external-accounts/" + id).wantRefused("PERMISSION_MISSING")
	a.setPolicy(object{"permissions": []string{"MANAGE_EXTERNAL_ACCOUNTS"}})
	a.delete("/agents/me/external-accounts/" + id).wantStatus(204)

	a.get("/agents/me/external-accounts/"+id).wantError(404, "EXTERNAL_ACCOUNT_NOT_FOUND")
	a.delete("/agents/me/external-accounts/"+id).wantError(404, "EXTERNAL_ACCOUNT_NOT_FOUND")
	a.wantOperations("CREATE_EXTERNAL_ACCOUNT ALLOWED", "CREATE_EXTERNAL_ACCOUNT ALLOWED CONFLICT", "CREATE_EXTERNAL_ACCOUNT ALLOWED",
		"TRANSFER_OUT ALLOWED",
		"CREATE_EXTERNAL_ACCOUNT REFUSED", "DELETE_EXTERNAL_ACCOUNT REFUSED", "DELETE_EXTERNAL_ACCOUNT ALLOWED")
}

func TestAgentPayments_RepeatedRequestPaysOnce(t *testing.T) {
	t.Parallel()
	// A request that is repeated with its key has the response of the first one: what was paid, what waits, and what was
	// refused, also after that would be allowed.
	h := newSharedEnv(t)
	a := h.newPayingAgent(object{"approvalThresholds": object{"currency": "USD", "amount": 20_00}})
	pay := func(key string, amount int64) apiResponse {
		return a.withHeader("Idempotency-Key", key).post("/agents/me/transfer-out", a.transferBody(a.bank, amount))
	}
	first := map[string]apiResponse{"paid": pay("paid", 10_00).wantStatus(201), "waiting": pay("waiting", 20_01).wantStatus(201),
		"refused": pay("refused", 50_01).wantRefused("PER_TRANSACTION_LIMIT")}
	a.setPolicy(object{"spendingLimits": object{"perTransactionLimit": 500_00}, "approvalThresholds": object{"amount": nil}})

	for key, amount := range map[string]int64{"paid": 10_00, "waiting": 20_01, "refused": 50_01} {
		again := pay(key, amount)
		if again.status != first[key].status || !bytes.Equal(again.body, first[key].body) || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: repeated %d %s\nfirst %s", key, again.status, again.body, first[key].body)
		}
	}
	pay("paid", 11_00).wantError(422, "IDEMPOTENCY_KEY_REUSED")
	a.wantUsage(1, 10_00)
	a.wantOperations("TRANSFER_OUT ALLOWED", "TRANSFER_OUT APPROVAL_REQUIRED", "TRANSFER_OUT REFUSED")
	approve := func() apiResponse {
		return h.withHeader("Idempotency-Key", "approve").post("/agents/"+a.id+"/actions/"+first["waiting"].text("id")+"/approve",
			nil).wantStatus(200)
	}
	if one, two := approve(), approve(); !bytes.Equal(one.body, two.body) || two.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("approved %s\nagain %s", one.body, two.body)
	}
	a.wantUsage(2, 30_01)
}

func TestAgentPayments_InvalidRequestsAreNotAttempts(t *testing.T) {
	t.Parallel()
	// What is not a valid request is refused before the policy is asked: immediate execution, no or several payments to
	// preview, a body that is none. A quote of the agent that the platform executes is no payment of the agent.
	h := newSharedEnv(t)
	a := h.newPayingAgent()
	quote := a.newQuote(20_00)
	immediate := a.quoteBody(5_00)
	immediate["immediatelyExecute"] = true

	if fields := a.post("/agents/me/quotes", immediate).wantError(400, "INVALID_INPUT").errorFields(); !slices.Equal(fields,
		[]string{"immediatelyExecute"}) {
		t.Errorf("immediate execution: %v", fields)
	}
	for _, body := range []any{object{}, object{"quoteId": quote.text("id"), "transferOut": a.transferBody(a.bank, 1)},
		object{"quoteId": "x"}, "[]"} {
		a.post("/agents/me/actions/preview", body).wantError(400, "INVALID_INPUT")
	}
	a.post("/agents/me/transfer-out", a.transferBody(a.bank, 0)).wantError(400, "INVALID_INPUT")
	a.reject(apiResponse{t: t, body: []byte(`{"id": "x"}`)}, nil).wantError(400, "INVALID_INPUT")

	h.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
	a.wantUsage(0, 0)
	a.post("/agents/me/quotes/"+quote.text("id")+"/execute", nil).wantError(409, "QUOTE_ALREADY_EXECUTED")
	a.wantUsage(0, 0)
	a.wantOperations("CREATE_QUOTE ALLOWED", "EXECUTE_QUOTE ALLOWED QUOTE_ALREADY_EXECUTED")
}

func TestAgentPayments_WalletNeedsTheOwnersSignature(t *testing.T) {
	t.Parallel()
	// An agent executes a quote of an embedded wallet with the signature of the owner, which is kept and checked again
	// if the payment waits for approval.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	wallet := h.walletOf(customer)
	h.post("/sandbox/internal-accounts/"+wallet+"/fund", object{"amount": 100_000_000}).wantStatus(200)
	coins := h.createWallet(customer, "")
	agent, id := h.newAgentOf(customer, object{"defaultExecutionMode": "APPROVAL_REQUIRED"})
	quote := agent.post("/agents/me/quotes", object{"source": object{"accountId": wallet}, "destination": object{"accountId": coins},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 25_000_000}).wantStatus(201)
	execute := "/agents/me/quotes/" + quote.text("id") + "/execute"

	agent.post(execute, nil).wantError(401, "UNAUTHORIZED").wantValues(map[string]any{"reason": "Missing Service-Wallet-Signature"})
	agent.withHeader("Service-Wallet-Signature", "wrong").post(execute, nil).wantError(401,
		"UNAUTHORIZED").wantValues(map[string]any{"reason": "Invalid Service-Wallet-Signature"})
	waiting := agent.withHeader("Service-Wallet-Signature", "sandbox-valid-signature").post(execute,
		nil).wantStatus(200).wantValues(map[string]any{"status": "PENDING_APPROVAL"})
	if strings.Contains(string(waiting.body), "sandbox-valid-signature") {
		t.Errorf("the action shows the signature: %s", waiting.body)
	}
	h.post("/agents/"+id+"/actions/"+waiting.text("id")+"/approve", nil).wantStatus(200).wantValues(map[string]any{"status": "APPROVED",
		"transaction.id": quote.text("transactionId")})
}

func TestAgentPayments_QuotesThatOthersPay(t *testing.T) {
	t.Parallel()
	// A quote that is funded just in time is the agent's, but no payment of it: it is paid by somebody else, and nothing is counted. The
	// agent cannot execute it. A quote that an external account pays is refused if only certain accounts may pay.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	a := h.newPayingAgent()
	coins := h.createWallet(a.customer, "")

	justInTime := a.post("/agents/me/quotes", object{"source": object{"currency": "USD"}, "destination": object{"accountId": coins},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 40_00}).wantStatus(201)
	justInTime.wantValues(map[string]any{"source.customerId": a.customer})
	execute := "/agents/me/quotes/" + justInTime.text("id") + "/execute"
	a.post(execute, nil).wantError(409, "QUOTE_NOT_EXECUTABLE")
	a.post("/agents/me/actions/preview", object{"quoteId": justInTime.text("id")}).wantError(409, "QUOTE_NOT_EXECUTABLE")
	h.payQuote(justInTime, 0).wantStatus(200)
	hooks.checkEvents(justInTime.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED")
	a.get("/agents/me/transactions/" + justInTime.text("transactionId")).wantStatus(200).wantValues(map[string]any{"agentId": a.id})
	a.wantUsage(0, 0)
	if made := a.get("/agents/me/actions").wantStatus(200); len(made.list("data")) != 0 {
		t.Errorf("actions %s", made.body)
	}

	pulled := object{"source": object{"accountId": a.bank}, "destination": object{"accountId": coins}, "lockedCurrencySide": "SENDING",
		"lockedCurrencyAmount": 20_00}
	first := a.post("/agents/me/quotes", pulled).wantStatus(201)
	a.setPolicy(object{"accountRestrictions": object{"allowedAccountIds": []string{a.dollars}}})
	a.post("/agents/me/quotes", pulled).wantRefused("ACCOUNT_NOT_ALLOWED")
	a.post("/agents/me/quotes/"+first.text("id")+"/execute", nil).wantRefused("ACCOUNT_NOT_ALLOWED")
	a.setPolicy(object{"accountRestrictions": object{"allowedAccountIds": nil}})
	a.post("/agents/me/quotes/"+first.text("id")+"/execute", nil).wantStatus(200).wantValues(map[string]any{"status": "APPROVED"})
	a.wantUsage(1, 20_00)
	a.wantOperations("CREATE_QUOTE ALLOWED", "EXECUTE_QUOTE ALLOWED QUOTE_NOT_EXECUTABLE", "CREATE_QUOTE ALLOWED", "CREATE_QUOTE REFUSED",
		"EXECUTE_QUOTE REFUSED", "EXECUTE_QUOTE ALLOWED")
}

func TestAgentPayments_DeletedCustomerRejectsWhatWaits(t *testing.T) {
	t.Parallel()
	// With a customer its agents are deleted, and what they wait for is rejected. The audit trail can still be read; that
	// of an agent that never was cannot.
	h := newSharedEnv(t)
	a := h.newPayingAgent(object{"defaultExecutionMode": "APPROVAL_REQUIRED"})
	waiting := a.transferOut(5_00).wantStatus(201)
	other := h.createPlatform("Other", "SANDBOX", "--regulated")
	emptied := h.post("/transfer-out", a.transferBody(a.bank, h.usdBalance(a.customer))).wantStatus(201).text("id")
	eventually(t, "the account is empty", func() bool { return h.get("/transactions/"+emptied).wantStatus(200).text("status") == "COMPLETED" })

	h.delete("/customers/" + a.customer).wantStatus(200)

	a.get("/agents/me").wantError(401, "UNAUTHORIZED")
	a.approve(waiting).wantError(409, "ACTION_NOT_PENDING_APPROVAL")
	a.wantOperations("TRANSFER_OUT APPROVAL_REQUIRED")
	if found := h.get("/agents/approvals").wantStatus(200); len(found.list("data")) != 0 {
		t.Errorf("still waiting: %s", found.body)
	}
	other.get("/agents/"+a.id+"/attempts").wantError(404, "AGENT_NOT_FOUND")
	h.get("/agents/Agent:"+uuid.Must(uuid.NewV7()).String()+"/attempts").wantError(404, "AGENT_NOT_FOUND")
}

func TestAgentPayments_ReadsAreOfTheCustomer(t *testing.T) {
	t.Parallel()
	// An agent lists the accounts with which it may pay, and the transactions of its customer by any filter.
	h := newSharedEnv(t)
	a := h.newPayingAgent()
	if all := a.get("/agents/me/internal-accounts?limit=100").wantStatus(200); all.int("totalCount") != h.get(
		"/customers/internal-accounts?customerId="+a.customer).int("totalCount") {
		t.Errorf("all accounts: %s", all.body)
	}
	a.setPolicy(object{"accountRestrictions": object{"allowedAccountIds": []string{a.dollars}}})
	only := a.get("/agents/me/internal-accounts").wantStatus(200).wantValues(map[string]any{"totalCount": 1, "data.0.id": a.dollars,
		"data.0.balance.amount": 100_000})
	a.get("/agents/me/internal-accounts?currency=EUR").wantStatus(200).wantValues(map[string]any{"totalCount": 0})
	a.get("/agents/me/internal-accounts?type=EMBEDDED_WALLET").wantStatus(200).wantValues(map[string]any{"totalCount": 0})
	if listed := h.get("/customers/internal-accounts?currency=USD&customerId=" + a.customer).wantStatus(200); !bytes.Equal(
		[]byte(listed.text("data.0.id")), []byte(only.text("data.0.id"))) {
		t.Errorf("the platform lists %s", listed.body)
	}

	paid := a.transferOut(3_00).wantStatus(201).text("transaction.id")
	for query, want := range map[string]int{"?type=OUTGOING": 1, "?type=INCOMING": 1, "?receiverAccountIdentifier=" + a.bank: 1,
		"?senderAccountIdentifier=" + a.bank: 0, "?accountIdentifier=" + a.dollars: 2,
		"?endDate=2026-01-01T00:00:00Z": 0, "?limit=1": 1} {
		if got := a.get("/agents/me/transactions" + query).wantStatus(200); len(got.list("data")) != want {
			t.Errorf("%s: %s", query, got.body)
		}
	}
	page := a.get("/agents/me/transactions?limit=1").wantStatus(200).wantValues(map[string]any{"data.0.id": paid, "hasMore": true})
	a.get("/agents/me/transactions?limit=1&cursor=" + url.QueryEscape(page.text("nextCursor"))).wantStatus(200).wantValues(
		map[string]any{"data.0.type": "INCOMING", "hasMore": false})
	a.get("/agents/me/transactions?customerId=x").wantError(400, "INVALID_INPUT") // an agent has one customer
	a.setPolicy(object{"permissions": []string{"CREATE_TRANSFERS"}})
	for _, path := range []string{"/transactions", "/transactions/" + paid, "/internal-accounts"} {
		a.get("/agents/me" + path).wantRefused("PERMISSION_MISSING")
	}
}
