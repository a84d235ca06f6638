package payments_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestCreateAgentQuote(t *testing.T) {
	t.Parallel()
	// An agent quotes payments from and to accounts of its customer, whom it need not name. Only the agent sees the
	// quote, which belongs to it from its creation and counts nothing.
	e := newAgentEnv(t, newIdleEnv(t))
	_, other := e.newAgent(e.Customer.ID)

	created, err := e.CreateAgentQuote(t.Context(), e.caller, e.quoteRequest(100_00), nil)
	if err != nil || created.Status != quote.Pending || created.Quote.Customer != e.Customer.ID {
		t.Fatalf("%+v, %v", created, err)
	}

	if stored := e.Transaction(created.Quote.Transaction); stored.Agent != e.agent.ID || stored.AgentUsage != nil {
		t.Errorf("stored %+v", stored)
	}
	if read, err := e.AgentQuote(t.Context(), e.caller, created.Quote.ID); err != nil || read.Quote.ID != created.Quote.ID ||
		read.Status != quote.Pending {
		t.Errorf("read %+v, %v", read, err)
	}
	_, err = e.AgentQuote(t.Context(), other, created.Quote.ID)
	apptest.WantFault(t, "read by another agent", err, fault.QuoteNotFound)
	_, err = e.ExecuteAgentQuote(t.Context(), other, created.Quote.ID, payments.Signature{}, nil)
	apptest.WantFault(t, "executed by another agent", err, fault.QuoteNotFound)
	entries, lines := e.trail()
	if last := entries[len(entries)-1]; !slices.Equal(lines, []string{"CREATE_QUOTE ALLOWED"}) || last.Quote != created.Quote.ID ||
		last.Transaction != created.Quote.Transaction ||
		last.Internal != e.from.ID || last.External != e.wallet.ID || last.Amount != dollarsOf(100_00) {
		t.Errorf("the trail is %q, %+v", lines, entries)
	}
	e.wantUsage(0, 0)
}

func TestCreateAgentQuote_JustInTimeCountsNothing(t *testing.T) {
	t.Parallel()
	// A quote that somebody pays just in time is no payment of the agent that created it.
	e := newAgentEnv(t, newEnv(t))
	created, err := e.CreateAgentQuote(t.Context(), e.caller, quote.Request{Source: quote.Source{Currency: "USD"},
		Destination: quote.Destination{External: e.wallet.ID}, Side: quote.Sending, Amount: 100_00}, nil)
	if err != nil || created.Quote.Customer != e.Customer.ID {
		t.Fatalf("%+v, %v", created, err)
	}
	_, err = e.ExecuteAgentQuote(t.Context(), e.caller, created.Quote.ID, payments.Signature{}, nil)
	apptest.WantFault(t, "executed", err, fault.QuoteNotExecutable)

	if _, err := e.Receive(t.Context(), e.receipt(created.Quote, "RTP", 100_00), nil); err != nil {
		t.Fatal(err)
	}
	e.WaitForState(created.Quote.Transaction, "COMPLETED")

	e.wantUsage(0, 0)
}

func TestCreateAgentQuote_Refused(t *testing.T) {
	t.Parallel()
	// What is not the customer's does not exist for its agent, and is not in its trail. What its policy refuses is.
	e := newAgentEnv(t, newIdleEnv(t))
	stranger := e.NewCustomer("bo")
	foreign, own := e.account(stranger.ID, "USD", 1_000_00), e.account(ident.Customer{}, "USD", 1_000_00)
	to := quote.Destination{External: e.wallet.ID}
	for name, c := range map[string]struct {
		from   quote.Source
		to     quote.Destination
		want   fault.Code
		fields []string
	}{
		"an account of another customer": {quote.Source{Internal: foreign.ID}, to, fault.InternalAccountNotFound, nil},
		"an account of the platform":     {quote.Source{Internal: own.ID}, to, fault.InternalAccountNotFound, nil},
		"another customer":               {quote.Source{Customer: stranger.ID, Currency: "USD"}, to, fault.UserNotFound, nil},
		"to an account of another customer": {quote.Source{Customer: e.Customer.ID, Currency: "EUR"}, quote.Destination{Internal: foreign.ID},
			fault.InternalAccountNotFound, nil},
	} {
		_, err := e.CreateAgentQuote(t.Context(), e.caller, quote.Request{Source: c.from, Destination: c.to, Side: quote.Sending, Amount: 10_00},
			nil)
		apptest.WantFault(t, name, err, c.want, c.fields...)
	}
	immediate := e.quoteRequest(10_00)
	immediate.ExecuteImmediately = true
	_, err := e.CreateAgentQuote(t.Context(), e.caller, immediate, nil)
	apptest.WantFault(t, "executed at once", err, fault.InvalidInput, "immediatelyExecute")
	if _, lines := e.trail(); len(lines) != 0 {
		t.Errorf("recorded %q", lines)
	}

	for name, change := range map[string]func(*agent.Agent){
		"paused":     func(a *agent.Agent) { a.Paused = true },
		"permission": func(a *agent.Agent) { a.Policy.Permissions = []agent.Permission{agent.ExecuteQuotes} },
		"account":    func(a *agent.Agent) { a.Policy.AllowedAccounts = []ident.InternalAccount{} },
	} {
		e.change(func(a *agent.Agent) { *a = e.agent; change(a) })
		_, err := e.CreateAgentQuote(t.Context(), e.caller, e.quoteRequest(10_00), nil)
		apptest.WantFault(t, name, err, fault.Forbidden)
	}
	if _, lines := e.trail(); !slices.Equal(lines, []string{"CREATE_QUOTE REFUSED", "CREATE_QUOTE REFUSED", "CREATE_QUOTE REFUSED"}) {
		t.Errorf("recorded %q", lines)
	}
}

