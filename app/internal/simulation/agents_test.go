package simulation_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// agentTables is what the service stores about agents.
type agentTables struct {
	agents   map[ident.Agent]agent.Agent
	usage    map[usageKey]agent.Counter
	actions  map[ident.AgentAction]agent.Action
	attempts map[ident.AgentAttempt]agent.Attempt
}

// usageKey is a counter of an agent.
type usageKey struct {
	agent    ident.Agent
	day      string
	currency money.Currency
}

func newAgentTables() agentTables {
	return agentTables{agents: map[ident.Agent]agent.Agent{}, usage: map[usageKey]agent.Counter{},
		actions: map[ident.AgentAction]agent.Action{}, attempts: map[ident.AgentAttempt]agent.Attempt{}}
}

// addAgent creates the agent of a customer. It reaches its limits after a few payments.
func (w *world) addAgent(c customer.Customer) {
	threshold := int64(90_00)
	a := agent.Agent{ID: ident.NewAgent(w.newID, w.now), Platform: c.Platform, Customer: c.ID, Name: "assistant", CreatedAt: w.now,
		UpdatedAt: w.now, Policy: agent.Policy{
			Permissions: agent.Permissions, DefaultMode: agent.Auto,
			Limits:    agent.SpendingLimits{Currency: money.USD, PerTransaction: 110_00, Daily: 200_00, DailyTransactions: 3, Monthly: 300_00},
			Threshold: agent.ApprovalThreshold{Currency: money.USD, Amount: &threshold},
		}}
	w.agents[a.ID] = a
}

// changeAgent pauses an agent or changes its policy, or replaces it by another one: then what waits is rejected, as the
// database does it.
func (w *world) changeAgent() {
	a := w.agents[pick(w, sortedKeys(w.agents))]
	switch w.random.IntN(12) {
	case 0:
		delete(w.agents, a.ID)
		for _, id := range sortedKeys(w.actions) {
			if waiting := w.actions[id]; waiting.Agent == a.ID && waiting.Status == agent.ActionPending {
				waiting.Status, waiting.RejectionReason = agent.ActionRejected, agent.AgentDeletedReason
				w.actions[id] = waiting
			}
		}
		w.addAgent(w.customers[a.Customer])
		w.record("agent %s is replaced", a.ID)
		return
	case 1:
		a.Paused = true
	case 2:
		a.Policy.DefaultMode = agent.ApprovalRequired
	case 3, 4:
		a.Policy.Limits.Daily = 100_00 * int64(1+w.random.IntN(5))
	case 5, 6:
		a.Policy.Limits.DailyTransactions = 1 + w.random.Int64N(6)
	case 7, 8:
		a.Policy.Limits.Monthly = 150_00 * w.random.Int64N(3) // zero: none
	default:
		a.Paused, a.Policy.DefaultMode = false, agent.Auto
	}
	w.agents[a.ID] = a
	w.record("agent %s is changed: paused %t, limits %+v, %s", a.ID, a.Paused, a.Policy.Limits, a.Policy.DefaultMode)
}

func (u *tx) LockAgents(_ context.Context, p ident.Platform, ids []ident.Agent, month string) (map[ident.Agent]ports.CountedAgent, error) {
	u.writes(p)
	found := map[ident.Agent]ports.CountedAgent{}
	for _, id := range ids {
		if a, exists := u.agents[id]; exists {
			found[id] = ports.CountedAgent{Agent: a, Counters: u.countersOf(id, month)}
		}
	}
	return found, nil
}

func (m *memory) countersOf(id ident.Agent, month string) (found agent.Counters) {
	for key, counter := range m.usage {
		if key.agent == id && strings.HasPrefix(key.day, month) {
			found = append(found, counter)
		}
	}
	slices.SortFunc(found, func(a, b agent.Counter) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Currency, b.Currency))
	})
	return found
}

