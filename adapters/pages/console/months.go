package console

import (
	"context"
	"fmt"
	"strconv"

	"causeway/app/accounting"
	"causeway/app/monthend"
	"causeway/app/yearend"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/recurring"
	"causeway/ports"
)

// Periods are the use cases on the months of the books.
type Periods interface {
	List(ctx context.Context, p ident.Platform) ([]accounting.Month, error)
	Get(ctx context.Context, p ident.Platform, m period.Month, f ports.LineFilter) (accounting.Month, error)
	CloseSteps(ctx context.Context, p ident.Platform, m period.Month) ([]accounting.CloseStep, error)
	ChangeState(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
		c accounting.MonthChange) (proposal.Outcome[accounting.Month], error)
	Adjust(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
		a period.Adjustment) (proposal.Outcome[accounting.PostedAdjustment], error)
	Recurring(ctx context.Context, p ident.Platform) ([]accounting.Recurring, error)
	SetRecurring(ctx context.Context, p ident.Platform, by platform.Author, v recurring.Version) (proposal.Outcome[recurring.Version], error)
	EndRecurring(ctx context.Context, p ident.Platform, by platform.Author, name string,
		last period.Month) (proposal.Outcome[recurring.Version], error)
}

// MonthEnd are the use cases on what is posted at the end of a month.
type MonthEnd interface {
	Revalue(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
		m period.Month) (proposal.Outcome[monthend.Revaluation], error)
	PostAllowance(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
		m period.Month) (proposal.Outcome[monthend.Allowance], error)
	DeferFees(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest,
		m period.Month) (proposal.Outcome[monthend.FeeDeferral], error)
	LastResults(ctx context.Context, p ident.Platform, months int) ([]monthend.Revaluation, error)
}

// Years are the use cases on the end of a year.
type Years interface {
	List(ctx context.Context, p ident.Platform) ([]yearend.Year, error)
	Close(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, c yearend.Change) (proposal.Outcome[yearend.Year], error)
}

func (c *Console) monthRoutes() []platformRoute {
	routes := []platformRoute{
		{"GET", "/months", person.View, c.showMonths},
		{"GET", "/months/{month}", person.View, c.showMonth},
	}
	for _, a := range monthActions {
		routes = append(routes, c.actionRoutes("/months/{month}/"+a.path, person.KeepBooks,
			func(r *request) (action, error) { return c.monthAction(r, a) })...)
	}
	return routes
}

// monthAction is something that is done to a month.
type monthAction struct {
	path, title, does string
	// step is the one that it takes, and state that of a month that takes it.
	step   accounting.CloseStepName
	state  period.State
	fields []field
	do     func(c *Console, r *request, m period.Month, by platform.Author) (to string, err error)
}

var noteField = field{Name: "note", Label: "Reason", Hint: "It is stored with your name."}

var monthActions = []monthAction{
	{"soft-close", "Soft-close", "The month then takes only postings that a person authorises with a reason. It can be reopened. Months are " +
		"soft-closed in their order.", accounting.StepSoftClose, period.Open, []field{noteField, {Name: "first", Kind: "checkbox",
		Label: "It is the first month: what was posted before are its opening balances", Hint: "Needed once, if no month is soft-closed yet."}},
		func(c *Console, r *request, m period.Month, by platform.Author) (string, error) {
			return c.changeMonth(r, by, accounting.MonthChange{Action: period.SoftClose, Month: m})
		}},
	{"revalue", "Post the exchange result", "The realised and the unrealised result of the position in foreign currencies are computed and " +
		"posted at the end of the month. An earlier run of the month is reversed.", accounting.StepExchangeResult, period.SoftClosed, nil,
		func(c *Console, r *request, m period.Month, by platform.Author) (string, error) {
			done, err := c.MonthEnd.Revalue(r.Context(), r.platform.ID, by, nil, m)
			return proposed(basePath(r.platform.ID), done), err
		}},
	{"post-allowance", "Post the allowance for receivables",
		"What of the receivables is expected to be lost is computed by their age, and the " +
			"difference to the present allowance is posted. Post it before the exchange result, which it may change.", accounting.StepAllowance,
		period.SoftClosed, nil,
		func(c *Console, r *request, m period.Month, by platform.Author) (string, error) {
			done, err := c.MonthEnd.PostAllowance(r.Context(), r.platform.ID, by, nil, m)
			return proposed(basePath(r.platform.ID), done), err
		}},
	{"defer-fees", "Defer fees", "Fees of payments that were in transit at the end of the month are moved into the next one.",
		accounting.StepFeeDeferral, period.SoftClosed, nil,
		func(c *Console, r *request, m period.Month, by platform.Author) (string, error) {
			done, err := c.MonthEnd.DeferFees(r.Context(), r.platform.ID, by, nil, m)
			return proposed(basePath(r.platform.ID), done), err
		}},
	{"close-year", "Close the year", "Income and expense of the financial year that ends with this month are posted into retained earnings. " +
		"That can be reversed with `causeway ledger reverse-year` as long as no later year is closed.", accounting.StepYearEnd,
		period.SoftClosed, []field{noteField},
		func(c *Console, r *request, m period.Month, by platform.Author) (string, error) {
			done, err := c.Years.Close(r.Context(), r.platform.ID, nil, yearend.Change{Year: m.Start().Year(), By: by,
				Note: r.PostFormValue("note")})
			return proposed(basePath(r.platform.ID), done), err
		}},
	{"close", "Close", "The month then takes no posting any more, for good, and its trial balance is stored. Corrections are posted in the " +
		"next month.", accounting.StepClose, period.SoftClosed, []field{noteField,
		{Name: "withoutRevaluation", Kind: "checkbox", Label: "Without an exchange result that counts"},
		{Name: "withoutFeeDeferral", Kind: "checkbox", Label: "Without a deferral of fees that counts"},
		{Name: "withoutAllowance", Kind: "checkbox", Label: "Without an allowance for receivables that counts"},
		{Name: "withoutYearEnd", Kind: "checkbox", Label: "Without closing the year"}},
		func(c *Console, r *request, m period.Month, by platform.Author) (string, error) {
			return c.changeMonth(r, by, accounting.MonthChange{Action: period.Close, Month: m})
		}},
	{"reopen", "Reopen", "The month takes every posting again. Months are reopened in reverse order.", "", period.SoftClosed,
		[]field{noteField}, func(c *Console, r *request, m period.Month, by platform.Author) (string, error) {
			return c.changeMonth(r, by, accounting.MonthChange{Action: period.Reopen, Month: m})
		}},
}

