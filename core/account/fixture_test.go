package account_test

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
)

var (
	platformID, _ = ident.ParsePlatform("PlatformConfig:019542f5-b3e7-7d02-8000-000000000001")
	customerID, _ = ident.ParseCustomer("Customer:019542f5-b3e7-7d02-8000-000000000002")
	externalID, _ = ident.ParseExternalAccount("ExternalAccount:019542f5-b3e7-7d02-8000-000000000003")
	internalID, _ = ident.ParseInternalAccount("InternalAccount:019542f5-b3e7-7d02-8000-000000000004")
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newRequest returns a valid request for an account of the type, with these fields and an
// individual beneficiary with every field.
func newRequest(name, currency string, fields map[string]any) account.CreateRequest {
	info := map[string]any{"accountType": name, "beneficiary": individualBeneficiary()}
	maps.Copy(info, fields)
	return account.CreateRequest{
		ID: externalID, Platform: platformID, Customer: customerID, Currency: currency, Info: info, Now: now,
	}
}

func individualBeneficiary() map[string]any {
	return parseObject(`{
		"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", "birthDate": "1990-02-28", "nationality": "PH",
		"email": "ana@example.com", "phoneNumber": "+639171234567", "countryOfResidence": "PH",
		"address": {"line1": "1 Main St", "city": "Manila", "state": "NCR", "postalCode": "1000", "country": "PH"}
	}`)
}

func parseObject(text string) map[string]any {
	var decoded map[string]any
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		panic(text + ": " + err.Error())
	}
	return decoded
}

// invalidPaths validates a request and returns the paths of its errors, in order.
func invalidPaths(t *testing.T, r account.CreateRequest) []string {
	t.Helper()
	_, err := account.Validate(r)
	if err == nil {
		return nil
	}
	refusal, ok := fault.As(err)
	if !ok || refusal.Code != fault.InvalidInput {
		t.Fatalf("refused with %v", err)
	}
	var list []string
	for _, field := range refusal.Fields {
		if field.Message == "" {
			t.Errorf("%s has an error without a message", field.Field)
		}
		list = append(list, field.Field)
	}
	return list
}