// AddAgentUsage counts payments, and fails the run if an agent has then exceeded a limit.
func (u *tx) AddAgentUsage(ctx context.Context, p ident.Platform, counted []ports.AgentCount) error {
	u.writes(p)
	for _, c := range counted {
		if c.Day != agent.DayOf(u.now) {
			u.world.fail("a payment of %s is counted on %s", u.now, c.Day)
		}
		u.addUsage(usageKey{c.Agent, c.Day, c.Currency}, c.Transactions, c.Spent)
	}
	for _, c := range counted {
		a := u.agents[c.Agent]
		usage, err := a.UsageAt(u.countersOf(c.Agent, agent.MonthOf(u.now)), u.now,
			func(amount money.Amount, to money.Currency) (money.Amount, error) {
				r, err := u.world.market.Rate(ctx, amount.Currency, to, u.now)
				if err != nil {
					return money.Amount{}, err
				}
				minor, err := r.Rate.Ceil(amount.Minor)
				return money.Amount{Minor: minor, Currency: to}, err
			})
		limits := a.Policy.Limits
		if err != nil || usage.DailySpend > limits.Daily || int64(usage.DailyTransactionCount) > limits.DailyTransactions || limits.Monthly > 0 &&
			usage.MonthlySpend > limits.Monthly || a.Paused {
			u.world.fail("the agent %s with the limits %+v (paused %t) has spent %+v, %v", c.Agent, limits, a.Paused, usage, err)
		}
	}
	return nil
}

func (m *memory) addUsage(key usageKey, transactions, spent int64) {
	counter := m.usage[key]
	put(m, m.usage, key, agent.Counter{Day: key.day, Currency: key.currency, Transactions: counter.Transactions + transactions,
		Spent: counter.Spent + spent})
}

func (u *tx) giveBackAgentUsage(_ context.Context, transactions []transaction.Transaction) error {
	for _, t := range transactions {
		if before := u.transactions[t.ID].AgentUsage; t.AgentUsage != nil && t.AgentUsage.GivenBack && before != nil && !before.GivenBack {
			u.addUsage(usageKey{t.Agent, t.AgentUsage.Day, t.Pricing.Sent.Currency}, -1, -t.Pricing.Sent.Minor)
		}
	}
	return nil
}

func (u *tx) CreateAgentActions(_ context.Context, actions []agent.Action) error {
	for _, a := range actions {
		u.writes(a.Platform)
		if _, exists := u.actions[a.ID]; !exists {
			put(u.memory, u.actions, a.ID, a)
		}
	}
	return nil
}

func (u *tx) LockAgentActions(_ context.Context, p ident.Platform, ids []ident.AgentAction) (map[ident.AgentAction]agent.Action, error) {
	u.writes(p)
	found := map[ident.AgentAction]agent.Action{}
	for _, id := range ids {
		if a, exists := u.actions[id]; exists {
			found[id] = a
		}
	}
	return found, nil
}

func (u *tx) LockWaitingAgentActions(_ context.Context, p ident.Platform, quotes []ident.Quote) (map[ident.Quote]agent.Action, error) {
	u.writes(p)
	found := map[ident.Quote]agent.Action{}
	for _, a := range u.actions {
		if a.Status == agent.ActionPending && slices.Contains(quotes, a.Quote) {
			found[a.Quote] = a
		}
	}
	return found, nil
}

func (u *tx) UpdateAgentActions(_ context.Context, actions []agent.Action) error {
	for _, a := range actions {
		u.writes(a.Platform)
		if before := u.actions[a.ID]; before.Status != agent.ActionPending {
			u.world.fail("the action %s is %s, and becomes %s", a.ID, before.Status, a.Status)
		}
		put(u.memory, u.actions, a.ID, a)
	}
	return nil
}

func (u *tx) SaveAgentAttempts(_ context.Context, attempts []agent.Attempt) error {
	for _, a := range attempts {
		u.writes(a.Platform)
		if _, exists := u.attempts[a.ID]; !exists {
			put(u.memory, u.attempts, a.ID, a)
		}
	}
	return nil
}

func (s store) AgentAction(ctx context.Context, _ ident.Platform, id ident.AgentAction) (agent.Action, error) {
	if err := s.read(ctx, "action"); err != nil {
		return agent.Action{}, err
	}
	a, exists := s.world.actions[id]
	if !exists {
		return a, agent.ActionNotFound(id)
	}
	return a, nil
}

func (s store) QuotesByKey(ctx context.Context, keys []ports.QuoteKey) (map[ports.QuoteKey]ports.QuoteState, error) {
	if err := s.read(ctx, "quotes"); err != nil {
		return nil, err
	}
	found := map[ports.QuoteKey]ports.QuoteState{}
	for _, k := range keys {
		if q, exists := s.world.quotes[k.ID]; exists {
			found[k] = ports.QuoteState{Quote: q, Transaction: s.world.transactions[q.Transaction]}
		}
	}
	return found, nil
}

