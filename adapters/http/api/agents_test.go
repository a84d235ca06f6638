package api_test

import (
	"strings"
	"testing"

	"causeway/core/agent"
	"causeway/core/platform"
)

const agentPolicy = `{"permissions": ["VIEW_TRANSACTIONS", "CREATE_QUOTES"], "defaultExecutionMode": "AUTO", "spendingLimits": {"currency": "USD", "perTransactionLimit": 5000, "dailyLimit": 20000}}`

// createAgent returns the response to the creation of an agent of a new customer.
func (c *client) createAgent(t *testing.T) reply {
	t.Helper()
	customer := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Ana Ng"}`).stringAt("id")
	return c.must(201, "POST", "/agents", `{"name": "Assistant", "customerId": "`+customer+`", "policy": `+agentPolicy+`}`)
}

// pairAgent returns the access token of a new agent with a permission.
func (c *client) pairAgent(t *testing.T, permission agent.Permission) string {
	t.Helper()
	created := c.createAgent(t)
	c.must(200, "PATCH", "/agents/"+created.stringAt("agent.id")+"/policy", `{"permissions": ["`+string(permission)+`"]}`)
	return c.must(200, "POST", "/agents/device-codes/"+created.stringAt("deviceCode.code")+"/redeem", "").stringAt("accessToken")
}

func TestCreateAgent_ListsEveryInvalidField(t *testing.T) {
	t.Parallel()
	// What the schema and what the domain finds invalid is listed at once, each field once, by its
	// path.
	c := newClient(t)
	const account = `"InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	got := c.must(400, "POST", "/agents", `{"name": "two\nlines", "customerId": "Customer:x", "policy": {
		"permissions": ["CREATE_QUOTES", "CREATE_QUOTES", "PAY"], "defaultExecutionMode": "MANUAL",
		"spendingLimits": {"currency": "XQX", "perTransactionLimit": 0, "dailyLimit": -1, "dailyTransactionLimit": 1000001, "monthlyLimit": 9000000000000001},
		"accountRestrictions": {"allowedAccountIds": ["x", `+account+`, `+account+`], "accountRules": [{"accountId": `+account+
		`, "executionMode": "SOMETIMES"}, {"accountId": `+account+`}]},
		"approvalThresholds": {"amount": 5}}}`)

	fields := map[string]int{}
	details, _ := got.body["details"].(map[string]any)
	listed, _ := details["errors"].([]any)
	for _, item := range listed {
		fields[item.(map[string]any)["field"].(string)]++
	}
	for _, field := range strings.Fields(`name customerId policy.permissions[1] policy.permissions[2] policy.defaultExecutionMode
		policy.spendingLimits.currency policy.spendingLimits.perTransactionLimit policy.spendingLimits.dailyLimit
		policy.spendingLimits.dailyTransactionLimit policy.spendingLimits.monthlyLimit
		policy.accountRestrictions.allowedAccountIds[0] policy.accountRestrictions.allowedAccountIds[2]
		policy.accountRestrictions.accountRules[0].executionMode policy.accountRestrictions.accountRules[1].accountId policy.approvalThresholds.currency`) {
		if fields[field] != 1 {
			t.Errorf("%s is listed %d times", field, fields[field])
		}
		delete(fields, field)
	}
	if len(fields) > 0 {
		t.Errorf("also listed: %v in %s", fields, got.rawBody)
	}
}

func TestCreateAgent_RepeatedRequestDoesNotShowTheCodeAgain(t *testing.T) {
	t.Parallel()
	// A request that is repeated with its Idempotency-Key returns the same agent, without the device
	// code. So does a repeated request for another code.
	c := newClient(t)
	customer := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Ana Ng"}`).stringAt("id")
	body := `{"name": "Assistant", "customerId": "` + customer + `", "policy": ` + agentPolicy + `}`

	first := c.withKey("create").must(201, "POST", "/agents", body)
	again := c.withKey("create").must(201, "POST", "/agents", body)
	id := first.stringAt("agent.id")
	code := c.withKey("code").must(201, "POST", "/agents/"+id+"/device-codes", "")
	codeAgain := c.withKey("code").must(201, "POST", "/agents/"+id+"/device-codes", "")

	if first.stringAt("deviceCode.code") == "" || again.stringAt("agent.id") != id || again.stringAt("deviceCode.code") != "" ||
		again.stringAt("deviceCode.agentId") != id {
		t.Errorf("first %s\nagain %s", first.rawBody, again.rawBody)
	}
	if code.stringAt("code") == "" || code.stringAt("code") == first.stringAt("deviceCode.code") || codeAgain.stringAt("code") != "" ||
		codeAgain.stringAt("expiresAt") != code.stringAt("expiresAt") {
		t.Errorf("first code %s\nagain %s", code.rawBody, codeAgain.rawBody)
	}
}

