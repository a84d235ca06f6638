package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"causeway/app/rails"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/ports"
)

// Rails are the use cases on connections to partners and on the payments that they carry.
type Rails interface {
	List(ctx context.Context) ([]rails.Listed, []ports.RailPause, error)
	Show(ctx context.Context, name string) (rails.Shown, error)
	History(ctx context.Context, name string) ([]rails.Change, error)
	Calendars(ctx context.Context, name string, year int) ([]rails.RailCalendar, error)
	OpenPayments(ctx context.Context, name string) ([]rails.OpenPayments, error)
	Troubled(ctx context.Context) (unfunded, failing []string, err error)
	Pause(ctx context.Context, name string, paused bool, by rails.Author) error
	InReview(ctx context.Context, p ident.Platform, limit int) ([]rail.Payment, error)
	Waiting(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error)
	Payments(ctx context.Context, id uuid.UUID) ([]rails.Decided, error)
	Release(ctx context.Context, id uuid.UUID, by rails.Author) (proposal.Outcome[rail.Payment], error)
	Cancel(ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error)
	Withdraw(ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error)
	Move(ctx context.Context, id uuid.UUID, to string, by rails.Author) (rail.Payment, error)
	MarkNotSent(ctx context.Context, id uuid.UUID, by rails.Author) (rail.Payment, error)
}

// globalRoutes are the pages of what belongs to no platform. Their rights are those on all platforms.
func (c *Console) globalRoutes() []platformRoute {
	routes := []platformRoute{
		{"GET", "/people", person.ManagePeople, c.showPeople},
		{"GET", "/processes", person.ViewConnections, c.showProcesses},
		{"GET", "/connections", person.ViewConnections, c.showConnections},
		{"GET", "/connections/{connection}", person.ViewConnections, c.showConnection},
		{"GET", "/rail-payments", person.ViewConnections, c.showRailPayments},
		{"GET", "/rail-payments/{payment}", person.ViewConnections, c.showRailPayment},
	}
	routes = append(routes, c.actionRoutes("/connections/{connection}/pause", person.Operate, c.pause(true))...)
	routes = append(routes, c.actionRoutes("/connections/{connection}/resume", person.Operate, c.pause(false))...)
	for _, d := range railDecisions {
		routes = append(routes, c.actionRoutes("/rail-payments/{payment}/"+d.path, person.DecidePayments,
			func(r *request) (action, error) { return c.decideRailPayment(r, d) })...)
	}
	return slices.Concat(routes, c.changeRoutes(), c.auditRoutes())
}

// everywhere returns a page of what belongs to no platform, which needs a right on all of them.
func (c *Console) everywhere(right person.Right, serve func(*request) error) func(*request) error {
	return c.working(func(r *request) error {
		if err := r.in.Person.Check(right, ident.Platform{}); err != nil {
			return err
		}
		c.recallPlatform(r)
		r.Request = r.WithContext(ports.ForAllPlatforms(r.Context()))
		return serve(r)
	})
}

// railAuthor returns the person who has signed in as one who decides about connections, with the reason that was entered.
func railAuthor(r *request) rails.Author {
	return rails.Author{Actor: r.in.Person.Email, Person: r.in.Person.ID, Note: r.PostFormValue("note")}
}

func connectionState(l rails.Listed) stepState {
	switch {
	case l.Retired:
		return "RETIRED"
	case len(l.PausedBy) > 0:
		return "PAUSED"
	case l.Untested:
		return "UNTESTED"
	}
	return "ACTIVE"
}