// busyAccount returns the account that is used mostly, or sometimes another one. After a while it changes.
func (w *world) busyAccount(other ident.InternalAccount) ident.InternalAccount {
	if w.busy.IsZero() || w.chance(30) {
		w.busy = other
	}
	return choose(w.chance(4), other, w.busy)
}

// agentOf makes an intent one of the agent of the customer that owns an account.
func (w *world) agentOf(i *intent, in ident.InternalAccount) platform.Principal {
	for _, id := range sortedKeys(w.agents) {
		if a := w.agents[id]; a.Customer == w.internal[in].Customer {
			i.agent = a.ID
			return platform.Principal{Platform: i.platform, Environment: platform.Sandbox, Agent: a.ID, Customer: a.Customer}
		}
	}
	panic("a customer without an agent")
}

func (w *world) agentTransferOut(i *intent, amount int64, from ident.InternalAccount, to ident.ExternalAccount) {
	by, amount := w.agentOf(i, from), amount/4
	i.name, i.created = fmt.Sprintf("transfer by %s of %d from %s to %s", i.agent, amount, from, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		a, err := p.service.AgentTransferOut(ctx, by, transaction.TransferOut{Platform: i.platform, From: from, To: to, Amount: amount}, r)
		return resultID(a), err
	}
}

func (w *world) agentTransferIn(i *intent, amount int64, to ident.InternalAccount, from ident.ExternalAccount) {
	by, amount := w.agentOf(i, to), amount/4
	i.name, i.created = fmt.Sprintf("transfer by %s of %d from %s to %s", i.agent, amount, from, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		a, err := p.service.AgentTransferIn(ctx, by, transaction.TransferIn{Platform: i.platform, From: from, To: to, Amount: amount}, r)
		return resultID(a), err
	}
}

// agentQuote makes a quote from an account that holds something. If there is none, it deposits into one.
func (w *world) agentQuote(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	own := slices.DeleteFunc(w.internalOf(i.platform), func(id ident.InternalAccount) bool {
		return w.internal[id].Customer != w.internal[in].Customer || w.balances[w.internal[id].LedgerAccount()] == 0
	})
	if len(own) == 0 {
		w.fund(i, amount, in, out)
		return
	}
	from := pick(w, own)
	by, to := w.agentOf(i, from), w.destination(in, out)
	amount = inUnits(amount/4, w.internal[from].Currency)
	i.name, i.created = fmt.Sprintf("quote by %s of %d from %s to %v", i.agent, amount, from, to), true
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		created, err := p.service.CreateAgentQuote(ctx, by, quote.Request{Platform: i.platform, Source: quote.Source{Internal: from},
			Destination: to, Side: quote.Sending, Amount: amount}, r)
		return created.Quote.Transaction, err
	}
}

// agentExecute executes a quote of an agent. If there is none, it makes one.
func (w *world) agentExecute(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	payable := slices.DeleteFunc(w.quotesOf(i.platform), func(id ident.Quote) bool {
		t := w.transactions[w.quotes[id].Transaction]
		return t.Agent.IsZero() || t.State != transaction.Initial && !w.chance(50)
	})
	if len(payable) == 0 {
		w.agentQuote(i, amount, in, out)
		return
	}
	id := pick(w, payable)
	t := w.transactions[w.quotes[id].Transaction]
	by := w.agentOf(i, t.Source.InternalAccount) // another one, if that of the quote was replaced
	i.name, i.executes = fmt.Sprintf("execution by %s of %s", i.agent, id), id
	var signature payments.Signature
	if w.internal[t.Source.InternalAccount].Type == account.EmbeddedWallet && !w.chance(8) {
		signature = payments.Signature{Text: sign(w.openSession(t.Source.InternalAccount), t.Payload), Environment: platform.Sandbox}
	}
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		a, err := p.service.ExecuteAgentQuote(ctx, by, id, signature, r)
		return resultID(a), err
	}
}

// decideAction approves or rejects what waits for it. If nothing does, an agent makes a transfer.
func (w *world) decideAction(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	undecided := slices.DeleteFunc(sortedKeys(w.actions), func(id ident.AgentAction) bool {
		a := w.actions[id]
		return a.Platform != i.platform || a.Status != agent.ActionPending && !w.chance(30)
	})
	if len(undecided) == 0 {
		w.agentTransferOut(i, amount, in, out)
		return
	}
	a, approves := w.actions[pick(w, undecided)], !w.chance(4)
	by := platform.Principal{Platform: i.platform, Environment: platform.Sandbox, Token: w.token}
	i.name, i.created, i.executes = fmt.Sprintf("approval (%t) of %s", approves, a.ID), true, a.Quote
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		var decided payments.AgentAction
		var err error
		if approves {
			decided, err = p.service.ApproveAgentAction(ctx, by, a.Agent, a.ID, r)
		} else {
			decided, err = p.service.RejectAgentAction(ctx, by, a.Agent, a.ID, "no", r)
		}
		return resultID(decided), err
	}
}