func (c *Console) changeMonth(r *request, by platform.Author, change accounting.MonthChange) (string, error) {
	checked := func(name string) bool { return r.PostFormValue(name) != "" }
	change.Note, change.ConfirmOpeningBalances = r.PostFormValue("note"), checked("first")
	change.WithoutRevaluation, change.WithoutFeeDeferral = checked("withoutRevaluation"), checked("withoutFeeDeferral")
	change.WithoutYearEnd, change.WithoutAllowance = checked("withoutYearEnd"), checked("withoutAllowance")
	done, err := c.Periods.ChangeState(r.Context(), r.platform.ID, by, nil, change)
	return proposed(basePath(r.platform.ID), done), err
}

func (c *Console) monthAction(r *request, a monthAction) (action, error) {
	m, err := monthIn(r)
	return action{Title: a.title + " " + m.String(), Section: "months", Does: a.does + " If the books need a second person for it, it is " +
		"proposed and waits for an approval.", Fields: append([]field(nil), a.fields...), NeedsCode: true,
		Back: basePath(r.platform.ID) + "/months/" + m.String(),
		do: func(r *request) (string, error) {
			by, err := c.author(r)
			if err != nil {
				return "", err
			}
			return a.do(c, r, m, by)
		}}, err
}

func monthIn(r *request) (period.Month, error) {
	m, err := period.ParseMonth(r.PathValue("month"))
	if err != nil {
		return m, errNotFound
	}
	return m, nil
}

func (c *Console) showMonths(r *request) error {
	months, err := c.Periods.List(r.Context(), r.platform.ID)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Month end", "months"), Intro: "Months are in UTC. A posting belongs to the month in which it takes effect."}
	rows := table{Label: "Months", Columns: columns("Month", "State", "Since", "By", "Trial balance")}
	for _, m := range months {
		row := []cell{linked(m.Month.String(), v.Base+"/months/"+m.Month.String()), stated(m.State), {}, {},
			linked("Trial balance", v.Base+"/trial-balance?by=effective&month="+m.Month.String())}
		if n := len(m.Changes); n > 0 {
			last := m.Changes[n-1]
			row[2], row[3] = timed(last.At), acted(by(last.By, last.Approval))
		}
		rows.Rows = append(rows.Rows, row)
	}
	v.Sections = []section{{Table: &rows}}
	return c.show(r, v)
}

// stepNames are the steps as they are shown.
var stepNames = map[accounting.CloseStepName]string{accounting.StepSoftClose: "Soft-close the month",
	accounting.StepRecurring:      "Post the recurring adjustments",
	accounting.StepExchangeResult: "Post the exchange result", accounting.StepFeeDeferral: "Defer fees",
	accounting.StepAllowance: "Post the allowance for receivables",
	accounting.StepYearEnd:   "Close the year", accounting.StepClose: "Close the month"}

// stepState is how far a step is.
type stepState string