func (c *Console) showConnections(r *request) error {
	listed, pauses, err := c.Rails.List(r.Context())
	if err != nil {
		return err
	}
	open, err := c.Rails.OpenPayments(r.Context(), "")
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Connections", "connections"), Intro: "Connections to partners, in the order in which payments take them."}
	rows := table{Label: "Connections", Columns: columns("Name", "State", "Adapter", "Rails", "Currencies", ">Can be stopped", ">Has left"),
		Empty: "There is no connection: sandbox platforms have a simulated one. Add one with `causeway rails set`."}
	for _, l := range listed {
		var held, left int64
		for _, o := range open {
			if o.Connection == l.Name {
				held, left = held+o.Held.Count, left+o.Left.Count
			}
		}
		rows.Rows = append(rows.Rows, []cell{linked(l.Name, root+"/connections/"+l.Name), stated(connectionState(l)), plain(string(l.Adapter)),
			plain(words(l.Rails)), plain(words(l.Currencies)), amountCell(fmt.Sprint(held)), amountCell(fmt.Sprint(left))})
	}
	v.Sections = []section{{Table: &rows}}
	if stopped := pausesTable(pauses); len(stopped.Rows) > 0 {
		v.Sections = append(v.Sections, section{Heading: "Stopped", Table: stopped})
	}
	return c.show(r, v)
}

