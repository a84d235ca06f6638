package console

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// AgentApprovals are the use cases on payments of agents that wait for an approval.
type AgentApprovals interface {
	AgentActions(ctx context.Context, p ident.Platform, f ports.AgentActionFilter) (ports.Page[payments.AgentAction], error)
	AgentAction(ctx context.Context, p ident.Platform, by ident.Agent, id ident.AgentAction) (payments.AgentAction, error)
	ApproveAgentAction(ctx context.Context, by platform.Principal, a ident.Agent, id ident.AgentAction,
		claim *ports.IdempotentRequest) (payments.AgentAction, error)
	RejectAgentAction(ctx context.Context, by platform.Principal, a ident.Agent, id ident.AgentAction, reason string,
		claim *ports.IdempotentRequest) (payments.AgentAction, error)
}

// agentApproval is a payment of an agent.
type agentApproval struct{ payments.AgentAction }

// Amount returns what would be sent; zero for a quote that was deleted.
func (a agentApproval) Amount() (amount money.Amount) {
	switch {
	case a.Transfer != nil:
		return a.Transfer.Amount
	case a.Quote != nil:
		return a.Quote.Quote.Pricing.Sent
	}
	return amount
}

func agentApprovalPath(base string, id ident.AgentAction) string {
	return base + "/agent-approvals/" + pathOfID(id)
}

func (c *Console) agentApprovalRoutes() []platformRoute {
	const one = "/agent-approvals/{action}"
	routes := append([]platformRoute{
		{http.MethodGet, "/agent-approvals", person.View, c.showAgentApprovals},
		{http.MethodGet, one, person.View, c.showAgentApproval},
		{http.MethodPost, one, person.ViewPersonalData, c.revealAgentApproval},
	}, c.actionRoutes(one+"/approve", person.Review, c.approveAgentAction)...)
	return append(routes, c.actionRoutes(one+"/reject", person.Review, c.rejectAgentAction)...)
}

func (c *Console) showAgentApprovals(r *request) error {
	found, err := c.waitingActions(r.Context(), r.platform.ID, maxReviews+1)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Payments of agents", "agent-approvals"), Intro: "Payments above what the policies of agents allow without " +
		"asking, those first that wait longest. Your program decides them over the API, with a token that has MANAGE; here, who has the " +
		"role COMPLIANCE. The customer decides none."}
	rows := table{Label: "Payments of agents", Columns: columns("Since", "Age", "Payment", "Kind", ">Amount", "Currency", "Above", "Agent",
		"Customer"), Empty: "No payment of an agent waits. What waits is decided by the policy of the agent: PATCH /agents/{agentId}/policy " +
		"says above which amount it has to ask."}
	more := len(found) > maxReviews
	found = found[:min(len(found), maxReviews)]
	reasons, err := c.reasonsOf(r, found...)
	if err != nil {
		return err
	}
	for _, a := range found {
		amount := a.Amount()
		rows.Rows = append(rows.Rows, []cell{timed(a.CreatedAt), plain(ageOf(c.Clock.Now().Sub(a.CreatedAt))),
			shortID(a.ID.String(), agentApprovalPath(v.Base, a.ID)), plain(lower(a.Type)), amountCell(major(amount)),
			plain(string(amount.Currency)), plain(reasons[a.ID]), shortID(a.Agent.String(), ""), customerCell(v.Base, a.Customer)})
	}
	v.Sections = []section{{Table: &rows}}
	if more {
		v.Sections = append(v.Sections, section{Text: "There are more. Decide some of these first."})
	}
	return c.show(r, v)
}

// reasonsOf returns why the policy asked for an approval, as it was when the agent asked.
func (c *Console) reasonsOf(r *request, actions ...agentApproval) (map[ident.AgentAction]string, error) {
	ids := make([]ident.AgentAction, len(actions))
	for i, a := range actions {
		ids[i] = a.ID
	}
	asked, err := c.Agents.ReasonsOf(r.Context(), r.platform.ID, ids)
	texts := make(map[ident.AgentAction]string, len(asked))
	for id, reasons := range asked {
		all := make([]string, len(reasons))
		for i, reason := range reasons {
			all[i] = reason.Message
		}
		texts[id] = strings.Join(all, " ")
	}
	return texts, err
}

func (c *Console) agentApprovalIn(r *request) (a agentApproval, err error) {
	id, err := idIn(r, "action", ident.ParseAgentAction)
	if err == nil {
		a.AgentAction, err = c.AgentApprovals.AgentAction(r.Context(), r.platform.ID, ident.Agent{}, id)
	}
	return a, err
}

func (c *Console) showAgentApproval(r *request) error { return c.agentApprovalWith(r, false) }

// revealAgentApproval shows a payment with the name of the agent and the texts, which is recorded first.
func (c *Console) revealAgentApproval(r *request) error { return c.agentApprovalWith(r, true) }

// agentApprovalPage shows a payment of an agent.
type agentApprovalPage struct {
	page
	State      string
	Facts      []fact
	Actions    []fact
	IsRevealed bool
}

func (c *Console) agentApprovalWith(r *request, revealed bool) error {
	a, err := c.agentApprovalIn(r)
	if err != nil {
		return err
	}
	if revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, a.ID.UUID(), a.ID.String()); err != nil {
			return err
		}
	}
	data := agentApprovalPage{page: c.page(r, "Payment of an agent", "agent-approvals"), State: string(a.Status), IsRevealed: revealed}
	if data.Facts, err = c.agentApprovalFacts(r, a, shown(revealed)); err != nil {
		return err
	}
	if err := c.nameActors(r, view{Facts: data.Facts}); err != nil {
		return err
	}
	if path := agentApprovalPath(data.Base, a.ID); a.CheckPending() == nil && data.Person.May(person.Review, r.platform.ID) {
		data.Actions = []fact{actionLink("Approve", path+"/approve"), actionLink("Reject", path+"/reject")}
	}
	return c.render(r, http.StatusOK, "agent_approval.html", data)
}

