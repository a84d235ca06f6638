package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func agentBody(customer string, change ...object) object {
	body := object{"name": "Assistant", "customerId": customer, "policy": object{
		"permissions": []string{"VIEW_TRANSACTIONS", "CREATE_QUOTES"}, "defaultExecutionMode": "AUTO",
		"spendingLimits": object{"currency": "USD", "perTransactionLimit": 50_00},
	}}
	for _, c := range change {
		for name, value := range c {
			body[name] = value
		}
	}
	return body
}

// anonymous returns a client without credentials, such as a program that is not paired yet.
func (h *testEnv) anonymous() *client { return h.withToken("", "") }

// redeem returns a client that sends the access token for a device code.
func (h *testEnv) redeem(code string) *client {
	h.t.Helper()
	redeemed := h.anonymous().post("/agents/device-codes/"+code+"/redeem", nil).wantStatus(200)
	return h.anonymous().withHeader("Authorization", "Bearer "+redeemed.text("accessToken"))
}

func TestAgent_PairedProgramReadsItsAgent(t *testing.T) {
	t.Parallel()
	// A program redeems the device code of an agent once, and reads the agent with its access token, on
	// every server: a change of the policy or a pause is visible at the next request, and after the
	// agent is deleted no server accepts the token.
	h := newSharedEnv(t)
	second := secondServer(t)
	created := h.post("/agents", agentBody(h.createCustomer())).wantStatus(201)
	id, code := created.text("agent.id"), created.text("deviceCode.code")
	status := func() string {
		return h.get("/agents/device-codes/" + code + "/status").wantStatus(200).wantValues(map[string]any{"code": code}).text("redeemed")
	}
	if before := status(); before != "false" {
		t.Errorf("redeemed = %s before", before)
	}

	redeemed := h.anonymous().post("/agents/device-codes/"+strings.ToLower(strings.ReplaceAll(code, "-", ""))+"/redeem", nil).wantStatus(200)
	redeemed.wantValues(map[string]any{"agentId": id, "agentName": "Assistant", "policy.spendingLimits.currency": "USD"})
	agent := h.anonymous().withHeader("Authorization", "Bearer "+redeemed.text("accessToken"))

	if after := status(); after != "true" {
		t.Errorf("redeemed = %s after", after)
	}
	h.anonymous().post("/agents/device-codes/"+code+"/redeem", nil).wantError(400, "DEVICE_CODE_ALREADY_REDEEMED")
	h.anonymous().withServer(second).post("/agents/device-codes/"+code+"/redeem", nil).wantError(400, "DEVICE_CODE_ALREADY_REDEEMED")
	h.post("/agents/"+id+"/device-codes", nil).wantError(409, "CONFLICT")
	me := agent.withServer(second).get("/agents/me").wantStatus(200)
	if got := h.get("/agents/" + id).wantStatus(200); !bytes.Equal(got.body, me.body) || got.text("isConnected") != "true" {
		t.Errorf("the agent sees %s\nthe platform %s", me.body, got.body)
	}

	h.patch("/agents/"+id+"/policy", object{"permissions": []string{"CREATE_TRANSFERS"},
		"spendingLimits": object{"monthlyLimit": 900_00}}).wantStatus(200)
	h.patch("/agents/"+id, object{"name": "Renamed", "isPaused": true}).wantStatus(200)
	for _, server := range []*client{agent, agent.withServer(second)} {
		server.get("/agents/me").wantStatus(200).wantValues(map[string]any{"name": "Renamed", "isPaused": true,
			"policy.permissions.0": "CREATE_TRANSFERS", "policy.spendingLimits.monthlyLimit": 900_00,
			"policy.spendingLimits.perTransactionLimit": 50_00})
	}
	h.patch("/agents/"+id, object{}).wantError(400, "INVALID_INPUT")

	h.delete("/agents/" + id).wantStatus(204)

	agent.withServer(second).get("/agents/me").wantError(401, "UNAUTHORIZED")
	agent.get("/agents/me").wantError(401, "UNAUTHORIZED")
	h.get("/agents/"+id).wantError(404, "AGENT_NOT_FOUND")
	h.get("/agents/device-codes/"+code+"/status").wantError(404, "DEVICE_CODE_NOT_FOUND")
	h.delete("/agents/"+id).wantError(404, "AGENT_NOT_FOUND")
}

func TestAgent_NewDeviceCodeVoidsOlderOnes(t *testing.T) {
	t.Parallel()
	// Only the last code of an agent can be redeemed.
	h := newSharedEnv(t)
	created := h.post("/agents", agentBody(h.createCustomer())).wantStatus(201)
	older := created.text("deviceCode.code")

	newer := h.post("/agents/"+created.text("agent.id")+"/device-codes", nil).wantStatus(201).text("code")

	h.anonymous().post("/agents/device-codes/"+older+"/redeem", nil).wantError(400, "DEVICE_CODE_EXPIRED")
	h.redeem(newer).get("/agents/me").wantStatus(200).wantValues(map[string]any{"id": created.text("agent.id")})
}

func TestAgent_DeletedCustomerDisconnectsItsAgents(t *testing.T) {
	t.Parallel()
	// The agents of a customer are deleted with it, and it can have no new ones.
	h := newSharedEnv(t)
	customer := h.createCustomer()
	created := h.post("/agents", agentBody(customer)).wantStatus(201)
	agent := h.redeem(created.text("deviceCode.code"))

	h.delete("/customers/" + customer).wantStatus(200)

	agent.get("/agents/me").wantError(401, "UNAUTHORIZED")
	h.get("/agents/"+created.text("agent.id")).wantError(404, "AGENT_NOT_FOUND")
	h.post("/agents", agentBody(customer)).wantError(410, "CUSTOMER_DELETED")
}

