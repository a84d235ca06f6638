package payments

import (
	"context"

	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

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
		asked, err = r.transferOut(ctx, c, r.out[i])
	case c.request.In != nil:
		asked, err = r.transferIn(ctx, c, r.in[i])
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
	asked := askedPayment{payment: agent.Payment{Type: agent.ExecuteQuote, Account: t.Source.InternalAccount, Amount: t.Pricing.Sent},
		stateErr: t.CheckExecutable(r.Now)}
	state.Transaction.AgentUsage = &transaction.AgentUsage{Day: agent.DayOf(r.Now)}
	asked.decision, asked.evidence, asked.err = r.decideExecution(state, &c.execution, r.sessions)
	if asked.err == nil {
		asked.err = r.limits.Check(&asked.decision.Transaction, state.Parties.Customer)
	}
	if c.signatureErr != nil {
		asked.err = c.signatureErr
	}
	return asked, nil
}

func (r *agentRun) transferOut(ctx context.Context, c *agentCommand, p transaction.TransferOutParties) (askedPayment, error) {
	d, err := c.request.Out.Make(c.transaction, p, r.Now)
	if isUnrecorded(err) {
		return askedPayment{}, err
	}
	asked := r.transfer(ctx, c, d, err, p.Customer, nil, p.To, agent.Payment{Type: agent.TransferOut, Account: p.From.ID,
		Amount: money.Amount{Minor: c.request.Out.Amount, Currency: p.From.Currency}})
	if asked.err == nil {
		asked.err = r.limits.Check(&asked.decision.Transaction, p.Customer)
	}
	return asked, nil
}

func (r *agentRun) transferIn(ctx context.Context, c *agentCommand, p transaction.IncomingParties) (askedPayment, error) {
	d, err := c.request.In.Make(c.transaction, p, receivingBalance(r.receiving, p), r.Now)
	if isUnrecorded(err) {
		return askedPayment{}, err
	}
	return r.transfer(ctx, c, d, err, nil, p.From, nil, agent.Payment{Type: agent.TransferIn, Account: p.To.ID,
		Amount: money.Amount{Minor: c.request.In.Amount, Currency: p.To.Currency}}), nil
}

// transfer returns a transfer with the marks of its agent.
func (r *agentRun) transfer(ctx context.Context, c *agentCommand, d transaction.Decision, err error, of *customer.Customer,
	from, to *account.External, p agent.Payment) askedPayment {
	if err == nil {
		d.Transaction.Trace = c.execution.trace
		d.Transaction.Agent, d.Transaction.AgentUsage = c.agent, &transaction.AgentUsage{Day: agent.DayOf(r.Now)}
		err = r.service.checkTransfer(ctx, d.Transaction, of, from, to)
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
	waits, repeated := err == nil && action.Status == agent.ActionPending, false
	if waits {
		action, repeated, err = r.wait(c, action)
	}
	if err != nil && isUnrecorded(err) {
		return AgentAction{}, err
	}
	r.record(c, a, asked, agent.Operation(asked.payment.Type), action, err)
	if err != nil {
		return AgentAction{}, err
	}
	view := r.view(action, asked)
	if repeated {
		return view, nil
	}
	r.created = append(r.created, action)
	if waits {
		counted := r.agents[c.agent]
		counted.Waiting++
		r.agents[c.agent] = counted
		if !action.Quote.IsZero() {
			r.waiting[action.Quote] = action
		}
		r.events = append(r.events, event.Event{ID: ident.NewWebhook(r.service.IDs.New, r.Now), Platform: c.platform, Type: event.AgentAction,
			Name: event.AgentActionPendingApproval, Subject: action.ID.UUID(), OccurredAt: r.Now, Resource: view})
	}
	return view, nil
}

// wait returns the action that waits for the approval of a command: the new one or, for a quote, one that waits
// already. Faults: RATE_LIMITED if no more can wait.
func (r *agentRun) wait(c *agentCommand, created agent.Action) (waiting agent.Action, repeated bool, err error) {
	if waiting, repeated = r.waiting[c.request.Quote]; repeated {
		return waiting, true, nil
	}
	return created, false, agent.CheckWaiting(r.agents[c.agent].Waiting)
}

// approve runs an action that waits. If it cannot run any more, it has failed, which is no error. Nothing is decided
// while its agent is paused.
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
	if err := a.CheckApprovable(); err != nil {
		return AgentAction{}, err
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
	delete(r.waiting, action.Quote)
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
		return agent.NewTransferAction(c.action, a, owner, agent.TransferOut, agent.Transfer{Internal: c.request.Out.From,
			External: c.request.Out.To, Amount: amount, Rail: c.request.Out.Rail,
			Remittance: c.request.Out.Remittance, Purpose: c.request.Out.Purpose}, r.Now)
	case c.request.In != nil:
		return agent.NewTransferAction(c.action, a, owner, agent.TransferIn, agent.Transfer{Internal: c.request.In.To,
			External: c.request.In.From, Amount: amount}, r.Now)
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
	r.limits.Count(d.Transaction)
	if action.Type == agent.ExecuteQuote {
		r.Update(d)
	} else {
		r.Create(d)
	}
	r.authorized = append(r.authorized, asked.evidence...)
	r.agents[c.agent] = counted
	r.counted = append(r.counted, ports.AgentCount{Agent: c.agent, Counter: agent.Counter{Day: day, Currency: amount.Currency, Transactions: 1,
		Spent: amount.Minor}})
	return approved, nil
}

// view returns an action with its payment.
func (r *agentRun) view(action agent.Action, asked askedPayment) AgentAction {
	view := AgentAction{Action: action}
	t := asked.decision.Transaction
	if state, exists := r.quotes[ports.QuoteKey{Platform: action.Platform, ID: action.Quote}]; exists {
		t = r.Latest(state.Transaction)
		view.Quote = new(state.Quote.Of(t))
	}
	if !action.Transaction.IsZero() {
		view.Transaction = &t
	}
	return view
}