// agentApprovalFacts says what the agent wants to pay, which limit that exceeds, and who decides.
func (c *Console) agentApprovalFacts(r *request, a agentApproval, show func(string) string) ([]fact, error) {
	base := basePath(r.platform.ID)
	facts := add(nil, "Action", a.ID.String())
	facts = add(facts, "Kind", lower(a.Type))
	facts = add(facts, "Amount", a.Amount().String())
	facts = add(facts, "Asked for", moment(a.CreatedAt)+", "+ageOf(c.Clock.Now().Sub(a.CreatedAt))+" ago")
	reasons, err := c.reasonsOf(r, a)
	if err != nil {
		return nil, err
	}
	facts = add(facts, "Above the policy", cmp.Or(reasons[a.ID], "not kept any more"))
	facts = add(facts, "Customer", a.Customer.String(), base+"/customers/"+pathOfID(a.Customer))
	facts = add(facts, "Agent", a.Agent.String())
	of, err := c.Agents.Activity(r.Context(), r.platform.ID, a.Agent)
	if err == nil {
		limits := of.Policy.Limits
		facts = add(facts, "Name of the agent", show(of.Name))
		facts = add(facts, "Limit of one payment", money.Amount{Minor: limits.PerTransaction, Currency: limits.Currency}.String())
		if limits.Daily > 0 {
			facts = add(facts, "Limit of a day", money.Amount{Minor: limits.Daily, Currency: limits.Currency}.String())
		}
		if t := of.Policy.Threshold; t.Amount != nil {
			facts = add(facts, "Asks above", money.Amount{Minor: *t.Amount, Currency: t.Currency}.String())
		}
	} else if !fault.Is(err, fault.AgentNotFound) {
		return nil, err
	}
	switch {
	case a.Transfer != nil:
		facts = add(facts, "Internal account", a.Transfer.Internal.String(), paymentsOf(base, a.Transfer.Internal.String()))
		facts = add(facts, "External account", a.Transfer.External.String(), paymentsOf(base, a.Transfer.External.String()))
		facts = add(facts, "Text for the beneficiary", show(a.Transfer.Remittance))
	case a.Quote != nil:
		facts = add(facts, "Quote expires", moment(a.Quote.Quote.ExpiresAt))
		facts = add(facts, "Payment", a.Quote.Quote.Transaction.String(), base+"/payments/"+pathOfID(a.Quote.Quote.Transaction))
	}
	if a.Status == agent.ActionPending {
		return add(facts, "Who decides", "the platform: its program over the API, or here who has the role COMPLIANCE"), nil
	}
	facts = addActor(facts, "Decided", moment(a.DecidedAt)+" by ", platform.Author{Token: a.DecidedBy}.String())
	facts = add(facts, "Reason", show(a.RejectionReason))
	if a.Failure != nil {
		facts = add(facts, "Failed", string(a.Failure.Code))
	}
	if a.Transaction != nil {
		facts = add(facts, "Payment", a.Transaction.ID.String(), base+"/payments/"+pathOfID(a.Transaction.ID))
	}
	return facts, nil
}

// decideAgentAction returns what decides about a payment of an agent, as the person's token does over the API.
func (c *Console) decideAgentAction(r *request, a action, kind platform.OperatorActionKind,
	decide func(ctx context.Context, by platform.Principal, of agentApproval) (payments.AgentAction, error)) (action, error) {
	of, err := c.agentApprovalIn(r)
	if err != nil {
		return a, err
	}
	if a.Facts, err = c.agentApprovalFacts(r, of, person.Mask); err != nil {
		return a, err
	}
	a.Section, a.NeedsCode, a.Back = "agent-approvals", true, agentApprovalPath(basePath(r.platform.ID), of.ID)
	a.Record = platform.OperatorAction{Platform: r.platform.ID, Kind: kind, Subject: of.ID.UUID(), Name: of.ID.String()}
	a.do = func(r *request) (string, error) {
		author, err := c.author(r)
		if err != nil {
			return "", err
		}
		decided, err := decide(r.Context(), platform.Principal{Platform: r.platform.ID, Environment: r.platform.Environment, Token: author.Token,
			Person: author.Person}, of)
		if failed := decided.Failure; err == nil && failed != nil {
			return "", &fault.Error{Code: failed.Code, Message: "The payment was approved, and has failed: " + failed.Message}
		}
		return "", err
	}
	return a, nil
}

func (c *Console) approveAgentAction(r *request) (action, error) {
	return c.decideAgentAction(r, action{Title: "Approve", Does: "The policy is evaluated again, with what the agent has spent by now, and " +
		"the " +
		"payment is made. If that is not possible any more, it has failed, and the page says why."}, platform.PersonApprovedPayment,
		func(ctx context.Context, by platform.Principal, of agentApproval) (payments.AgentAction, error) {
			return c.AgentApprovals.ApproveAgentAction(ctx, by, of.Agent, of.ID, nil)
		})
}

func (c *Console) rejectAgentAction(r *request) (action, error) {
	return c.decideAgentAction(r, action{Title: "Reject", Does: "The payment is not made, and no money moves.",
		Fields: []field{{Name: "reason",
			Label: "Reason", Hint: "The platform and the agent read it."}}}, platform.PersonRejectedPayment,
		func(ctx context.Context, by platform.Principal, of agentApproval) (payments.AgentAction, error) {
			return c.AgentApprovals.RejectAgentAction(ctx, by, of.Agent, of.ID, formText(r, "reason"), nil)
		})
}
