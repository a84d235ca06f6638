package console

import (
	"context"
	"fmt"
	"time"

	"causeway/app/processes"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// Operations are the use cases on how the service runs.
type Operations interface {
	Processes(ctx context.Context) ([]ports.Process, error)
	WebhookBacklog(ctx context.Context, p ident.Platform) (ports.WebhookBacklog, error)
	LastHours(ctx context.Context, p ident.Platform, n int) ([]ports.HourFigures, error)
	LastSamples(ctx context.Context, p ident.Platform, each time.Duration, n int) ([]processes.Series, error)
}

const (
	// chartHours is the number of hours of the charts of a platform.
	chartHours = 24
	// weekStep is how long a bar is of a chart of the last seven days.
	weekStep = 6 * time.Hour
)

// showState shows what a platform does now: its payments by the hour, and what waits; or what has waited in the last seven days.
func (c *Console) showState(r *request) error {
	v := view{page: c.page(r, "State", "state")}
	if r.URL.Query().Get("last") == "7d" {
		v.Title, v.Actions = "State of the last 7 days", []fact{actionLink("The last 24 hours", v.Base+"/state")}
		err := c.addSamples(r, &v, weekStep, int(processes.SamplesShown/weekStep))
		if err != nil {
			return err
		}
		return c.show(r, v)
	}
	v.Actions = []fact{actionLink("The last 7 days", v.Base+"/state?last=7d")}
	c.refresh(r, &v.page)
	hours, err := c.Payments.CountTransactionsByHour(r.Context(), r.platform.ID, chartHours)
	if err != nil {
		return err
	}
	figures, err := c.Operations.LastHours(r.Context(), r.platform.ID, chartHours)
	if err != nil {
		return err
	}
	in := r.zone().location
	v.Charts = []chart{newChart(hours, true, in),
		newFigures("requests", requestGroups, figures, func(h ports.HourFigures) ports.Figures { return h.Requests }, in),
		newFigures("attempts to send webhooks", attemptGroups, figures, func(h ports.HourFigures) ports.Figures { return h.Attempts }, in)}
	if err := c.addSamples(r, &v, time.Hour, chartHours); err != nil {
		return err
	}
	backlog, err := c.Operations.WebhookBacklog(r.Context(), r.platform.ID)
	if err != nil {
		return err
	}
	webhooks := section{Heading: "Webhooks", Facts: []fact{v.endpointFact()}}
	webhooks.Facts = add(webhooks.Facts, "Wait to be sent", waitText(backlog.Waiting, backlog.WaitingSince, c.Clock.Now()))
	webhooks.Facts = add(webhooks.Facts, "Not accepted yet", waitText(backlog.Failing, backlog.FailingSince, c.Clock.Now()))
	v.Sections = append(v.Sections, webhooks)
	jobs := section{Heading: "Jobs"}
	for _, state := range jobStates[1:] {
		found, err := c.Jobs.List(r.Context(), ports.JobFilter{Platform: r.platform.ID, State: state, Limit: maxJobs + 1})
		if err != nil {
			return err
		}
		count := itoa(len(found))
		if len(found) > maxJobs {
			count = itoa(maxJobs) + " or more"
		}
		jobs.Facts = add(jobs.Facts, capital(string(state)), count, v.Base+"/jobs?state="+string(state))
	}
	v.Sections = append(v.Sections, jobs)
	return c.show(r, v)
}

// waitText returns how many things wait, and how long the oldest has.
func waitText(n int64, since, now time.Time) string {
	if since.IsZero() {
		return countText(n)
	}
	return countText(n) + ", the oldest for " + ageOf(now.Sub(since))
}

// showProcesses lists the processes of the service, and what connections have not sent or not finished.
func (c *Console) showProcesses(r *request) error {
	found, err := c.Operations.Processes(r.Context())
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Processes", "processes"), Intro: "The processes of the last seven days. All are equal; each renews its " +
		"record " +
		"every 15 seconds. One that vanished has not ended in order: its jobs go on in another one."}
	rows := table{Label: "Processes", Columns: columns("Host", "State", "Version", "Started", "Seen last")}
	versions := map[string]bool{}
	for _, p := range found {
		state := processes.StateOf(p, c.Clock.Now())
		if state == processes.Running {
			versions[p.Version] = true
		}
		rows.Rows = append(rows.Rows, []cell{plain(p.Host), stated(state), plain(p.Version), timed(p.StartedAt), timed(p.SeenAt)})
	}
	rows.Empty = "No process has said that it runs. They do every 15 seconds."
	if len(versions) > 1 {
		v.Intro += fmt.Sprintf(" %d versions run at once, as during an upgrade.", len(versions))
	}
	open, err := c.Rails.OpenPayments(r.Context(), "")
	if err != nil {
		return err
	}
	v.Sections = []section{{Table: &rows}, {Heading: "Payments of connections", Table: openTable(open)}}
	if v.Person.May(person.ViewConnections, ident.Platform{}) {
		v.Actions = []fact{actionLink("Payments that were handed over", root+"/rail-payments?state=HANDED_OVER")}
	}
	return c.show(r, v)
}