func words[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

func pausesTable(pauses []ports.RailPause) *table {
	t := &table{Label: "Stopped", Columns: columns("Since", "Connection or rail", "By", "Reason")}
	for _, p := range pauses {
		name := plain(p.Name)
		if p.LostCommits != 0 {
			name = plain("every connection: the database has lost commits (causeway recover)")
		}
		t.Rows = append(t.Rows, []cell{timed(p.At), name, acted(p.By), plain(p.Note)})
	}
	return t
}

func (c *Console) showConnection(r *request) error {
	name := r.PathValue("connection")
	shown, err := c.Rails.Show(r.Context(), name)
	if err != nil {
		return notThere(err)
	}
	history, err := c.Rails.History(r.Context(), name)
	if err != nil {
		return err
	}
	calendars, err := c.Rails.Calendars(r.Context(), name, 0)
	if err != nil {
		return err
	}
	open, err := c.Rails.OpenPayments(r.Context(), name)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Connection "+name, "connections"), State: string(connectionState(shown.Listed))}
	v.Facts = add(nil, "Adapter", string(shown.Adapter))
	v.Facts = add(v.Facts, "Rails", words(shown.Rails))
	v.Facts = add(v.Facts, "Currencies", words(shown.Currencies))
	v.Facts = add(v.Facts, "Countries", strings.Join(shown.Countries, ", "))
	v.Facts = addActor(v.Facts, "Version", fmt.Sprintf("%d, set at %s by ", shown.Version, moment(shown.SetAt)), shown.By)
	if shown.Test != nil {
		v.Facts = add(v.Facts, "Last test", joined([]string{moment(shown.Test.At), testText(*shown.Test)}))
	}
	v.Sections = []section{{Heading: "Balances", Table: accountsTable(shown.Accounts)}, {Heading: "Payments", Table: openTable(open)},
		{Heading: "Cut-off times", Table: calendarTable(calendars)}, {Heading: "What was changed", Table: historyTable(history)}}
	v.Actions = []fact{actionLink("Payments that wait", root+"/rail-payments?connection="+escapeQuery(name))}
	if v.Person.May(person.Operate, ident.Platform{}) && !shown.Retired {
		if isPaused(shown.Listed) {
			v.Actions = append(v.Actions, actionLink("Resume", root+"/connections/"+name+"/resume"))
		} else {
			v.Actions = append(v.Actions, actionLink("Stop", root+"/connections/"+name+"/pause"))
		}
	}
	return c.show(r, v)
}

// isPaused reports whether the connection itself is stopped, and not only one of its rails.
func isPaused(l rails.Listed) bool {
	return slices.ContainsFunc(l.PausedBy, func(p ports.RailPause) bool { return p.Name == l.Name })
}

// notThere turns the fault of a name that does not exist into that of a page that does not.
func notThere(err error) error {
	if f, ok := fault.As(err); ok && f.Code == fault.InvalidInput {
		return errNotFound
	}
	return err
}

func testText(t ports.RailTest) string {
	if t.Passed {
		return "passed"
	}
	return t.Problem
}

func accountsTable(accounts []rail.Account) *table {
	t := &table{Label: "Balances", Columns: columns("Currency", ">Balance", "Of", ">Handed over", ">Available", "Waits for money"),
		Empty: "No payment was given to the connection yet."}
	for _, a := range accounts {
		row := []cell{plain(string(a.Currency)), amountCell("unknown"), timed(a.BalanceAt), minorCell(a.InFlight, a.Currency),
			amountCell("unknown"), {}}
		if available, known := a.Available(); known {
			row[1], row[4] = minorCell(a.Balance, a.Currency), amountCell(major(available))
		}
		if a.Waiting {
			row[5].Text = "yes"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func openTable(open []rails.OpenPayments) *table {
	t := &table{Label: "Payments", Columns: columns("Rail", "Currency", ">Can be stopped", ">Amount", ">Has left", ">Amount"),
		Empty: "No payment is open: nothing waits, and nothing has left without an end."}
	for _, o := range open {
		t.Rows = append(t.Rows, []cell{plain(string(o.Rail)), plain(string(o.Currency)), amountCell(fmt.Sprint(o.Held.Count)),
			amountCell(o.Held.Amount.Major(o.Currency)), amountCell(fmt.Sprint(o.Left.Count)), amountCell(o.Left.Amount.Major(o.Currency))})
	}
	return t
}

func calendarTable(calendars []rails.RailCalendar) *table {
	t := &table{Label: "Cut-off times", Columns: columns("Rail", "Calendar", "Zone", "Opens", "Cut-off", "A payment of now is executed",
		"And settled"), Empty: "The connection carries no rail."}
	for _, k := range calendars {
		t.Rows = append(t.Rows, []cell{plain(string(k.Rail)), plain(fmt.Sprint(k.Schedule.Calendar)), plain(k.Schedule.Zone),
			plain(k.Schedule.Opens), plain(k.Schedule.CutOff), timed(k.Executed), timed(k.Settled)})
	}
	return t
}

func historyTable(history []rails.Change) *table {
	t := &table{Label: "What was changed", Columns: columns("Time", "Change", "By", "Reason"), Empty: "Nothing was changed."}
	for i := len(history) - 1; i >= 0; i-- { // newest first
		switch h := history[i]; {
		case h.Version != nil:
			t.Rows = append(t.Rows, []cell{timed(h.Version.SetAt), plain(fmt.Sprintf("version %d", h.Version.Version)), acted(h.Version.By),
				plain(h.Version.Note)})
		case h.Pause != nil && h.Pause.Paused:
			t.Rows = append(t.Rows, []cell{timed(h.Pause.At), plain("stopped"), acted(h.Pause.By), plain(h.Pause.Note)})
		case h.Pause != nil:
			t.Rows = append(t.Rows, []cell{timed(h.Pause.At), plain("resumed"), acted(h.Pause.By), plain(h.Pause.Note)})
		case h.Test != nil:
			t.Rows = append(t.Rows, []cell{timed(h.Test.At), plain("test of version " + itoa(h.Test.Version)), {}, plain(testText(*h.Test))})
		}
	}
	return t
}

// pause returns what stops a connection, or resumes it.
func (c *Console) pause(paused bool) func(*request) (action, error) {
	title, does := "Resume ", "Payments that wait are handed over again, in their order."
	if paused {
		title, does = "Stop ", "No further payment is handed over to the partner until the connection is resumed. What has left is not stopped. "+
			"Payments that another connection can carry take that one."
	}
	return func(r *request) (action, error) {
		name := r.PathValue("connection")
		shown, err := c.Rails.Show(r.Context(), name)
		if err != nil {
			return action{}, notThere(err)
		}
		return action{Title: title + shown.Name, Section: "connections", Does: does, Fields: []field{noteField}, NeedsCode: true,
			Back: root + "/connections/" + shown.Name,
			do: func(r *request) (string, error) {
				return "", c.Rails.Pause(r.Context(), shown.Name, paused, railAuthor(r))
			}}, nil
	}
}
