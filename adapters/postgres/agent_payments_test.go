package postgres_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ports"
)

const today = "2026-03-14"

// newAgentOf stores a customer and an agent of it.
func (c *env) newAgentOf(t *testing.T, name string) (customer.Customer, agent.Agent) {
	t.Helper()
	owner := newCustomer(c.platform, name)
	c.createCustomers(t, owner)
	a := newAgent(owner)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgent(ctx, a) })
	return owner, a
}

// newAgentPayment returns a payment of 12.50 USD that an agent has started.
func newAgentPayment(a agent.Agent) transaction.Transaction {
	t := newIncoming(a.Platform, a.Customer, ident.NewInternalAccount(generator.New, noon), "$bo@bank.example")
	t.State.Status, t.Agent, t.AgentUsage = transaction.Processing, a.ID, &transaction.AgentUsage{Day: today}
	return t
}

// start stores payments of an agent and counts them.
func (c *env) start(t *testing.T, payments ...transaction.Transaction) {
	t.Helper()
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for _, p := range payments {
			count := ports.AgentCount{Agent: p.Agent, Counter: agent.Counter{Day: p.AgentUsage.Day, Currency: p.Pricing.Sent.Currency,
				Transactions: 1, Spent: p.Pricing.Sent.Minor}}
			if err := tx.AddAgentUsage(ctx, p.Platform, []ports.AgentCount{count}); err != nil {
				return err
			}
		}
		return tx.CreateTransactions(ctx, payments)
	})
}

// fail makes payments fail as a use case does.
func fail(ctx context.Context, tx *postgres.Unit, payments ...transaction.Transaction) error {
	var failed []transaction.Transaction
	for _, p := range payments {
		p.State.Status, p.AgentUsage = transaction.Failed, &transaction.AgentUsage{Day: p.AgentUsage.Day, GivenBack: true}
		failed = append(failed, p)
	}
	if err := tx.GiveBackUsage(ctx, failed); err != nil {
		return err
	}
	return tx.UpdateTransactions(ctx, failed)
}

func (c *env) wantCounters(t *testing.T, a agent.Agent, want ...agent.Counter) {
	t.Helper()
	counters, err := c.AgentCounters(t.Context(), a.Platform, []ident.Agent{a.ID}, "2026-03")
	if got := counters[a.ID]; err != nil || !slices.Equal(got, want) {
		t.Errorf("counters %+v, %v\nwant %+v", got, err, want)
	}
}

func TestAgentPayments_TransactionKeepsAgentAndUsage(t *testing.T) {
	t.Parallel()
	// A transaction is read with its agent, and counts from when the agent starts it, whether that is at its
	// creation or later. The list of an agent has its transactions only.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	_, other := c.newAgentOf(t, "bob")
	transfer, quoted, elses := newAgentPayment(a), newAgentPayment(a), newAgentPayment(other)
	quoted.AgentUsage, quoted.State = nil, transaction.Initial
	own := newIncoming(a.Platform, a.Customer, ident.NewInternalAccount(generator.New, noon), "")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateTransactions(ctx, []transaction.Transaction{transfer, quoted, elses, own})
	})
	check := func(want ...transaction.Transaction) {
		t.Helper()
		for _, w := range want {
			w.PlatformCustomerID = "ana"
			if read, err := c.Transaction(t.Context(), c.platform.ID, w.ID); err != nil || !reflect.DeepEqual(read, w) {
				t.Errorf("%v\nread %+v\nwant %+v", err, read, w)
			}
		}
	}
	check(transfer, quoted, own)

	quoted.State.Status, quoted.AgentUsage = transaction.Processing, &transaction.AgentUsage{Day: today}
	transfer.State.Status, transfer.AgentUsage = transaction.Failed, &transaction.AgentUsage{Day: today, GivenBack: true}
	own.UpdatedAt = noon.Add(time.Minute)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.UpdateTransactions(ctx, []transaction.Transaction{quoted, transfer, own})
	})

	check(transfer, quoted, own)
	page, err := c.Transactions(t.Context(), c.platform.ID, ports.TransactionFilter{Agent: a.ID, Paging: ports.Paging{Limit: 10}})
	if err != nil || page.Total != 2 || len(page.Items) != 2 || page.Items[0].ID != quoted.ID || page.Items[1].ID != transfer.ID {
		t.Errorf("listed %+v, %v", page, err)
	}
}

