package payments

import (
	"context"
	"slices"
	"time"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/agent"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
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
	return stored.DecidedBy == c.approver && !c.decidedAt.IsZero() && stored.DecidedAt.Truncate(time.Microsecond).Equal(c.decidedAt.Truncate(time.Microsecond))
}

func (s *Service) runAgentBatch(ctx context.Context, commands []*agentCommand) ([]batch.Result[AgentAction], error) {
	var results []batch.Result[AgentAction]
	var run *agentRun
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, run = make([]batch.Result[AgentAction], len(commands)), s.newAgentRun(commands)
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
	quotes   map[ports.QuoteKey]ports.QuoteState
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
	return &agentRun{work: s.newWork(), service: s, commands: commands, out: map[int]transaction.TransferOutParties{}, in: map[int]transaction.IncomingParties{}}
}

// lock locks what the commands are about, in one order: sessions, agents, actions, quotes, balances.
func (r *agentRun) lock(ctx context.Context, tx ports.Tx) error {
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
	r.balances, err = r.LockBalances(ctx, tx, r.payingAccounts())
	return err
}

func (r *agentRun) lockAgents(ctx context.Context, tx ports.Tx) error {
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

// lockActions locks the actions that are to be approved, or that an earlier run may have created.
func (r *agentRun) lockActions(ctx context.Context, tx ports.Tx) error {
	var ids []ident.AgentAction
	for _, c := range r.commands {
		if (c.approves() || c.attempted) && !slices.Contains(ids, c.action) {
			ids = append(ids, c.action)
		}
	}
	r.actions = map[ident.AgentAction]agent.Action{}
	if len(ids) == 0 {
		return nil
	}
	var err error
	r.actions, err = tx.LockAgentActions(ctx, r.commands[0].platform, ids)
	return err
}

// readPayments locks the quotes, and reads the parties of the transfers as their agents see them.
func (r *agentRun) readPayments(ctx context.Context, tx ports.Tx) error {
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
		if paying, err = tx.Parties(ctx, out); err != nil {
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
			r.out[i] = transaction.TransferOutParties{Customer: p.Customer, From: p.FromInternal, To: p.ToExternal}.VisibleTo(customer)
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

// askedPayment is what a command asks for, and what the policy says about it.
type askedPayment struct {
	payment    agent.Payment
	evaluation agent.Evaluation
	// decision is the start of the payment, unless there is an error. stateErr is why a quote cannot be executed any
	// more, whatever the policy says; err is why the payment cannot start although the policy allows it.
	decision transaction.Decision
	evidence []wallet.Authorization
	stateErr error
	err      error
}

// evaluate returns what the command at a position asks for, after those before it in the batch. Faults: those that
// are not recorded, because what the request names does not exist or is not valid; no rate.
func (r *agentRun) evaluate(ctx context.Context, i int) (askedPayment, error) {
	c := r.commands[i]
	a, exists := r.agents[c.agent]
	if !exists {
		return askedPayment{}, agent.InvalidToken()
	}
	var asked askedPayment
	var err error
	switch {
	case c.request.Out != nil:
		asked, err = r.transferOut(c, r.out[i])
	case c.request.In != nil:
		asked, err = r.transferIn(c, r.in[i])
	default:
		asked, err = r.executeQuote(c)
	}
	if err != nil {
		return askedPayment{}, err
	}
	asked.evaluation, err = a.Evaluate(asked.payment, a.Counters, r.Now, r.service.convert(ctx))
	return asked, err
}

func (r *agentRun) executeQuote(c *agentCommand) (askedPayment, error) {
	state, exists := r.quotes[c.execution.quote]
	if !exists || state.Transaction.Agent != c.agent {
		return askedPayment{}, fault.New(fault.QuoteNotFound, "There is no quote %s.", c.execution.quote.ID)
	}
	t := r.Latest(state.Transaction)
	asked := askedPayment{payment: agent.Payment{Type: agent.ExecuteQuote, Account: t.Source.InternalAccount, Amount: t.Pricing.Sent}, stateErr: t.CheckExecutable(r.Now)}
	state.Transaction.AgentUsage = &transaction.AgentUsage{Day: agent.DayOf(r.Now)}
	asked.decision, asked.evidence, asked.err = r.decideExecution(state, &c.execution, r.sessions)
	if c.signatureErr != nil {
		asked.err = c.signatureErr
	}
	return asked, nil
}

func (r *agentRun) transferOut(c *agentCommand, p transaction.TransferOutParties) (askedPayment, error) {
	d, err := c.request.Out.Make(c.transaction, p, r.Now)
	if isUnrecorded(err) {
		return askedPayment{}, err
	}
	return r.transfer(c, d, err, agent.Payment{Type: agent.TransferOut, Account: p.From.ID, Amount: money.Amount{Minor: c.request.Out.Amount, Currency: p.From.Currency}}), nil
}

func (r *agentRun) transferIn(c *agentCommand, p transaction.IncomingParties) (askedPayment, error) {
	d, err := c.request.In.Make(c.transaction, p, receivingBalance(r.receiving, p), r.Now)
	if isUnrecorded(err) {
		return askedPayment{}, err
	}
	return r.transfer(c, d, err, agent.Payment{Type: agent.TransferIn, Account: p.To.ID, Amount: money.Amount{Minor: c.request.In.Amount, Currency: p.To.Currency}}), nil
}

// transfer returns a transfer with the marks of its agent.
func (r *agentRun) transfer(c *agentCommand, d transaction.Decision, err error, p agent.Payment) askedPayment {
	if err == nil {
		d.Transaction.Agent, d.Transaction.AgentUsage = c.agent, &transaction.AgentUsage{Day: agent.DayOf(r.Now)}
		err = r.service.Prices.CheckTransfer(d.Transaction)
	}
	return askedPayment{payment: p, decision: d, err: err}
}

// isUnrecorded reports whether an error is none that the trail of the agent records: the request is not valid, it
// names what does not exist, or nothing could be decided.
func isUnrecorded(err error) bool {
	if err == nil {
		return false
	}
	f, ok := fault.As(err)
	return !ok || f.Code == fault.InvalidInput || f.Code.Status() == 404 || f.Code.Temporary()
}

// decide decides about the command at a position.
func (r *agentRun) decide(ctx context.Context, i int) (AgentAction, error) {
	c := r.commands[i]
	if c.approves() {
		return r.approve(ctx, i)
	}
	a := r.agents[c.agent].Agent
	asked, err := r.evaluate(ctx, i)
	if err != nil {
		r.recordForeignQuote(c, a, err)
		return AgentAction{}, err
	}
	action, err := r.start(c, r.newAction(c, a, asked), asked)
	if err != nil && isUnrecorded(err) {
		return AgentAction{}, err
	}
	r.record(c, a, asked, agent.Operation(asked.payment.Type), action, err)
	if err != nil {
		return AgentAction{}, err
	}
	r.created = append(r.created, action)
	view := r.view(action, asked)
	if action.Status == agent.ActionPending {
		r.events = append(r.events, event.Event{ID: ident.NewWebhook(r.service.IDs.New, r.Now), Platform: c.platform, Type: event.AgentAction,
			Name: event.AgentActionPendingApproval, Subject: action.ID.UUID(), OccurredAt: r.Now, Resource: view})
	}
	return view, nil
}

// approve runs an action that waits. If it cannot run any more, it has failed, which is no error.
func (r *agentRun) approve(ctx context.Context, i int) (AgentAction, error) {
	c := r.commands[i]
	action, exists := r.actions[c.action]
	if !exists || action.Agent != c.agent {
		return AgentAction{}, agent.ActionNotFound(c.action)
	}
	if err := action.CheckPending(); err != nil {
		return AgentAction{}, err
	}
	a, exists := r.agents[c.agent]
	if !exists { // deleted by an earlier version of this program, which knows no actions
		return AgentAction{}, agent.NotFound(c.agent)
	}
	asked, err := r.evaluate(ctx, i)
	asked.evaluation = asked.evaluation.Approved()
	if err == nil {
		var approved agent.Action
		if approved, err = r.start(c, action, asked); err == nil {
			action = approved
		}
	}
	if err != nil {
		cause, ok := fault.As(err)
		if !ok {
			return AgentAction{}, err
		}
		if action, err = action.Fail(cause, c.approver, r.Now); err != nil {
			return AgentAction{}, err
		}
		err = cause
	}
	c.decidedAt, r.actions[c.action] = action.DecidedAt, action
	r.decided = append(r.decided, action)
	if asked.payment.Amount.Minor == 0 && action.Transfer != nil {
		asked.payment.Amount = action.Transfer.Amount // an account does not exist any more
	}
	r.record(c, a.Agent, asked, agent.OpApprove, action, err)
	return r.view(action, asked), nil
}

// newAction returns the action that a command asks for.
func (r *agentRun) newAction(c *agentCommand, a agent.Agent, asked askedPayment) agent.Action {
	owner := asked.decision.Transaction.PlatformCustomerID
	switch amount := asked.payment.Amount; {
	case c.request.Out != nil:
		return agent.NewTransferAction(c.action, a, owner, agent.TransferOut, agent.Transfer{Internal: c.request.Out.From, External: c.request.Out.To, Amount: amount, Rail: c.request.Out.Rail}, r.Now)
	case c.request.In != nil:
		return agent.NewTransferAction(c.action, a, owner, agent.TransferIn, agent.Transfer{Internal: c.request.In.To, External: c.request.In.From, Amount: amount}, r.Now)
	default:
		return agent.NewQuoteAction(c.action, a, owner, c.request.Quote, c.execution.signature, r.Now)
	}
}

// start starts the payment of an action if the policy allows it, and counts it. It returns the action afterwards.
func (r *agentRun) start(c *agentCommand, action agent.Action, asked askedPayment) (agent.Action, error) {
	for _, err := range []error{asked.stateErr, asked.evaluation.Err(), asked.err} {
		if err != nil {
			return action, err
		}
	}
	if asked.evaluation.Decision == agent.NeedsApproval {
		return action, nil
	}
	d, amount, day := asked.decision, asked.payment.Amount, agent.DayOf(r.Now)
	counted := r.agents[c.agent]
	var err error
	if counted.Counters, err = counted.Counters.Add(day, amount); err != nil {
		return action, err
	}
	approved, err := action.Run(d.Transaction.ID, c.approver, r.Now)
	if err != nil {
		return action, err
	}
	if err := applyPostings(r.balances, d); err != nil {
		return action, err
	}
	// From here on nothing fails.
	if action.Type == agent.ExecuteQuote {
		r.Update(d)
	} else {
		r.Create(d)
	}
	r.authorized = append(r.authorized, asked.evidence...)
	r.agents[c.agent] = counted
	r.counted = append(r.counted, ports.AgentCount{Agent: c.agent, Counter: agent.Counter{Day: day, Currency: amount.Currency, Transactions: 1, Spent: amount.Minor}})
	return approved, nil
}

// view returns an action with its payment.
func (r *agentRun) view(action agent.Action, asked askedPayment) AgentAction {
	view := AgentAction{Action: action}
	t := asked.decision.Transaction
	if state, exists := r.quotes[ports.QuoteKey{Platform: action.Platform, ID: action.Quote}]; exists {
		t = r.Latest(state.Transaction)
		view.Quote = &quote.WithStatus{Quote: state.Quote, Status: quote.StatusOf(t.State)}
	}
	if !action.Transaction.IsZero() {
		view.Transaction = &t
	}
	return view
}

// record adds an entry to the trail of an agent; err is why the payment has not started, if it has not.
func (r *agentRun) record(c *agentCommand, a agent.Agent, asked askedPayment, operation agent.Operation, action agent.Action, err error) {
	entry := c.newAttempt(a, operation, r.Now)
	entry.Decision, entry.Reasons, entry.Amount = asked.evaluation.Decision, asked.evaluation.Reasons, asked.payment.Amount
	entry.Token, entry.Transaction = c.approver, action.Transaction
	if state, exists := r.quotes[c.execution.quote]; exists {
		entry.Transaction = state.Transaction.ID
	}
	if entry.Decision == "" { // what it names does not exist any more
		entry.Decision = agent.Refused
	}
	if f, ok := fault.As(err); ok && (asked.evaluation.Err() == nil || asked.stateErr != nil) {
		entry.Error = f.Code
	}
	if err == nil || c.approves() {
		entry.Action = action.ID
	}
	if c.recorded.Decision != "" && (c.recorded.Decision != entry.Decision || c.recorded.Error != entry.Error) {
		entry.ID = ident.NewAgentAttempt(r.service.IDs.New, r.Now) // the last one may be committed, with another outcome
	}
	c.recorded = entry
	r.attempts = append(r.attempts, entry)
}

// recordForeignQuote records that an agent wanted to execute a quote that is not its own, and exists.
func (r *agentRun) recordForeignQuote(c *agentCommand, a agent.Agent, err error) {
	if _, exists := r.quotes[c.execution.quote]; !exists || !fault.Is(err, fault.QuoteNotFound) {
		return
	}
	entry := c.newAttempt(a, agent.OpExecuteQuote, r.Now)
	entry.Decision, entry.Error = agent.Refused, fault.QuoteNotFound
	r.attempts = append(r.attempts, entry)
}

// newAttempt returns an entry that has no decision yet.
func (c *agentCommand) newAttempt(a agent.Agent, operation agent.Operation, now time.Time) agent.Attempt {
	entry := agent.Attempt{ID: c.attempt, Platform: c.platform, Agent: a.ID, Customer: a.Customer, At: now, Operation: operation, Quote: c.request.Quote}
	switch {
	case c.request.Out != nil:
		entry.Internal, entry.External = c.request.Out.From, c.request.Out.To
	case c.request.In != nil:
		entry.Internal, entry.External = c.request.In.To, c.request.In.From
	}
	return entry
}

// write writes what was decided. Counters are locked after balances, and the postings come last.
func (r *agentRun) write(ctx context.Context, tx ports.Tx) error {
	p := r.commands[0].platform
	for _, write := range []struct {
		n  int
		do func() error
	}{
		{len(r.counted), func() error { return tx.AddAgentUsage(ctx, p, r.counted) }},
		{len(r.created), func() error { return tx.CreateAgentActions(ctx, r.created) }},
		{len(r.decided), func() error { return tx.UpdateAgentActions(ctx, r.decided) }},
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
