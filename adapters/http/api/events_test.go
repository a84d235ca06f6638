package api_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/http/api"
	"causeway/app/payments"
	"causeway/app/receivers"
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

func TestEvents_RenderEveryKind(t *testing.T) {
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
		event.ExternalAccountStatus: {account.External{}, "externalAccount"},
		event.CustomerStatus:        {customer.Customer{}, "customer"},
		event.VerificationStatus:    {verification.Verification{}, "verification"},
		event.BulkUpload:            {customer.ImportWithErrors{}, "bulkUpload"},
		event.Invitation:            {invitation.Invitation{}, "invitation"},
		event.AgentAction:           {payments.AgentAction{}, "agentAction"},
		event.SafeguardingReport:    {ports.KeptReport{}, "safeguardingReport"},
		event.LedgerAsset:           {treasury.Overdraft{}, "ledgerAsset"},
		event.LedgerProposal:        {proposal.Proposal{}, "proposal"},
		event.Receivable:            {receivable.Receivable{}, "receivable"},
		event.UMAInvoice:            {receivers.UMAInvoice{}, "umaInvoice"},
		event.Test:                  {},
	}
	if len(resources) != len(api.Events) {
		t.Errorf("%d types have a resource here, want %d", len(resources), len(api.Events))
	}
	render := func(e event.Event) ([]byte, error) {
		rendered, err := api.Events.Render(e)
		return rendered.Body, err
	}
	for _, k := range api.Events {
		e, kind := event.NewTest(ident.NewWebhook(idGenerator.New, noon), ident.Platform{}, noon), k.Type
		e.Type, e.Name = kind, k.Names[0]
		envelope, err := render(e)
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
		body, err := render(e)
		if err != nil || !bytes.HasPrefix(body, bytes.TrimSuffix(envelope, []byte("}"))) {
			t.Errorf("%s: %s, %v", kind, body, err)
		}
		var fields map[string]any
		if err := json.Unmarshal(body, &fields); err != nil || len(fields) != 5 || fields[c.key] == nil {
			t.Errorf("%s: %s, %v, want a %s", kind, body, err, c.key)
		}
		e.Resource = 7
		if body, err := render(e); err == nil {
			t.Errorf("%s of a number: %s", kind, body)
		}
	}
}

func TestEvents_Names(t *testing.T) {
	t.Parallel()
	// Every type is registered once and has names, each name belongs to one type, and all but TEST are dotted. The names that
	// are made of a status are among them.
	var types []event.Type
	var names []string
	for _, kind := range api.Events {
		if len(kind.Names) == 0 || slices.Contains(types, kind.Type) {
			t.Errorf("%s has no names, or is registered twice", kind.Type)
		}
		types = append(types, kind.Type)
		for _, name := range kind.Names {
			if got, ok := api.Events.TypeOf(name); !ok || got != kind.Type {
				t.Errorf("TypeOf(%s) = %s, %v, want %s", name, got, ok, kind.Type)
			}
			if slices.Contains(names, name) {
				t.Errorf("%s belongs to two types", name)
			}
			names = append(names, name)
			if kind.Type != event.Test && !strings.Contains(name, ".") {
				t.Errorf("%s: no dot", name)
			}
			if event.SentOnce(name) != (kind.Type == event.Test || name == event.IncomingPaymentPending) {
				t.Errorf("SentOnce(%s) = %v", name, event.SentOnce(name))
			}
		}
	}
	if !slices.Equal(api.Events.Types(), types) {
		t.Errorf("types %q, want %q", api.Events.Types(), types)
	}
	if _, ok := api.Events.TypeOf("OUTGOING_PAYMENT"); ok {
		t.Error("the name of a type is accepted as the name of an event")
	}
	emitted := map[string]event.Type{}
	for _, status := range []customer.Status{customer.Pending, customer.Approved, customer.Rejected} {
		for _, kind := range []customer.Type{customer.Individual, customer.Business} {
			e := customer.Customer{Type: kind, Status: status}.StatusEvent(ident.Webhook{})
			emitted[e.Name] = e.Type
		}
	}
	for _, status := range verification.Statuses {
		change := verification.Change{Steps: []verification.Verification{{Status: status}}}
		for _, e := range change.Events(func() ident.Webhook { return ident.Webhook{} }) {
			emitted[e.Name] = e.Type
		}
	}
	for name, kind := range emitted {
		if got, _ := api.Events.TypeOf(name); got != kind {
			t.Errorf("%s is emitted as %s, and registered for %q", name, kind, got)
		}
	}
}