func TestAgentUsage_IsCountedAndGivenBackOnce(t *testing.T) {
	t.Parallel()
	// Payments are counted by day and currency, also several of one batch. One that fails is given back to its
	// day, however often that is repeated, and after the agent was deleted too.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	_, other := c.newAgentOf(t, "bob")
	one, two, yesterday, foreign := newAgentPayment(a), newAgentPayment(a), newAgentPayment(a), newAgentPayment(other)
	yesterday.AgentUsage = &transaction.AgentUsage{Day: "2026-03-13"}
	euros := newAgentPayment(a)
	euros.Pricing.Sent.Currency = "EUR"
	c.start(t, one, two, yesterday, euros, foreign)
	count := ports.AgentCount{Agent: a.ID, Counter: agent.Counter{Day: "2026-02-28", Currency: "USD", Transactions: 1, Spent: 5}}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.AddAgentUsage(ctx, a.Platform, []ports.AgentCount{count, count})
	})
	c.wantCounters(t, a, agent.Counter{Day: "2026-03-13", Currency: "USD", Transactions: 1, Spent: 12_50},
		agent.Counter{Day: today, Currency: "EUR", Transactions: 1, Spent: 12_50}, agent.Counter{Day: today, Currency: "USD",
			Transactions: 2, Spent: 25_00})
	february, err := c.AgentCounters(t.Context(), a.Platform, []ident.Agent{a.ID, other.ID}, "2026-02")
	if want := (agent.Counter{Day: "2026-02-28", Currency: "USD", Transactions: 2, Spent: 10}); err != nil || len(february) != 1 ||
		!slices.Equal(february[a.ID], agent.Counters{want}) {
		t.Errorf("counters of February %+v, %v", february, err)
	}

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := fail(ctx, tx, one, yesterday); err != nil {
			return err
		}
		return fail(ctx, tx, one)
	})
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.DeleteAgent(ctx, a.Platform, a.ID) })
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return fail(ctx, tx, yesterday, euros) })

	c.wantCounters(t, a, agent.Counter{Day: "2026-03-13", Currency: "USD"}, agent.Counter{Day: today, Currency: "EUR"},
		agent.Counter{Day: today, Currency: "USD", Transactions: 1, Spent: 12_50})
	c.wantCounters(t, other, agent.Counter{Day: today, Currency: "USD", Transactions: 1, Spent: 12_50})
}

func TestAgentUsage_DamagedCounterKeepsNoPaymentFromFailing(t *testing.T) {
	t.Parallel()
	// A counter that is lower than what is given back, or that is missing, is an error of the audit and does not
	// keep a payment from failing.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	one, two, three := newAgentPayment(a), newAgentPayment(a), newAgentPayment(a)
	c.start(t, one, two, three)
	owner := connect(t, c.url)
	exec(t, owner, "UPDATE agent_usage SET spent = 1, transactions = 0")

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return fail(ctx, tx, one, two) })
	c.wantCounters(t, a, agent.Counter{Day: today, Currency: "USD"})
	exec(t, owner, "DELETE FROM agent_usage")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return fail(ctx, tx, three) })

	for _, p := range []transaction.Transaction{one, two, three} {
		if read, err := c.Transaction(t.Context(), a.Platform, p.ID); err != nil || read.State.Status != transaction.Failed ||
			!read.AgentUsage.GivenBack {
			t.Errorf("read %+v, %+v, %v", read.State, read.AgentUsage, err)
		}
	}
}

