package console

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"causeway/app/reconciliation"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/proposal"
	"causeway/core/reconcile"
	"causeway/ports"
)

// Reconciliation are the use cases on statements of partners and what differs between them and the ledger.
type Reconciliation interface {
	List(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error)
	Get(ctx context.Context, p ident.Platform, id ident.Reconciliation) (reconciliation.RunDetails, error)
	Lines(ctx context.Context, p ident.Platform, id ident.Reconciliation, f ports.StatementLineFilter) (ports.Page[reconcile.LineDetails],
		error)
	Breaks(ctx context.Context, p ident.Platform, id ident.Reconciliation, f ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error)
	Break(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error)
	Import(ctx context.Context, in reconciliation.ImportRequest, request *ports.IdempotentRequest) (reconciliation.ImportResult, error)
	Resolve(ctx context.Context, in reconciliation.ResolveRequest, request *ports.IdempotentRequest) (
		proposal.Outcome[reconcile.BreakDetails], error)
}

func (c *Console) reconciliationRoutes() []platformRoute {
	return append([]platformRoute{
		{"GET", "/reconciliations", person.View, c.showReconciliations},
		{"GET", "/reconciliations/{reconciliation}", person.View, c.showReconciliation},
		{"GET", "/reconciliations/{reconciliation}/lines", person.View, c.list(c.showLines)},
		{"GET", "/breaks", person.View, c.list(c.showBreaks)},
		{"GET", "/breaks/{break}", person.View, c.showBreak},
		{"POST", "/breaks/{break}", person.ViewPersonalData, c.revealBreak},
	}, slices.Concat(c.actionRoutes("/breaks/{break}/resolve", person.KeepBooks, c.resolveBreak),
		c.actionRoutes("/"+importPath, person.KeepBooks, c.importStatement))...)
}

func (c *Console) showReconciliations(r *request) error {
	found, err := c.Reconciliation.List(r.Context(), r.platform.ID, ports.ReconciliationFilter{Paging: pagingOf(r)})
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Statements", "reconciliations"), Intro: "Statements of banks and partners, each compared with the ledger."}
	rows := table{Label: "Statements", Columns: columns("Imported", "Account", "Days", ">Lines", ">Matched", ">New breaks", "By"),
		Empty: "No statement was imported. Who keeps the books imports one here, or with `causeway ledger reconcile`."}
	for _, run := range found.Items {
		breaks := 0
		for _, n := range run.Breaks {
			breaks += n
		}
		rows.Rows = append(rows.Rows, []cell{timed(run.At), linked(run.Account.Path+" "+string(run.Account.Currency),
			v.Base+"/reconciliations/"+pathOfID(run.ID)), plain(run.From.String() + " to " + run.To.String()), amountCell(strconv.Itoa(run.Lines)),
			amountCell(strconv.Itoa(run.MatchedLines)), amountCell(strconv.Itoa(breaks)), acted(run.By)})
	}
	v.Sections = []section{{Table: &rows}}
	if v.MayKeepBooks() {
		v.Actions = []fact{actionLink("Import a statement", v.Base+"/"+importPath)}
	}
	v.Older = older(r, found.More, found.Items, func(i reconcile.Run) string { return pathOfID(i.ID) })
	return c.show(r, v)
}

