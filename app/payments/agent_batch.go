package payments

import (
	"context"
	"slices"
	"time"

	"causeway/app/internal/batch"
	"causeway/app/internal/limiting"
	"causeway/app/internal/uow"
	"causeway/core/agent"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// agentCommand is a payment that an agent asks for, or the approval of one, in a batch. Its ids are chosen before
// anything is written, so that a second attempt finds what the first one wrote.
type agentCommand struct {
	platform    ident.Platform
	agent       ident.Agent
	action      ident.AgentAction
	attempt     ident.AgentAttempt
	transaction ident.Transaction // of a transfer
	request     AgentPaymentRequest
	// approver is the token of the platform that approves the action; zero if the agent asks for it.
	approver ident.Token
	// execution is how a quote is executed, and signatureErr is why the signature of the request is not valid.
	execution    executeCommand
	signatureErr error
	idempotency  *ports.IdempotentRequest
	// attempted is set once a batch has run with the command, and decidedAt when it has decided the action. If the
	// result of its commit was lost, that is what is stored.
	attempted bool
	decidedAt time.Time
	// recorded is the entry of the last batch in the trail of the agent.
	recorded agent.Attempt
}

func (c *agentCommand) approves() bool { return !c.approver.IsZero() }

// committed reports whether a stored action is what an earlier batch has made of the command.
func (c *agentCommand) committed(stored agent.Action) bool {
	if !c.approves() {
		return true // nobody else knows its id
	}
	return stored.DecidedBy == c.approver && !c.decidedAt.IsZero() &&
		stored.DecidedAt.Truncate(time.Microsecond).Equal(c.decidedAt.Truncate(time.Microsecond))
}

func (s *Service) runAgentBatch(ctx context.Context, commands []*agentCommand) ([]batch.Result[AgentAction], error) {
	rules, err := s.limits(ctx, commands[0].platform)
	if err != nil {
		return nil, err
	}
	var results []batch.Result[AgentAction]
	var run *agentRun
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		results, run = make([]batch.Result[AgentAction], len(commands)), s.newAgentRun(commands)
		run.limits.Rules = rules
		if err := run.lock(ctx, tx); err != nil {
			return err
		}
		for i, c := range commands {
			stored, exists := run.actions[c.action]
			if c.attempted && exists && c.committed(stored) {
				run.committed = append(run.committed, i)
				continue
			}
			c.attempted = true
			results[i].Value, results[i].Err = run.decide(ctx, i)
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return run.write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.afterCommit(run.work)
	for _, i := range run.committed {
		c := commands[i]
		results[i].Value, results[i].Err = s.AgentAction(ctx, c.platform, c.agent, c.action)
	}
	return results, nil
}

// agentRun is one unit of work of a batch: what it has locked, and what it decides.
type agentRun struct {
	work
	service  *Service
	commands []*agentCommand

	sessions map[ident.Session]wallet.Session
	agents   map[ident.Agent]ports.CountedAgent
	actions  map[ident.AgentAction]agent.Action
	// waiting are the actions that wait for the approval of quotes that agents ask to execute.
	waiting map[ident.Quote]agent.Action
	quotes  map[ports.QuoteKey]ports.QuoteState
	// out and in are the parties of the transfers that the commands ask for, by the position of the command.
	out map[int]transaction.TransferOutParties
	in  map[int]transaction.IncomingParties
	// receiving are the balances of the accounts that transfers in credit, which are not locked.
	receiving map[ledger.Account]int64
	balances  ledger.Balances

	committed        []int // positions of commands that an earlier run has committed
	counted          []ports.AgentCount
	created, decided []agent.Action
	attempts         []agent.Attempt
	events           []event.Event
	authorized       []wallet.Authorization
}

func (s *Service) newAgentRun(commands []*agentCommand) *agentRun {
	return &agentRun{work: s.newWork(), service: s, commands: commands, out: map[int]transaction.TransferOutParties{},
		in: map[int]transaction.IncomingParties{}}
}

// lock locks what the commands are about, in one order: sessions, agents, actions, quotes, balances, counters of limits.
func (r *agentRun) lock(ctx context.Context, tx Tx) error {
	var signed []*executeCommand
	for _, c := range r.commands {
		if c.execution.signature != "" {
			signed = append(signed, &c.execution)
		}
	}
	var err error
	if r.sessions, err = lockSessions(ctx, tx, signed); err != nil {
		return err
	}
	if err := r.lockAgents(ctx, tx); err != nil {
		return err
	}
	if err := r.lockActions(ctx, tx); err != nil {
		return err
	}
	if err := r.readPayments(ctx, tx); err != nil {
		return err
	}
	if r.balances, err = r.LockBalances(ctx, tx, r.payingAccounts()); err != nil {
		return err
	}
	return r.limits.Lock(ctx, tx, r.commands[0].platform, r.limits.Rules, r.limited())
}

func (r *agentRun) lockAgents(ctx context.Context, tx Tx) error {
	var ids []ident.Agent
	for _, c := range r.commands {
		if !slices.Contains(ids, c.agent) {
			ids = append(ids, c.agent)
		}
	}
	var err error
	r.agents, err = tx.LockAgents(ctx, r.commands[0].platform, ids, agent.MonthOf(r.Now))
	return err
}

// lockActions locks the actions that are to be approved, or that an earlier run may have created, and those that
// wait for the approval of the same quotes.
func (r *agentRun) lockActions(ctx context.Context, tx Tx) error {
	p := r.commands[0].platform
	var ids []ident.AgentAction
	var quotes []ident.Quote
	for _, c := range r.commands {
		if id := c.request.Quote; !id.IsZero() && !c.approves() && !slices.Contains(quotes, id) {
			quotes = append(quotes, id)
		}
		if (c.approves() || c.attempted) && !slices.Contains(ids, c.action) {
			ids = append(ids, c.action)
		}
	}
	r.actions = map[ident.AgentAction]agent.Action{}
	var err error
	if len(ids) > 0 {
		if r.actions, err = tx.LockAgentActions(ctx, p, ids); err != nil {
			return err
		}
	}
	if len(quotes) > 0 {
		r.waiting, err = tx.LockWaitingAgentActions(ctx, p, quotes)
	}
	return err
}

// readPayments locks the quotes, and reads the parties of the transfers as their agents see them.
func (r *agentRun) readPayments(ctx context.Context, tx Tx) error {
	var quotes []ports.QuoteKey
	var out []ports.PartyKey
	var in []ports.IncomingPaymentKey
	for _, c := range r.commands {
		switch {
		case c.request.Out != nil:
			out = append(out, ports.PartyKey{Platform: c.platform, FromInternal: c.request.Out.From, ToExternal: c.request.Out.To})
		case c.request.In != nil:
			in = append(in, ports.IncomingPaymentKey{Platform: c.platform, To: c.request.In.To, From: c.request.In.From})
		case !slices.Contains(quotes, c.execution.quote):
			quotes = append(quotes, c.execution.quote)
		}
	}
	var paying []quote.Parties
	var receiving []transaction.IncomingParties
	var err error
	if len(out) > 0 {
		if paying, err = r.service.parties(ctx, tx, out); err != nil {
			return err
		}
	}
	if len(in) > 0 {
		if receiving, err = tx.IncomingPaymentParties(ctx, in); err != nil {
			return err
		}
		if r.receiving, err = tx.Balances(ctx, receivingAccounts(receiving)); err != nil {
			return err
		}
	}
	for i, c := range r.commands {
		customer := r.agents[c.agent].Customer
		switch {
		case c.request.Out != nil:
			p := paying[0]
			r.out[i] = transaction.TransferOutParties{Customer: p.Customer, From: p.FromInternal, To: p.ToExternal,
				Protected: p.Protected}.VisibleTo(customer)
			paying = paying[1:]
		case c.request.In != nil:
			r.in[i] = receiving[0].VisibleTo(customer)
			receiving = receiving[1:]
		}
	}
	if len(quotes) > 0 {
		r.quotes, err = tx.LockQuotes(ctx, quotes)
	}
	return err
}

// limited returns what limits know of the payments.
func (r *agentRun) limited() []limit.Payment {
	var payments []limit.Payment
	for _, state := range r.quotes {
		payments = append(payments, limiting.PaymentOf(state.Transaction.Pricing.Sent, state.Parties.Customer))
	}
	for i, p := range r.out {
		if p.From != nil {
			sent := money.Amount{Minor: r.commands[i].request.Out.Amount, Currency: p.From.Currency}
			payments = append(payments, limiting.PaymentOf(sent, p.Customer))
		}
	}
	return payments
}

// payingAccounts returns the accounts that the payments debit or credit at once.
func (r *agentRun) payingAccounts() []ledger.Account {
	var accounts []ledger.Account
	add := func(added ...ledger.Account) {
		for _, a := range added {
			if !slices.Contains(accounts, a) {
				accounts = append(accounts, a)
			}
		}
	}
	for _, state := range r.quotes {
		add(state.Transaction.Accounts()...)
	}
	for _, p := range r.out {
		if p.From != nil {
			add(p.From.LedgerAccount())
		}
	}
	return accounts
}

// write writes what was decided. Counters are locked after balances, and the postings come last. What is decided no
// longer waits, so that another action for its quote can.
func (r *agentRun) write(ctx context.Context, tx Tx) error {
	p := r.commands[0].platform
	for _, write := range []struct {
		n  int
		do func() error
	}{
		{len(r.counted), func() error { return tx.AddAgentUsage(ctx, p, r.counted) }},
		{len(r.decided), func() error { return tx.UpdateAgentActions(ctx, r.decided) }},
		{len(r.created), func() error { return tx.CreateAgentActions(ctx, r.created) }},
		{len(r.attempts), func() error { return tx.SaveAgentAttempts(ctx, r.attempts) }},
		{len(r.events), func() error { return tx.Emit(ctx, r.events) }},
		{len(r.authorized), func() error { return tx.SaveWalletAuthorizations(ctx, r.authorized) }},
	} {
		if write.n == 0 {
			continue
		}
		if err := write.do(); err != nil {
			return err
		}
	}
	return r.Write(ctx, tx)
}