// checkAgents checks that counters and actions are what the transactions say.
func (w *world) checkAgents() {
	derived := map[usageKey]agent.Counter{}
	for _, t := range w.transactions {
		if t.AgentUsage == nil {
			continue
		}
		if t.AgentUsage.GivenBack != (t.State.Status == transaction.Failed) {
			w.fail("%s is %s, and its usage by %s is given back: %t", t.ID, t.State, t.Agent, t.AgentUsage.GivenBack)
		}
		if !t.AgentUsage.GivenBack {
			key := usageKey{t.Agent, t.AgentUsage.Day, t.Pricing.Sent.Currency}
			c := derived[key]
			derived[key] = agent.Counter{Day: key.day, Currency: key.currency, Transactions: c.Transactions + 1,
				Spent: c.Spent + t.Pricing.Sent.Minor}
		}
	}
	for key, counter := range w.usage {
		want := derived[key]
		want.Day, want.Currency = key.day, key.currency
		if counter != want {
			w.fail("%s has the counter %+v, and its transactions are %+v", key.agent, counter, want)
		}
		delete(derived, key)
	}
	if len(derived) > 0 {
		w.fail("not counted: %v", derived)
	}
	paid, waiting := map[ident.Transaction]ident.AgentAction{}, map[ident.Quote]ident.AgentAction{}
	for _, a := range w.actions {
		if a.Status == agent.ActionPending && !a.Quote.IsZero() {
			if !waiting[a.Quote].IsZero() {
				w.fail("%s and %s wait for the approval of %s", a.ID, waiting[a.Quote], a.Quote)
			}
			waiting[a.Quote] = a.ID
		}
		if (a.Status == agent.ActionApproved) != !a.Transaction.IsZero() {
			w.fail("the action %s is %s and has the transaction %s", a.ID, a.Status, a.Transaction)
		}
		if a.Transaction.IsZero() {
			continue
		}
		if t := w.transactions[a.Transaction]; t.Agent != a.Agent || t.AgentUsage == nil || !paid[t.ID].IsZero() {
			w.fail("the transaction %s of the action %s of %s is %+v of %s, and that of %s", a.Transaction, a.ID, a.Agent, t.AgentUsage,
				t.Agent, paid[t.ID])
		}
		paid[a.Transaction] = a.ID
	}
	for _, t := range w.transactions {
		if t.AgentUsage != nil && paid[t.ID].IsZero() {
			w.fail("%s counts for %s, and no action has started it", t.ID, t.Agent)
		}
	}
}

// checkTrail checks that the audit trail has each action once, and each decision of the platform once. An agent can ask
// again to execute a quote that waits.
func (w *world) checkTrail() {
	asked, decided := map[ident.AgentAction]int{}, map[ident.AgentAction]int{}
	for _, e := range w.attempts {
		switch {
		case e.Operation == agent.OpApprove || e.Operation == agent.OpReject:
			decided[e.Action]++
		case !e.Action.IsZero():
			asked[e.Action]++
			if e.Decision == agent.Refused || e.Error != "" {
				w.fail("the refused attempt %+v has an action", e)
			}
		}
	}
	for id, a := range w.actions {
		want := choose(a.DecidedBy.IsZero(), 0, 1)
		if asked[id] < 1 || asked[id] > 1 && a.Quote.IsZero() || decided[id] != want {
			w.fail("the action %s (%s) was asked for %d times and decided %d times in the audit trail", id, a.Status, asked[id], decided[id])
		}
	}
}

// agentOutcomes counts what has become of what agents asked for.
func (w *world) agentOutcomes(counts map[string]int) {
	for _, a := range w.actions {
		counts[fmt.Sprintf("action %s %s", a.Type, a.Status)]++
	}
	for _, t := range w.transactions {
		if t.AgentUsage != nil && t.AgentUsage.GivenBack {
			counts["payment of an agent that is given back"]++
		}
	}
	for _, e := range w.attempts {
		for _, r := range e.Reasons {
			counts["attempt "+string(r.Code)]++
		}
	}
}
