package api_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	httpapi "causeway/adapters/http"
	"causeway/adapters/pgembed/pgtest"
	"causeway/core/agent"
	"causeway/core/platform"
)

func TestOpenAPI_PermissionOfEachOperation(t *testing.T) {
	t.Parallel()
	// Operations that move money require TRANSACT, those that change anything else or sign MANAGE,
	// and all others VIEW. Those below /agents/me are for agents, whose policy must have one of the permissions.
	needs := map[string]string{}
	for permission, operations := range map[string]string{
		"TRANSACT": `approvePendingPayment cancelTransaction confirmReceiptDelivery createQuote createTransferIn createTransferOut createUmaInvoice executeQuote authorizeQuote resendQuoteScaCode rejectPendingPayment
			sandboxExpireQuote sandboxFundInternalAccount sandboxReturnTransaction sandboxSettleTransaction sandboxTakeBackTransaction sandboxReceive sandboxSend updateInternalAccount payPlatformFees
			startScaFactorEnrollment confirmScaFactorEnrollment deleteScaFactor startScaLogin completeScaLogin recordSecurityEvent startTwoFactorReset
			completeTwoFactorReset challengeAuthCredential createAuthCredential exportInternalAccount refreshAuthSession revokeAuthCredential revokeAuthSession verifyAuthCredential`,
		"MANAGE": `approveLedgerProposal rejectLedgerProposal acknowledgeSafeguardingReport arriveTreasuryTransfer createSweep createTreasurySettlement createTreasuryTransfer recordReceivable runSafeguardingReport setSafeguardingAccountPurpose writeOffReceivable
			assignUnmatched createExternalAccountOwnershipChallenge verifyExternalAccountOwnership createPlatformExternalAccountOwnershipChallenge verifyPlatformExternalAccountOwnership cancelInvitation claimInvitation closeLedgerPeriod closeLedgerYear startBeneficiaryTrust confirmBeneficiaryTrust startBeneficiaryUntrust confirmBeneficiaryUntrust createCustomer createCustomerExternalAccount createInvitation createLedgerAdjustment
			createPlatformExternalAccount createReconciliation createToken createWebhookSecret deleteCustomerById deleteCustomerExternalAccountById
			deleteDocument deletePlatformExternalAccountById deleteTokenById deleteWebhookSecret postDeferredFees postReceivablesAllowance postExchangeResult redeliverWebhook redeliverWebhooks reopenLedgerPeriod replaceDocument reverseLedgerYear setLedgerSettings makeGLJournals addLedgerAccount changeLedgerAccount setGLMapping importGLMapping importOpeningBalances reverseOpeningBalances
			approveAgentAction createAgent deleteAgent regenerateAgentDeviceCode rejectAgentAction updateAgent updateAgentPolicy
			createBeneficialOwner createCustomerKycLink sendCustomerEmailVerification
			confirmCustomerEmailVerification sendCustomerPhoneVerification confirmCustomerPhoneVerification createVerification resolveReconciliationBreak sandboxAnswerApproval sandboxGetWebhookRequest sandboxListen sendTestWebhook softCloseLedgerPeriod updateBeneficialOwner updateCustomerById
			updatePlatformConfig uploadCustomersCsv uploadDocument`,
		forAgents:                  `getAgentMe agentPreviewPayment agentGetQuote agentListActions agentGetAction`,
		"VIEW_TRANSACTIONS":        `agentListTransactions agentGetTransaction agentListInternalAccounts`,
		"CREATE_QUOTES":            `agentCreateQuote`,
		"EXECUTE_QUOTES":           `agentExecuteQuote`,
		"CREATE_TRANSFERS":         `agentCreateTransferOut agentCreateTransferIn`,
		"MANAGE_EXTERNAL_ACCOUNTS": `agentCreateExternalAccount agentDeleteExternalAccount`,
		"MANAGE_EXTERNAL_ACCOUNTS CREATE_QUOTES CREATE_TRANSFERS": `agentListExternalAccounts agentGetExternalAccount`,
		"": `redeemAgentDeviceCode`,
	} {
		for _, operation := range strings.Fields(operations) {
			needs[operation] = permission
		}
	}
	for _, operation := range publishedOperations(t, newTestServer(t, pgtest.New(t))) {
		want, found := needs[operation.id]
		if !found {
			want = "VIEW"
		}
		if operation.permission != want {
			t.Errorf("%s requires %q, want %q", operation.id, operation.permission, want)
		}
		if operation.agent != strings.HasPrefix(operation.path, "/agents/me") {
			t.Errorf("%s is for agents: %t", operation.path, operation.agent)
		}
		delete(needs, operation.id)
	}
	if len(needs) > 0 {
		t.Errorf("no such operations: %v", needs)
	}
}

