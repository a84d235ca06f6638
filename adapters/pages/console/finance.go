package console

import (
	"context"
	"slices"
	"strings"
	"time"

	"causeway/app/journals"
	"causeway/app/receivables"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/receivable"
	"causeway/ledger"
	"causeway/ports"
)

// Journals are the use cases on journals for a general ledger in another program.
type Journals interface {
	Make(ctx context.Context, p ident.Platform, by platform.Author, request *ports.IdempotentRequest, span journal.Span) ([]journal.Journal,
		error)
	List(ctx context.Context, p ident.Platform, span *journal.Span, after string, limit int) (ports.JournalPage, error)
	Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, error)
	File(ctx context.Context, p ident.Platform, number string, f journal.Format, o journal.Options) (journals.Table, error)
}

// Receivables are the use cases on what customers owe after their bank took a collection back.
type Receivables interface {
	Receivables(ctx context.Context, p ident.Platform, f ports.ReceivableFilter) (ports.Page[receivable.Receivable], error)
	Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, error)
	Aging(ctx context.Context, p ident.Platform) (receivables.AgingReport, error)
	WriteOff(ctx context.Context, p ident.Platform, by platform.Author, c receivables.WriteOffCommand, request *ports.IdempotentRequest) (
		proposal.Outcome[ports.ReceivableDetails], error)
}

func (c *Console) financeRoutes() []platformRoute {
	routes := []platformRoute{
		{"GET", "/journals", person.View, c.showJournals},
		{"GET", "/journals/{journal}", person.View, c.showJournal},
		{"GET", "/journals/{journal}/file.csv", person.View, c.downloadJournal},
		{"GET", "/receivables", person.View, c.list(c.showReceivables)},
		{"GET", "/receivables/{receivable}", person.View, c.showReceivable},
		{"POST", "/receivables/{receivable}", person.ViewPersonalData, c.revealReceivable},
		{"GET", "/safeguarding", person.View, c.list(c.showSafeguarding)},
		{"GET", "/safeguarding/{day}", person.View, c.list(c.showSafeguardingDay)},
		{"GET", "/fx-position", person.View, c.list(c.showFXPosition)},
	}
	routes = append(routes, c.actionRoutes("/make-journals", person.KeepBooks, c.makeJournals)...)
	routes = append(routes, c.actionRoutes("/receivables/{receivable}/write-off", person.KeepBooks, c.writeOff)...)
	return append(routes, c.actionRoutes("/safeguarding/{day}/acknowledge", person.KeepBooks, c.acknowledge)...)
}

// wordColumns are those whose values are words, and no names or codes.
var wordColumns = []string{"section", "status", "confirmation", "class", "origin"}

