package console

import (
	"context"
	"net/http"

	"causeway/app/accounts"
	"causeway/app/agents"
	"causeway/app/exports"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/verification"
	"causeway/ledger"
	"causeway/ports"
)

// Agents are the use cases on agents.
type Agents interface {
	List(ctx context.Context, p ident.Platform, f ports.AgentFilter) (ports.Page[agent.WithUsage], error)
	Activity(ctx context.Context, p ident.Platform, id ident.Agent) (agents.Activity, error)
	ReasonsOf(ctx context.Context, p ident.Platform, actions []ident.AgentAction) (map[ident.AgentAction][]agent.Reason, error)
}

// Notes are the use cases on what people write about customers.
type Notes interface {
	Notes(ctx context.Context, p ident.Platform, of ident.Customer) ([]customer.Note, error)
	Add(ctx context.Context, p ident.Platform, of ident.Customer, by person.Person, content string) error
}

func (c *Console) customerRoutes() []platformRoute {
	holds := append(c.actionRoutes("/customers/{customer}/hold", person.Review, c.holdCustomer),
		c.actionRoutes("/customers/{customer}/release", person.Review, c.releaseCustomer)...)
	statement := c.actionRoutes("/customers/{customer}/statement", person.ViewPersonalData, c.statement)
	return append(append(holds, c.actionRoutes("/customers/{customer}/note", person.ViewPersonalData, c.writeNote)...), statement[0],
		platformRoute{http.MethodPost, statement[1].pattern, person.ViewPersonalData, c.downloadStatement})
}

// customerSections returns what a customer has. More than the first ones of each kind are not shown.
func (c *Console) customerSections(r *request, data customerPage) ([]section, error) {
	p, id, show := r.platform.ID, data.Customer.ID, shown(data.IsRevealed)
	first := ports.Paging{Limit: maxAccounts}
	internal, err := c.Accounts.ListInternal(r.Context(), p, accounts.OwnedByCustomers,
		ports.InternalAccountFilter{Paging: first, Customer: id})
	if err != nil {
		return nil, err
	}
	external, err := c.Accounts.List(r.Context(), p, accounts.OwnedByCustomers, ports.ExternalAccountFilter{Paging: first, Customer: id})
	if err != nil {
		return nil, err
	}
	agents, err := c.Agents.List(r.Context(), p, ports.AgentFilter{Paging: first, Customer: id})
	if err != nil {
		return nil, err
	}
	verified, err := c.Verifications.List(r.Context(), p,
		ports.VerificationFilter{Paging: ports.Paging{Limit: verification.Max}, Customer: id})
	if err != nil {
		return nil, err
	}
	hits, err := c.Screening.HitsOf(r.Context(), p, id)
	if err != nil {
		return nil, err
	}
	written, err := c.Notes.Notes(r.Context(), p, id)
	if err != nil {
		return nil, err
	}
	balances := table{Label: "Accounts and wallets", Columns: columns("Account", "Type", "State", ">Balance", "Currency"),
		Empty: "The customer has no account yet."}
	for _, a := range internal.Items {
		balance := minorCell(a.Balance, a.Currency)
		balance.Link = accountLink(data.Base, ledger.InternalAccount(a.ID, a.Customer, a.Type == account.EmbeddedWallet), a.Currency)
		balances.Rows = append(balances.Rows, []cell{shortID(a.ID.String(), paymentsOf(data.Base, a.ID.String())), plain(lower(a.Type)),
			stated(a.Status), balance, plain(string(a.Currency))})
	}
	outside := table{Label: "External accounts", Columns: columns("Account", "Number", "Type", "Currency", "State", "Name checked"),
		Empty: "The customer has registered no account elsewhere."}
	for _, a := range external.Items {
		number := "****"
		if data.IsRevealed {
			number = a.MaskedIdentifier()
		}
		outside.Rows = append(outside.Rows, []cell{shortID(a.ID.String(), paymentsOf(data.Base, a.ID.String())), plain(number),
			plain(string(a.Type)), plain(string(a.Currency)), stated(a.Status), plain(lower(a.Verification))})
	}
	sections := []section{{Heading: "Accounts and wallets", Table: &balances}, {Heading: "External accounts", Table: &outside}}
	if len(verified.Items) > 0 {
		rows := table{Label: "Verifications", Columns: columns("Begun", "Verification", "State", "Decided", "By")}
		for _, v := range verified.Items {
			rows.Rows = append(rows.Rows, []cell{timed(v.CreatedAt), shortID(v.ID.String(), data.Base+"/reviews/"+pathOfID(v.ID)),
				stated(v.Status), timed(v.LastDecision.At), acted(v.LastDecision.By)})
		}
		sections = append(sections, section{Heading: "Verifications", Text: "Each shows what was submitted beside its documents.", Table: &rows})
	}
	limits, err := c.limitsOf(r, id)
	if err != nil {
		return nil, err
	}
	if limits != nil {
		sections = append(sections, section{Heading: "Limits", Table: limits})
	}
	if len(agents.Items) > 0 {
		sections = append(sections, section{Heading: "Agents", Table: agentsTable(agents.Items, show)})
	}
	if len(hits) > 0 {
		found := table{Label: "Hits of the screening", Columns: columns("Found", "State", ">Score", "List", "Name on the list")}
		for _, h := range hits {
			found.Rows = append(found.Rows, []cell{timed(h.FoundAt), stated(h.Status), amountCell(itoa(h.Score)), plain(string(h.List)),
				plain(show(h.EntryName))})
		}
		sections = append(sections, section{Heading: "Hits of the screening", Table: &found})
	}
	notes := table{Label: "Notes", Columns: columns("Time", "By", "Note"), Empty: "Nobody has written a note."}
	for _, n := range written {
		notes.Rows = append(notes.Rows, []cell{timed(n.CreatedAt), acted(n.Author), plain(show(n.Content))})
	}
	return append(sections, section{Heading: "Notes", Table: &notes}), nil
}