func TestAgent_OtherPlatformsAndTokensAreRefused(t *testing.T) {
	t.Parallel()
	// An agent, its codes and its accounts do not exist for another platform. An access token is refused
	// by the operations of the platform, and a token by those of agents.
	h := newSharedEnv(t)
	other := h.createPlatform("Other", "SANDBOX")
	customer := h.createCustomer()
	created := h.post("/agents", agentBody(customer)).wantStatus(201)
	id, code := created.text("agent.id"), created.text("deviceCode.code")

	other.get("/agents/"+id).wantError(404, "AGENT_NOT_FOUND")
	other.patch("/agents/"+id, object{"isPaused": true}).wantError(404, "AGENT_NOT_FOUND")
	other.patch("/agents/"+id+"/policy", object{"permissions": []string{"CREATE_QUOTES"}}).wantError(404, "AGENT_NOT_FOUND")
	other.post("/agents/"+id+"/device-codes", nil).wantError(404, "AGENT_NOT_FOUND")
	other.delete("/agents/"+id).wantError(404, "AGENT_NOT_FOUND")
	other.get("/agents/device-codes/"+code+"/status").wantError(404, "DEVICE_CODE_NOT_FOUND")
	other.post("/agents", agentBody(customer)).wantError(404, "USER_NOT_FOUND")
	foreign := other.get("/platform/internal-accounts?currency=USD").wantStatus(200).text("data.0.id")
	own := h.get("/customers/internal-accounts?currency=USD&customerId=" + customer).wantStatus(200).text("data.0.id")
	for _, account := range []string{foreign, h.get("/platform/internal-accounts?currency=USD").wantStatus(200).text("data.0.id")} {
		restrictions := object{"accountRestrictions": object{"allowedAccountIds": []string{own, account},
			"accountRules": []object{{"accountId": account, "executionMode": "AUTO"}}}}
		refused := h.patch("/agents/"+id+"/policy", restrictions).wantError(400, "INVALID_INPUT")
		if fields := fmt.Sprint(refused.errorFields()); fields != "[accountRestrictions.allowedAccountIds[1] "+
			"accountRestrictions.accountRules[0].accountId]" {
			t.Errorf("invalid fields %s for %s", fields, account)
		}
	}

	agent := h.redeem(code)
	for _, path := range []string{"/agents", "/agents/" + id, "/config", "/transactions"} {
		if refused := agent.get(path).wantError(401, "UNAUTHORIZED"); !strings.Contains(refused.text("message"), "/agents/me") {
			t.Errorf("%s: %s", path, refused.body)
		}
	}
	if refused := h.get("/agents/me").wantError(401, "UNAUTHORIZED"); !strings.HasPrefix(refused.header.Get("WWW-Authenticate"), "Bearer ") {
		t.Errorf("challenge %q", refused.header.Get("WWW-Authenticate"))
	}
}

func TestAgent_GuessingDeviceCodesIsLimited(t *testing.T) {
	t.Parallel()
	// An address that tries many codes has to wait; the platform can still read the status of its codes.
	h := newSharedEnv(t)
	code := h.post("/agents", agentBody(h.createCustomer())).wantStatus(201).text("deviceCode.code")
	limited := false
	for i := range 40 {
		got := h.anonymous().post(fmt.Sprintf("/agents/device-codes/%05d-%05d/redeem", i, i), nil)
		if limited = got.status == 429; limited {
			if got.wantError(429, "RATE_LIMITED"); got.header.Get("Retry-After") == "" {
				t.Errorf("no Retry-After: %v", got.header)
			}
			break
		}
		got.wantError(404, "DEVICE_CODE_NOT_FOUND")
	}

	if !limited {
		t.Error("40 codes were tried without a limit")
	}
	h.anonymous().post("/agents/device-codes/"+code+"/redeem", nil).wantError(429, "RATE_LIMITED")
	h.get("/agents/device-codes/" + code + "/status").wantStatus(200).wantValues(map[string]any{"redeemed": false})
}

func TestAgent_NoSecretIsStored(t *testing.T) {
	t.Parallel()
	// Neither the device code nor the access token is in the database or in a repeated response.
	h := newTestEnv(t)
	body := agentBody(h.createCustomer())
	keyed := h.withHeader("Idempotency-Key", "agent")
	created := keyed.post("/agents", body).wantStatus(201)
	code := created.text("deviceCode.code")
	redeemed := h.anonymous().withHeader("Idempotency-Key", "redeem").post("/agents/device-codes/"+code+"/redeem", nil).wantStatus(200)

	if again := keyed.post("/agents", body).wantStatus(201); again.text("agent.id") != created.text("agent.id") ||
		again.text("deviceCode.code") != "" {
		t.Errorf("repeated: %s", again.body)
	}
	h.anonymous().withHeader("Idempotency-Key", "redeem").post("/agents/device-codes/"+code+"/redeem", nil).wantError(400,
		"DEVICE_CODE_ALREADY_REDEEMED")
	token := strings.TrimPrefix(redeemed.text("accessToken"), "agt_")
	stored := fmt.Sprintf("%s|%s|%s|%x|%x", code, strings.ReplaceAll(code, "-", ""), token, code, token) // as text, and as bytes
	for _, table := range []string{"agents", "agent_device_codes", "idempotency_keys"} {
		secrets := h.queryInt("SELECT count(*) FROM "+table+" t WHERE t::text ~ $1", stored)
		if rows := h.queryInt("SELECT count(*) FROM " + table); secrets != 0 || rows == 0 {
			t.Errorf("%s: %d of %d rows have a secret", table, secrets, rows)
		}
	}
}
