package console

import (
	"strings"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/recurring"
)

func (c *Console) recurringRoutes() []platformRoute {
	return append(append([]platformRoute{{"GET", "/recurring/{name}", person.View, c.showRecurring}},
		c.actionRoutes("/set-recurring", person.KeepBooks, c.setRecurring)...),
		c.actionRoutes("/recurring/{name}/end", person.KeepBooks, c.endRecurring)...)
}

// recurringList is the section of the recurring adjustments on the page of the journals.
func (c *Console) recurringList(r *request, base string) (section, error) {
	list, err := c.Periods.Recurring(r.Context(), r.platform.ID)
	rows := table{Label: "Recurring adjustments", Columns: columns("Name", "Months", "Reversed", "Last posted", "Reason"),
		Empty: "There are none, such as depreciation or the accrual of a cost."}
	for _, a := range list {
		posted := plain("not yet")
		if len(a.Runs) > 0 {
			posted = linked(a.Runs[0].Month.String(), base+"/postings/"+a.Runs[0].Posting.String())
		}
		rows.Rows = append(rows.Rows, []cell{linked(a.Name, base+"/recurring/"+a.Name), plain(monthsOf(a.Version)), plain(yesNo(a.Reverses)),
			posted, plain(a.Note)})
	}
	return section{Heading: "Recurring adjustments", Table: &rows, Text: "They are posted for each month, at its end, after it is over. Two " +
		"persons approve one once."}, err
}

