package console

import (
	"fmt"
	"slices"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/proposal"
	"causeway/core/rail"
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
	}{{person.View, p, c.waitingApprovals}, {person.ApproveBooks, ident.Platform{}, c.waitingChanges},
		{person.Review, p, c.waitingReviews}, {person.KeepBooks, p, c.waitingBooks}, {person.KeepBooks, p, c.waitingFunds},
		{person.View, p, c.waitingWebhooks}, {person.ViewConnections, p, c.waitingJobs},
		{person.ViewConnections, ident.Platform{}, c.waitingConnections}} {
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

func (c *Console) waitingApprovals(r *request, base string) ([]waiting, error) {
	pending, err := c.Proposals.Proposals(r.Context(), r.platform.ID, ports.ProposalFilter{Paging: ports.Paging{Limit: 1},
		Status: proposal.Pending})
	return newWaiting(int(pending.Total), "change waits", "changes wait", base+"/proposals?status=PENDING",
		"for the approval of a second person."), err
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
	actions, err := c.waitingActions(r.Context(), r.platform.ID, maxCounted+1)
	queue := base + "/reviews?kind="
	return slices.Concat(
		newWaiting(len(verifications), "verification waits", "verifications wait", queue+"verifications", "for a decision."),
		newWaiting(len(hits), "hit of the screening waits", "hits of the screening wait", queue+"hits", "for a decision."),
		newWaiting(len(held), "customer is on hold", "customers are on hold", queue+"held", "until a person releases them."),
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

// waitingConnections are connections that carry nothing now, and payments that wait for a review, of all platforms.
func (c *Console) waitingConnections(r *request, _ string) ([]waiting, error) {
	ctx := ports.ForAllPlatforms(r.Context())
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
	held, err := c.Rails.Waiting(ctx, rail.InReview, "", maxCounted+1)
	return append(newWaiting(stopped, "connection carries", "connections carry", root+"/connections", "no payments: stopped, or not tested."),
		newWaiting(len(held), "payment waits", "payments wait", root+"/rail-payments", "for a review before it is sent.")...), err
}