func TestAgentPayment_RepeatedRequestWaitsOnce(t *testing.T) {
	t.Parallel()
	// A request that is repeated with its key, also at the same time and in another process, asks once.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	other := newService(e.Env, e.Store, nil)
	request := apptest.IdempotentRequest(e.caller, "key", func(result any) string { return result.(payments.AgentAction).ID.String() })
	request.Agent = e.agent.ID
	var mu sync.Mutex
	first, replayed := 0, map[string]bool{}
	var all sync.WaitGroup
	for i := range 10 {
		service := e.Service
		if i%2 == 1 {
			service = other
		}
		all.Go(func() {
			action, err := service.AgentTransferOut(t.Context(), e.caller, e.out(100_00), request)
			mu.Lock()
			defer mu.Unlock()
			replay := (*ports.Replay)(nil)
			switch {
			case err == nil:
				first++
				replayed[action.ID.String()] = true
			case errors.As(err, &replay):
				replayed[string(replay.Body)] = true
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()

	page, err := e.AgentActions(t.Context(), e.Platform.ID, ports.AgentActionFilter{Agent: e.agent.ID, Status: agent.ActionPending,
		Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 || first != 1 || len(replayed) != 1 || !replayed[page.Items[0].ID.String()] {
		t.Errorf("%d actions wait, %d were new, the responses name %v (%v)", len(page.Items), first, replayed, err)
	}
	if _, lines := e.trail(); len(lines) != 1 {
		t.Errorf("recorded %q", lines)
	}
}

func TestAgentPayment_FailingAndNewPaymentsAtOnce(t *testing.T) {
	t.Parallel()
	// Payments that fail give back while new ones of the same account are counted, in two processes: nothing
	// deadlocks, and in the end exactly what has not failed is counted.
	e := newAgentEnv(t, newEnv(t))
	refused := e.NewBankAccount("123456002")
	services := []*payments.Service{e.Service, newService(e.Env, e.Store, nil)}
	var mu sync.Mutex
	var failing []ident.Transaction
	var all sync.WaitGroup
	for i := range 60 {
		out := e.out(1_00)
		if i%2 == 0 {
			out.To = refused.ID
		}
		all.Go(func() {
			action, err := services[i%3%2].AgentTransferOut(t.Context(), e.caller, out, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if out.To == refused.ID {
				mu.Lock()
				defer mu.Unlock()
				failing = append(failing, action.Transaction.ID)
			}
		})
	}
	all.Wait()
	for _, id := range failing {
		e.waitForStatus(id, transaction.Failed)
	}

	e.wantUsage(30, 30_00)
}

func TestAgentPayment_DeletedWhileRequestsRun(t *testing.T) {
	t.Parallel()
	// Once the deletion of an agent is committed nothing more starts, whatever was running; what started before is
	// counted.
	e := newAgentEnv(t, newIdleEnv(t))
	var mu sync.Mutex
	paid := int64(0)
	var all sync.WaitGroup
	started := make(chan struct{}, 100)
	for range 50 {
		all.Go(func() {
			_, err := e.AgentTransferOut(t.Context(), e.caller, e.out(1_00), nil)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				paid++
			case !fault.Is(err, fault.Unauthorized):
				t.Error(err)
			}
			started <- struct{}{}
		})
	}
	<-started
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.DeleteAgent(ctx, e.Platform.ID, e.agent.ID)
	})
	counted := e.usage().Transactions
	all.Wait()

	e.wantUsage(counted, counted*1_00)
	if paid != counted {
		t.Errorf("%d were paid, and %d counted when the agent was deleted", paid, counted)
	}
	_, err := e.AgentTransferOut(t.Context(), platform.Principal{Platform: e.Platform.ID, Agent: e.agent.ID, Customer: e.Customer.ID},
		e.out(1_00), nil)
	apptest.WantFault(t, "afterwards", err, fault.Unauthorized)
}