func monthsOf(v recurring.Version) string {
	switch {
	case v.Ends():
		return "ended after " + v.Last.String()
	case v.Last.IsZero():
		return "from " + v.First.String()
	}
	return v.First.String() + " to " + v.Last.String()
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// recurringNamed returns the recurring adjustment with a name.
func (c *Console) recurringNamed(r *request, name string) (accounting.Recurring, error) {
	list, err := c.Periods.Recurring(r.Context(), r.platform.ID)
	if err != nil {
		return accounting.Recurring{}, err
	}
	for _, a := range list {
		if a.Name == name {
			return a, nil
		}
	}
	return accounting.Recurring{}, errNotFound
}

func recurringFacts(v recurring.Version) []fact {
	facts := add(nil, "Months", monthsOf(v))
	facts = add(facts, "Reversed when the next month begins", yesNo(v.Reverses))
	facts = add(facts, "Reason", v.Note)
	return addActor(facts, "Set", "", by(v.By, v.Approval))
}

func (c *Console) showRecurring(r *request) error {
	a, err := c.recurringNamed(r, r.PathValue("name"))
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Recurring adjustment "+a.Name, "journals"), Facts: recurringFacts(a.Version)}
	lines := table{Label: "Entries", Columns: columns("Debit", "Credit", ">Amount", "Currency")}
	for _, e := range a.Entries {
		lines.Rows = append(lines.Rows, []cell{plain(e.Debit), plain(e.Credit),
			amountCell(major(money.Amount{Minor: e.Amount, Currency: e.Currency})), plain(string(e.Currency))})
	}
	v.Sections = []section{{Heading: "Entries", Table: &lines}, {Heading: "Months", Table: recurringRuns(v.Base, a.Runs)}}
	if v.Person.May(person.KeepBooks, r.platform.ID) {
		v.Actions = []fact{actionLink("Change it", v.Base+"/set-recurring?name="+escapeQuery(a.Name))}
		if !a.IsOver {
			v.Actions = append(v.Actions, actionLink("End it", v.Base+"/recurring/"+a.Name+"/end"))
		}
	}
	return c.show(r, v)
}

// recurringRuns lists months that were posted.
func recurringRuns(base string, runs []recurring.Run) *table {
	t := &table{Label: "Months", Columns: columns("Month", "Adjustment", "Posted", "Posting", "Reversal"), Empty: "No month was posted yet."}
	for _, run := range runs {
		reversal := cell{}
		if run.Reversal != uuid.Nil {
			reversal = linked("reversal", base+"/postings/"+run.Reversal.String())
		}
		t.Rows = append(t.Rows, []cell{plain(run.Month.String()), linked(run.Name, base+"/recurring/"+run.Name), timed(run.At),
			linked("posting", base+"/postings/"+run.Posting.String()), reversal})
	}
	return t
}

// recurringOf lists what recurring adjustments have posted for a month; nil if they have posted nothing.
func (c *Console) recurringOf(r *request, base string, m period.Month) (*table, error) {
	list, err := c.Periods.Recurring(r.Context(), r.platform.ID)
	var runs []recurring.Run
	for _, a := range list {
		for _, run := range a.Runs {
			if run.Month == m {
				runs = append(runs, run)
			}
		}
	}
	if len(runs) == 0 {
		return nil, err
	}
	return recurringRuns(base, runs), err
}

// setRecurring adds a recurring adjustment or, with a name in the query, changes one.
func (c *Console) setRecurring(r *request) (action, error) {
	base := basePath(r.platform.ID)
	present, v := period.MonthOf(c.Clock.Now()), recurring.Version{}
	a := action{Title: "Add a recurring adjustment", Section: "journals", Back: base + "/journals", NeedsCode: true,
		Does: "For each month it is posted at the end, after the month is over, without a person. On a production platform another person " +
			"approves it first; the month is not closed without it."}
	if name := r.URL.Query().Get("name"); name != "" {
		found, err := c.recurringNamed(r, name)
		if err != nil {
			return a, err
		}
		v, a.Title, a.Back = found.Version, "Change the recurring adjustment", base+"/recurring/"+name
		a.Does = "From the first month on, other entries are posted; what was posted stays. On a production platform another person " +
			"approves it first."
	}
	if v.First = present; v.Ends() {
		v.Last = period.Month{}
	}
	reverses := ""
	if v.Reverses {
		reverses = "yes"
	}
	a.Fields = []field{{Name: "name", Label: "Name", Value: v.Name, Hint: "Such as office-rent. It stays the same."},
		{Name: "entries", Label: "Entries", Kind: "textarea", Value: recurring.FormatEntries(v.Entries), Hint: "One a line: " +
			recurring.EntriesForm + "."},
		{Name: "first", Label: "First month", Value: v.First.String(), Hint: "Such as 2026-11, in UTC."},
		{Name: "last", Label: "Last month", Value: v.Last.String(), Hint: "Empty: until it is ended."},
		{Name: "reverses", Label: "Reverse it when the next month begins, as an accrual is", Kind: "checkbox", Value: reverses},
		{Name: "note", Label: "Reason", Value: v.Note, Hint: "It is the memo of each posting."}}
	a.do = func(r *request) (string, error) {
		v := recurring.Version{Name: formText(r, "name"), Note: strings.TrimSpace(r.PostFormValue("note")),
			Reverses: r.PostFormValue("reverses") != ""}
		var err error
		if v.Entries, err = recurring.ParseEntries(r.PostFormValue("entries")); err != nil {
			return "", err
		}
		if v.First, err = monthField(r, "first"); err != nil {
			return "", err
		}
		if v.Last, err = monthField(r, "last"); err != nil {
			return "", err
		}
		author, err := c.author(r)
		if err != nil {
			return "", err
		}
		done, err := c.Periods.SetRecurring(r.Context(), r.platform.ID, author, v)
		return proposed(base, done), err
	}
	return a, nil
}

// monthField returns the month in a field; zero for an empty one, which the use case refuses where it needs a month.
func monthField(r *request, name string) (period.Month, error) {
	text := formText(r, name)
	if text == "" {
		return period.Month{}, nil
	}
	m, err := period.ParseMonth(text)
	if err != nil {
		return m, fault.Invalid(fault.Field{Field: name, Message: err.Error()})
	}
	return m, nil
}

func (c *Console) endRecurring(r *request) (action, error) {
	a, err := c.recurringNamed(r, r.PathValue("name"))
	base := basePath(r.platform.ID)
	return action{Title: "End the recurring adjustment", Section: "journals", Facts: recurringFacts(a.Version), NeedsCode: true,
		Does:   "It is not posted for months after the last one; what was posted stays. On a production platform another person approves that.",
		Fields: []field{{Name: "last", Label: "Last month", Value: period.MonthOf(c.Clock.Now()).String(), Hint: "Such as 2026-11."}},
		Back:   base + "/recurring/" + a.Name,
		do: func(r *request) (string, error) {
			last, err := monthField(r, "last")
			if err == nil && last.IsZero() {
				err = fault.Invalid(fault.Field{Field: "last", Message: period.ErrInvalidMonth.Error()})
			}
			if err != nil {
				return "", err
			}
			author, err := c.author(r)
			if err != nil {
				return "", err
			}
			done, err := c.Periods.EndRecurring(r.Context(), r.platform.ID, author, a.Name, last)
			return proposed(base, done), err
		}}, err
}
