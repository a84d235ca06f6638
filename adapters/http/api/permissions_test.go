package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	httpapi "causeway/adapters/http"
	"causeway/adapters/pgembed/pgtest"
)

func TestOpenAPI_PermissionOfEachOperation(t *testing.T) {
	t.Parallel()
	// Operations that move money need TRANSACT, those that change anything else MANAGE, and
	// all others VIEW. Use cases check no permission themselves.
	needs := map[string]string{}
	for permission, operations := range map[string]string{
		"TRANSACT": `approvePendingPayment createQuote createTransferIn createTransferOut executeQuote rejectPendingPayment
			sandboxFundInternalAccount sandboxReceive sandboxSend updateInternalAccount`,
		"MANAGE": `assignUnmatched closeLedgerPeriod createCustomer createCustomerExternalAccount createLedgerAdjustment
			createPlatformExternalAccount createReconciliation createToken deleteCustomerExternalAccountById
			deletePlatformExternalAccountById deleteTokenById redeliverWebhook redeliverWebhooks reopenLedgerPeriod
			resolveReconciliationBreak sendTestWebhook softCloseLedgerPeriod updatePlatformConfig`,
	} {
		for _, operation := range strings.Fields(operations) {
			needs[operation] = permission
		}
	}
	w := httptest.NewRecorder()
	newTestServer(t, pgtest.New(t)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, httpapi.BasePath+"/openapi.json", nil))
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Permission  string `json:"x-permission"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}

	for _, methods := range document.Paths {
		for _, operation := range methods {
			want, found := needs[operation.OperationID]
			if !found {
				want = "VIEW"
			}
			if operation.Permission != want {
				t.Errorf("%s needs %s, want %s", operation.OperationID, operation.Permission, want)
			}
			delete(needs, operation.OperationID)
		}
	}
	if len(needs) > 0 {
		t.Errorf("no such operations: %v", needs)
	}
}