func (c *Console) showReconciliation(r *request) error {
	id, err := idIn(r, "reconciliation", ident.ParseReconciliation)
	if err != nil {
		return err
	}
	run, err := c.Reconciliation.Get(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	found, err := c.Reconciliation.Breaks(r.Context(), r.platform.ID, id, ports.BreakFilter{Paging: pagingOf(r)})
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Statement of "+run.Account.Path, "reconciliations")}
	amount := func(minor int64) string {
		return money.TotalOf(minor).Major(run.Account.Currency) + " " + string(run.Account.Currency)
	}
	v.Facts = add(nil, "Id", run.ID.String())
	v.Facts = add(v.Facts, "Days", run.From.String()+" to "+run.To.String())
	v.Facts = add(v.Facts, "Format", string(run.Format))
	v.Facts = addActor(v.Facts, "Imported", moment(run.At)+" by ", run.By)
	v.Facts = add(v.Facts, "Lines", fmt.Sprintf("%d, of which %d are matched, %d in breaks and %d resolved", run.Lines, run.Matched,
		run.InBreak, run.Resolved), r.URL.Path+"/lines")
	if b := run.Balance; b != nil {
		v.Facts = add(v.Facts, "Closing balance of the partner", amount(b.Partner))
		v.Facts = add(v.Facts, "Balance of the ledger", amount(b.Ledger))
		v.Facts = add(v.Facts, "Difference", amount(b.Difference()))
		v.Facts = add(v.Facts, "Of which open breaks", amount(b.OpenBreaks))
		v.Facts = add(v.Facts, "Of which not explained", amount(b.Unexplained()))
	} else {
		v.Facts = add(v.Facts, "Balance of the ledger", amount(run.LedgerBalance))
	}
	v.Facts = add(v.Facts, "Imported in spite of", strings.Join(run.Mismatches, " "))
	v.Sections = []section{{Heading: "Breaks", Table: breaksTable(v.Base, found.Items, "Every line of the statement is in the ledger.")}}
	v.Older = older(r, found.More, found.Items, func(b reconcile.BreakDetails) string { return pathOfID(b.ID) })
	return c.show(r, v)
}

var lineStatuses = []option{{"", "all"}, {string(reconcile.Matched), "matched"}, {string(reconcile.InBreak), "in breaks"},
	{string(reconcile.Resolved), "resolved"}}

// showLines lists the lines of a statement beside the entries of the ledger that they match. The words of the partner, which may name
// people, are left out.
func (c *Console) showLines(r *request) error {
	id, err := idIn(r, "reconciliation", ident.ParseReconciliation)
	if err != nil {
		return err
	}
	f := ports.StatementLineFilter{Paging: pagingOf(r), Status: reconcile.LineStatus(r.URL.Query().Get("status"))}
	if !slices.ContainsFunc(lineStatuses, func(o option) bool { return o.Value == string(f.Status) }) {
		return errNotFound
	}
	run, err := c.Reconciliation.Get(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	found, err := c.Reconciliation.Lines(r.Context(), r.platform.ID, id, f)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Lines of the statement of "+run.Account.Path, "reconciliations")}
	v.Intro = "Each line of the partner's statement, and beside it the entries of the ledger that it matches, with the rule that found " +
		"them, or its break. A line that matches several entries has a row for each."
	v.Actions = []fact{actionLink("Statement and breaks", v.Base+"/reconciliations/"+pathOfID(id))}
	v.Filter = &filter{r.URL.Path, []field{{Name: "status", Label: "Status", Value: string(f.Status), Kind: "select", Options: lineStatuses}}}
	t := &table{File: "statement-lines", Label: "Lines", Empty: "The statement has no such lines.",
		Columns: columns("Line", "Value date", "Booked", ">Amount", "Currency", "Reference", "Status", "Found by", "In the ledger", "Effective",
			">Entry")}
	for _, l := range found.Items {
		row := []cell{plain(itoa(l.Ordinal)), plain(l.Value.String()), plain(l.Booked.String()), minorCell(l.Amount, run.Account.Currency),
			plain(string(run.Account.Currency)), plain(l.ServicerReference), stated(l.Status), plain(lower(l.Rule))}
		entries := l.Entries
		switch {
		case len(entries) == 0 && l.Break.IsZero():
			t.Rows = append(t.Rows, append(row, cell{}, cell{}, cell{}))
		case len(entries) == 0:
			t.Rows = append(t.Rows, append(row, linked("break", v.Base+"/breaks/"+pathOfID(l.Break)), cell{}, cell{}))
		}
		for _, e := range entries {
			t.Rows = append(t.Rows, append(slices.Clone(row), linked(lower(e.Kind), v.Base+"/postings/"+e.Posting.String()),
				timed(e.Effective), minorCell(e.Amount, run.Account.Currency)))
		}
	}
	v.Sections = []section{{Table: t}}
	v.Older = older(r, found.More, found.Items, func(l reconcile.LineDetails) string { return l.ID.String() })
	return c.show(r, v)
}

var breakStatuses = []option{{"OPEN", "open"}, {"RESOLVED", "resolved"}, {"", "all"}}

func (c *Console) showBreaks(r *request) error {
	query := r.URL.Query()
	f := ports.BreakFilter{Paging: pagingOf(r), Path: strings.TrimSpace(query.Get("account")),
		Currency: strings.ToUpper(query.Get("currency")), Reason: reconcile.Reason(query.Get("reason")), Status: "OPEN"}
	if query.Has("status") {
		f.Status = query.Get("status")
	}
	isStatus := slices.ContainsFunc(breakStatuses, func(o option) bool { return o.Value == f.Status })
	if !isStatus || f.Reason != "" && !slices.Contains(reconcile.Reasons(), f.Reason) {
		return errNotFound
	}
	found, err := c.Reconciliation.Breaks(r.Context(), r.platform.ID, ident.Reconciliation{}, f)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Breaks", "breaks"), Intro: "What a statement of a partner and the ledger do not agree on."}
	v.Filter = &filter{v.Base + "/breaks", []field{
		{Name: "status", Label: "Status", Value: f.Status, Kind: "select", Options: breakStatuses},
		{Name: "reason", Label: "Reason", Value: string(f.Reason), Kind: "select", Options: optionsOf(reconcile.Reasons())},
		{Name: "account", Label: "Account", Value: f.Path}, {Name: "currency", Label: "Currency", Value: f.Currency}}}
	v.Sections = []section{{Table: breaksTable(v.Base, found.Items, "There are no such breaks. They are found when a statement is imported, "+
		"with `causeway ledger reconcile` or by a connection.")}}
	v.Older = older(r, found.More, found.Items, func(b reconcile.BreakDetails) string { return pathOfID(b.ID) })
	return c.show(r, v)
}

func breaksTable(base string, breaks []reconcile.BreakDetails, empty string) *table {
	t := &table{File: "breaks", Label: "Breaks",
		Columns: columns("Found", "Reason", "Status", "Account", ">Difference", "Currency", "Reference",
			"Suggestion"), Empty: empty}
	for _, b := range breaks {
		status, suggestion := stepState("OPEN"), ""
		if b.Resolution != nil {
			status = "RESOLVED"
		} else if len(b.Suggestions) > 0 {
			suggestion = b.Suggestions[0].Explanation
		}
		t.Rows = append(t.Rows, []cell{timed(b.At), linked(lower(b.Reason), base+"/breaks/"+pathOfID(b.ID)), stated(status),
			plain(b.Account.Path), minorCell(b.Difference, b.Account.Currency), plain(string(b.Account.Currency)), plain(b.Reference),
			plain(suggestion)})
	}
	return t
}

// breakPage shows a break, with what the partner and the ledger say side by side.
type breakPage struct {
	page
	Break      reconcile.BreakDetails
	IsRevealed bool
	Facts      []fact
	// Partner and Ledger are what each of them has; empty if it has nothing.
	Partner, Ledger []fact
	Suggestions     []suggestion
	Resolve         string // the page that resolves it; empty if the person may not
}

// suggestion is what may explain a break.
type suggestion struct {
	Text   string
	Breaks []menuLink
}

func (c *Console) showBreak(r *request) error { return c.breakWith(r, false) }

// revealBreak shows a break with the words of the partner and of payers, which may name people, and is recorded first.
func (c *Console) revealBreak(r *request) error { return c.breakWith(r, true) }

func (c *Console) breakWith(r *request, revealed bool) error {
	id, err := idIn(r, "break", ident.ParseBreak)
	if err != nil {
		return err
	}
	b, err := c.Reconciliation.Break(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	if revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
			return err
		}
	}
	show := shown(revealed)
	data := breakPage{page: c.page(r, "Break", "breaks"), Break: b, IsRevealed: revealed}
	data.Facts = breakFacts(b, data.Base)
	if l := b.Line; l != nil {
		data.Partner = lineFacts(*l, b.Account.Currency, show)
	}
	if e := b.Entry; e != nil {
		data.Ledger = entryFacts(*e, b.Account.Currency, data.Base, show)
	}
	for _, s := range b.Suggestions {
		shown := suggestion{Text: s.Explanation}
		for _, other := range s.Breaks {
			shown.Breaks = append(shown.Breaks, menuLink{Name: short(other.String()), To: data.Base + "/breaks/" + pathOfID(other)})
		}
		data.Suggestions = append(data.Suggestions, shown)
	}
	if b.Resolution == nil && data.Person.May(person.KeepBooks, r.platform.ID) {
		data.Resolve = data.Base + "/breaks/" + pathOfID(id) + "/resolve"
	}
	if err := c.nameActors(r, view{Facts: data.Facts}); err != nil {
		return err
	}
	return c.render(r, 200, "break.html", data)
}

func breakFacts(b reconcile.BreakDetails, base string) []fact {
	facts := add(nil, "Id", b.ID.String())
	facts = add(facts, "Account", b.Account.Path+" "+string(b.Account.Currency), accountLink(base, b.Account.Path, b.Account.Currency))
	facts = add(facts, "Difference", money.TotalOf(b.Difference).Major(b.Account.Currency)+" "+string(b.Account.Currency))
	facts = add(facts, "Explanation", b.Explanation)
	facts = add(facts, "Reference", b.Reference)
	facts = add(facts, "Found", moment(b.At))
	facts = add(facts, "Statement", b.Run.String(), base+"/reconciliations/"+pathOfID(b.Run))
	if s := b.Resolution; s != nil {
		facts = add(facts, "Resolved", moment(s.At)+", "+lower(s.Method))
		facts = addActor(facts, "Resolved by", "", joined([]string{s.Actor, s.By}))
		facts = add(facts, "Reason", s.Note)
		if s.Posting != [16]byte{} {
			facts = add(facts, "Correction", s.Posting.String(), base+"/postings/"+s.Posting.String())
		}
	}
	return facts
}

func lineFacts(l reconcile.Line, c money.Currency, show func(string) string) []fact {
	facts := add(nil, "Amount", money.TotalOf(l.Amount).Major(c)+" "+string(c))
	facts = add(facts, "Line", strconv.Itoa(l.Ordinal))
	facts = add(facts, "Booked", l.Booked.String())
	facts = add(facts, "Value date", l.Value.String())
	facts = add(facts, "Partner's id", l.ServicerReference)
	facts = add(facts, "References", strings.Join(l.References, ", "))
	return add(facts, "Text", show(l.Description))
}

func entryFacts(e reconcile.EntryDetails, c money.Currency, base string, show func(string) string) []fact {
	facts := add(nil, "Amount", money.TotalOf(e.Amount).Major(c)+" "+string(c))
	facts = add(facts, "Posting", strconv.FormatInt(e.Seq, 10)+", "+lower(e.Kind), base+"/postings/"+e.Posting.String())
	facts = add(facts, "Effective", moment(e.Effective))
	if !e.Transaction.IsZero() {
		facts = add(facts, "Payment", e.Transaction.String(), base+"/payments/"+pathOfID(e.Transaction))
	}
	if !e.Kind.HasForeignMemo() {
		return add(facts, "Memo", e.Memo)
	}
	return add(facts, "Memo", show(e.Memo))
}

func (c *Console) resolveBreak(r *request) (action, error) {
	id, err := idIn(r, "break", ident.ParseBreak)
	if err != nil {
		return action{}, err
	}
	b, err := c.Reconciliation.Break(r.Context(), r.platform.ID, id)
	if err != nil {
		return action{}, err
	}
	base := basePath(r.platform.ID)
	against := []option{{"", "nothing: resolve it with the reason alone"}}
	for _, name := range reconcile.OffsetAccounts() {
		against = append(against, option{name, "post a correction against " + lower(name)})
	}
	chosen := ""
	if len(b.Suggestions) > 0 {
		chosen = string(b.Suggestions[0].Against)
	}
	return action{Title: "Resolve the break", Section: "breaks", Does: "With the reason alone no balance changes. A correction posts the " +
		"difference, so that the ledger has what the partner says; if the books need a second person for it, it is proposed and waits for an " +
		"approval.", Facts: breakFacts(b, base), NeedsCode: true, Back: base + "/breaks/" + pathOfID(id),
		Fields: []field{{Name: "against", Label: "Correction", Kind: "select", Options: against, Value: chosen}, noteField},
		do: func(r *request) (string, error) {
			author, err := c.author(r)
			if err != nil {
				return "", err
			}
			done, err := c.Reconciliation.Resolve(r.Context(), reconciliation.ResolveRequest{Platform: r.platform.ID, Break: id, By: author,
				ResolveCommand: reconcile.ResolveCommand{Note: r.PostFormValue("note"),
					Offset: reconcile.OffsetAccount(r.PostFormValue("against"))}}, nil)
			return proposed(base, done), err
		}}, nil
}
