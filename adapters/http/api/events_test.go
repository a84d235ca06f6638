package api_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"causeway/adapters/http/api"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/proposal"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/core/treasury"
	"causeway/core/verification"
	"causeway/ports"
)

func TestRenderEvent_EveryType(t *testing.T) {
	t.Parallel()
	// An event of each type has a body with its resource under a key of its own, and one without a resource, such as an
	// erased one, has no more than its envelope. The body begins with that. A resource of another type is refused.
	resources := map[event.Type]struct {
		resource any
		key      string
	}{
		event.OutgoingPayment:       {transaction.Transaction{}, "transaction"},
		event.IncomingPayment:       {transaction.Transaction{}, "transaction"},
		event.InternalAccountStatus: {account.WithBalance{}, "internalAccount"},
		event.CustomerStatus:        {customer.Customer{}, "customer"},
		event.VerificationStatus:    {verification.Verification{}, "verification"},
		event.BulkUpload:            {customer.ImportWithErrors{}, "bulkUpload"},
		event.Invitation:            {invitation.Invitation{}, "invitation"},
		event.AgentAction:           {payments.AgentAction{}, "agentAction"},
		event.SafeguardingReport:    {ports.KeptReport{}, "safeguardingReport"},
		event.LedgerAsset:           {treasury.Overdraft{}, "ledgerAsset"},
		event.LedgerProposal:        {proposal.Proposal{}, "proposal"},
		event.Receivable:            {receivable.Receivable{}, "receivable"},
		event.Test:                  {},
	}
	for _, kind := range event.Types {
		e := event.NewTest(ident.NewWebhook(idGenerator.New, noon), ident.Platform{}, noon)
		e.Type, e.Name = kind, event.Names[kind][0]
		envelope, err := api.RenderEvent(e)
		if err != nil || !bytes.Equal(envelope, e.Envelope()) {
			t.Errorf("%s without a resource: %s, %v", kind, envelope, err)
		}
		c, listed := resources[kind]
		if !listed {
			t.Errorf("%s has no resource in this test", kind)
		}
		if e.Resource = c.resource; e.Resource == nil {
			continue
		}
		body, err := api.RenderEvent(e)
		if err != nil || !bytes.HasPrefix(body, bytes.TrimSuffix(envelope, []byte("}"))) {
			t.Errorf("%s: %s, %v", kind, body, err)
		}
		var fields map[string]any
		if err := json.Unmarshal(body, &fields); err != nil || len(fields) != 5 || fields[c.key] == nil {
			t.Errorf("%s: %s, %v, want a %s", kind, body, err, c.key)
		}
		e.Resource = 7
		if body, err := api.RenderEvent(e); err == nil {
			t.Errorf("%s of a number: %s", kind, body)
		}
	}
}