func agentsTable(agents []agent.WithUsage, show func(string) string) *table {
	rows := table{Label: "Agents", Columns: columns("Agent", "Id", "State", "Connected", "Created")}
	for _, a := range agents {
		state := "ACTIVE"
		if a.Paused {
			state = "PAUSED"
		}
		rows.Rows = append(rows.Rows, []cell{plain(show(a.Name)), shortID(a.ID.String(), ""), stated(state), timed(a.ConnectedAt),
			timed(a.CreatedAt)})
	}
	return &rows
}

// customerOfAction returns the customer that an action is about, with its page.
func (c *Console) customerOfAction(r *request) (id ident.Customer, back string, err error) {
	if id, err = idIn(r, "customer", ident.ParseCustomer); err != nil {
		return id, "", err
	}
	_, err = c.Customers.Get(r.Context(), r.platform.ID, id)
	return id, basePath(r.platform.ID) + "/customers/" + pathOfID(id), err
}

// changeHold returns what holds or releases a customer.
func (c *Console) changeHold(r *request, a action, do func(context.Context, ident.Platform, platform.Author, ident.Customer, string) (
	customer.Customer, error)) (action, error) {
	id, back, err := c.customerOfAction(r)
	a.Section, a.Back, a.NeedsCode = "customers", back, true
	a.Facts = []fact{{Name: "Customer", Value: id.String()}}
	a.Fields = []field{{Name: "reason", Label: "Reason", Hint: "It is kept as a note about the customer, and not shown to the platform."}}
	a.do = func(r *request) (string, error) {
		_, err := do(r.Context(), r.platform.ID, platform.Author{Actor: r.in.Person.Email, Person: r.in.Person.ID}, id,
			r.PostFormValue("reason"))
		return "", err
	}
	return a, err
}

func (c *Console) holdCustomer(r *request) (action, error) {
	return c.changeHold(r, action{Title: "Put on hold", Does: "The customer moves no money any more, until a person releases it: new " +
		"payments " +
		"are refused, and those that run finish. The platform sees the status HOLD, and is sent it."}, c.Verifications.Hold)
}

func (c *Console) releaseCustomer(r *request) (action, error) {
	return c.changeHold(r, action{Title: "Release", Does: "The customer moves money again, and the platform is sent the status. With " +
		"hits of " +
		"the screening that are open it stays held until they are decided."}, c.Verifications.Release)
}

func (c *Console) writeNote(r *request) (action, error) {
	id, back, err := c.customerOfAction(r)
	return action{Title: "Write a note", Section: "customers", Does: "The note is kept with your name and the time, encrypted, and is shown " +
		"to those who may see personal data. It cannot be changed, and is erased with the data of the customer.",
		Facts: []fact{{Name: "Customer", Value: id.String()}}, Fields: []field{{Name: "content", Label: "Note", Kind: "textarea"}}, Back: back,
		do: func(r *request) (string, error) {
			return "", c.Notes.Add(r.Context(), r.platform.ID, id, r.in.Person, r.PostFormValue("content"))
		}}, err
}

// statement asks for what a statement of an account is to be of.
func (c *Console) statement(r *request) (action, error) {
	id, back, err := c.customerOfAction(r)
	if err != nil {
		return action{}, err
	}
	found, err := c.Accounts.ListInternal(r.Context(), r.platform.ID, accounts.OwnedByCustomers,
		ports.InternalAccountFilter{Paging: ports.Paging{Limit: maxAccounts}, Customer: id})
	options := make([]option, len(found.Items))
	for i, a := range found.Items {
		options[i] = option{a.ID.String(), string(a.Currency) + ", " + lower(a.Type) + " " + short(a.ID.String())}
	}
	return action{Title: "Statement", Section: "customers", Does: "The file has every payment of the account with the names of those who " +
		"paid and were paid. It is recorded that you have it.", Facts: []fact{{Name: "Customer", Value: id.String()}}, Fields: []field{
		{Name: "account", Label: "Account", Kind: "select", Options: options},
		{Name: "format", Label: "Format", Kind: "select", Options: []option{{string(exports.PDF), "PDF"}, {string(exports.HTML), "HTML"}}},
		{Name: "day-from", Label: "From (UTC)", Kind: "date"},
		{Name: "day-to", Label: "To (UTC), included", Kind: "date", Hint: "Empty for everything up to now."}}, Back: back}, err
}

// downloadStatement sends a statement, which is recorded first.
func (c *Console) downloadStatement(r *request) error {
	a, err := c.statement(r)
	if err != nil {
		return err
	}
	for i, f := range a.Fields {
		a.Fields[i].Value = r.PostFormValue(f.Name)
	}
	id, err := idIn(r, "customer", ident.ParseCustomer)
	if err != nil {
		return err
	}
	interval, err := daysOf(func(name string) string { return r.PostFormValue("day-" + name) }, c.Clock.Now())
	if err != nil {
		return err
	}
	of, err := ident.ParseInternalAccount(formText(r, "account"))
	if err != nil {
		return c.askFor(r, a, http.StatusUnprocessableEntity, "Choose an account. A customer without one has no statement.")
	}
	document, err := c.Exports.Statement(r.Context(), r.platform.ID, exports.StatementRequest{Customer: id, Account: of, Interval: interval,
		Format: exports.StatementFormat(r.PostFormValue("format"))})
	if err != nil {
		return c.refused(r, a, err)
	}
	if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
		return err
	}
	return download(r, document)
}