func TestOperations_EnforcePermission(t *testing.T) {
	t.Parallel()
	// Every operation but the public ones refuses requests without credentials and tokens
	// without its permission, and names the permission. A token that has only this
	// permission is accepted, except by sandbox operations on a production platform. An
	// operation is for tokens or for agents, never for both; those for agents refuse an agent without one of
	// their permissions, unless its attempt is recorded.
	public := []string{"redeemAgentDeviceCode"} // ids of public operations
	c := newClient(t)
	agents := map[string]*client{}
	for _, permission := range agent.Permissions {
		agents[string(permission)] = c.withHeader("Authorization", "Bearer "+c.pairAgent(t, permission))
	}
	attempts := strings.Fields(
		`agentCreateQuote agentExecuteQuote agentCreateTransferOut agentCreateTransferIn agentCreateExternalAccount agentDeleteExternalAccount`)
	clients := map[string]*client{}
	for _, permission := range platform.Permissions {
		clients[string(permission)] = c.withPermissions(permission)
	}
	production := c.createPlatform(t, platform.Production)

	for _, operation := range publishedOperations(t, c.testServer) {
		path := pathParameterPattern.ReplaceAllString(operation.path, "x")
		if operation.permission == "" {
			if !slices.Contains(public, operation.id) {
				t.Errorf("%s is public and not in the list of public operations", operation.id)
			}
			continue
		}
		if got := sendWithoutCredentials(c, operation.method, path); got != http.StatusUnauthorized {
			t.Errorf("%s without credentials: %d", operation.id, got)
		}
		if operation.agent {
			for permission, caller := range agents {
				got := caller.send(operation.method, path, "")
				allowed := operation.permission == forAgents || slices.Contains(strings.Fields(operation.permission), permission) ||
					slices.Contains(attempts, operation.id)
				if got.status == http.StatusUnauthorized || (got.status == http.StatusForbidden) == allowed || !allowed &&
					got.stringAt("reason") != "PERMISSION_MISSING" {
					t.Errorf("%s by an agent with %s: %d %s", operation.id, permission, got.status, got.rawBody)
				}
			}
			if got := c.send(operation.method, path, ""); got.status != http.StatusUnauthorized || got.stringAt("reason") != "Unsupported scheme" {
				t.Errorf("%s by a token: %d %s", operation.id, got.status, got.rawBody)
			}
			continue
		}
		asAgent := agents["CREATE_QUOTES"].send(operation.method, path, "")
		if asAgent.status != http.StatusUnauthorized || asAgent.stringAt("reason") != "Unsupported scheme" {
			t.Errorf("%s by an agent: %d %s, want 401", operation.id, asAgent.status, asAgent.rawBody)
		}
		for permission, caller := range clients {
			got := caller.send(operation.method, path, "")
			switch {
			case permission == operation.permission:
				if got.status == http.StatusForbidden {
					t.Errorf("%s with %s: %s", operation.id, permission, got.rawBody)
				}
			case got.status != http.StatusForbidden || got.stringAt("code") != "FORBIDDEN" ||
				got.stringAt("details.missingPermission") != operation.permission:
				t.Errorf("%s with %s: %d %s, want FORBIDDEN", operation.id, permission, got.status, got.rawBody)
			}
		}
		got := production.send(operation.method, path, "")
		if refused := got.status == http.StatusForbidden; refused != operation.sandboxOnly {
			t.Errorf("%s on a production platform: %d %s", operation.id, got.status, got.rawBody)
		}
	}
}

func sendWithoutCredentials(server http.Handler, method, path string) int {
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(method, httpapi.BasePath+path, nil))
	return w.Code
}

var pathParameterPattern = regexp.MustCompile(`\{[^}]*\}`)

// publishedOperation is an operation of the OpenAPI document.
type publishedOperation struct {
	id, method, path, permission string
	sandboxOnly, agent           bool
}

// forAgents is the permission of a publishedOperation that is for all agents.
const forAgents = "an agent"

// publishedOperations returns all operations of the OpenAPI document.
func publishedOperations(t *testing.T, server http.Handler) []publishedOperation {
	t.Helper()
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, httpapi.BasePath+"/openapi.json", nil))
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Permission  string   `json:"x-permission"`
			Agents      []string `json:"x-agent-permissions"`
			SandboxOnly bool     `json:"x-sandbox-only"`
			Security    []map[string][]string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	var operations []publishedOperation
	for path, methods := range document.Paths {
		for method, o := range methods {
			forAgent := len(o.Security) == 1 && o.Security[0]["AgentAuth"] != nil
			if forAgent {
				o.Permission = cmp.Or(strings.Join(o.Agents, " "), forAgents)
			}
			operations = append(operations, publishedOperation{o.OperationID, strings.ToUpper(method), path, o.Permission, o.SandboxOnly, forAgent})
		}
	}
	if len(operations) < 20 {
		t.Fatalf("only %d operations in the document", len(operations))
	}
	return operations
}
