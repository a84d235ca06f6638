package customer_test

import (
	"reflect"
	"slices"
	"testing"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/party"
	"causeway/core/platform"
)

func TestCreate_InitialStatus(t *testing.T) {
	// The first status depends on the platform and the type of customer.
	t.Parallel()
	tests := []struct {
		environment platform.Environment
		regulated   bool
		request     customer.Request
		want        customer.Status
	}{
		{platform.Production, true, individualRequest(), customer.Approved},
		{platform.Production, true, businessRequest(), customer.Approved},
		{platform.Production, false, individualRequest(), customer.Pending},
		{platform.Production, false, businessRequest(), customer.Pending},
		{platform.Sandbox, true, individualRequest(), customer.Approved},
		{platform.Sandbox, true, businessRequest(), customer.Approved},
		{platform.Sandbox, false, individualRequest(), customer.Pending},
		{platform.Sandbox, false, businessRequest(), customer.Pending},
	}
	for _, tt := range tests {
		owner := platform.Platform{ID: platformID, Environment: tt.environment, Regulated: tt.regulated, UMADomain: "uma.acme.test"}
		got, err := customer.Create(tt.request, owner, customerID, generatedID, now)
		if err != nil || got.Status != tt.want {
			t.Errorf("%s, regulated %v, %s: %s, %v; want %s", tt.environment, tt.regulated, tt.request.Type, got.Status, err, tt.want)
		}
	}
}

func TestCustomer_CheckReady(t *testing.T) {
	// Money moves for approved customers only; the fault has the status of others.
	t.Parallel()
	tests := []struct {
		of     customer.Type
		status customer.Status
		code   fault.Code
		detail string
	}{
		{customer.Individual, customer.Approved, "", ""},
		{customer.Business, customer.Approved, "", ""},
		{customer.Individual, customer.Unverified, fault.UserNotReady, "kycStatus"},
		{customer.Individual, customer.Pending, fault.UserNotReady, "kycStatus"},
		{customer.Individual, customer.Rejected, fault.UserNotReady, "kycStatus"},
		{customer.Business, customer.Pending, fault.UserNotReady, "kybStatus"},
		{customer.Business, customer.Rejected, fault.UserNotReady, "kybStatus"},
	}
	for _, tt := range tests {
		err := customer.Customer{ID: customerID, Type: tt.of, Status: tt.status}.CheckReady()
		if tt.code == "" {
			if err != nil {
				t.Errorf("%s %s: %v", tt.of, tt.status, err)
			}
			continue
		}
		refusal, ok := fault.As(err)
		if !ok || refusal.Code != tt.code || refusal.Details[tt.detail] != string(tt.status) || refusal.Reason == "" {
			t.Errorf("%s %s: %v", tt.of, tt.status, err)
		}
	}
}

func TestCustomer_CheckReadyRejectsDeleted(t *testing.T) {
	// An approved customer who is deleted is refused as deleted.
	t.Parallel()
	err := customer.Customer{ID: customerID, Type: customer.Individual, Status: customer.Approved, DeletedAt: now}.CheckReady()
	if !fault.Is(err, fault.CustomerDeleted) {
		t.Errorf("%v", err)
	}
}

func TestCustomer_Facts(t *testing.T) {
	t.Parallel()
	// The data is under the names of counterparty fields, without empty ones.
	person := customer.Customer{Type: customer.Individual, FullName: "Ana Silva", Nationality: "PT", UMAAddress: "$ana@uma.test",
		Address: &party.Address{Country: "PT"}}
	business := customer.Customer{Type: customer.Business, Email: "pay@acme.example", UMAAddress: "$acme@uma.test",
		Business: &customer.BusinessInfo{LegalName: "Acme", TaxID: "12"}}
	for _, test := range []struct {
		customer customer.Customer
		want     map[string]string
	}{
		{person, map[string]string{"FULL_NAME": "Ana Silva", "NATIONALITY": "PT", "USER_TYPE": "INDIVIDUAL",
			"ACCOUNT_IDENTIFIER": "$ana@uma.test", "COUNTRY_OF_RESIDENCE": "PT"}},
		{business, map[string]string{"FULL_NAME": "Acme", "COMPANY_LEGAL_NAME": "Acme", "TAX_ID": "12", "EMAIL": "pay@acme.example",
			"USER_TYPE": "BUSINESS", "ACCOUNT_IDENTIFIER": "$acme@uma.test"}},
	} {
		got := test.customer.Facts()
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("known: %v, want %v", got, test.want)
		}
		for name := range got {
			if !slices.Contains(platform.CounterpartyFieldNames, name) {
				t.Errorf("%s is not a counterparty field", name)
			}
		}
	}
}
