package console

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// waiting is something that waits for the person, with the page where it is done.
type waiting struct {
	Count, One, Many, To, Then string
	n                          int
}

// maxCounted limits what is counted for the home page.
const maxCounted = 20

// newWaiting returns what waits; more than maxCounted are not counted.
func newWaiting(n int, one, many, to, then string) []waiting {
	if n == 0 {
		return nil
	}
	count := itoa(min(n, maxCounted))
	if n > maxCounted {
		count += " or more"
	}
	return []waiting{{count, one, many, to, then, n}}
}

// Text returns what waits as the text of its link.
func (w waiting) Text() string {
	if w.n == 1 {
		return w.Count + " " + w.One
	}
	return w.Count + " " + w.Many
}

// waitingFor returns what waits for the person, by its rights: what it cannot do anything about is left out.
func (c *Console) waitingFor(r *request) (all []waiting, err error) {
	base, p := basePath(r.platform.ID), r.platform.ID
	for _, part := range []struct {
		right person.Right
		on    ident.Platform
		find  func(r *request, base string) ([]waiting, error)
	}{{person.ApproveBooks, p, c.waitingApprovals}, {person.ApproveBooks, ident.Platform{}, c.waitingChanges},
		{person.Review, p, c.waitingReviews}, {person.KeepBooks, p, c.waitingBooks}, {person.KeepBooks, p, c.waitingFunds},
		{person.KeepBooks, p, c.waitingShortfalls}, {person.Assist, p, c.waitingWebhooks}, {person.Operate, p, c.waitingJobs},
		{person.DecidePayments, p, c.waitingSending}, {person.Operate, ident.Platform{}, c.waitingConnections}} {
		if !r.in.Person.May(part.right, part.on) {
			continue
		}
		found, err := part.find(r, base)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// waitingApprovals are changes of the books that others have proposed, of the latest ones.
func (c *Console) waitingApprovals(r *request, base string) ([]waiting, error) {
	pending, err := c.Proposals.Proposals(r.Context(), r.platform.ID, ports.ProposalFilter{
		Paging: ports.Paging{Limit: pageSize}, Status: proposal.Pending})
	n := len(slices.DeleteFunc(pending.Items, func(p proposal.Stated) bool { return p.IsBy(r.in.Person) }))
	return newWaiting(n, "change waits", "changes wait", base+"/proposals?status=PENDING", "for the approval of a second person."), err
}

func (c *Console) waitingReviews(r *request, base string) ([]waiting, error) {
	verifications, err := c.Verifications.Waiting(r.Context(), r.platform.ID, maxCounted+1)
	if err != nil {
		return nil, err
	}
	hits, err := c.Screening.Hits(r.Context(), r.platform.ID, maxCounted+1)
	if err != nil {
		return nil, err
	}
	held, err := c.Verifications.OnHold(r.Context(), r.platform.ID, maxCounted+1)
	if err != nil {
		return nil, err
	}
	incoming, err := c.pendingIncoming(r, maxReviews)
	if err != nil {
		return nil, err
	}
	incoming = slices.DeleteFunc(incoming, func(t transaction.Transaction) bool { return !waitsForApproval(t) })
	actions, err := c.waitingActions(r.Context(), r.platform.ID, maxCounted+1)
	queue := base + "/reviews?kind="
	return slices.Concat(
		newWaiting(len(verifications), "verification waits", "verifications wait", queue+"verifications", "for a decision."),
		newWaiting(len(hits), "hit of the screening waits", "hits of the screening wait", queue+"hits", "for a decision."),
		newWaiting(len(held), "customer is on hold", "customers are on hold", queue+"held", "until a person releases them."),
		newWaiting(len(incoming), "incoming payment waits", "incoming payments wait", queue+"incoming", "for an approval."),
		newWaiting(len(actions), "payment of an agent waits", "payments of agents wait", base+"/agent-approvals", "for an approval.")), err
}

// waitingBooks are open breaks, and months that are over and not closed, on a platform that closes months.
func (c *Console) waitingBooks(r *request, base string) ([]waiting, error) {
	breaks, err := c.Reconciliation.Breaks(r.Context(), r.platform.ID, ident.Reconciliation{}, ports.BreakFilter{
		Paging: ports.Paging{Limit: 1}, Status: "OPEN"})
	if err != nil {
		return nil, err
	}
	months, err := c.Periods.List(r.Context(), r.platform.ID)
	if err != nil {
		return nil, err
	}
	unclosed, closes, now, oldest := 0, false, period.MonthOf(c.Clock.Now()), ""
	for _, m := range months {
		closes = closes || len(m.Changes) > 0
		if m.State != period.Closed && m.Month.Before(now) {
			unclosed, oldest = unclosed+1, m.Month.String()
		}
	}
	all := newWaiting(int(breaks.Total), "break is open", "breaks are open", base+"/breaks", "between statements and the ledger.")
	if closes {
		days := int(c.Clock.Now().Sub(now.Start()).Hours()) / 24
		all = append(all, newWaiting(unclosed, "month is over and not closed", "months are over and not closed", base+"/months/"+oldest,
			fmt.Sprintf("The last one ended %d days ago.", days))...)
	}
	return all, nil
}

func (c *Console) waitingWebhooks(r *request, base string) ([]waiting, error) {
	failed, err := c.Webhooks.Deliveries(r.Context(), r.platform.ID, ports.DeliveryFilter{Limit: maxCounted, Status: event.Failed})
	n := len(failed.Items)
	if failed.More {
		n++
	}
	return newWaiting(n, "webhook failed", "webhooks failed", base+"/webhooks?status=FAILED",
		"They were not accepted by the endpoint within seven days."), err
}

func (c *Console) waitingJobs(r *request, base string) ([]waiting, error) {
	dead, err := c.Jobs.List(r.Context(), ports.JobFilter{Platform: r.platform.ID, State: ports.JobDead, Limit: maxCounted + 1})
	return newWaiting(len(dead), "stopped job", "stopped jobs", base+"/jobs?state=dead", "can be retried or discarded."), err
}

// waitingSending are payouts and refunds that wait for a review: of all platforms for who may decide all of them.
func (c *Console) waitingSending(r *request, base string) ([]waiting, error) {
	if !r.in.Person.May(person.DecidePayments, ident.Platform{}) {
		held, err := c.Rails.InReview(r.Context(), r.platform.ID, maxCounted+1)
		return newWaiting(len(held), "payout or refund waits", "payouts or refunds wait", base+"/reviews?kind=sending",
			"for a review before it is sent."), err
	}
	held, err := c.Rails.Waiting(ports.ForAllPlatforms(r.Context()), rail.InReview, "", maxCounted+1)
	return newWaiting(len(held), "payment waits", "payments wait", root+"/rail-payments", "for a review before it is sent."), err
}

// waitingShortfalls are days on which less was held for customers than is owed to them, which nobody has acknowledged.
func (c *Console) waitingShortfalls(r *request, base string) ([]waiting, error) {
	found, err := c.Treasury.Reports(r.Context(), r.platform.ID, ports.SafeguardingFilter{Limit: pageSize, ShortfallOnly: true})
	n := len(slices.DeleteFunc(found.Reports, func(k ports.KeptReport) bool { return len(k.Acknowledgements) > 0 }))
	return newWaiting(n, "day with a shortfall is", "days with a shortfall are", base+"/safeguarding?shortfall=yes", "not acknowledged."), err
}

// waitingConnections are those that carry nothing now, lack money or fail.
func (c *Console) waitingConnections(r *request, _ string) ([]waiting, error) {
	ctx, to := ports.ForAllPlatforms(r.Context()), root+"/connections"
	listed, _, err := c.Rails.List(ctx)
	if err != nil {
		return nil, err
	}
	stopped := 0
	for _, l := range listed {
		if state := connectionState(l); state == "PAUSED" || state == "UNTESTED" {
			stopped++
		}
	}
	unfunded, failing, err := c.Rails.Troubled(ctx)
	return slices.Concat(
		newWaiting(stopped, "connection carries", "connections carry", to, "no payments: stopped, or not tested."),
		newWaiting(len(unfunded), "connection waits", "connections wait", to, "for money: "+strings.Join(unfunded, ", ")+"."),
		newWaiting(len(failing), "connection fails", "connections fail", to, "to say what is new: "+strings.Join(failing, ", ")+".")), err
}
