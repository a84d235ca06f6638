package console

import (
	"context"
	"slices"
	"strconv"
	"time"

	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// standing is something that stands still until somebody decides about it.
type standing struct {
	since time.Time
	why   string
	// what leads to the page where it is decided, and decide to a second decision, if there is one.
	what, decide cell
	amount       money.Amount // zero for none
	customer     ident.Customer
}

// queueKind is a kind of what stands still.
type queueKind struct {
	name, label string
	// find returns at most limit of it, those first that wait longest.
	find func(c *Console, r *request, p page, limit int) ([]standing, error)
}

var queueKinds = []queueKind{
	{"verifications", "verifications", (*Console).waitingVerifications},
	{"hits", "hits of the screening", (*Console).openHits},
	{"held", "customers on hold", (*Console).heldCustomers},
	{"incoming", "incoming payments", (*Console).incomingToApprove},
	{"agents", "payments of agents", (*Console).agentsToApprove},
	{"sending", "payouts and refunds in review", (*Console).paymentsInReview},
	{"unmatched", "unmatched money", (*Console).unassignedFunds},
}

// maxReviews is how many of one kind are listed, and maxEach how many of each beside others.
const (
	maxReviews = 200
	maxEach    = 30
)

func (c *Console) showReviews(r *request) error {
	v := view{page: c.page(r, "Reviews", "reviews"), Intro: "What stands still until somebody decides, those first that wait longest."}
	wanted, limit := r.URL.Query().Get("kind"), maxEach
	options := []option{{"", "everything"}}
	for _, k := range queueKinds {
		options = append(options, option{k.name, k.label})
	}
	if wanted != "" {
		limit = maxReviews
		if !slices.ContainsFunc(queueKinds, func(k queueKind) bool { return k.name == wanted }) {
			return errNotFound
		}
	}
	v.Filter = &filter{v.Base + "/reviews", []field{{Name: "kind", Label: "Kind", Kind: "select", Value: wanted, Options: options}}}
	var all []standing
	more := ""
	for _, k := range queueKinds {
		if wanted != "" && wanted != k.name {
			continue
		}
		found, err := k.find(c, r, v.page, limit+1)
		if err != nil {
			return err
		}
		if len(found) > limit {
			more, found = joined([]string{more, k.label}), found[:limit]
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b standing) int { return a.since.Compare(b.since) })
	rows := table{Label: "Reviews", Columns: columns("Since", "Age", "Why", "What", ">Amount", "Currency", "Customer", "Decide"),
		Empty: "Nothing waits for a decision. What the screening finds, what a verification needs and what a connection or a policy stops " +
			"appears here; a customer is put on hold on its own page."}
	for _, s := range all {
		row := []cell{timed(s.since), plain(ageOf(c.Clock.Now().Sub(s.since))), plain(s.why), s.what, {}, {}, customerCell(v.Base, s.customer),
			s.decide}
		if s.amount.Currency != "" {
			row[4], row[5] = amountCell(major(s.amount)), plain(string(s.amount.Currency))
		}
		rows.Rows = append(rows.Rows, row)
	}
	v.Sections = []section{{Table: &rows}}
	if more != "" {
		v.Sections = append(v.Sections, section{Text: "The first " + strconv.Itoa(limit) +
			" of each kind are listed. There are more: " + more + "."})
	}
	return c.show(r, v)
}

func (c *Console) waitingVerifications(r *request, p page, limit int) (all []standing, err error) {
	found, err := c.Verifications.Waiting(r.Context(), r.platform.ID, limit)
	for _, w := range found {
		all = append(all, standing{since: w.UpdatedAt, why: "verification, " + lower(w.Status), customer: w.Customer,
			what: shortID(w.ID.String(), p.Base+"/reviews/"+pathOfID(w.ID))})
	}
	return all, err
}

func (c *Console) openHits(r *request, p page, limit int) (all []standing, err error) {
	found, err := c.Screening.Hits(r.Context(), r.platform.ID, limit)
	for _, h := range found {
		s := standing{since: h.FoundAt, why: "resembles an entry of a sanctions list, score " + strconv.Itoa(h.Score), customer: h.Customer,
			what: plain(h.EntryID())}
		if path := p.Base + "/hits/" + h.ID.String(); p.Person.May(person.Review, r.platform.ID) {
			s.what.Link, s.decide = path+"/confirm", linked("somebody else", path+"/clear")
		}
		all = append(all, s)
	}
	return all, err
}

// heldCustomers are those whom a person has put on hold: who is held by the screening alone has hits, which are listed.
func (c *Console) heldCustomers(r *request, p page, limit int) (all []standing, err error) {
	found, err := c.Verifications.OnHold(r.Context(), r.platform.ID, limit)
	for _, k := range found {
		all = append(all, standing{since: k.OnHoldSince, why: "put on hold by a person", customer: k.ID,
			what: linked("customer", p.Base+"/customers/"+pathOfID(k.ID))})
	}
	return all, err
}

// incomingToApprove are the incoming payments that wait for an approval, of those that have not ended.
func (c *Console) incomingToApprove(r *request, p page, limit int) (all []standing, err error) {
	found, err := c.pendingIncoming(r, limit)
	for _, t := range found {
		why := "incoming payment, waits for money"
		if waitsForApproval(t) {
			why = "incoming payment, waits for an approval"
		}
		all = append(all, standing{since: t.CreatedAt, why: why, amount: t.Pricing.Received, customer: t.Customer,
			what: shortID(t.ID.String(), p.Base+"/payments/"+pathOfID(t.ID))})
	}
	return all, err
}

// pendingIncoming are incoming payments that have not ended, the oldest first.
func (c *Console) pendingIncoming(r *request, limit int) ([]transaction.Transaction, error) {
	found, err := c.Payments.ListTransactions(r.Context(), r.platform.ID, ports.TransactionFilter{Type: transaction.Incoming,
		Statuses: []transaction.Status{transaction.Pending}, Paging: ports.Paging{Limit: limit, Ascending: true, WithoutTotal: true}})
	return found.Items, err
}

func (c *Console) agentsToApprove(r *request, p page, limit int) (all []standing, err error) {
	found, err := c.waitingActions(r.Context(), r.platform.ID, limit)
	for _, a := range found {
		all = append(all, standing{since: a.CreatedAt, why: "payment of an agent, waits for an approval", amount: a.Amount(),
			customer: a.Customer,
			what:     shortID(a.ID.String(), agentApprovalPath(p.Base, a.ID))})
	}
	return all, err
}

func (c *Console) paymentsInReview(r *request, p page, limit int) (all []standing, err error) {
	found, err := c.Rails.InReview(r.Context(), r.platform.ID, limit)
	for _, w := range found {
		reason := w.Reason
		if !p.Person.May(person.ViewConnections, ident.Platform{}) {
			reason = "above a limit of its connection"
		}
		s := standing{since: w.RecordedAt, why: w.Kind.Word() + " before it is sent: " + reason, amount: w.Amount, what: shortID(w.ID.String(),
			p.Base+"/payments/"+w.ID.String())}
		if w.Kind == rail.SendBack {
			s.what.Link = p.Base + "/unmatched/" + w.ID.String()
		}
		all = append(all, s)
	}
	return all, err
}

func (c *Console) unassignedFunds(r *request, p page, limit int) (all []standing, err error) {
	found, err := c.Accounting.Unmatched(r.Context(), r.platform.ID,
		ports.UnmatchedFilter{Limit: limit, Ascending: true, Assigned: new(false)})
	for _, u := range found.Items {
		all = append(all, standing{since: u.Since, why: "unmatched: " + whyUnmatched(u), amount: u.Receipt.Amount,
			what: shortID(u.Receipt.ID.String(), unmatchedPath(p.Base, u.Receipt.ID))})
	}
	return all, err
}

// waitingActions are the payments of agents that wait for an approval, the oldest first.
func (c *Console) waitingActions(ctx context.Context, p ident.Platform, limit int) ([]agentApproval, error) {
	found, err := c.AgentApprovals.AgentActions(ctx, p, ports.AgentActionFilter{Status: agent.ActionPending,
		Paging: ports.Paging{Limit: limit, Ascending: true, WithoutTotal: true}})
	all := make([]agentApproval, len(found.Items))
	for i, a := range found.Items {
		all[i].AgentAction = a
	}
	return all, err
}