// reportTable returns a report as it is exported, with the names of its columns as words.
func reportTable(label, empty string, header []string, rows [][]string) *table {
	t := &table{Label: label, Empty: empty}
	for _, name := range header {
		t.Columns = append(t.Columns, column{capital(lower(name)), isAmountColumn(name)})
	}
	for _, row := range rows {
		cells := make([]cell, len(row))
		for i, text := range row {
			at, err := time.Parse(time.RFC3339, text)
			switch {
			case t.Columns[i].IsAmount:
				cells[i] = amountCell(text)
			case err == nil && (header[i] == "at" || strings.HasSuffix(header[i], "_at")):
				cells[i] = timed(at)
			case slices.Contains(wordColumns, header[i]):
				cells[i] = plain(lower(text))
			default:
				cells[i] = plain(text)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// isAmountColumn reports whether a column of a report has numbers.
func isAmountColumn(name string) bool {
	switch name {
	case "amount", "manual", "position", "rate", "value", "owed", "receivables", "debit", "credit":
		return true
	}
	return strings.HasPrefix(name, "days_")
}

func (c *Console) showJournals(r *request) error {
	query := r.URL.Query()
	v := view{page: c.page(r, "Journals", "journals"), Intro: "Entries for a general ledger that is kept in another program: for a day or a " +
		"month, one for each currency. A later revision has only what was posted since."}
	var span *journal.Span
	entered := strings.TrimSpace(query.Get("span"))
	v.Filter = &filter{v.Base + "/journals", []field{{Name: "span", Label: "Day or month", Value: entered,
		Hint: "Such as 2026-10-31 or 2026-10."}}}
	if entered != "" {
		parsed, err := journal.ParseSpan(entered)
		if err != nil {
			v.Problems = []string{"Day or month must be written as in 2026-10-31 or 2026-10."}
			return c.show(r, v)
		}
		span = &parsed
	}
	found, err := c.Journals.List(r.Context(), r.platform.ID, span, query.Get("after"), pageSize)
	if err != nil {
		return err
	}
	rows := table{Label: "Journals", Columns: columns("Number", "Day or month", "Currency", ">Revision", "Made", "By"),
		Empty: "There are no such journals. Make some for a day or a month that is over."}
	for _, j := range found.Journals {
		rows.Rows = append(rows.Rows, []cell{linked(j.Number, v.Base+"/journals/"+j.Number), plain(j.Span.String()), plain(string(j.Currency)),
			amountCell(itoa(j.Revision)), timed(j.MadeAt), acted(j.By.String())})
	}
	recurring, err := c.recurringList(r, v.Base)
	if err != nil {
		return err
	}
	v.Sections = []section{{Heading: "Journals", Table: &rows}, recurring}
	if v.Person.May(person.KeepBooks, r.platform.ID) {
		v.Actions = []fact{actionLink("Make journals", v.Base+"/make-journals"),
			actionLink("Add a recurring adjustment", v.Base+"/set-recurring")}
	}
	v.Older = older(r, found.More, found.Journals, func(j journal.Journal) string { return j.Number })
	return c.show(r, v)
}

func (c *Console) showJournal(r *request) error {
	j, err := c.Journals.Journal(r.Context(), r.platform.ID, r.PathValue("journal"))
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Journal "+j.Number, "journals")}
	v.Facts = add(nil, "Day or month", j.Span.String())
	v.Facts = add(v.Facts, "Currency", string(j.Currency))
	v.Facts = add(v.Facts, "Revision", itoa(j.Revision))
	v.Facts = addActor(v.Facts, "Made", moment(j.MadeAt)+" by ", j.By.String())
	rows := table{Label: "Lines", Columns: columns("Code", "Name", ">Debit", ">Credit"), Empty: "It has no lines."}
	for _, l := range j.Lines {
		row := []cell{plain(l.Code), plain(l.Name), amountCell(""), amountCell("")}
		if l.Debit.Sign() != 0 {
			row[2].Text = l.Debit.Major(j.Currency)
		}
		if l.Credit.Sign() != 0 {
			row[3].Text = l.Credit.Major(j.Currency)
		}
		rows.Rows = append(rows.Rows, row)
	}
	v.Sections = []section{{Heading: "Lines", Table: &rows}, {Heading: "Download", Table: journalFiles(v.Base, j.Number)}}
	return c.show(r, v)
}

func journalFiles(base, number string) *table {
	t := &table{Label: "Files", Columns: columns("For", "File")}
	for _, f := range journal.Formats() {
		t.Rows = append(t.Rows, []cell{plain(string(f)), linked(number+"-"+string(f)+".csv",
			base+"/journals/"+number+"/file.csv?format="+string(f))})
	}
	return t
}

func (c *Console) downloadJournal(r *request) error {
	number, format := r.PathValue("journal"), journal.Format(r.URL.Query().Get("format"))
	if format == "" {
		format = journal.CSV
	}
	file, err := c.Journals.File(r.Context(), r.platform.ID, number, format, journal.Options{})
	if err != nil {
		return err
	}
	return writeCSV(r, number+"-"+string(format)+".csv", file.Header, file.Rows)
}

func (c *Console) makeJournals(r *request) (action, error) {
	base := basePath(r.platform.ID)
	return action{Title: "Make journals", Section: "journals", Does: "Journals are made of what was posted in a day or a month that is " +
		"over, one " +
		"for each currency. If there are some already, the new ones have only what was posted since. A journal stays as it is.",
		Fields: []field{{Name: "span", Label: "Day or month", Hint: "Such as 2026-10-31 or 2026-10."}}, Back: base + "/journals",
		do: func(r *request) (string, error) {
			span, err := journal.ParseSpan(formText(r, "span"))
			if err != nil {
				return "", err
			}
			author, err := c.author(r)
			if err != nil {
				return "", err
			}
			_, err = c.Journals.Make(r.Context(), r.platform.ID, author, nil, span)
			return base + "/journals?span=" + escapeQuery(span.String()), err
		}}, nil
}

func (c *Console) showReceivables(r *request) error {
	state := receivable.State(r.URL.Query().Get("state"))
	if state != "" && !slices.Contains(receivable.States(), state) {
		return errNotFound
	}
	found, err := c.Receivables.Receivables(r.Context(), r.platform.ID, ports.ReceivableFilter{Paging: pagingOf(r), State: state})
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Receivables", "receivables"), Intro: "What customers owe, because their bank has taken a collection back. " +
		"Later " +
		"money of the customer pays it."}
	v.Filter = &filter{v.Base + "/receivables", []field{{Name: "state", Label: "State", Kind: "select", Value: string(state),
		Options: optionsOf(receivable.States())}}}
	rows := table{File: "receivables", Label: "Receivables",
		Columns: columns("Returned", "Receivable", "State", ">Amount", ">Collected", ">Written off",
			"Currency",
			"Customer", "Reason"), Empty: "There are no such receivables: no collection was taken back."}
	for _, item := range found.Items {
		rows.Rows = append(rows.Rows, []cell{timed(item.ReturnedAt), shortID(item.ID.String(), v.Base+"/receivables/"+pathOfID(item.ID)),
			stated(item.State), amountCell(major(item.Amount)), minorCell(item.Collected, item.Amount.Currency),
			minorCell(item.WrittenOff, item.Amount.Currency), plain(string(item.Amount.Currency)), customerCell(v.Base, item.Customer),
			plain(item.ReasonCode)})
	}
	if r.lines == nil {
		if err := c.addAging(r, &v); err != nil {
			return err
		}
	}
	v.Sections = append(v.Sections, section{Heading: "Receivables", Table: &rows})
	v.Older = older(r, found.More, found.Items, func(i receivable.Receivable) string { return pathOfID(i.ID) })
	return c.show(r, v)
}

// addAging adds what is owed by age, and the allowances for it.
func (c *Console) addAging(r *request, v *view) error {
	aging, err := c.Receivables.Aging(r.Context(), r.platform.ID)
	if err != nil {
		return err
	}
	allowances, err := c.Accounting.Account(r.Context(), r.platform.ID, ledger.AllowanceReceivables, "", ports.Cutoff{})
	if f, ok := fault.As(err); err != nil && (!ok || f.Code != fault.NotFound) {
		return err
	}
	for _, allowance := range allowances {
		c := allowance.Account.Currency
		v.Facts = add(v.Facts, "Allowance in "+string(c), allowance.Balance.Neg().Major(c), accountLink(v.Base, ledger.AllowanceReceivables, c))
	}
	ages := aging.Table()
	byAge := reportTable("By age", "Nothing is owed.", ages.Header, ages.Rows)
	for _, row := range byAge.Rows {
		row[1].Link = v.Base + "/receivables?state=" + string(receivable.Open)
		row[len(row)-1].Link = row[1].Link
	}
	v.Sections = append(v.Sections, section{Heading: "By age", Table: byAge})
	return nil
}

func customerCell(base string, id ident.Customer) cell {
	if id.IsZero() {
		return plain("the platform")
	}
	return shortID(id.String(), base+"/customers/"+pathOfID(id))
}

func (c *Console) receivableIn(r *request) (ports.ReceivableDetails, error) {
	id, err := idIn(r, "receivable", ident.ParseReceivable)
	if err != nil {
		return ports.ReceivableDetails{}, err
	}
	return c.Receivables.Receivable(r.Context(), r.platform.ID, id)
}

// noteOf returns a note as it is shown: the words of a partner may name people.
func noteOf(note string, by platform.Author, show func(string) string) string {
	if by.QuotesPartner() {
		return show(note)
	}
	return note
}

func receivableFacts(d receivable.Receivable, base string, show func(string) string) []fact {
	facts := add(nil, "Id", d.ID.String())
	facts = add(facts, "Amount", d.Amount.String())
	facts = add(facts, "Collected", money.Amount{Minor: d.Collected, Currency: d.Amount.Currency}.String())
	facts = add(facts, "Written off", money.Amount{Minor: d.WrittenOff, Currency: d.Amount.Currency}.String())
	facts = add(facts, "Payment", d.Transaction.String(), base+"/payments/"+pathOfID(d.Transaction))
	if !d.Customer.IsZero() {
		facts = add(facts, "Customer", d.Customer.String(), base+"/customers/"+pathOfID(d.Customer))
	}
	facts = add(facts, "Returned", moment(d.ReturnedAt))
	facts = add(facts, "Partner's reason", d.ReasonCode)
	return add(facts, "Note", noteOf(d.Note, d.By, show))
}

func (c *Console) showReceivable(r *request) error { return c.receivableWith(r, false) }

// revealReceivable shows a receivable with the words of the partner, which may name people, and is recorded first.
func (c *Console) revealReceivable(r *request) error { return c.receivableWith(r, true) }

func (c *Console) receivableWith(r *request, revealed bool) error {
	d, err := c.receivableIn(r)
	if err != nil {
		return err
	}
	if revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, d.ID.UUID(), d.ID.String()); err != nil {
			return err
		}
	}
	show := shown(revealed)
	v := view{page: c.page(r, "Receivable", "receivables"), State: string(d.State)}
	v.Facts, v.IsPersonal, v.IsRevealed = receivableFacts(d.Receivable, v.Base, show), true, revealed
	rows := table{Label: "Changes", Columns: columns("Time", "Change", ">Amount", "By", "Note", "Posting"),
		Empty: "Nothing has happened since."}
	for _, change := range d.Changes {
		rows.Rows = append(rows.Rows, []cell{timed(change.At), plain(lower(change.Kind)), minorCell(change.Amount, d.Amount.Currency),
			acted(byOrService(change.By, change.Approval)), plain(noteOf(change.Note, change.By, show)),
			linked("posting", v.Base+"/postings/"+change.Posting.String())})
	}
	v.Sections = []section{{Heading: "Changes", Table: &rows}}
	if d.State == receivable.Open && v.Person.May(person.KeepBooks, r.platform.ID) {
		v.Actions = []fact{actionLink("Write off", v.Base+"/receivables/"+pathOfID(d.ID)+"/write-off")}
	}
	return c.show(r, v)
}

func (c *Console) writeOff(r *request) (action, error) {
	d, err := c.receivableIn(r)
	if err != nil {
		return action{}, err
	}
	base := basePath(r.platform.ID)
	return action{Title: "Write off", Section: "receivables", Does: "What is still owed becomes an expense, and is not collected from " +
		"later money. " +
		"If the books need a second person for it, it is proposed and waits for an approval.",
		Facts:  receivableFacts(d.Receivable, base, person.Mask),
		Fields: []field{noteField}, NeedsCode: true, Back: base + "/receivables/" + pathOfID(d.ID),
		do: func(r *request) (string, error) {
			author, err := c.author(r)
			if err != nil {
				return "", err
			}
			done, err := c.Receivables.WriteOff(r.Context(), r.platform.ID, author, receivables.WriteOffCommand{Receivable: d.ID,
				Note: r.PostFormValue("note")}, nil)
			return proposed(base, done), err
		}}, nil
}