func (c *Console) showMonth(r *request) error {
	m, err := monthIn(r)
	if err != nil {
		return err
	}
	month, err := c.Periods.Get(r.Context(), r.platform.ID, m, ports.LineFilter{Limit: 1})
	if err != nil {
		return err
	}
	steps, err := c.Periods.CloseSteps(r.Context(), r.platform.ID, m)
	if err != nil {
		return err
	}
	breaks, err := c.Reconciliation.Breaks(r.Context(), r.platform.ID, ident.Reconciliation{}, ports.BreakFilter{
		Paging: ports.Paging{Limit: 1}, Status: "OPEN"})
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Month end "+m.String(), "months"), State: string(month.State)}
	rows := table{Label: "Steps", Columns: columns("Step", "State", "Done", "By", "In the way")}
	if month.State != period.Closed {
		state, text := stepState("DONE"), ""
		if breaks.Total > 0 {
			state, text = "OPEN", fmt.Sprintf("Open breaks: %d. They do not block the close.", breaks.Total)
		}
		rows.Rows = append(rows.Rows, []cell{linked("Reconcile", v.Base+"/breaks?status=OPEN"), stated(state), {}, {}, plain(text)})
	}
	for _, s := range steps {
		rows.Rows = append(rows.Rows, c.stepRow(v.page, month, s))
	}
	v.Sections = append(v.Sections, section{Heading: "Steps", Table: &rows}, section{Heading: "Changes", Table: changesOf(month)})
	posted, err := c.recurringOf(r, v.Base, m)
	if err != nil {
		return err
	}
	if posted != nil {
		v.Sections = append(v.Sections, section{Heading: "Recurring adjustments", Table: posted})
	}
	if len(month.Totals) > 0 {
		v.Sections = append(v.Sections, section{Heading: "Trial balance at closing", Table: closingTotals(month)})
	}
	v.Actions = append(v.Actions, actionLink("Trial balance of the month", v.Base+"/trial-balance?by=effective&month="+m.String()))
	if v.Person.May(person.KeepBooks, r.platform.ID) && month.State == period.SoftClosed {
		v.Actions = append(v.Actions, actionLink("Reopen the month", v.Base+"/months/"+m.String()+"/reopen"))
	}
	return c.show(r, v)
}

// stepRow is a step, which leads to what takes it if the person may and the month is in the state for it.
func (c *Console) stepRow(p page, month accounting.Month, s accounting.CloseStep) []cell {
	name, state := plain(stepNames[s.Name]), stepState("OPEN")
	switch {
	case s.IsDone():
		state = "DONE"
	case s.Blocker != nil && !s.At.IsZero():
		state = "OUTDATED"
	}
	if state != "DONE" {
		name.Link = p.stepLink(month, s.Name)
	}
	done := []cell{{}, {}}
	if !s.At.IsZero() {
		done = []cell{timed(s.At), acted(by(s.By, s.Approval))}
	}
	return []cell{name, stated(state), done[0], done[1], p.blockerCell(month, s)}
}

// stepLink leads to what takes a step; it is empty if the person may not, or the month is not in the state for it.
func (p page) stepLink(month accounting.Month, step accounting.CloseStepName) string {
	for _, a := range monthActions {
		if a.step == step && a.state == month.State && p.Person.May(person.KeepBooks, p.Platform.ID) {
			return p.Base + "/months/" + month.Month.String() + "/" + a.path
		}
	}
	return ""
}

// blockerTexts say what to do about a step, by the reason of its blocker.
var blockerTexts = map[string]string{
	"Month-end run missing":     "It is not posted. Post it, or close the month without it.",
	"Month-end run out of date": "Postings were added after it. Post it again, or close the month without it.",
	"Year is not closed":        "The year is not closed. Close it, or close the month without it.",
	"Year end out of date": "Income or expense was posted after it. Have its closing reversed (causeway ledger reverse-year) and close it " +
		"again, or close the month without it.",
	"Account not available": "A recurring adjustment is not posted, because the chart has no such account now. Change it, or end it.",
}

// blockerCell says what is in the way of a step and leads to what is done about it: first to what comes before it.
func (p page) blockerCell(month accounting.Month, s accounting.CloseStep) cell {
	f, isFault := fault.As(s.Blocker)
	switch {
	case s.FirstStep != "":
		return linked(stepNames[s.FirstStep]+" first.", p.stepLink(month, s.FirstStep))
	case !s.FirstMonth.IsZero():
		return linked("The month "+s.FirstMonth.String()+" comes first.", p.Base+"/months/"+s.FirstMonth.String())
	case !isFault:
		return plain("")
	case f.Reason == "Month is not over":
		return plain("The month is not over. It can be soft-closed from " + dayText(month.Month.End()) + " on.")
	case f.Reason == "Account not available":
		return linked(blockerTexts[f.Reason], p.Base+"/journals")
	case blockerTexts[f.Reason] != "":
		return linked(blockerTexts[f.Reason], p.stepLink(month, s.Name))
	}
	return plain(f.Message)
}

func changesOf(m accounting.Month) *table {
	t := &table{Label: "Changes", Columns: columns("Time", "Action", "By", "Reason"), Empty: "The month is as it was when it began."}
	for _, change := range m.Changes {
		t.Rows = append(t.Rows, []cell{timed(change.At), plain(string(change.Action)), acted(by(change.By, change.Approval)), plain(change.Note)})
	}
	return t
}

func closingTotals(m accounting.Month) *table {
	t := &table{Label: "Trial balance at closing", Columns: columns("Currency", ">Accounts", ">Debits", ">Credits")}
	for _, sum := range m.Totals {
		t.Rows = append(t.Rows, []cell{plain(string(sum.Currency)), amountCell(strconv.FormatInt(sum.Accounts, 10)),
			amountCell(sum.Debits.Major(sum.Currency)), amountCell(sum.Credits.Major(sum.Currency))})
	}
	return t
}