func TestUpdateAgentPolicy_ChangesOnlyWhatIsSent(t *testing.T) {
	t.Parallel()
	// A change leaves the fields that are not sent as they are; null removes a limit, and an empty list
	// of accounts allows none.
	c := newClient(t)
	id := c.createAgent(t).stringAt("agent.id")
	update := func(status int, body string) reply {
		t.Helper()
		return c.must(status, "PATCH", "/agents/"+id+"/policy", body)
	}
	wantPolicy := func(got reply, want map[string]string) {
		t.Helper()
		for path, value := range want {
			if got.stringAt("policy."+path) != value {
				t.Errorf("%s = %q, want %q in %s", path, got.stringAt("policy."+path), value, got.rawBody)
			}
		}
	}
	same := map[string]string{"defaultExecutionMode": "AUTO", "spendingLimits.currency": "USD", "spendingLimits.perTransactionLimit": "5000"}

	limited := update(
		200, `{"spendingLimits": {"dailyLimit": null, "monthlyLimit": 90000, "dailyTransactionLimit": 3}, "approvalThresholds": {"currency": "USD", "amount": 0}}`)
	wantPolicy(limited, same)
	wantPolicy(limited, map[string]string{"spendingLimits.dailyLimit": "", "spendingLimits.monthlyLimit": "90000",
		"spendingLimits.dailyTransactionLimit": "3", "approvalThresholds.amount": "0", "permissions": "[VIEW_TRANSACTIONS CREATE_QUOTES]"})
	if got := update(200, `{"accountRestrictions": {"allowedAccountIds": []}}`); !strings.Contains(got.rawBody, `"allowedAccountIds":[]`) {
		t.Errorf("no accounts are allowed: %s", got.rawBody)
	}
	cleared := update(
		200, `{"permissions": ["CREATE_TRANSFERS"], "accountRestrictions": {"allowedAccountIds": null}, "approvalThresholds": {"amount": null}, "spendingLimits": {"currency": "EUR"}}`)
	wantPolicy(cleared, map[string]string{"permissions": "[CREATE_TRANSFERS]", "approvalThresholds.amount": "",
		"approvalThresholds.currency": "USD", "spendingLimits.currency": "EUR", "spendingLimits.perTransactionLimit": "5000",
		"spendingLimits.monthlyLimit": "90000"})
	if strings.Contains(cleared.rawBody, "allowedAccountIds") {
		t.Errorf("all accounts are allowed: %s", cleared.rawBody)
	}
	update(200, `{"approvalThresholds": {"amount": 7}}`) // in the currency that is set
	update(400, `{"permissions": []}`)
	update(400, `{"spendingLimits": {"currency": "usd"}}`)
	if got := c.must(200, "GET", "/agents/"+id, ""); got.stringAt("policy.approvalThresholds.amount") != "7" ||
		got.stringAt("policy.permissions") != "[CREATE_TRANSFERS]" {
		t.Errorf("read again: %s", got.rawBody)
	}
}

func TestListAgents_Filters(t *testing.T) {
	t.Parallel()
	// Agents are listed newest first; a filter by a boolean selects either value, and without it both.
	c := newClient(t)
	paused, connected, plain := c.createAgent(t), c.createAgent(t), c.createAgent(t)
	c.must(200, "PATCH", "/agents/"+paused.stringAt("agent.id"), `{"isPaused": true}`)
	c.must(200, "POST", "/agents/device-codes/"+connected.stringAt("deviceCode.code")+"/redeem", "")
	other := c.createPlatform(t, platform.Sandbox)
	other.createAgent(t)

	for query, want := range map[string][]reply{
		"": {plain, connected, paused}, "?isPaused=true": {paused}, "?isPaused=false": {plain, connected}, "?isConnected=true": {connected},
		"?isConnected=false&isPaused=false": {plain}, "?customerId=" + plain.stringAt("agent.customerId"): {plain},
		"?createdAfter=2126-01-01T00:00:00Z": {}, "?updatedBefore=2126-01-01T00:00:00Z": {plain, connected, paused}, "?limit=1": {plain},
	} {
		got := c.must(200, "GET", "/agents"+query, "")
		var ids, wanted []string
		for _, item := range got.body["data"].([]any) {
			ids = append(ids, item.(map[string]any)["id"].(string))
		}
		for _, agent := range want {
			wanted = append(wanted, agent.stringAt("agent.id"))
		}
		if strings.Join(ids, " ") != strings.Join(wanted, " ") {
			t.Errorf("%q lists %v, want %v", query, ids, wanted)
		}
	}
	c.must(400, "GET", "/agents?isPaused=maybe", "")
	c.must(400, "GET", "/agents?ispaused=true", "")
}
