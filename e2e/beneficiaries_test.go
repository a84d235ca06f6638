package e2e

import (
	"strings"
	"testing"
)

func TestBeneficiaryVerification_FollowsTestValue(t *testing.T) {
	t.Parallel()
	// The test value in an identifier decides the result of the beneficiary check. The account
	// can be used whatever it is; an unknown one is rejected and not stored.
	h := newTestEnv(t)
	for _, c := range []struct{ end, status, name string }{
		{"102", "NOT_MATCHED", ""},
		{"103", "PARTIAL_MATCH", "Ana Silva Sandbox"},
		{"104", "PENDING", ""},
		{"105", "", ""},
		{"106", "UNSUPPORTED", ""},
		{"107", "CHECKED_BY_RECEIVING_FI", ""},
		{"000", "MATCHED", "Ana Silva"},
	} {
		t.Run(c.end, func(t *testing.T) {
			t.Parallel()
			s := h.newScenarioEnv(t)
			for currency, info := range map[string]object{
				"USD": {"accountType": "US_ACCOUNT", "accountNumber": "5512345" + c.end, "routingNumber": "021000021"},
				"EUR": {"accountType": "EUR_ACCOUNT", "iban": "DE89370400440532013" + c.end},
				"MXN": {"accountType": "MXN_ACCOUNT", "clabeNumber": clabe(c.end)},
				"BRL": {"accountType": "BRL_ACCOUNT", "pixKey": "testuser." + c.end + "@example.com", "pixKeyType": "EMAIL", "taxId": "12345678909"},
				"GBP": {"accountType": "GBP_ACCOUNT", "sortCode": "040004", "accountNumber": "12345" + c.end},
				"BTC": {"accountType": "LAYER2_WALLET", "address": "spark1wallet" + c.end},
			} {
				status, name := c.status, c.name
				if currency != "BTC" {
					info["beneficiary"] = withAddress(testBeneficiary)
				} else if name = ""; status == "MATCHED" {
					status = "" // a wallet has no owner whose name could match
				}
				created := s.post("/customers/external-accounts", object{"customerId": s.customerID, "currency": currency, "accountInfo": info})

				if c.status == "" {
					created.wantError(400, "INVALID_BANK_ACCOUNT")
					continue
				}
				created.wantStatus(201)
				for _, a := range []apiResponse{created, s.get("/customers/external-accounts/" + created.text("id")).wantStatus(200)} {
					a.wantValues(map[string]any{"status": "ACTIVE", "currency": currency, "beneficiaryVerificationStatus": status,
						"beneficiaryVerifiedData.fullName": name})
				}
			}
			stored := s.get("/customers/external-accounts?customerId=" + s.customerID).wantStatus(200).int("totalCount")
			if c.status == "" && stored != 0 || c.status != "" && stored != 6 {
				t.Errorf("%d accounts are stored", stored)
			}
			if c.status == "" {
				return
			}

			// The account can be paid.
			created := s.post("/transfer-out", object{"source": object{"accountId": s.fundUSDAccount(5000)}, "amount": 5000,
				"destination": object{"accountId": s.get("/customers/external-accounts?currency=USD&customerId=" + s.customerID).text(
					"data.0.id")}}).wantStatus(201)
			s.checkTransactionEvents(created.text("id"), []string{"PENDING", "PROCESSING", "COMPLETED"})
		})
	}
}

// clabe returns a CLABE with a suffix; one without a test value has a valid check digit.
func clabe(end string) string {
	if strings.HasPrefix(end, "1") {
		return "002010077777777" + end
	}
	return "002010077777777771"
}

func withAddress(of object) object {
	beneficiary := object{"address": object{"line1": "123 Main Street", "city": "London", "state": "London", "postalCode": "SW1A 1AA",
		"country": "GB"}}
	for name, value := range of {
		beneficiary[name] = value
	}
	return beneficiary
}