func TestLockAgents_SeesWhatItWaitedFor(t *testing.T) {
	t.Parallel()
	// Two hundred payments at the same time that each read the counters, and count themselves only if there are
	// less than ten, are ten: whatever their currencies, and whatever isolation is the default of the database.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	exec(t, connect(t, c.url), `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), 'repeatable read');
	END $$`)
	db := openDB(t, c.url)
	const attempts, limit = 200, 10
	transactions := func(counters agent.Counters) (n int64) {
		for _, counter := range counters {
			n += counter.Transactions
		}
		return n
	}
	done := make(chan error, attempts)
	for i := range attempts {
		counter := agent.Counter{Day: today, Currency: []money.Currency{"USD", "EUR", "GBP", "JPY"}[i%4], Transactions: 1, Spent: 7}
		go func() {
			done <- db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				locked, err := tx.LockAgents(ctx, a.Platform, []ident.Agent{a.ID}, "2026-03")
				if err != nil || transactions(locked[a.ID].Counters) >= limit {
					return err
				}
				return tx.AddAgentUsage(ctx, a.Platform, []ports.AgentCount{{Agent: a.ID, Counter: counter}})
			})
		}()
	}
	for range attempts {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if counters, err := c.AgentCounters(t.Context(), a.Platform, []ident.Agent{a.ID}, "2026-03"); err != nil ||
		transactions(counters[a.ID]) != limit {
		t.Errorf("counters %+v, %v; want %d transactions", counters, err, limit)
	}
}

func TestAgentUsage_ConcurrentChangesAreExact(t *testing.T) {
	t.Parallel()
	// Payments that start and payments that fail at the same time, in batches that name the agents in different
	// orders, leave exact counters.
	c := newEnv(t)
	agents := make([]agent.Agent, 3)
	var failing []transaction.Transaction
	for i := range agents {
		_, agents[i] = c.newAgentOf(t, numberedName("ana", i))
		for range 8 {
			failing = append(failing, newAgentPayment(agents[i]))
		}
	}
	c.start(t, failing...)
	const workers = 8
	done := make(chan error, 2*workers)
	for i := range workers {
		batch := []transaction.Transaction{failing[i], failing[8+i], failing[16+i]}
		if i%2 == 1 {
			slices.Reverse(batch)
		}
		go func() {
			done <- c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return fail(ctx, tx, batch...) })
		}()
		go func() {
			done <- c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				var counts []ports.AgentCount
				for _, p := range batch {
					counts = append(counts, ports.AgentCount{Agent: p.Agent, Counter: agent.Counter{Day: today, Currency: "USD",
						Transactions: 1, Spent: 1}})
				}
				return tx.AddAgentUsage(ctx, c.platform.ID, counts)
			})
		}()
	}
	for range 2 * workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, a := range agents {
		c.wantCounters(t, a, agent.Counter{Day: today, Currency: "USD", Transactions: workers, Spent: workers})
	}
}

func TestLockAgents_ReturnsThoseOfThePlatform(t *testing.T) {
	t.Parallel()
	// Agents are read as they are stored, with the counters of the month and the number of actions that wait, and no
	// other platform's. What does not exist is omitted. A month that is none is an error.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	a.Name, a.TokenHash, a.ConnectedAt, a.Policy.AllowedAccounts = "Other", agent.TokenHash{1}, noon, []ident.InternalAccount{}
	bob := newCustomer(c.otherPlatform, "bob")
	c.createCustomers(t, bob)
	there := newAgent(bob)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.UpdateAgent(ctx, a); err != nil {
			return err
		}
		if err := tx.CreateAgent(ctx, there); err != nil {
			return err
		}
		decided, err := newTransferAction(a).Reject("", ident.Token{}, noon)
		if err != nil {
			return err
		}
		if err := tx.CreateAgentActions(ctx, []agent.Action{newAction(a), newTransferAction(a), decided, newAction(there)}); err != nil {
			return err
		}
		return tx.AddAgentUsage(ctx, a.Platform,
			[]ports.AgentCount{{Agent: a.ID, Counter: agent.Counter{Day: today, Currency: "USD", Transactions: 1, Spent: 2}}})
	})
	asked := []ident.Agent{there.ID, ident.NewAgent(generator.New, noon), a.ID}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for month, counters := range map[string]agent.Counters{"2026-03": {{Day: today, Currency: "USD", Transactions: 1, Spent: 2}},
			"2026-04": nil} {
			want := map[ident.Agent]ports.CountedAgent{a.ID: {Agent: a, Counters: counters, Waiting: 2}}
			if got, err := tx.LockAgents(ctx, a.Platform, asked, month); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v\nwant %+v", month, got, err, want)
			}
		}
		return nil
	})
	if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		_, err := tx.LockAgents(ctx, a.Platform, asked, "March")
		return err
	}); err == nil || !strings.Contains(err.Error(), `"March"`) {
		t.Errorf("a month that is none: %v", err)
	}
}

// newAction returns an action of an agent that waits for approval, for a quote.
func newAction(a agent.Agent) agent.Action {
	return agent.Action{ID: ident.NewAgentAction(generator.New, noon), Platform: a.Platform, Agent: a.ID, Customer: a.Customer,
		PlatformCustomerID: "ana",
		Type:               agent.ExecuteQuote, Status: agent.ActionPending, Quote: ident.NewQuote(generator.New, noon), Signature: "signed",
		CreatedAt: noon, UpdatedAt: noon}
}

func newTransferAction(a agent.Agent) agent.Action {
	action := newAction(a)
	action.Type, action.Quote, action.Signature = agent.TransferOut, ident.Quote{}, ""
	action.Transfer = &agent.Transfer{Internal: ident.NewInternalAccount(generator.New, noon),
		External: ident.NewExternalAccount(generator.New, noon),
		Amount:   money.Amount{Minor: 7, Currency: "USD"}, Rail: "ACH"}
	return action
}

func TestAgentActions_ReadAsStored(t *testing.T) {
	t.Parallel()
	// Every field of an action is read as it was stored last, and is stored once. What the platform wrote is
	// stored encrypted. Another platform has no such action.
	c := newEnv(t)
	db := openEncrypting(t, c)
	_, a := c.newAgentOf(t, "ana")
	quoted, transfer, rejected, failed := newAction(a), newTransferAction(a), newAction(a), newTransferAction(a)
	failed.Type, failed.Transfer.Rail = agent.TransferIn, ""
	all := []agent.Action{quoted, transfer, rejected, failed}
	check := func() {
		t.Helper()
		locked := map[ident.AgentAction]agent.Action{}
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) (err error) {
			locked, err = tx.LockAgentActions(ctx, a.Platform, []ident.AgentAction{failed.ID, quoted.ID, transfer.ID, rejected.ID,
				ident.NewAgentAction(generator.New, noon)})
			return err
		}); err != nil || len(locked) != len(all) {
			t.Errorf("locked %d, %v", len(locked), err)
		}
		for _, want := range all {
			if got, err := db.AgentAction(t.Context(), a.Platform, want.ID); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("read %+v, %v\nwant %+v", got, err, want)
			}
			if got := locked[want.ID]; !reflect.DeepEqual(got, want) {
				t.Errorf("locked %+v\nwant %+v", got, want)
			}
		}
	}
	for range 2 {
		if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateAgentActions(ctx, all) }); err != nil {
			t.Fatal(err)
		}
	}
	check()

	token := ident.NewToken(generator.New, noon)
	for i := range all {
		all[i].UpdatedAt, all[i].DecidedAt, all[i].DecidedBy = noon.Add(time.Hour), noon.Add(time.Minute), token
	}
	all[0].Status, all[0].Transaction = agent.ActionApproved, ident.NewTransaction(generator.New, noon)
	all[1].Status, all[1].Transaction, all[1].DecidedBy = agent.ActionApproved, ident.NewTransaction(generator.New, noon), ident.Token{}
	all[2].Status, all[2].RejectionReason = agent.ActionRejected, "Not to Bo Berg"
	all[3].Status, all[3].Failure = agent.ActionFailed, &agent.Failure{Code: fault.QuoteExpired, Message: "The quote has expired."}
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateAgentActions(ctx, all) }); err != nil {
		t.Fatal(err)
	}
	check()
	var reasons string
	if err := connect(t, c.url).QueryRow(t.Context(), "SELECT string_agg(reason, ' ') FROM agent_actions").Scan(&reasons); err != nil ||
		strings.Contains(reasons, "Bo Berg") || len(reasons) < 40 {
		t.Errorf("stored %q, %v", reasons, err)
	}
	if _, err := db.AgentAction(t.Context(), c.otherPlatform.ID, quoted.ID); !fault.Is(err, fault.AgentActionNotFound) {
		t.Errorf("of another platform: %v", err)
	}
	twice := newAction(a)
	twice.Status, twice.Transaction = agent.ActionApproved, all[0].Transaction
	if err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateAgentActions(ctx,
			[]agent.Action{twice})
	}); err == nil {
		t.Error("two actions have one transaction")
	}
}

func TestAgentActions_List(t *testing.T) {
	t.Parallel()
	// Actions are listed newest first, by agent, customer, status and time.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	_, b := c.newAgentOf(t, "bob")
	first, second, third := newAction(a), newTransferAction(b), newTransferAction(a)
	second.Status, second.Transaction = agent.ActionApproved, ident.NewTransaction(generator.New, noon)
	third.CreatedAt = noon.Add(time.Second)
	there := newAction(a)
	there.Platform = c.otherPlatform.ID
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateAgentActions(ctx, []agent.Action{first, second, third, there})
	})
	for name, test := range map[string]struct {
		filter ports.AgentActionFilter
		want   []ident.AgentAction
	}{
		"all":                {ports.AgentActionFilter{}, []ident.AgentAction{third.ID, second.ID, first.ID}},
		"first page":         {ports.AgentActionFilter{Paging: ports.Paging{Limit: 1, Ascending: true}}, []ident.AgentAction{first.ID}},
		"agent":              {ports.AgentActionFilter{Agent: a.ID}, []ident.AgentAction{third.ID, first.ID}},
		"customer":           {ports.AgentActionFilter{Customer: b.Customer}, []ident.AgentAction{second.ID}},
		"waiting":            {ports.AgentActionFilter{Status: agent.ActionPending}, []ident.AgentAction{third.ID, first.ID}},
		"waiting, of others": {ports.AgentActionFilter{Status: agent.ActionPending, Agent: b.ID}, nil},
		"approved":           {ports.AgentActionFilter{Status: agent.ActionApproved}, []ident.AgentAction{second.ID}},
		"time":               {ports.AgentActionFilter{Created: period.Interval{From: noon.Add(time.Second)}}, []ident.AgentAction{third.ID}},
		"time of the others": {ports.AgentActionFilter{Created: period.Interval{To: noon.Add(time.Second)}},
			[]ident.AgentAction{second.ID, first.ID}},
	} {
		if test.filter.Limit == 0 {
			test.filter.Limit = 10
		}
		page, err := c.AgentActions(t.Context(), c.platform.ID, test.filter)
		var got []ident.AgentAction
		for _, found := range page.Items {
			got = append(got, found.ID)
		}
		if err != nil || !slices.Equal(got, test.want) || page.More != (name == "first page") {
			t.Errorf("%s: %v, %v; want %v", name, got, err, test.want)
		}
	}
}

// newAttempt returns an attempt that has only what every attempt has.
func newAttempt(a agent.Agent) agent.Attempt {
	return agent.Attempt{ID: ident.NewAgentAttempt(generator.New, noon), Platform: a.Platform, Agent: a.ID, Customer: a.Customer, At: noon,
		Operation: agent.OpDeleteExternalAccount, Decision: agent.Allowed}
}

func TestAgentAttempts_ReadAsStored(t *testing.T) {
	t.Parallel()
	// Every field of an attempt is read as it was stored, once. They are listed newest first, by agent,
	// transaction, decision and time; and the service can neither change nor delete them.
	c := newEnv(t)
	_, a := c.newAgentOf(t, "ana")
	_, b := c.newAgentOf(t, "bob")
	small, full, late := newAttempt(a), newAttempt(a), newAttempt(b)
	full.Operation, full.Decision, full.Error = agent.OpTransferOut, agent.Refused, fault.InsufficientBalance
	full.Reasons = []agent.Reason{{Code: agent.DailyLimit, Message: "200.00 USD a day"}, {Code: agent.AgentPaused, Message: "Paused"}}
	full.Amount = money.Amount{Minor: 5, Currency: "USD"}
	full.Internal, full.External = ident.NewInternalAccount(generator.New, noon), ident.NewExternalAccount(generator.New, noon)
	full.Quote, full.Transaction = ident.NewQuote(generator.New, noon), ident.NewTransaction(generator.New, noon)
	full.Action, full.Token = ident.NewAgentAction(generator.New, noon), ident.NewToken(generator.New, noon)
	late.At, late.Decision = noon.Add(time.Second), agent.NeedsApproval
	there := newAttempt(a)
	there.Platform = c.otherPlatform.ID
	for range 2 {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			return tx.SaveAgentAttempts(ctx, []agent.Attempt{small, full, late, there})
		})
	}
	for name, test := range map[string]struct {
		filter ports.AgentAttemptFilter
		want   []agent.Attempt
	}{
		"all":         {ports.AgentAttemptFilter{}, []agent.Attempt{late, full, small}},
		"agent":       {ports.AgentAttemptFilter{Agent: a.ID}, []agent.Attempt{full, small}},
		"transaction": {ports.AgentAttemptFilter{Transaction: full.Transaction}, []agent.Attempt{full}},
		"decision":    {ports.AgentAttemptFilter{Decision: agent.Allowed}, []agent.Attempt{small}},
		"from":        {ports.AgentAttemptFilter{At: period.Interval{From: noon.Add(time.Second)}}, []agent.Attempt{late}},
		"to":          {ports.AgentAttemptFilter{At: period.Interval{To: noon.Add(time.Second)}}, []agent.Attempt{full, small}},
	} {
		test.filter.Limit = 10
		page, err := c.AgentAttempts(t.Context(), c.platform.ID, test.filter)
		if err != nil || !reflect.DeepEqual(page.Items, test.want) || page.Total != int64(len(test.want)) {
			t.Errorf("%s: %+v, %v\nwant %+v", name, page, err, test.want)
		}
	}
	service := connect(t, c.url)
	exec(t, service, "SET ROLE causeway_service")
	for _, statement := range []string{"UPDATE agent_attempts SET decision = 'ALLOWED'", "DELETE FROM agent_attempts",
		"DELETE FROM agent_actions", "UPDATE agent_actions SET amount = 1"} {
		if _, err := service.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestQuotesByKey_ReturnsThemWithTransactions(t *testing.T) {
	t.Parallel()
	// Quotes are read as one by one, those of the asked platform only.
	c := newRetentionEnv(t)
	stored, _ := c.insertQuote(t, noon, "")
	var id ident.Quote
	id.SetUUID(stored)
	want, paid, err := c.Quote(t.Context(), c.platform.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	key := ports.QuoteKey{Platform: c.platform.ID, ID: id}
	got, err := c.QuotesByKey(t.Context(), []ports.QuoteKey{key, {Platform: c.otherPlatform.ID, ID: id},
		{Platform: c.platform.ID, ID: ident.NewQuote(generator.New, noon)}})
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[key].Quote, want) || !reflect.DeepEqual(got[key].Transaction, paid) ||
		paid.ID.UUID() == (uuid.UUID{}) {
		t.Errorf("read %+v, %v", got, err)
	}
}
